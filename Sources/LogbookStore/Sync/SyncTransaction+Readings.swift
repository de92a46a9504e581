// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension SyncTransaction {
  /// The first pending readings after `key` in the order of the store. The remote has neither stored nor
  /// refused them.
  ///
  /// Only the ranges of pending readings are searched. So the cost grows with the pending readings, not with
  /// the store. Readings whose document must be moved are left out, since the move sends them.
  ///
  /// - Parameter leavesOutWithdrawn: whether to leave out withdrawn readings.
  package func pendingReadings(
    after key: ReadingKey?, limit: Int, leavesOutWithdrawn: Bool = false
  ) throws -> PendingReadings {
    // Most uploads of an unattended job find no pending readings. This check takes less time than preparing
    // the SQL statement below.
    guard try database.hasRow(in: "pending_range") else { return PendingReadings() }
    return try readings(
      Self.pendingTables,
      """
      \(Self.pendingCondition)
        AND \(leavesOutWithdrawn ? Withdrawn.readingIsForSites : "TRUE")
        AND \(Self.isNotExcluded)
      """, inOrderOf: Self.pendingOrder, after: key, limit: limit)
  }

  /// The SQL condition that a reading `r` is neither refused nor queued for a move. Most stores have no
  /// refused or queued readings. SQLite finds that once per query, and then looks up nothing for each
  /// reading. This saves a third of the query's time.
  static let isNotExcluded = """
    (NOT EXISTS (SELECT 1 FROM refusal) OR NOT EXISTS (
          SELECT 1 FROM refusal AS f WHERE f.series = r.series AND f.position = r.position
            AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence))
        AND (NOT EXISTS (SELECT 1 FROM resend) OR NOT EXISTS (
          SELECT 1 FROM resend AS m WHERE \(SiteSchema.isSame("m", "r"))))
    """

  /// The SQL source of rows: the ranges `p` of pending readings that end at or after a key, and the readings
  /// `r` in them.
  static let pendingTables = """
    pending_range AS p CROSS JOIN reading AS r ON r.partition = p.partition AND r.position <= p.last_position
        AND r.position >= CASE WHEN p.partition = ?1 THEN max(p.first_position, ?2) ELSE p.first_position END
    """

  static let pendingCondition =
    "p.partition >= ?1 AND (p.partition > ?1 OR p.last_position >= ?2) AND r.uploaded = 0"

  /// The columns of the order in which SQLite finds these readings without sorting.
  static let pendingOrder = [
    "p.partition", "p.first_position", "p.last_position", "r.position", "r.series", "r.value_bucket",
    "r.occurrence",
  ]

  /// At most `limit` uploaded readings that are withdrawn.
  package func withdrawnReadings(limit: Int) throws -> PendingReadings {
    try readings(Self.withdrawnTables, "r.uploaded = 1", after: nil, limit: limit)
  }

  /// The SQL source of rows: the withdrawn readings `r`. Readings that are hidden because an equal one is
  /// visible are left out.
  static let withdrawnTables = """
    withdrawn AS w CROSS JOIN series AS s ON s.id = w.series
    CROSS JOIN reading AS r ON r.partition = s.partition AND r.position = w.position AND r.series = w.series
      AND r.value_bucket = w.value_bucket AND r.occurrence = w.occurrence AND w.cause = 1
    """

  /// Selects at most `limit` readings from these SQL tables under an SQL condition, with their keys. The
  /// first one is the next reading after `key`.
  ///
  /// - Parameters:
  ///   - row: the alias of the table by whose primary key the readings are ordered, so that SQLite need not
  ///     sort them.
  ///   - order: the columns of this order; nil for those of the primary key.
  ///   - isDescending: whether to begin with the last reading.
  func readings(
    _ tables: String, _ condition: String, orderedBy row: String = "r", inOrderOf order: [String]? = nil,
    after key: ReadingKey?, limit: Int, isDescending: Bool = false
  ) throws -> PendingReadings {
    let columns = SiteSchema.keyColumns.split(separator: ", ").map { "\(row).\($0)" }
    let order = (order ?? columns).map { isDescending ? "\($0) DESC" : $0 }.joined(separator: ", ")
    let bound: Int64 = isDescending ? .max : .min
    let statement = try RawStatement(
      keptBy: database,
      """
      SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence, \(Self.readingColumns)
      FROM \(tables)
      WHERE \(condition) AND (\(columns.joined(separator: ", ")))
        \(isDescending ? "<" : ">") (?1, ?2, ?3, ?4, ?5)
      ORDER BY \(order) LIMIT ?6
      """)
    statement.bind(
      key
        ?? ReadingKey(
          partition: bound, position: bound, series: bound, valueBucket: bound, occurrence: bound),
      at: 1)
    statement.bind(Int64(limit), at: 6)
    guard try statement.step() else {
      return PendingReadings()
    }
    let version = try version()
    var found = FoundReadings(try SeriesDevices(database), capacity: min(limit, Self.usualBatch))
    repeat {
      let key = statement.key(from: 0)
      // Ranges that another program wrote may overlap, so that a reading is found twice.
      if let last = found.keys.last, isDescending ? key >= last : key <= last { continue }
      try found.append(key, statement, from: 5)
    } while try statement.step()
    return found.pending(isDescending: isDescending, version)
  }

  /// The number of readings for which memory is reserved at once. No remote accepts more in one request.
  private static let usualBatch = 10_000

  static let readingColumns = StoredOffset.columns("r")

  /// Marks these readings as uploaded, except the refused readings, for which the remote's reason is stored.
  ///
  /// - Parameter same: the readings that the remote has only in documents of other programs.
  package func markUploaded(
    _ keys: [ReadingKey], except refused: [RefusedItem], sameAs same: [SameReading] = [], at now: Int64
  ) throws {
    for item in refused where keys.indices.contains(item.item) {
      try quarantine([keys[item.item]], reason: item.reason, at: now)
    }
    let isRefused = Set(refused.map(\.item))
    try UploadMarks(database: database).set(
      keys.indices.lazy.filter { !isRefused.contains($0) }.map { keys[$0] })
    try storeMatches(same, of: keys)
  }

  /// Marks the readings of a batch as uploaded, except the refused ones; see `markUploaded` for keys.
  package func markUploaded(
    _ pending: PendingReadings, except refused: [RefusedItem], sameAs same: [SameReading], at now: Int64
  ) throws {
    // This connection marks readings only in this function. So the readings are still pending if no other
    // connection has changed the store.
    if refused.isEmpty, let version = pending.version, try isUnchanged(since: version),
      try UploadMarks(database: database).setWhole(pending)
    {
      return try storeMatches(same, of: pending.keys)
    }
    try markUploaded(pending.keys, except: refused, sameAs: same, at: now)
  }

  /// Stores what the remote's response to these readings states in addition to the refusals.
  private func storeMatches(_ same: [SameReading], of keys: [ReadingKey]) throws {
    try forgetUnanswered(keys)
    for item in same where keys.indices.contains(item.item) {
      try storeMatch(keys[item.item], as: item.document, isOnlyInForeignDocument: true)
    }
  }

  /// Stores why the remote refused these readings. They are not sent again until a person retries them.
  package func quarantine(_ keys: [ReadingKey], reason: String, at now: Int64) throws {
    for key in keys {
      try database.executeCached(
        sql: """
          INSERT INTO refusal (series, position, value_bucket, occurrence, reason, at) VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET reason = excluded.reason, at = excluded.at
          """,
        arguments: [
          key.series, key.position, key.valueBucket, key.occurrence, String(reason.prefix(1000)), now,
        ])
    }
  }
}

// MARK: - Pulled readings

extension SyncTransaction {
  /// Creates the ingest to which readings from a remote belong.
  private func beginPulledIngest(from remote: String, at now: Int64) throws -> Int64 {
    try database.executeCached(
      sql: """
        INSERT INTO ingest (source, format, started_at, finished_at, outcome, counts)
        VALUES (?, coalesce((SELECT kind FROM remote), 'glucoport'), ?, ?, 'whole', '{"new":0}')
        """, arguments: [remote, now, now])
    return database.lastInsertedRowID
  }

  /// Stores readings that were pulled from the remote, and marks them as uploaded. An ingest is only created
  /// for the first new reading, so that a pull without new readings adds none.
  ///
  /// - Parameters:
  ///   - notTaken: further readings of the remote that are not stored; their number for each reason.
  ///   - foreign: the indexes of readings from documents of other programs. If an import stored such a
  ///     reading, only the table `same_as` gets a row, which links reading and document.
  ///   - ingest: the ingest that this upload has created for pulled readings; nil if it has created none.
  package func storePulled(
    _ batch: ReadingBatch, foreign: Set<Int> = [], notTaken: [String: Int] = [:], ingest: Int64?,
    from remote: String, at now: Int64
  ) throws -> PulledReadings {
    var pulled = PulledReadings(ingest: ingest)
    let batch = try withoutSame(batch, foreign, &pulled)
    if let ingest {
      try countNotTaken(notTaken, in: ingest)
      pulled.new = try write(batch, into: ingest, at: now).new
      pulled.shown = try restate(pulled.restated, by: ingest, at: now)
      return pulled
    }
    try database.inSavepoint {
      let ingest = try beginPulledIngest(from: remote, at: now)
      let outcome = try write(batch, into: ingest, at: now)
      let shown = try restate(pulled.restated, by: ingest, at: now)
      let isAnyStated = outcome.new + outcome.changed + outcome.renumbered + shown > 0
      guard isAnyStated || !notTaken.isEmpty else { return .rollback }
      try countNotTaken(notTaken, in: ingest)
      (pulled.ingest, pulled.new, pulled.shown) = (ingest, outcome.new, shown)
      return .commit
    }
    return pulled
  }

  private func countNotTaken(_ notTaken: [String: Int], in ingest: Int64) throws {
    for (reason, count) in notTaken {
      let path = "$.not_taken.\(jsonText(reason))"
      try database.executeCached(
        sql: """
          UPDATE ingest SET counts = json_set(
            json_set(counts, '$.not_taken', json(coalesce(json_extract(counts, '$.not_taken'), '{}'))),
            ?1, coalesce(json_extract(counts, ?1), 0) + ?2,
            '$.rejected', coalesce(json_extract(counts, '$.rejected'), 0) + ?2)
          WHERE id = ?3
          """, arguments: [path, count, ingest])
    }
  }

  private func write(_ batch: ReadingBatch, into ingest: Int64, at now: Int64) throws
    -> ReadingWriter.ReadingCounts
  {
    let writer = try ReadingWriter(database, rows, ingest: ingest, isUploaded: true)
    let devices = try batch.devices.map { try $0.addedID(database) }
    let outcome = try writer.write(
      batch.readings, of: batch.devices, deviceIDs: devices, placedBy: nil)
    try database.executeCached(
      sql: """
        UPDATE ingest SET finished_at = ?,
          counts = json_set(counts, '$.new', json_extract(counts, '$.new') + ?)
        WHERE id = ?
        """, arguments: [now, outcome.new, ingest])
    return outcome
  }
}

// MARK: - Identities

extension SyncTransaction {
  /// Calls `body` for every uploaded reading, with the 16 bytes of its identity.
  func forEachUploaded(_ body: (ReadingKey, [UInt8]) throws -> Void) throws {
    try forEachReading("WHERE uploaded = 1") { key, _, identity in try body(key, identity) }
  }

  /// Calls `body` for every reading, in the order of the table, with the 16 bytes of its identity.
  func forEachReading(
    _ condition: String = "", _ body: (ReadingKey, _ isUploaded: Bool, _ identity: [UInt8]) throws -> Void
  ) throws {
    let statement = try RawStatement(
      keptBy: database,
      "SELECT partition, position, series, value_bucket, occurrence, uploaded FROM reading \(condition)")
    var devices = try SeriesDevices(database)
    var keys = ReadingKeys()
    while try statement.step() {
      let key = statement.key(from: 0)
      try body(key, statement.integer(5) == 1, keys.key(of: key) { try devices.parts(of: key.series) })
    }
  }
}

// MARK: - Rows

/// The series of a store with their devices. Each is read from the database once.
struct SeriesDevices {
  private(set) var all: [Device] = []
  /// The ids of all series, in ascending order.
  private(set) var ids: [Int64] = []
  /// The series, in the order of `ids`.
  private(set) var series: [StoredSeries] = []
  private var places: [Int64: Int] = [:]
  /// Indexes of series that were found last, by the low bits of their ids; -1 for none. Rows of several
  /// devices alternate. A look-up in the dictionary for each row would take 1 % of an upload's time.
  private var recent = [Int](repeating: -1, count: 16)

  init(_ database: Database) throws {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT s.id, s.kind, s.position_kind, \(Device.storedColumns)
          FROM series AS s JOIN device AS d ON d.id = s.device ORDER BY s.device
          """))
    var found: [(id: Int64, series: StoredSeries)] = []
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "series")
      let device = try Device(stored, from: 3)
      if all.last != device { all.append(device) }
      found.append(
        (
          try stored[0],
          StoredSeries(
            device: DeviceIndex(Int32(all.count - 1)), kind: try stored.code(1),
            positionKind: try stored.code(2))
        ))
    }
    found.sort { $0.id < $1.id }
    (ids, series) = (found.map(\.id), found.map(\.series))
    for (place, id) in ids.enumerated() { places[id] = place }
  }

  /// The index in `series` of the series with this id.
  @inline(__always) mutating func index(of id: Int64) throws -> Int {
    let slot = Int(truncatingIfNeeded: id & 15)
    let last = recent[slot]
    if last >= 0, ids[last] == id { return last }
    guard let place = places[id] else {
      throw DamagedRow("series", ["id": id], "readings belong to it, and it is not there")
    }
    recent[slot] = place
    return place
  }

  @inline(__always) mutating func series(_ id: Int64) throws -> StoredSeries { series[try index(of: id)] }
}

/// Readings in the order in which an SQL query finds them, which is that of the table or its reverse.
private struct FoundReadings {
  private(set) var keys: [ReadingKey] = []
  private var readings: [Reading] = []
  /// The indexes of the series of the readings; see `SeriesDevices.index`.
  private var places: [Int] = []
  private var devices: SeriesDevices

  init(_ devices: SeriesDevices, capacity: Int) {
    self.devices = devices
    keys.reserveCapacity(capacity)
    readings.reserveCapacity(capacity)
    places.reserveCapacity(capacity)
  }

  /// Appends the reading in the current row. Its columns begin with `column`.
  @inline(__always)
  mutating func append(_ key: ReadingKey, _ row: RawStatement, from column: Int32) throws {
    let place = try devices.index(of: key.series)
    readings.append(try row.reading(at: key.place, of: devices.series[place], from: column))
    keys.append(key)
    places.append(place)
  }

  /// The readings, sorted by series, so that the parts which they share are sent once. Since the order is
  /// fixed, a batch that is sent again is equal to the first one.
  func pending(isDescending: Bool, _ version: StoreVersion) -> PendingReadings {
    let order = orderBySeries(isDescending: isDescending)
    return PendingReadings(
      batch: ReadingBatch(devices: devices.all, readings: order.map { $0.map { readings[$0] } } ?? readings),
      keys: order.map { $0.map { keys[$0] } } ?? keys, last: keys.last,
      inStoreOrder: isDescending ? [] : keys, version: version)
  }

  /// The indexes of the readings by series, each in the order of the table; nil if all are of one series.
  ///
  /// The readings are found in the order of the table. So their new indexes follow from the number of
  /// readings in each series, without sorting.
  private func orderBySeries(isDescending: Bool) -> [Int]? {
    guard let first = places.first, places.contains(where: { $0 != first }) else { return nil }
    var next = [Int](repeating: 0, count: devices.ids.count + 1)
    for place in places { next[place + 1] += 1 }
    for place in 1..<next.count { next[place] += next[place - 1] }
    var order = [Int](repeating: 0, count: places.count)
    for index in places.indices {
      let index = isDescending ? places.count - 1 - index : index
      order[next[places[index]]] = index
      next[places[index]] += 1
    }
    return order
  }
}

extension SeriesDevices {
  /// The device, the kind and the position kind of the series with this id, as identities contain them.
  mutating func parts(
    of id: Int64
  ) throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind) {
    let series = try series(id)
    return (all[Int(series.device.number)], series.kind, series.positionKind)
  }
}

extension ReadingKeys {
  /// The 16 bytes of the identity of a stored reading.
  mutating func key(
    of key: ReadingKey, _ parts: () throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind)
  ) rethrows -> [UInt8] {
    try self.key(
      of: key.series, position: key.position, valueBucket: key.valueBucket, occurrence: key.occurrence, parts)
  }
}

extension RawStatement {
  /// Binds the five columns of a reading's primary key as parameters, from `index` on.
  @inline(__always) func bind(_ key: ReadingKey, at index: Int32) {
    bind(key.partition, at: index)
    bind(key.position, at: index + 1)
    bind(key.series, at: index + 2)
    bind(key.valueBucket, at: index + 3)
    bind(key.occurrence, at: index + 4)
  }

  @inline(__always) func key(from column: Int32) -> ReadingKey {
    ReadingKey(
      partition: integer(column), position: integer(column + 1), series: integer(column + 2),
      valueBucket: integer(column + 3), occurrence: integer(column + 4))
  }
}
