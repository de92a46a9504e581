// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The extension with all parts of a reading's identity, in Observations that glucoport exported.
enum FHIRIdentity {
  /// The address of the extension with the identity. It must never change, since an import recognises the
  /// extension by it.
  static let url = "urn:uuid:6f1ea1c3-4b0d-8d4f-9f57-5b0f4b2f8a10"

  /// The parts that the Observation itself lacks, or that it does not preserve exactly. The value is not
  /// included: an import uses the value that other programs read.
  private static let columns: [GlucoportColumn] = [
    .kind, .deviceTime, .utcOffset, .offsetSource, .marks, .vendor, .model, .serial, .format, .positionKind,
    .position, .valueBucket, .occurrence,
  ]

  /// The extension of a reading as JSON. FHIR allows no empty texts, so empty parts are left out.
  static func json(_ reading: GlucoportReading) -> String {
    let cells = GlucoportCells(.reading(reading))
    let parts = columns.compactMap { column in
      let text = cells.text(column)
      return text.isEmpty ? nil : #"{"url":"\#(column.name)","valueString":\#(jsonText(text))}"#
    }
    return #"{"url":"\#(url)","extension":[\#(parts.joined(separator: ","))]}"#
  }

  /// The parts of the identity in a resource; nil for a resource of another program.
  static func parts(of resource: JSONValue) -> [String: JSONValue]? {
    guard let own = resource["extension"]?.items?.first(where: { $0["url"]?.text == url }) else { return nil }
    var parts: [String: JSONValue] = [:]
    for item in own["extension"]?.items ?? [] {
      guard let name = item["url"]?.text, let value = item["valueString"] else { continue }
      parts[name] = value
    }
    return parts
  }

  /// Makes a reading of the parts of its identity and of the value that the Observation states. Nil if a part
  /// is missing or damaged.
  static func reading(_ parts: [String: JSONValue], _ measurement: Measurement) -> (Reading, Device)? {
    var own = parts
    own["unit"] = .text(measurement.unit.name)
    switch measurement {
    case .value(let quantity): own["value"] = .number(quantity.number)
    case .low(let limit, _): (own["range"], own["threshold"]) = (.text("low"), limit.map(JSONValue.number))
    case .high(let limit, _): (own["range"], own["threshold"]) = (.text("high"), limit.map(JSONValue.number))
    }
    return NightscoutEntry.rebuilt(.object(own))
  }
}
