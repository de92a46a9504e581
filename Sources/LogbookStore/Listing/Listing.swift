// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Selects the items of a listing.
package struct ItemFilter: Sendable {
  /// The first instant, in UTC seconds; nil for no limit.
  package var since: Int64?
  /// The exclusive end of the instants, in UTC seconds; nil for no limit.
  package var until: Int64?
  /// The first shown time, in civil seconds; nil for no limit. `limitShown` sets it.
  package private(set) var shownSince: Int64?
  /// The exclusive end of the shown times, in civil seconds; nil for no limit.
  package private(set) var shownUntil: Int64?
  /// The kinds of readings that are listed; empty for no readings.
  package var readingKinds = Set(ReadingKind.allCases)
  /// The kinds of records that are listed; empty for no records.
  package var recordKinds = Set(RecordKind.listed)
  /// Whether to list records that lists usually leave out: statements about other items, and kinds that only
  /// newer programs know.
  package var includesUnlistedKinds = false
  /// Whether to list tombstones.
  package var includesDeleted = false
  /// Whether to list items that a withdrawal hides.
  package var includesWithdrawn = false
  /// Returns whether the readings of a device are listed; nil to list all devices.
  package var includesDevice: (@Sendable (Device) -> Bool)?
  /// The number of newest items to list; nil for all items.
  package var newest: Int?

  /// A filter for all visible items of the kinds that people see.
  package init() {}

  /// Limits the shown times, in civil seconds. An item belongs to the day that its own clock showed, even if
  /// another zone applied in the logbook.
  package mutating func limitShown(since: Int64?, until: Int64?) {
    (shownSince, shownUntil) = (since, until)
    // The difference between a shown time and its instant is never larger than `maxOffset`. So the instants
    // are limited, too.
    if let since { self.since = max(self.since ?? .min, since - PositionSpan.maxOffset) }
    if let until { self.until = min(self.until ?? .max, until + PositionSpan.maxOffset) }
  }

  /// The same filter without limits of shown times.
  package var withoutShownLimits: Self {
    var filter = self
    (filter.shownSince, filter.shownUntil) = (nil, nil)
    return filter
  }

  /// Whether an item is within the limits of time.
  package func holds(utc: Int64, shown: DeviceTime) -> Bool {
    (since ?? .min) <= utc && utc < (until ?? .max) && isShown(shown)
  }

  func isShown(_ time: DeviceTime) -> Bool {
    (shownSince ?? .min) <= time.seconds && time.seconds < (shownUntil ?? .max)
  }

  /// The last second before `until`.
  var lastInstant: Int64 { until.map { max($0, .min + 1) - 1 } ?? .max }

  /// The SQL condition that a reading `r` is listed.
  var readingCondition: String { includesWithdrawn ? "TRUE" : Withdrawn.readingIsShown }

  /// The SQL condition that readings of the series `s` are listed. If every kind is listed, there is no
  /// condition, so that a series with an unknown kind is reported as damaged.
  var readingKindCondition: String {
    if readingKinds.count == ReadingKind.allCases.count { return "TRUE" }
    return "s.kind IN (\(readingKinds.map { String($0.rawValue) }.sorted().joined(separator: ",")))"
  }
}

extension Store {
  /// Calls `body` with each item in the order of time, oldest first. Memory does not grow with the store.
  package func forEachItem(_ filter: ItemFilter, _ body: (StoredItem) throws -> Void) throws {
    try translatingErrors(path) {
      try queue.inDatabase { database in
        // The transaction makes the cursors of readings and of records see the same state of the store, even
        // if an import adds items meanwhile.
        try database.inTransaction(.deferred) {
          try Self.merge(database, filter, body)
          return .commit
        }
      }
    }
  }

  private static func merge(
    _ database: Database, _ filter: ItemFilter, _ body: (StoredItem) throws -> Void
  ) throws {
    if let newest = filter.newest {
      guard newest > 0 else { return }
      var items: [StoredItem] = []
      try mergeCursors(database, filter, isDescending: true) { item in
        items.append(item)
        return items.count < newest
      }
      for item in items.reversed() { try body(item) }
      return
    }
    try mergeCursors(database, filter, isDescending: false) { item in
      try body(item)
      return true
    }
  }

  private static func mergeCursors(
    _ database: Database, _ filter: ItemFilter, isDescending: Bool, _ body: (StoredItem) throws -> Bool
  ) throws {
    var readings = try OrderedReadings(database, filter, isDescending: isDescending)
    var records = try ListedRecords(database, filter, isDescending: isDescending)
    var reading = try readings.next()
    var record = try records.next()
    while reading != nil || record != nil {
      let takesReading =
        record == nil
        || (reading.map { isDescending ? $0.utc > record?.utc ?? 0 : $0.utc <= record?.utc ?? 0 } ?? false)
      if takesReading, let next = reading {
        guard try body(.reading(next)) else { return }
        reading = try readings.next()
      } else if let next = record {
        guard try body(.record(next)) else { return }
        record = try records.next()
      }
    }
  }

  /// The reading with this address or short id; nil if the store does not have it.
  ///
  /// - Throws: `Failure` of category `usage` for a short id that several readings have.
  package func reading(at address: String) throws -> StoredReading? {
    if let id = ShortReadingID(text: address) { return try reading(short: id) }
    let parts = address.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].first == "r", let device = Int64(parts[0].dropFirst()),
      let kind = ReadingKind(name: parts[1]),
      let positionKind = PositionKind.allCases.first(where: { parts[2].hasPrefix($0.name) }),
      let position = Int64(parts[2].dropFirst(positionKind.name.count)), let valueBucket = Int64(parts[3]),
      let occurrence = Int64(parts[4])
    else { return nil }
    return try read { database in
      try Row.fetchOne(
        database,
        sql: """
          SELECT \(StoredReading.columns)
          FROM series AS s JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          WHERE s.device = ? AND s.kind = ? AND s.position_kind = ? AND r.position = ? AND r.value_bucket = ? AND r.occurrence = ?
          """, arguments: [device, kind.rawValue, positionKind.rawValue, position, valueBucket, occurrence]
      ).map(StoredReading.init)
    }
  }

  /// The other values that sources stated later for a reading, each with the number of its ingest.
  package func revisions(of reading: StoredReading) throws -> [(measurement: Measurement, ingest: Int64)] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT r.value, r.unit, r.range_flag, r.ingest, r.series, r.position
          FROM series AS s JOIN revision AS r ON r.series = s.id
          WHERE s.device = ? AND s.kind = ? AND s.position_kind = ? AND r.position = ? AND r.value_bucket = ?
          ORDER BY r.ingest
          """,
        arguments: [
          reading.deviceID, reading.kind.rawValue, reading.positionKind.rawValue, reading.position,
          reading.valueBucket,
        ]
      ).map { row in
        let row = StoredRow(row, of: "revision", key: 3..<6)
        let measurement = try StoredMeasurement(row, from: 0, hasThreshold: false).measurement(in: row.name)
        return (measurement, try row[3])
      }
    }
  }

  /// The records whose guid starts with this text, at most 10. A text that is long enough identifies one
  /// record.
  package func records(guidPrefix: String) throws -> [StoredRecord] {
    try read { database in
      try Row.fetchAll(
        database, sql: "SELECT \(StoredRecord.columns) FROM record WHERE guid >= ? AND guid < ? LIMIT 10",
        arguments: [guidPrefix, guidPrefix + "~"]
      ).map(StoredRecord.init)
    }
  }

  func read<Value>(_ work: (Database) throws -> Value) throws -> Value {
    try translatingErrors(path) { try queue.inDatabase(work) }
  }
}

/// The records of a listing in the order of time.
private struct ListedRecords {
  private let cursor: RowCursor
  private let isDescending: Bool
  private var upcoming: StoredRecord?
  /// The base zone as a record, if no record states it yet. An export contains it, so that other stores learn
  /// the zone.
  private var base: StoredRecord?

  init(_ database: Database, _ filter: ItemFilter, isDescending: Bool) throws {
    self.isDescending = isDescending
    cursor = try Self.cursor(database, filter, isDescending: isDescending)
    if filter.includesUnlistedKinds, try LogbookZones.isUnjoined(database) {
      base = StoredRecord(unjoinedBase: try LogbookZones.unjoinedBase(database))
    }
    upcoming = try cursor.next().map(StoredRecord.init)
  }

  /// The next record; nil after the last one.
  mutating func next() throws -> StoredRecord? {
    if let base, upcoming.map({ isDescending ? $0.utc < base.utc : $0.utc > base.utc }) ?? true {
      self.base = nil
      return base
    }
    let record = upcoming
    if record != nil { upcoming = try cursor.next().map(StoredRecord.init) }
    return record
  }

  private static func cursor(
    _ database: Database, _ filter: ItemFilter, isDescending: Bool
  ) throws -> RowCursor {
    let direction = isDescending ? "DESC" : "ASC"
    let range: StatementArguments = [
      filter.since ?? .min / 2, filter.until ?? .max / 2, filter.includesDeleted, filter.includesWithdrawn,
    ]
    let first = try filter.newest.flatMap { try firstShown(database, filter, range, newest: $0) }
    return try Row.fetchCursor(
      database,
      sql: """
        SELECT \(StoredRecord.columns) FROM record
        WHERE \(condition(filter)) \(first == nil ? "" : "AND device_time > ?")
        ORDER BY device_time - utc_offset \(direction), guid \(direction)
        \(filter.newest.map { "LIMIT \($0)" } ?? "")
        """,
      arguments: range + (first.map { [$0] } ?? []))
  }

  /// A shown time that is earlier than those of the `newest` newest records; nil if there are fewer records.
  /// The index by shown time finds it without sorting. `2 * maxOffset` is subtracted from the found time,
  /// since the order by instant can differ from the order by shown time.
  private static func firstShown(
    _ database: Database, _ filter: ItemFilter, _ range: StatementArguments, newest: Int
  ) throws -> Int64? {
    try Int64.fetchOne(
      database,
      sql: """
        SELECT device_time FROM record INDEXED BY record_by_time WHERE \(condition(filter))
        ORDER BY device_time DESC LIMIT 1 OFFSET \(newest - 1)
        """, arguments: range
    ).map { max($0, .min + 2 * PositionSpan.maxOffset) - 2 * PositionSpan.maxOffset }
  }

  /// The SQL condition that a record is listed. The parameters are the range of time and the included kinds.
  /// A record with a damaged column `deleted` meets the condition, so that reading it reports the damage.
  private static func condition(_ filter: ItemFilter) -> String {
    let kinds = list(filter.recordKinds)
    let kind =
      filter.includesUnlistedKinds
      ? "(kind IN (\(kinds)) OR kind NOT IN (\(list(RecordKind.listed))))" : "kind IN (\(kinds))"
    let shown =
      (filter.shownSince.map { " AND device_time >= \($0)" } ?? "")
      + (filter.shownUntil.map { " AND device_time < \($0)" } ?? "")
    return """
      \(kind) AND (device_time - utc_offset >= ? AND device_time - utc_offset < ?\(shown) OR \(Withdrawn.isStatement))
        AND (deleted <> 1 OR ?) AND (? OR NOT (\(Withdrawn.record))) \(stretch(filter))
      """
  }

  /// An SQL condition on the shown times, so that SQLite can use the index. It is empty if statements about
  /// other items are listed, since their time does not matter.
  private static func stretch(_ filter: ItemFilter) -> String {
    if filter.includesUnlistedKinds { return "" }
    let span = PositionSpan(isInstant: false).positions(since: filter.since, until: filter.until)
    return (filter.since == nil ? "" : "AND device_time >= \(span.lowerBound) ")
      + (filter.until == nil ? "" : "AND device_time <= \(span.upperBound)")
  }

  private static func list(_ kinds: some Sequence<RecordKind>) -> String {
    kinds.map { "'\($0.rawValue)'" }.joined(separator: ",")
  }
}
