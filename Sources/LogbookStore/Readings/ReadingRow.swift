// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook
import SQLiteRows

/// One reading as the columns of the table `reading`, except `ingest` and `uploaded`.
struct ReadingRow {
  var partition: Int64 = 0
  var position: Int64 = 0
  var series: Int64 = 0
  var valueBucket: Int64 = 0
  var occurrence: Int64 = 0
  var deviceTime: Int64 = 0
  var placement = Placement(utcOffset: 0, source: .stated)
  var measurement = StoredMeasurement(.low(below: nil, .milligramsPerDecilitre))
  var marks: ReadingMarks = []

  init() {}

  @inline(__always)
  init(_ item: BatchOrder.Item, _ reading: Reading, _ series: Series) {
    (partition, position, self.series) = (series.partition, reading.position, series.id)
    (valueBucket, occurrence) = (item.valueBucket, item.occurrence)
    deviceTime = reading.deviceTime.seconds
    placement = reading.placement
    measurement = StoredMeasurement(reading.measurement)
    marks = reading.marks
  }

  /// The columns of the table `batch`, in the order in which `setResult` numbers them.
  static let columns = """
    partition, position, series, value_bucket, occurrence, device_time, stated_offset, derived_offset, offset_source,
    value, unit, range_flag, threshold, marks
    """

  /// The values for `columns` if all rows are alike. Half of them are read from the table `batch`. The
  /// parameters from `?3` on are the values that all rows share.
  static let valuesIfAlike = """
    ?3, position, series, value_bucket, 0, device_time, stated_offset, derived_offset, ?4, value, ?5, 0, NULL, ?6
    """

  /// Whether the row and the first row differ only in the columns that `valuesIfAlike` reads from the table.
  @inline(__always)
  func isAlike(_ first: ReadingRow) -> Bool {
    occurrence == 0 && measurement.rangeFlag == 0 && measurement.threshold == nil
      && partition == first.partition && placement.source == first.placement.source
      && measurement.unit == first.measurement.unit && marks == first.marks
  }

  /// Binds the parameters of `valuesIfAlike`.
  func bindShared(to insert: RawStatement) {
    insert.bind(partition, at: 3)
    insert.bind(Int64(placement.source.rawValue), at: 4)
    insert.bind(measurement.unit, at: 5)
    insert.bind(Int64(marks.rawValue), at: 6)
  }

  /// Returns one column to SQLite.
  @inline(__always)
  func setResult(_ column: Int32, to context: OpaquePointer?) {
    switch column {
    case 0: sqlite3_result_int64(context, partition)
    case 1: sqlite3_result_int64(context, position)
    case 2: sqlite3_result_int64(context, series)
    case 3: sqlite3_result_int64(context, valueBucket)
    case 4: sqlite3_result_int64(context, occurrence)
    case 5: sqlite3_result_int64(context, deviceTime)
    case 6: Self.setResult(placement, if: !placement.source.isDerived, to: context)
    case 7: Self.setResult(placement, if: placement.source.isDerived, to: context)
    case 8: sqlite3_result_int64(context, Int64(placement.source.rawValue))
    case 9: Self.setResult(measurement.value, to: context)
    case 10: sqlite3_result_int64(context, measurement.unit)
    case 11: sqlite3_result_int64(context, measurement.rangeFlag)
    case 12: Self.setResult(measurement.threshold, to: context)
    default: sqlite3_result_int64(context, Int64(marks.rawValue))
    }
  }

  @inline(__always)
  private static func setResult(_ placement: Placement, if isSet: Bool, to context: OpaquePointer?) {
    if isSet {
      sqlite3_result_int64(context, Int64(placement.utcOffset))
    } else {
      sqlite3_result_null(context)
    }
  }

  @inline(__always)
  private static func setResult(_ number: Double?, to context: OpaquePointer?) {
    if let number { sqlite3_result_double(context, number) } else { sqlite3_result_null(context) }
  }
}

extension StoredMeasurement {
  /// Whether the value, the unit and the range flag in a stored row agree with a measurement. `column` is the
  /// index of the first of these three columns.
  static func agrees(_ row: RawStatement, from column: Int32, with measurement: Measurement) -> Bool {
    let parts = StoredMeasurement(measurement)
    guard row.integer(column + 2) == parts.rangeFlag else { return false }
    guard let value = parts.value else { return true }
    guard let number = row.number(column) else { return false }
    if row.integer(column + 1) == parts.unit { return number == value }
    let unit: GlucoseUnit = parts.unit == 0 ? .millimolesPerLitre : .milligramsPerDecilitre
    return Quantity(number, unit).tenthsOfMillimole == measurement.valueBucket
  }
}
