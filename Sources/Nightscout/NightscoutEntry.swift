// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Readings as entries. Members of Nightscout have the values that its programs read. The member `glucoport` has all
/// parts of the reading, with the names of glucoport-json(5).
package enum NightscoutEntry {
  /// The value that Nightscout's programs write below their range.
  @usableFromInline static var clampedLow: Double { 39 }
  @usableFromInline static var clampedHigh: Double { 401 }

  /// Why a reading cannot be an entry; nil if it can.
  package static func refusal(_ reading: Reading) -> String? {
    milliseconds(reading) > NightscoutTime.minMilliseconds
      ? nil : "Nightscout accepts no time before the year 2000"
  }

  /// The `type`. Readings that are not a person's glucose have separate types, which programs do not treat as glucose.
  package static func type(_ reading: Reading) -> String {
    if reading.marks.contains(.controlSolution) { return "control" }
    switch reading.kind {
    case .smbg: return "mbg"
    case .cbg, .scan: return "sgv"
    case .ketone: return "ketone"
    }
  }

  package static func milliseconds(_ reading: Reading) -> Int64 {
    (reading.deviceTime.seconds - Int64(reading.placement.utcOffset)) * 1000
  }

  /// The members of a document.
  ///
  /// - Parameters:
  /// - shift: milliseconds by which it is moved if another entry of the type has its time: API v1 treats both as the
  ///   same.
  ///   - writer: nil for a document of an export, which no run sends.
  package static func members(
    _ reading: Reading, _ device: Device, identifier: String, shift: Int64, _ writer: NightscoutWriter?
  ) -> [String: JSONValue] {
    let (date, minutes) = (milliseconds(reading) + shift, Int64(reading.placement.utcOffset) / 60)
    let type = type(reading)
    var own = writer?.members ?? [:]
    own.merge(parts(reading, device)) { $1 }
    return [
      "identifier": .text(identifier), "app": .text(NightscoutDocument.app), "type": .text(type),
      type: .number(shown(reading)), "date": .number(Double(date)), "utcOffset": .number(Double(minutes)),
      "sysTime": .text(NightscoutTime.utcText(date)),
      "dateString": .text(NightscoutTime.localText(date, minutes: minutes)),
      "device": .text(name(device)), NightscoutDocument.ownName: .object(own),
    ]
  }

  /// Constant for a device, since the server does not permit to change it.
  private static func name(_ device: Device) -> String {
    let name = [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    // API v1 would escape the character as HTML, and the changed name would be another device.
    return name.isEmpty ? NightscoutDocument.app : name.replacing("<", with: "‹")
  }

  /// Whole mg/dL, whatever unit the site shows; for ketone, mmol/L.
  private static func shown(_ reading: Reading) -> Double {
    switch reading.measurement {
    case .value(let quantity) where reading.kind == .ketone: quantity.number
    case .value(let quantity):
      quantity.converted(to: .milligramsPerDecilitre).number.rounded(.toNearestOrAwayFromZero)
    case .low(let limit, _) where reading.kind == .ketone: limit ?? 0
    case .high(let limit, _) where reading.kind == .ketone: limit ?? 8
    case .low: clampedLow
    case .high: clampedHigh
    }
  }

  private static func parts(_ reading: Reading, _ device: Device) -> [String: JSONValue] {
    var parts: [String: JSONValue] = [
      "item": .text("reading"), "kind": .text(reading.kind.name),
      "position_kind": .text(reading.positionKind.name),
      "position": .number(Double(reading.position)), "value_bucket": .number(Double(reading.valueBucket)),
      "occurrence": .number(Double(reading.occurrence)), "device_time": .text(reading.deviceTime.text),
      "utc_offset": .text(DeviceTime.offsetText(reading.placement.utcOffset)),
      "offset_source": .text(reading.placement.source.name), "unit": .text(reading.measurement.unit.name),
      "vendor": NightscoutText.sealed(device.vendor), "model": NightscoutText.sealed(device.model),
      "serial": NightscoutText.sealed(device.serial), "format": .text(device.format),
    ]
    // A Double represents every integer up to this limit.
    if reading.position.magnitude > 1 << 53 { parts["position"] = .text(String(reading.position)) }
    if !reading.marks.isEmpty { parts["marks"] = .text(reading.marks.names.joined(separator: " ")) }
    switch reading.measurement {
    case .value(let quantity): parts["value"] = .number(quantity.number)
    case .low(let limit, _), .high(let limit, _):
      parts["range"] = if case .low = reading.measurement { .text("low") } else { .text("high") }
      if let limit { parts["threshold"] = .number(limit) }
    }
    return parts
  }
}
