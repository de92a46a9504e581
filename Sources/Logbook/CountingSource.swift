// SPDX-License-Identifier: Apache-2.0

/// Where an item came from, as far as counting it once is concerned: a format or driver, with the program or the device
/// within it. Two items of one source are always two facts.
package struct CountingSource: Hashable, Sendable {
  /// What a source is. Of one fact in several sources, the first of these states it best.
  package enum Role: Int, Sendable {
    /// The memory of the device that measured or gave the dose: a meter, a pump, a pen.
    case memory
    /// The app in which a person typed it.
    case app
    /// What gathers the data of others.
    case collector
    /// Typed into glucoport.
    case typed
    /// A record of which nothing is known.
    case unknown
  }

  /// The id of the format, the driver or the kind of remote; empty where it is unknown.
  package let format: String
  /// The program or device within it; empty without one.
  package let part: String
  /// What it is.
  package let role: Role

  /// A source of records.
  package init(format: String, part: String = "") {
    (self.format, self.part) = (format, part)
    role = Self.role(of: format)
  }

  /// The source of readings that a device took. One with a serial number has its own memory, unless a collector says so.
  package init(_ device: Device) {
    format = device.format
    // Without a serial number, the model names the app or the phone, as records of the same source do.
    part =
      device.serial.isEmpty
      ? device.model
      : [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    let role = Self.role(of: device.format)
    self.role = role == .app && !device.serial.isEmpty ? .memory : role
  }

  /// The source of records without provenance. The way in which an id was made distinguishes such records.
  package static let unknown = CountingSource(format: "")

  /// How messages and settings name it: `mysugr`, or `apple-health/Anna's iPhone`.
  package var text: String { part.isEmpty ? format : "\(format)/\(part)" }

  /// Whether a decision's word names it: its format, or the format with its part. A part alone names none: phones have an app
  /// of the name of a format.
  package func isNamed(_ word: String) -> Bool {
    guard !format.isEmpty else { return false }
    let word = word.lowercased()
    return word == format || word == text.lowercased()
  }

  /// What gathers the data of others.
  private static let collectors: Set<String> = [
    "apple-health", "clarity", "diasend", "fhir", "generic", "glooko", "health-auto-export",
    "health-connect", "librelinkup", "libreview", "nightscout", "openmhealth", "sidiary", "tidepool",
  ]
  /// What passes on glucose of other programs without the kind that it had there.
  private static let sensorRelays: Set<String> = [
    "apple-health", "health-auto-export", "health-connect", "tidepool",
  ]
  /// What reads the memory of devices, in exports and as drivers.
  private static let memories: Set<String> = [
    "accu-chek-360", "accu-chek-guide", "accu-chek-mobile", "carelink", "carelink-cloud", "dexcom-g4",
    "freestyle-insulinx", "freestyle-libre", "freestyle-neo", "glucomen-areo", "glucometerutils",
    "onetouch-ultra2",
    "onetouch-ultraeasy", "onetouch-verio", "onetouch-verio-iq", "smart-pix", "taidoc", "tandem",
    "true-metrix",
  ]
  /// What people type into glucoport.
  private static let typed: Set<String> = ["glucoport", "typed"]

  /// Whether finger sticks of it may be the values of a sensor; see `SensorCopies`.
  package var mayRelaySensors: Bool { Self.sensorRelays.contains(format) }

  private static func role(of format: String) -> Role {
    if format.isEmpty { return .unknown }
    if collectors.contains(format) { return .collector }
    if memories.contains(format) { return .memory }
    return typed.contains(format) ? .typed : .app
  }
}
