// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Determines which documents are readings, and their kinds.
extension NightscoutEntry {
  /// The content of a document that is not a treatment.
  package enum Content {
    case reading(ReadingKind, Measurement, ReadingMarks, Instant)
    /// Data without a kind in glucoport; with its name.
    case skipped(String)
    /// An invalid reading, with the reason.
    case rejected(String)
    case treatment
    case unknown
  }

  /// The content of a document.
  @inlinable package static func content(
    of document: some NightscoutFields, _ units: inout NightscoutUnits
  ) -> Content {
    let type = document[.type]
    let sgv = document[.sgv]
    if !sgv.isEmpty, type.equals("sgv") || type.isEmpty { return sensor(document, sgv, &units) }
    // A meter's value is an entry, whatever other members its program wrote; no treatment has this type.
    let isEntry =
      type.equals("mbg")
      || document[.eventType].isEmpty && (!type.isEmpty || document[.createdAt].isEmpty)
    return isEntry ? other(document, type, &units) : .treatment
  }

  @inlinable static func sensor<Document: NightscoutFields>(
    _ document: Document, _ sgv: Document.Value, _ units: inout NightscoutUnits
  ) -> Content {
    let number = sgv.jsonNumber
    if let number, units.isErrorCode(number, unit: document[.units]) { return .skipped("sensor error code") }
    let isClamped = number == clampedLow || number == clampedHigh
    return reading(
      .cbg, units.check(sgv, number, unit: document[.units]), isClamped ? .atLimit : [], document)
  }

  /// Entries that are not a sensor reading with a value.
  @usableFromInline static func other<Document: NightscoutFields>(
    _ document: Document, _ type: Document.Value, _ units: inout NightscoutUnits
  ) -> Content {
    let mbg = document[.mbg]
    if type.equals("mbg") || (type.isEmpty && !mbg.isEmpty) {
      let number = mbg.jsonNumber
      if mbg.isEmpty || number == 0 { return .skipped("entry without a value") }
      return reading(.smbg, units.check(mbg, number, unit: document[.units]), [], document)
    }
    if type.equals("cal") { return .skipped("calibration line") }
    guard type.isEmpty || type.equals("sgv") else { return .skipped(String(type.plainText.prefix(40))) }
    return type.isEmpty && document[.date].isEmpty ? .unknown : .skipped("entry without a value")
  }

  @inlinable static func reading(
    _ kind: ReadingKind, _ cell: CellValue, _ marks: ReadingMarks, _ document: some NightscoutFields
  ) -> Content {
    switch cell {
    case .measurement(let measurement):
      guard let instant = document.entryInstant else { return .rejected(NightscoutRefusal.noDate) }
      return .reading(kind, measurement, marks, instant)
    case .empty: return .skipped("entry without a value")
    case .rejected(let reason): return .rejected(reason)
    }
  }

  /// The reading of another program's document. Its position is its instant, so that it is equal in every zone; without
  /// a known instant, the shown time.
  @inlinable package static func reading(
    _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks, at instant: Instant,
    _ shown: ShownTime, _ placement: Placement, device: DeviceIndex, line: Int64
  ) -> Reading {
    instant.isWallClock
      ? Reading(
        device: device, kind: kind, at: shown.deviceTime, placement: placement, measurement, marks: marks,
        line: line)
      : Reading(
        device: device, kind: kind, tick: instant.milliseconds, at: shown.deviceTime, placement: placement,
        measurement, marks: marks, line: line)
  }
}
