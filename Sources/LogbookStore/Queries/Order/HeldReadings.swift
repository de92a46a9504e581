// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Readings of counted series that are few enough to be read at once and sorted in memory.
final class HeldReadings: ReadingSource {
  private let readings: [OrderedReading]
  private var next = 0

  /// Nil if there are more than `limit` readings.
  ///
  /// - Parameter ids: the numbers of the series.
  init?(
    _ database: Database, _ ids: String, limit: Int, _ list: SeriesList, _ filter: ItemFilter,
    _ order: ListOrder
  ) throws {
    let rows = try RawStatement(
      of: database, "SELECT \(OrderedReading.columns) FROM \(SortedWalk.source(filter, ids))")
    rows.bind(filter.since ?? .min, at: 1)
    rows.bind(filter.lastInstant, at: 2)
    var readings: [OrderedReading] = []
    while try rows.step() {
      guard let reading = try OrderedReading(rows, in: list) else { continue }
      guard readings.count < limit else { return nil }
      readings.append(reading)
    }
    readings.sort(by: order.isFirst)
    self.readings = readings
  }

  /// The number of readings in memory, including those already returned.
  var count: Int { readings.count }

  var head: OrderedReading? { next < readings.count ? readings[next] : nil }

  var instant: Int64? { next < readings.count ? readings[next].utc : nil }

  func advance() -> Bool {
    next += 1
    return next < readings.count
  }
}
