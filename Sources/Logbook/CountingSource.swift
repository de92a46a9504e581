// SPDX-License-Identifier: Apache-2.0

/// The origin of an item for counting once: a format or driver, and the program or device within it. Two items of one
/// source are always two facts.
package struct CountingSource: Hashable, Sendable {
  /// The kind of source. Of one fact in several sources, the first of these states it best.
  package enum Role: Int, Sendable {
    /// The memory of the device that measured or gave the dose, such as a meter, a pump or a pen.
    case memory
    /// The app in which a person typed it.
    case app
    /// A program that collects the data of others.
    case collector
    /// Typed into glucoport.
    case typed
    /// The source of a record without known origin.
    case unknown
  }

  /// The id of the format, the driver or the kind of remote; empty where it is unknown.
  package let format: String
  /// The program or device within it; empty without one.
  package let part: String
  /// The role of the source.
  package let role: Role

  /// A source of records.
  package init(format: String, part: String = "") {
    (self.format, self.part) = (format, part)
    role = Self.role(of: format)
  }

  /// The source of readings from a device. A device with a serial number has its own memory, unless a collector reports
  /// it.
  package init(_ device: Device) {
    format = device.format
    // Without a serial number, the model is the name of the app or phone, as in records of the same source.
    part =
      device.serial.isEmpty
      ? device.model
      : [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    let role = Self.role(of: device.format)
    self.role = role == .app && !device.serial.isEmpty ? .memory : role
  }

  /// The source of records without provenance. The version of the id distinguishes such records.
  package static let unknown = CountingSource(format: "")

  /// The name in messages and settings: `mysugr`, or `apple-health/Anna's iPhone`.
  package var text: String { part.isEmpty ? format : "\(format)/\(part)" }

  /// Whether a decision's name means it: its format, or the format with its part. The part is not enough, since phones
  /// have an app with the name of a format.
  package func isNamed(_ word: String) -> Bool {
    guard !format.isEmpty else { return false }
    let word = word.lowercased()
    return word == format || word == text.lowercased()
  }

  /// Formats that collect the data of others.
  private static let collectors: Set<String> = [
    "apple-health", "clarity", "diasend", "fhir", "generic", "glooko", "health-auto-export",
    "health-connect", "librelinkup", "libreview", "nightscout", "openmhealth", "sidiary", "tidepool",
  ]
  /// Formats that give glucose of other programs without its original kind.
  private static let sensorRelays: Set<String> = [
    "apple-health", "health-auto-export", "health-connect", "tidepool",
  ]
  /// Formats and drivers that read the memory of devices.
  private static let memories: Set<String> = [
    "accu-chek-360", "accu-chek-guide", "accu-chek-mobile", "carelink", "carelink-cloud", "dexcom-g4",
    "freestyle-insulinx", "freestyle-libre", "freestyle-neo", "glucomen-areo", "glucometerutils",
    "onetouch-ultra2",
    "onetouch-ultraeasy", "onetouch-verio", "onetouch-verio-iq", "smart-pix", "taidoc", "tandem",
    "true-metrix",
  ]
  /// Formats of items typed into glucoport.
  private static let typed: Set<String> = ["glucoport", "typed"]

  /// Whether its finger sticks may be the values of a sensor; see `SensorCopies`.
  package var mayRelaySensors: Bool { Self.sensorRelays.contains(format) }

  private static func role(of format: String) -> Role {
    if format.isEmpty { return .unknown }
    if collectors.contains(format) { return .collector }
    if memories.contains(format) { return .memory }
    return typed.contains(format) ? .typed : .app
  }
}
