// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// The properties that all readings of a series have in common, for building a batch.
package struct StoredSeries: Sendable {
  /// The index of the device in the batch.
  package let device: DeviceIndex
  /// The kind of measurement.
  package let kind: ReadingKind
  /// Whether the shown time or the device's tick determines the positions.
  package let positionKind: PositionKind

  /// A series of a device of the batch.
  package init(device: DeviceIndex, kind: ReadingKind, positionKind: PositionKind) {
    (self.device, self.kind, self.positionKind) = (device, kind, positionKind)
  }
}

/// The four columns that identify a reading in a file.
@usableFromInline package struct StoredPlace: Hashable, Sendable {
  /// The id of the series.
  @usableFromInline package let series: Int64
  /// The shown time in civil seconds, or the device's tick.
  @usableFromInline package let position: Int64
  /// The value in tenths of mmol/L, a code for LO or HI, or 0; see `Reading.valueBucket`.
  @usableFromInline package let valueBucket: Int64
  /// The number that separates readings which are equal in the three other columns: 0, 1, 2 and so on.
  @usableFromInline package let occurrence: Int64

  /// Reads the four columns, beginning with `column`.
  @inlinable @inline(__always) package init(_ row: RawStatement, from column: Int32) {
    series = row.integer(column)
    position = row.integer(column + 1)
    valueBucket = row.integer(column + 2)
    occurrence = row.integer(column + 3)
  }

  /// The columns with these values.
  @inlinable package init(series: Int64, position: Int64, valueBucket: Int64, occurrence: Int64) {
    (self.series, self.position) = (series, position)
    (self.valueBucket, self.occurrence) = (valueBucket, occurrence)
  }

  /// The description of the row for an error.
  package var name: String {
    "reading (series \(series), position \(position), value_bucket \(valueBucket), occurrence \(occurrence))"
  }
}

extension RawStatement {
  /// The columns of a reading that `reading(at:of:from:named:)` reads, in order.
  package static let readingColumns = [
    "device_time", "utc_offset", "offset_source", "value", "unit", "range_flag", "threshold", "marks",
  ]

  /// Reads a reading from eight columns, beginning with `column`.
  ///
  /// - Parameter name: the description of the row for an error; nil for `place.name`.
  package func reading(
    at place: StoredPlace, of series: StoredSeries, from column: Int32, named name: String? = nil
  ) throws(DamagedRow) -> Reading {
    func damage(_ reason: String) -> DamagedRow { DamagedRow(name ?? place.name, reason) }
    func whole(_ place: Int32) throws(DamagedRow) -> Int64 {
      guard let number = exactInteger(column + place) else { throw damage(typeProblem(column + place)) }
      return number
    }
    func amount(_ place: Int32) throws(DamagedRow) -> Double? {
      let (number, fits) = exactNumber(column + place)
      guard fits else { throw damage(typeProblem(column + place)) }
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
    // The stored value bucket must match the value. Otherwise other stores would compute another identity.
    guard reading.valueBucket == place.valueBucket else {
      throw damage("its bucket does not match its value")
    }
    return reading
  }
}

/// A measurement as four columns: value, unit, range flag, threshold.
@usableFromInline package struct StoredMeasurement {
  /// The measured number; nil if it is outside the device's range.
  @usableFromInline package let value: Double?
  /// The raw value of the unit.
  @usableFromInline package let unit: Int64
  /// 0 for a value within the device's range, 1 for LO, 2 for HI.
  @usableFromInline package let rangeFlag: Int64
  /// The limit of the range for LO or HI; nil if the device did not state it.
  @usableFromInline package let threshold: Double?

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

  /// Reads four columns, beginning with `column`.
  @inlinable @inline(__always) package init(_ row: RawStatement, from column: Int32) {
    value = row.number(column)
    unit = row.integer(column + 1)
    rangeFlag = row.integer(column + 2)
    threshold = row.number(column + 3)
  }

  /// Reads four columns, beginning with `column`, or three if the rows have no threshold.
  package init(_ row: StoredRow, from column: Int, hasThreshold: Bool = true) throws {
    value = try row[column]
    unit = try row[column + 1]
    rangeFlag = try row[column + 2]
    threshold = hasThreshold ? try row[column + 3] : nil
  }

  /// Binds four parameters, beginning with `index`.
  @inlinable @inline(__always) package func bind(to row: RawStatement, from index: Int32) {
    row.bind(value, at: index)
    row.bind(unit, at: index + 1)
    row.bind(rangeFlag, at: index + 2)
    row.bind(threshold, at: index + 3)
  }

  /// The measurement that the columns contain.
  ///
  /// - Parameter row: the description of the row for an error.
  @inlinable package func measurement(in row: @autoclosure () -> String) throws(DamagedRow) -> Measurement {
    guard let code = UInt8(exactly: unit), let unit = GlucoseUnit(rawValue: code) else {
      throw DamagedRow(row(), "unknown unit \(self.unit)")
    }
    // The two checks are separate, since a list of both numbers would allocate memory for each row.
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
