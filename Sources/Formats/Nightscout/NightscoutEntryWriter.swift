// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Writes readings as the entries that an upload to a site makes of them, in one JSON array.
package struct NightscoutEntryWriter: ReadingDocumentWriter {
  /// Why an export leaves out a reading, by which those are counted.
  package enum Omission: ReadingOmission {
    /// A ketone value or control solution: no program that reads entries expects one.
    case otherSubstance
    /// An entry cannot say that it does not count.
    case withdrawn
    /// Nightscout accepts no such time.
    case beforeItsFirstYear

    /// What is left out, in the singular.
    package var noun: String {
      switch self {
      case .otherSubstance: "ketone or control-solution reading"
      case .withdrawn: "withdrawn reading"
      case .beforeItsFirstYear: "pre-2000 reading"
      }
    }
  }

  private var isFirst = true

  /// A writer of one array.
  package init() {}

  /// What is in front of the first entry.
  package var header: String { "[" }
  /// What is behind the last one.
  package var footer: String { "\n]\n" }

  /// Why a reading is left out; nil where it is not.
  package static func omission(of reading: GlucoportReading) -> Omission? {
    if reading.kind == .ketone || reading.marks.contains(.controlSolution) { return .otherSubstance }
    if reading.isWithdrawn { return .withdrawn }
    return NightscoutEntry.refusal(reading.reading) == nil ? nil : .beforeItsFirstYear
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
