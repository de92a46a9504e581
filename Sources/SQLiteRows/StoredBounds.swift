// SPDX-License-Identifier: Apache-2.0

/// The valid ranges of stored numbers. Every import into a store refuses other numbers, so one outside is from another
/// program or a damaged disk. Sums and products of valid numbers never overflow.
package enum StoredBounds {
  /// Seconds since 1970 in the years 1 to 9999, shown or in UTC. There is one more day on both sides for an offset.
  package static let seconds: ClosedRange<Int64> = -62_135_683_200...253_402_387_199
  /// Seconds east of Greenwich.
  package static let offset: ClosedRange<Int64> = -86_399...86_399
  /// Numbers of rows, versions and items. A JSON number holds them exactly.
  package static let count: ClosedRange<Int64> = 0...(1 << 53)

  /// A condition in SQL that is true for NULL and for a number within the bounds.
  package static func check(_ column: String, _ bounds: ClosedRange<Int64>) -> String {
    "\(column) BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)"
  }
}

extension RawStatement {
  /// A column with seconds since 1970 in a row of readings.
  ///
  /// - Parameter name: names the row in the error.
  @inlinable @inline(__always)
  package func seconds(_ column: Int32, in name: @autoclosure () -> String) throws(DamagedRow) -> Int64 {
    guard let seconds = exactInteger(column) else { throw DamagedRow(name(), misfit(column)) }
    guard StoredBounds.seconds.contains(seconds) else { throw DamagedRow(name(), "unknown device_time") }
    return seconds
  }
}
