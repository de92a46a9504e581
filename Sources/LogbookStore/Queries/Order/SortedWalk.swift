// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Reads readings that the table does not have in the order of time, so that SQLite must sort them.
final class SortedWalk: ReadingSource {
  /// The duration in seconds of the first period that is sorted, if the newest readings come first. A list of
  /// the newest few readings needs no longer period.
  private static let firstStretch: Int64 = 86_400

  private(set) var head: OrderedReading?
  private let rows: RawStatement
  private let list: SeriesList
  private let order: ListOrder
  /// The range of instants that are not sorted yet; nil after the last period.
  private var instants: ClosedRange<Int64>?
  private var stretch = SortedWalk.firstStretch

  /// - Parameters:
  ///   - ids: the ids of the series, separated by commas.
  ///   - instants: a range that contains all instants of the series.
  init(
    _ database: Database, _ ids: String, _ instants: ClosedRange<Int64>, _ list: SeriesList,
    _ filter: ItemFilter,
    _ order: ListOrder
  ) throws {
    rows = try RawStatement(of: database, Self.sql(filter, ids, order))
    (self.list, self.order, self.instants) = (list, order, instants)
    if sortNext() { _ = try advance() }
  }

  var instant: Int64? { head?.utc }

  func advance() throws -> Bool {
    while true {
      if try rows.step() {
        guard let next = try OrderedReading(rows, in: list) else { continue }
        head = next
        return true
      }
      guard sortNext() else {
        head = nil
        return false
      }
    }
  }

  /// Starts the SQL query for the next period; returns false after the last one. If the oldest readings come
  /// first, the whole range is one period, since all readings are needed.
  private func sortNext() -> Bool {
    guard let (first, last) = instants.map({ ($0.lowerBound, $0.upperBound) }) else { return false }
    let start = order.isDescending && last - first > stretch ? last - stretch : first
    rows.bind(start, at: 1)
    rows.bind(last, at: 2)
    instants = start == first ? nil : first...start - 1
    stretch *= 4
    return true
  }

  static func sql(_ filter: ItemFilter, _ ids: String, _ order: ListOrder) -> String {
    let keys = [
      OrderedReading.instant, "s.device", "s.kind", "s.position_kind", "r.position", "r.value_bucket",
      "r.occurrence",
    ]
    return """
      SELECT \(OrderedReading.columns) FROM \(source(filter, ids))
      ORDER BY \(keys.map { "\($0) \(order.direction)" }.joined(separator: ", "))
      """
  }

  /// The SQL source of rows: the readings of these series between the instants in the first two parameters.
  static func source(_ filter: ItemFilter, _ ids: String) -> String {
    """
    series AS s CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
      WHERE s.id IN (\(ids)) AND \(OrderedReading.isWithin) AND \(filter.readingCondition)
    """
  }
}
