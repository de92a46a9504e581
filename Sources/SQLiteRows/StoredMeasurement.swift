// SPDX-License-Identifier: Apache-2.0

package import Logbook

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
    for number in [value, threshold].compactMap(\.self) where !PlausibleAmounts.stated.contains(number) {
      throw DamagedRow(row(), number == value ? "unknown value" : "unknown threshold")
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
