// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Reads the readings of one partition of the table `reading` in the order of the primary key, which is
/// nearly the order of time. Only the readings of a short period are in memory, where they are sorted.
final class PartitionWalk: ReadingSource {
  /// How the order of positions differs from the order of time.
  enum Clock {
    /// The positions are shown times, or instants near them.
    case position(PositionSpan)
    /// The position is a count. A reading is at most `lag` seconds older than one with a smaller position.
    case count(lag: Int64)
  }

  private(set) var head: OrderedReading?
  private let rows: RawStatement
  private let list: SeriesList
  private let order: ListOrder
  private let clock: Clock
  /// For each index in the list of series, whether this `PartitionWalk` reads the series. The partition may
  /// also contain other series.
  private let isWalked: [Bool]
  private let instants: Range<Int64>
  private var queue: OrderingQueue
  /// Among the instants of the readings that were already read, the one that comes last in the listing. Only
  /// used if positions are counts.
  private var furthest: Int64
  private var isAtEnd = false

  /// - Parameter bounds: the positions between which the series have readings.
  init(
    _ database: Database, _ series: [ListedSeries], partition: Int64, _ clock: Clock,
    bounds: ClosedRange<Int64>,
    _ list: SeriesList, _ filter: ItemFilter, _ order: ListOrder
  ) throws {
    var bounds = bounds
    if case .position(let span) = clock {
      bounds = span.positions(since: filter.since, until: filter.until).clamped(to: bounds)
    }
    rows = try RawStatement(of: database, Self.sql(filter, order))
    rows.bind(partition, at: 1)
    rows.bind(bounds.lowerBound, at: 2)
    rows.bind(bounds.upperBound, at: 3)
    let since = filter.since ?? .min
    instants = since..<max(since, filter.until ?? .max)
    let ids = Set(series.map(\.id))
    isWalked = list.all.map { ids.contains($0.id) }
    (self.list, self.order, self.clock) = (list, order, clock)
    queue = OrderingQueue(order)
    furthest = order.isDescending ? .max : .min
    _ = try advance()
  }

  static func sql(_ filter: ItemFilter, _ order: ListOrder) -> String {
    let direction = order.direction
    return """
      SELECT \(OrderedReading.columns) FROM reading AS r
      WHERE r.partition = ?1 AND r.position >= ?2 AND r.position <= ?3 AND \(filter.readingCondition)
      ORDER BY r.position \(direction), r.series \(direction), r.value_bucket \(direction), r.occurrence \(direction)
      """
  }

  var instant: Int64? { head?.utc }

  func advance() throws -> Bool {
    while true {
      head = queue.next(isAtEnd: isAtEnd)
      if head != nil { return true }
      if isAtEnd { return false }
      if try rows.step() { try readRow() } else { isAtEnd = true }
    }
  }

  private func readRow() throws {
    if case .position(let span) = clock {
      queue.advance(to: span.second(rows.integer(1)), slack: span.slack)
    }
    guard let reading = try OrderedReading(rows, in: list), isWalked[Int(reading.reading.device.number)],
      instants.contains(reading.utc)
    else { return }
    if case .count(let lag) = clock {
      if !order.isFirst(reading.utc, furthest) { furthest = reading.utc }
      // One second is added, since another reading may have exactly this instant.
      queue.advance(to: furthest, slack: lag + 1)
    }
    queue.add(reading)
  }
}

/// Sorts readings that arrive nearly in the order of time.
struct OrderingQueue {
  private let order: ListOrder
  private var held: [OrderedReading] = []
  private var start = 0
  /// Every reading that is added later comes after this instant in the listing.
  private var reach: Int64

  init(_ order: ListOrder) {
    self.order = order
    reach = order.isDescending ? .max : .min
  }

  /// States that every further reading comes after this second in the listing, or at most `slack` seconds
  /// before it.
  @inline(__always)
  mutating func advance(to second: Int64, slack: Int64) {
    reach = order.isDescending ? second &+ slack : second &- slack
  }

  /// Adds the next reading.
  mutating func add(_ reading: OrderedReading) {
    // Most readings come after all readings in the queue, so the search starts at its end.
    var place = held.count
    while place > start, order.isFirst(reading, held[place - 1]) { place -= 1 }
    if place == held.count { held.append(reading) } else { held.insert(reading, at: place) }
  }

  /// The next reading in the order of time; nil if readings that are still to be added may come before it.
  @inline(__always)
  mutating func next(isAtEnd: Bool) -> OrderedReading? {
    guard start < held.count, isAtEnd || !order.isFirst(reach, held[start].utc) else { return nil }
    let reading = held[start]
    start += 1
    if start == held.count || start >= 4096 {
      held.removeFirst(start)
      start = 0
    }
    return reading
  }
}
