// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The properties that the readings of one series in a batch share.
package struct StoredSeries: Sendable {
  /// The index of the device in the batch.
  package let device: DeviceIndex
  /// The kind of measurement.
  package let kind: ReadingKind
  /// What places them among the readings of their device and kind.
  package let positionKind: PositionKind

  /// A series of a device of the batch.
  package init(device: DeviceIndex, kind: ReadingKind, positionKind: PositionKind) {
    (self.device, self.kind, self.positionKind) = (device, kind, positionKind)
  }
}

/// The identity of a reading within a file.
package struct StoredPlace: Hashable, Sendable {
  /// The number of the series.
  package let series: Int64
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value in the identity.
  package let valueBucket: Int64
  /// The number among readings that share every other part.
  package let occurrence: Int64

  /// The place in four columns from this one on.
  @inlinable @inline(__always) package init(_ row: RawStatement, from column: Int32) {
    series = row.integer(column)
    position = row.integer(column + 1)
    valueBucket = row.integer(column + 2)
    occurrence = row.integer(column + 3)
  }

  /// A place with these parts.
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
  /// The columns after a reading's place, in the order in which `reading` uses them.
  package static let readingColumns = [
    "device_time", "utc_offset", "offset_source", "value", "unit", "range_flag", "threshold", "marks",
  ]

  /// The reading at a place of a series, in eight columns from this one on.
  ///
  /// - Parameter name: names the row in an error; nil for the name of its place.
  package func reading(
    at place: StoredPlace, of series: StoredSeries, from column: Int32, named name: String? = nil
  ) throws(DamagedRow) -> Reading {
    func damage(_ reason: String) -> DamagedRow { DamagedRow(name ?? place.name, reason) }
    func whole(_ place: Int32) throws(DamagedRow) -> Int64 {
      guard let number = exactInteger(column + place) else { throw damage(misfit(column + place)) }
      return number
    }
    func amount(_ place: Int32) throws(DamagedRow) -> Double? {
      let (number, fits) = exactNumber(column + place)
      guard fits else { throw damage(misfit(column + place)) }
      return number
    }
    let time = try seconds(column, in: name ?? place.name)
    let (offset, code, marks) = (try whole(1), try whole(2), try whole(7))
    let stored = StoredMeasurement(
      value: try amount(3), unit: try whole(4), rangeFlag: try whole(5), threshold: try amount(6))
    guard StoredBounds.offset.contains(offset) else { throw damage("unknown utc_offset \(offset)") }
    guard let source = UInt8(exactly: code).flatMap(OffsetSource.init(rawValue:)) else {
      throw damage("unknown offset_source \(code)")
    }
    guard let marks = UInt16(exactly: marks) else { throw damage("unknown marks \(marks)") }
    guard place.occurrence >= 0, let occurrence = Int32(exactly: place.occurrence) else {
      throw damage("unknown occurrence")
    }
    var reading = Reading(
      device: series.device, kind: series.kind, at: DeviceTime(seconds: time),
      placement: Placement(utcOffset: Int32(offset), source: source),
      try stored.measurement(in: name ?? place.name),
      marks: ReadingMarks(rawValue: marks), line: 0)
    reading.positionKind = series.positionKind
    reading.position = place.position
    reading.occurrence = occurrence
    reading.occurrenceIsStated = true
    // With the same identity, other stores would see another reading.
    guard reading.valueBucket == place.valueBucket else {
      throw damage("its bucket does not match its value")
    }
    return reading
  }
}

/// A measurement in four columns: value, unit, range flag, threshold.
package struct StoredMeasurement {
  /// The number; nil outside the device's range.
  package let value: Double?
  /// The code of the unit.
  package let unit: Int64
  /// 0 within the device's range, 1 below, 2 above.
  package let rangeFlag: Int64
  /// The end of the range, if the device gave it.
  package let threshold: Double?

  /// A measurement of columns that were read one by one.
  init(value: Double?, unit: Int64, rangeFlag: Int64, threshold: Double?) {
    (self.value, self.unit, self.rangeFlag, self.threshold) = (value, unit, rangeFlag, threshold)
  }

  /// The columns of a measurement.
  @inlinable @inline(__always) package init(_ measurement: Measurement) {
    switch measurement {
    case .value(let quantity): (value, rangeFlag, threshold) = (quantity.number, 0, nil)
    case .low(let below, _): (value, rangeFlag, threshold) = (nil, 1, below)
    case .high(let above, _): (value, rangeFlag, threshold) = (nil, 2, above)
    }
    unit = Int64(measurement.unit.rawValue)
  }

  /// The four columns of a row from this one on.
  @inlinable @inline(__always) package init(_ row: RawStatement, from column: Int32) {
    value = row.number(column)
    unit = row.integer(column + 1)
    rangeFlag = row.integer(column + 2)
    threshold = row.number(column + 3)
  }

  /// The four columns of a row from this one on; a row without a threshold has three.
  package init(_ row: StoredRow, from column: Int, hasThreshold: Bool = true) throws {
    value = try row[column]
    unit = try row[column + 1]
    rangeFlag = try row[column + 2]
    threshold = hasThreshold ? try row[column + 3] : nil
  }

  /// Binds four parameters from this one on.
  @inlinable @inline(__always) package func bind(to row: RawStatement, from index: Int32) {
    row.bind(value, at: index)
    row.bind(unit, at: index + 1)
    row.bind(rangeFlag, at: index + 2)
    row.bind(threshold, at: index + 3)
  }

  /// The measurement in the columns.
  ///
  /// - Parameter row: names the row in the error.
  @inlinable package func measurement(in row: @autoclosure () -> String) throws(DamagedRow) -> Measurement {
    guard let code = UInt8(exactly: unit), let unit = GlucoseUnit(rawValue: code) else {
      throw DamagedRow(row(), "unknown unit \(self.unit)")
    }
    // One after the other: a list of both would be allocated for each row.
    if let value, !PlausibleAmounts.stated.contains(value) { throw DamagedRow(row(), "unknown value") }
    if let threshold, !PlausibleAmounts.stated.contains(threshold) {
      throw DamagedRow(row(), "unknown threshold")
    }
    switch (rangeFlag, value) {
    case (0, let value?): return .value(Quantity(value, unit))
    case (0, nil): throw DamagedRow(row(), "value is NULL")
    case (1, _): return .low(below: threshold, unit)
    case (2, _): return .high(above: threshold, unit)
    default: throw DamagedRow(row(), "unknown range_flag \(rangeFlag)")
    }
  }
}
