// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Writes readings as entries in one JSON array; an upload to a site sends the same entries.
package struct NightscoutEntryWriter: ReadingDocumentWriter {
  private var isFirst = true

  package init() {}

  /// The text before the first entry.
  package var header: String { "[" }
  /// The text after the last entry.
  package var footer: String { "\n]\n" }

  /// The reason why a reading is left out; nil if it is written. No program that reads entries expects a
  /// ketone value or control solution, and an entry cannot state that it is hidden.
  package static func omission(of reading: GlucoportReading) -> ReadingOmission? {
    if reading.kind == .ketone || reading.marks.contains(.controlSolution) { return .otherSubstance }
    if reading.isWithdrawn { return .withdrawn }
    return NightscoutEntry.refusal(reading.reading) == nil ? nil : .beforeFirstYear
  }

  /// Appends a reading that is not left out.
  package mutating func append(_ item: GlucoportReading, to out: inout [UInt8]) {
    out.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
    isFirst = false
    let identity = ReadingIdentity(item.reading, item.device)
    let members = NightscoutEntry.members(
      item.reading, item.device, identifier: identity.uuid, shift: 0, nil)
    out.append(contentsOf: JSONValue.object(members).bytes)
  }
}

extension GlucoportReading {
  /// The reading with all parts of its identity.
  fileprivate var reading: Reading {
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, at: deviceTime, placement: placement, measurement, marks: marks,
      line: 0)
    (reading.positionKind, reading.position) = (positionKind, position)
    reading.occurrence = Int32(clamping: occurrence)
    return reading
  }
}
