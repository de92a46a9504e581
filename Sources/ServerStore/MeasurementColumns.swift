// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A measurement as four columns hold it.
struct MeasurementColumns {
  let value: Double?
  let unit: Int64
  /// 0 within the device's range, 1 below, 2 above.
  let rangeFlag: Int64
  let threshold: Double?

  @inline(__always) init(_ measurement: Measurement) {
    unit = Int64(measurement.unit.rawValue)
    switch measurement {
    case .value(let quantity): (value, rangeFlag, threshold) = (quantity.number, 0, nil)
    case .low(let below, _): (value, rangeFlag, threshold) = (nil, 1, below)
    case .high(let above, _): (value, rangeFlag, threshold) = (nil, 2, above)
    }
  }

  /// The columns of a row from this one on.
  @inline(__always) init(_ row: RawRow, from column: Int32) {
    value = row.number(column)
    unit = row.integer(column + 1)
    rangeFlag = row.integer(column + 2)
    threshold = row.number(column + 3)
  }

  @inline(__always) func bind(to row: RawRow, from index: Int32) {
    row.bind(value, at: index)
    row.bind(unit, at: index + 1)
    row.bind(rangeFlag, at: index + 2)
    row.bind(threshold, at: index + 3)
  }

  var measurement: Measurement {
    let unit: GlucoseUnit = unit == 0 ? .milligramsPerDecilitre : .millimolesPerLitre
    return switch rangeFlag {
    case 1: .low(below: threshold, unit)
    case 2: .high(above: threshold, unit)
    default: .value(Quantity(value ?? 0, unit))
    }
  }
}
