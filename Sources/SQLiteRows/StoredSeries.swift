// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What the readings of one series share, in a batch.
package struct StoredSeries: Sendable {
  /// The place of the device in the batch.
  package let device: DeviceIndex
  /// What the readings measure.
  package let kind: ReadingKind
  /// What places them among those of their device and kind.
  package let positionKind: PositionKind

  /// A series of a device of the batch.
  package init(device: DeviceIndex, kind: ReadingKind, positionKind: PositionKind) {
    (self.device, self.kind, self.positionKind) = (device, kind, positionKind)
  }
}

/// What identifies a reading within a file.
package struct StoredPlace: Hashable, Sendable {
  /// The number of the series.
  package let series: Int64
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value's part in the identity.
  package let valueBucket: Int64
  /// Which one of several that share every other part.
  package let occurrence: Int64

  /// Four columns from this one on.
  @inlinable @inline(__always) package init(_ row: RawStatement, from column: Int32) {
    series = row.integer(column)
    position = row.integer(column + 1)
    valueBucket = row.integer(column + 2)
    occurrence = row.integer(column + 3)
  }

  /// The parts of a place.
  @inlinable package init(series: Int64, position: Int64, valueBucket: Int64, occurrence: Int64) {
    (self.series, self.position) = (series, position)
    (self.valueBucket, self.occurrence) = (valueBucket, occurrence)
  }

  /// Names the row in an error.
  package var name: String {
    "reading (series \(series), position \(position), value_bucket \(valueBucket), occurrence \(occurrence))"
  }
}

extension RawStatement {
  /// The columns behind a reading's place, in the order in which `reading` takes them.
  package static let readingColumns = [
    "device_time", "utc_offset", "offset_source", "value", "unit", "range_flag", "threshold", "marks",
  ]

  /// The reading at a place of a series, in eight columns from this one on.
  ///
  /// - Parameter name: names the row in an error; without it, its place does.
  package func reading(
    at place: StoredPlace, of series: StoredSeries, from column: Int32, named name: String? = nil
  ) throws(DamagedRow) -> Reading {
    func damage(_ title: String, _ column: Int32) -> DamagedRow {
      DamagedRow(name ?? place.name, "unknown \(title) \(integer(column))")
    }
    if let reason = misfit(inReadingAt: column) { throw DamagedRow(name ?? place.name, reason) }
    guard let offset = Int32(exactly: integer(column + 1)) else { throw damage("utc_offset", column + 1) }
    guard let code = UInt8(exactly: integer(column + 2)), let source = OffsetSource(rawValue: code) else {
      throw damage("offset_source", column + 2)
    }
    guard let marks = UInt16(exactly: integer(column + 7)) else { throw damage("marks", column + 7) }
    guard let occurrence = Int32(exactly: place.occurrence) else {
      throw DamagedRow(name ?? place.name, "unknown occurrence")
    }
    var reading = Reading(
      device: series.device, kind: series.kind, at: DeviceTime(seconds: integer(column)),
      placement: Placement(utcOffset: offset, source: source),
      try StoredMeasurement(self, from: column + 3).measurement(in: name ?? place.name),
      marks: ReadingMarks(rawValue: marks), line: 0)
    reading.positionKind = series.positionKind
    reading.position = place.position
    reading.occurrence = occurrence
    reading.occurrenceIsStated = true
    return reading
  }

  /// What is wrong with the types of the columns of a reading; nil for nothing.
  @inline(__always) private func misfit(inReadingAt column: Int32) -> String? {
    for place in column..<column + Int32(Self.readingColumns.count) {
      let isNumber = place == column + Self.valueColumn || place == column + Self.thresholdColumn
      if let reason = isNumber ? misfit(asNumber: place) : misfit(asInteger: place) { return reason }
    }
    return nil
  }

  /// The columns that hold a number or NULL, among those of a reading.
  private static let valueColumn: Int32 = 3
  private static let thresholdColumn: Int32 = 6
}
