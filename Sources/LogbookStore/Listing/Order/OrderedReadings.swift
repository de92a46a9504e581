// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The readings of a listing in the order of time, oldest or newest first. Only the rows of requested
/// readings are read, whatever the size of the store. Series whose positions are counts (`CountedSeries`) are
/// the exception: some of them are read completely into memory. The number of readings in memory is limited;
/// see `PartitionWalk`, `HeldReadings` and `CountedSeries`.
struct OrderedReadings {
  /// The maximum number of `CountedSeries` in a listing. Each one keeps a prepared SQL statement. So if the
  /// store has more such series, several are read with one statement.
  private static let maxCountedWalks = 64
  /// The maximum number of readings in memory, of 96 bytes each. For comparison: a sensor's transmitter takes
  /// 26,000 readings in the three months of its battery.
  private static let maxHeld = 65_536

  private let database: Database
  private let filter: ItemFilter
  private let list: SeriesList
  private let order: ListOrder
  private let refusals: Refusals
  private let maxHeld: Int
  private var active: [any ReadingSource] = []
  /// The series whose readings the listing has not reached yet, or may not have reached. The last series in
  /// this array is reached next.
  private var waiting: [CountedSeries]
  /// The `bound` of the last series in `waiting`; nil if none is left.
  private var nextBound: Int64?

  /// - Parameter maxHeld: the maximum number of readings of counted series that are sorted in memory.
  init(
    _ database: Database, _ filter: ItemFilter, isDescending: Bool, maxHeld: Int = OrderedReadings.maxHeld
  ) throws {
    let order = ListOrder(isDescending: isDescending)
    let list = try SeriesList(database, filter)
    (self.database, self.filter, self.order, self.list) = (database, filter, order, list)
    self.maxHeld = maxHeld
    refusals = try Refusals(database)
    waiting = Self.groups(list.all.filter { $0.positionMeaning == .count }).map { CountedSeries($0) }
    waiting.sort { order.isFirst($1.bound(order), $0.bound(order)) }
    nextBound = waiting.last?.bound(order)
    let partitions = Dictionary(grouping: list.all.filter { $0.positionMeaning != .count }, by: \.partition)
    for (partition, series) in partitions {
      let bounds = filter.includesDevice == nil ? Int64.min...Int64.max : Self.bounds(series)
      let span = PositionSpan(isInstant: series.first?.positionMeaning == .instant)
      add(
        try PartitionWalk(
          database, series, partition: partition, .position(span), bounds: bounds, list, filter, order))
    }
  }

  private mutating func add(_ source: any ReadingSource) {
    if source.head != nil { active.append(source) }
  }

  /// The next reading; nil after the last one.
  mutating func next() throws -> StoredReading? {
    while true {
      while let nextBound, isReached(nextBound) { try reachNearest() }
      guard let source = firstActive, let next = source.head else { return nil }
      if try !source.advance() { active.removeAll { $0 === source } }
      if filter.isShown(next.reading.deviceTime) { return try stored(next) }
    }
  }

  private var firstActive: (any ReadingSource)? {
    guard active.count > 1 else { return active.first }
    return active.min { one, other in
      guard let mine = one.head, let theirs = other.head else { return one.head != nil }
      return order.isFirst(mine, theirs)
    }
  }

  /// Whether the waiting series that have this bound may have a reading which is listed before the next
  /// reading of the active sources.
  private func isReached(_ bound: Int64) -> Bool {
    guard let instant = firstActive?.instant else { return true }
    return !order.isFirst(instant, bound)
  }

  /// Prepares the next waiting series. A small series is read into memory. In a large series, the instants
  /// are measured first. When the listing reaches it again, its rows are read one after the other.
  private mutating func reachNearest() throws {
    var nearest = waiting.removeLast()
    defer { nextBound = waiting.last?.bound(order) }
    if let held = try readIntoMemory(nearest) {
      add(held)
    } else if nearest.isMeasured {
      add(try nearest.startWalk(database, list, filter, order))
    } else if try nearest.measure(database, filter) {
      let bound = nearest.bound(order)
      let place = waiting.firstIndex { order.isFirst($0.bound(order), bound) } ?? waiting.count
      waiting.insert(nearest, at: place)
    }
  }

  /// A series that is read into memory as a whole; nil if it is too large. Listings with the newest first
  /// usually need few readings, so they read no series as a whole.
  private func readIntoMemory(_ series: CountedSeries) throws -> HeldReadings? {
    guard !order.isDescending, !series.isMeasured else { return nil }
    let others = active.reduce(0) { $0 + (($1 as? HeldReadings)?.count ?? 0) }
    return try series.readIntoMemory(database, limit: maxHeld - others, list, filter, order)
  }

  private func stored(_ next: OrderedReading) throws -> StoredReading {
    let place = Int(next.reading.device.number)
    let refusal = try refusals.reason(of: next) { list.all[place].id }
    return StoredReading(next, of: list.all[place], refusal: refusal)
  }

  /// Groups of series that follow each other in time, so that there are at most `maxCountedWalks` groups.
  private static func groups(_ series: [ListedSeries]) -> [ArraySlice<ListedSeries>] {
    let sorted = series.sorted { $0.instants.lowerBound < $1.instants.lowerBound }
    let size = max(1, (sorted.count + maxCountedWalks - 1) / maxCountedWalks)
    return stride(from: 0, to: sorted.count, by: size).map { sorted[$0..<min($0 + size, sorted.count)] }
  }

  private static func bounds(_ series: [ListedSeries]) -> ClosedRange<Int64> {
    let first = series.map(\.bounds.lowerBound).min() ?? .min
    return first...max(first, series.map(\.bounds.upperBound).max() ?? .max)
  }
}

/// The remote's reasons for readings that it refused permanently. Most stores have none, so usually no SQL
/// query is made.
private struct Refusals {
  private let lookup: Statement?

  init(_ database: Database) throws {
    let exist = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM refusal)") ?? false
    lookup =
      try exist
      ? database.makeStatement(
        sql:
          "SELECT reason FROM refusal WHERE series = ? AND position = ? AND value_bucket = ? AND occurrence = ?"
      )
      : nil
  }

  func reason(of next: OrderedReading, series: () -> Int64) throws -> String? {
    guard let lookup, !next.isUploaded else { return nil }
    let reading = next.reading
    return try String.fetchOne(
      lookup, arguments: [series(), reading.position, next.valueBucket, Int64(reading.occurrence)])
  }
}

extension StoredReading {
  fileprivate init(_ next: OrderedReading, of series: ListedSeries, refusal: String?) {
    let reading = next.reading
    (deviceID, device, kind, positionKind) = (
      series.deviceID, series.device, series.kind, series.positionKind
    )
    (position, valueBucket, occurrence) = (reading.position, next.valueBucket, Int64(reading.occurrence))
    (deviceTime, placement, measurement) = (reading.deviceTime, reading.placement, reading.measurement)
    (marks, ingest) = (reading.marks, next.ingest)
    (isUploaded, isWithdrawn) = (next.isUploaded, next.isWithdrawn)
    self.refusal = refusal
    partition = series.partition
  }
}

/// Series whose positions are counts, such as record numbers, and not times. They wait until the listing
/// reaches the first instant at which they can have a reading.
struct CountedSeries {
  /// The maximum `lag`, in seconds. If the measured lag is longer, SQLite sorts the readings instead. Setting
  /// a meter's clock changes it by hours, and rarely by days.
  private static let maxLag: Int64 = 172_800

  /// The range of all possible instants, in UTC seconds.
  private static let instants =
    StoredBounds.seconds.lowerBound - PositionSpan.maxOffset...StoredBounds.seconds.upperBound
    + PositionSpan.maxOffset

  private let series: [ListedSeries]
  /// A range that contains the first and the last instant.
  private var instants: ClosedRange<Int64>
  /// The maximum number of seconds by which a reading is older than one with a smaller position; nil if not
  /// measured.
  private var lag: Int64?
  /// Whether `instants` begins exactly at the first instant and ends at the last.
  private(set) var isMeasured = false

  init(_ series: some Sequence<ListedSeries>) {
    self.series = Array(series)
    let first = self.series.map(\.instants.lowerBound).min() ?? .max
    instants = first...(self.series.map(\.instants.upperBound).max() ?? .max)
  }

  /// The first instant in the order of the listing at which these series can have a reading.
  func bound(_ order: ListOrder) -> Int64 { order.isDescending ? instants.upperBound : instants.lowerBound }

  /// Finds the first and the last instant and the lag, which takes much less time than sorting. Returns false
  /// if there are no readings.
  mutating func measure(_ database: Database, _ filter: ItemFilter) throws -> Bool {
    let rows = try RawStatement(of: database, measuringSQL(filter))
    rows.bind(filter.since ?? .min, at: 1)
    rows.bind(filter.lastInstant, at: 2)
    var (first, last, lag) = (Int64.max, Int64.min, Int64(0))
    while try rows.step() {
      // A damaged row can have any instant, so the instant is limited. The damage is reported when the row is
      // read.
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

  /// Reads all readings into memory; nil if there are more than `limit`.
  func readIntoMemory(
    _ database: Database, limit: Int, _ list: SeriesList, _ filter: ItemFilter, _ order: ListOrder
  ) throws -> HeldReadings? {
    try HeldReadings(database, ids, limit: limit, list, filter, order)
  }

  /// Starts reading the readings in the order of the listing.
  func startWalk(
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

  /// The SQL query for all instants. For a single series, they are in the order of positions.
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

/// The readings of `CountedSeries`, if there are few enough of them to be sorted in memory.
final class HeldReadings: ReadingSource {
  private let readings: [OrderedReading]
  private var next = 0

  /// Reads and sorts the readings; nil if there are more than `limit`.
  ///
  /// - Parameter ids: the ids of the series, separated by commas.
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

  /// The number of readings in memory, including those that were already returned.
  var count: Int { readings.count }

  var head: OrderedReading? { next < readings.count ? readings[next] : nil }

  var instant: Int64? { next < readings.count ? readings[next].utc : nil }

  func advance() -> Bool {
    next += 1
    return next < readings.count
  }
}
