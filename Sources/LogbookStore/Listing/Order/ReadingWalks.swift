// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A reading that is being sorted by time. It contains no references, so copies of millions of such values
/// are cheap.
struct OrderedReading: BitwiseCopyable {
  /// The reading. Its `device` is the index of its series in the `SeriesList`.
  let reading: Reading
  /// The instant in UTC seconds.
  let utc: Int64
  /// The value in tenths of mmol/L, a code for LO or HI, or 0; see `Reading.valueBucket`.
  let valueBucket: Int64
  /// The number of the ingest that stored the reading.
  let ingest: Int64
  /// Whether the remote has the reading.
  let isUploaded: Bool
  /// Whether a withdrawal hides the reading.
  let isWithdrawn: Bool

  /// The SQL columns that `init` reads, for a reading `r`.
  static let columns = """
    r.series, r.position, r.value_bucket, r.occurrence, \(StoredOffset.columns("r")), r.ingest, r.uploaded, \(Withdrawn.reading)
    """

  /// The SQL expression for the instant of a reading `r`, in UTC seconds.
  static let instant = "r.device_time - \(StoredOffset.sql("r"))"

  /// The SQL condition that the instant of a reading `r` is between the first two parameters. With BETWEEN,
  /// SQLite computes the instant only once. A damaged row without an instant meets the condition, so that
  /// reading it reports the damage.
  static let isWithin = "coalesce(\(instant) BETWEEN ?1 AND ?2, TRUE)"

  /// Reads a row; nil if the series of the reading is not listed.
  @inline(__always)
  init?(_ row: RawStatement, in list: SeriesList) throws(DamagedRow) {
    let place = StoredPlace(row, from: 0)
    guard let series = list.index(of: place.series) else { return nil }
    reading = try row.reading(at: place, of: list.stored[series], from: 4)
    utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    valueBucket = place.valueBucket
    ingest = row.integer(12)
    isUploaded = row.integer(13) != 0
    isWithdrawn = row.integer(14) != 0
  }

  /// Whether this reading is listed before another one, with the oldest first. They are compared by instant,
  /// then by series, then by the rest of the identity.
  @inline(__always)
  func precedes(_ other: OrderedReading) -> Bool {
    if utc != other.utc { return utc < other.utc }
    let (mine, theirs) = (reading, other.reading)
    if mine.device != theirs.device { return mine.device.number < theirs.device.number }
    if mine.position != theirs.position { return mine.position < theirs.position }
    if valueBucket != other.valueBucket { return valueBucket < other.valueBucket }
    return mine.occurrence < theirs.occurrence
  }
}

/// The order of a listing: oldest or newest first.
struct ListOrder {
  let isDescending: Bool

  /// The keyword for ORDER BY in SQL.
  var direction: String { isDescending ? "DESC" : "ASC" }

  /// Whether one reading is listed before another.
  @inline(__always)
  func isFirst(_ one: OrderedReading, _ other: OrderedReading) -> Bool {
    isDescending ? other.precedes(one) : one.precedes(other)
  }

  /// Whether one instant is listed before another one; false if they are equal.
  @inline(__always)
  func isFirst(_ one: Int64, _ other: Int64) -> Bool { isDescending ? one > other : one < other }
}

/// A source of readings in the order of the listing.
protocol ReadingSource: AnyObject {
  /// The next reading that the listing has not taken yet; nil at the end.
  var head: OrderedReading? { get }
  /// The instant of `head`, which can be read without copying a large value.
  var instant: Int64? { get }
  /// Moves `head` to the following reading; returns false at the end.
  func advance() throws -> Bool
}

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
