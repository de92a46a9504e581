// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Series whose positions are no times, such as record numbers, until the listing reaches them.
struct CountedSeries {
  /// With a longer lag, SQLite sorts the readings instead. Setting a clock changes it by hours, seldom by
  /// days.
  private static let maxLag: Int64 = 172_800

  /// All possible instants.
  private static let instants =
    StoredBounds.seconds.lowerBound - PositionSpan.maxOffset...StoredBounds.seconds.upperBound
    + PositionSpan.maxOffset

  private let series: [ListedSeries]
  /// The first and the last instant, or bounds of these.
  private var instants: ClosedRange<Int64>
  /// The maximum number of seconds by which a reading is older than one with a smaller position; nil if
  /// unknown.
  private var lag: Int64?
  /// Whether `instants` are exactly the first and the last.
  private(set) var isMeasured = false

  init(_ series: some Sequence<ListedSeries>) {
    self.series = Array(series)
    let first = self.series.map(\.instants.lowerBound).min() ?? .max
    instants = first...(self.series.map(\.instants.upperBound).max() ?? .max)
  }

  /// The listing has none of these readings before this instant.
  func bound(_ order: ListOrder) -> Int64 { order.isDescending ? instants.upperBound : instants.lowerBound }

  /// Finds the first and the last instant and the lag, in a fraction of the time that sorting takes. False if
  /// there are no readings.
  mutating func measure(_ database: Database, _ filter: ItemFilter) throws -> Bool {
    let rows = try RawStatement(of: database, measuringSQL(filter))
    rows.bind(filter.since ?? .min, at: 1)
    rows.bind(filter.lastInstant, at: 2)
    var (first, last, lag) = (Int64.max, Int64.min, Int64(0))
    while try rows.step() {
      // A damaged row can have any instant. It is reported when it is read.
      let instant = min(max(rows.integer(0), Self.instants.lowerBound), Self.instants.upperBound)
      if instant < last { lag = max(lag, last - instant) }
      first = min(first, instant)
      last = max(last, instant)
    }
    guard first <= last else { return false }
    (instants, isMeasured) = (first...last, true)
    self.lag = series.count == 1 && lag <= Self.maxLag ? lag : nil
    return true
  }

  /// Reads everything at once; nil if there are more than `limit` readings.
  func held(
    _ database: Database, limit: Int, _ list: SeriesList, _ filter: ItemFilter, _ order: ListOrder
  ) throws -> HeldReadings? {
    try HeldReadings(database, ids, limit: limit, list, filter, order)
  }

  /// Starts reading.
  func walk(
    _ database: Database, _ list: SeriesList, _ filter: ItemFilter, _ order: ListOrder
  ) throws -> any ReadingSource {
    guard let lag, let only = series.first else {
      return try SortedWalk(database, ids, instants, list, filter, order)
    }
    return try PartitionWalk(
      database, series, partition: only.partition, .count(lag: lag), bounds: .min...(.max), list, filter,
      order)
  }

  private var ids: String { series.map { String($0.id) }.joined(separator: ",") }

  /// The SQL for the instants. With one series, they are in the order of its key.
  private func measuringSQL(_ filter: ItemFilter) -> String {
    guard series.count == 1, let only = series.first else {
      return "SELECT \(OrderedReading.instant) FROM \(SortedWalk.source(filter, ids))"
    }
    return """
      SELECT \(OrderedReading.instant) FROM reading AS r
      WHERE r.partition = \(only.partition) AND r.series = \(only.id)
        AND \(OrderedReading.isWithin) AND \(filter.readingCondition)
      ORDER BY r.position
      """
  }
}
