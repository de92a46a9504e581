// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Readings of an input in any order, by series and in packed form: a file may have millions of withdrawn
/// readings.
struct MetReadings {
  /// The number of readings of a series that are packed together.
  private static let maxOpen = 16_384

  private var packed: [Int64: [PointRuns]] = [:]
  private var open: [Int64: [SeriesPoint]] = [:]

  mutating func add(_ point: SeriesPoint, of series: Int64) {
    open[series, default: []].append(point)
    if open[series]?.count == Self.maxOpen { pack(series) }
  }

  /// All readings, in one or more lists for each series.
  mutating func lists() -> [Int64: [PointRuns]] {
    for series in open.keys { pack(series) }
    return packed
  }

  private mutating func pack(_ series: Int64) {
    guard let points = open.removeValue(forKey: series) else { return }
    packed[series, default: []].append(PointRuns(Set(points).sorted()))
  }
}
