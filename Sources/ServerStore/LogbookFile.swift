// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// One logbook: an SQLite file with its readings and records, and the sequence of their changes.
struct LogbookFile: Sendable {
  let id: String
  let file: DatabaseFile
  /// The random tag of this process, which is a part of its positions; see the table `epoch`. It
  /// distinguishes the sequence numbers of this process from those of all other processes.
  private let tag: String
  let quota: LogbookQuota
  private let compared: ComparedLogbook

  /// Opens the file, or creates it with its schema.
  init(path: String, id: String, quota: LogbookQuota, compared: ComparedLogbook) throws {
    let tag = Positions.randomTag()
    self.id = id
    self.tag = tag
    self.quota = quota
    self.compared = compared
    file = try DatabaseFile(path: path, name: "logbook \(id)", schema: LogbookSchema.schema)
    try file.writeNow { database in
      if try Int.fetchOne(database, sql: "SELECT count(*) FROM epoch") == 0 {
        try Positions(database: database).beginEpoch(at: 0, tag: tag)
      }
    }
  }

  /// The position of the last change.
  func position() async throws(ServiceError) -> String {
    try await file.read { database in
      let positions = Positions(database: database)
      return try positions.text(positions.last())
    }
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await file.write { [id, tag, quota] database in
      let nodes = Nodes(database: database, logbook: id, max: quota.nodes)
      let node = try nodes.findOrRecord(run)
      let positions = Positions(database: database)
      let last = try positions.last()
      var answer = try ReadingStorage(database, node: node, after: last).store(batch)
      if answer.stored > 0 {
        try positions.beginEpoch(at: last + 1, tag: tag)
        try nodes.storeLastChange(of: node, seq: positions.last())
        try Self.check(quota.readings, "reading", last: try positions.last(), database)
      }
      answer.position = try positions.text(positions.last())
      return answer
    }
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await file.write { [id, tag, quota] database in
      let nodes = Nodes(database: database, logbook: id, max: quota.nodes)
      let node = try nodes.findOrRecord(run)
      let positions = Positions(database: database)
      let last = try positions.last()
      var judge = RecordJudge(RecordStorage(database, node: node, after: last, tag: tag))
      let verdicts = try judge.apply(changes)
      if try positions.last() > last {
        try nodes.storeLastChange(of: node, seq: positions.last())
        try Self.check(quota.records, "record", last: try positions.last(), database)
      }
      return RecordAnswer(verdicts: verdicts, position: try positions.text(positions.last()))
    }
  }

  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await withReadTransaction(run) { database, node in
      let place = try cursor.map { try Positions(database: database).seq($0) } ?? 0
      var scan = ChangeScan(database, node: node, after: place, limit: limit)
      return try scan.page()
    }
  }

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    try await withReadTransaction(run) { database, node in
      let place = try cursor.map { try Positions(database: database).seq($0) } ?? 0
      return try PartScan(database, node: node, limit: limit).page(of: part, after: place)
    }
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await withComparison(run, begins: true) { buckets, _ in buckets.digests }
  }

  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await withDigestScan(run) { try $0.recordDigests() }
  }

  func readings(in buckets: Set<Int>, _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    let batch = try await withComparison(run) { try $0.readings(in: buckets, $1) }
    guard let batch else { throw .tooLarge }
    return batch
  }

  func records(
    in buckets: Set<Int>, after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    try await withDigestScan(run) { try $0.records(in: buckets, after: guid) }
  }

  func close() throws { try file.close() }
}

extension LogbookFile {
  /// Throws if a table has more rows than its quota, so that the transaction is rolled back.
  ///
  /// - Parameter last: the sequence number of the last change. Each row has a different number, so rows are
  ///   only counted if `last` is above the quota.
  private static func check(_ max: Int64, _ table: String, last: Int64, _ database: Database) throws {
    guard last > max, try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0 > max else {
      return
    }
    throw LogbookQuota.exceeded(max, table)
  }

  /// Runs a transaction for a comparison with a client's store. The node's own changes are included.
  private func withDigestScan<Value: Sendable>(
    _ run: RunStamp, _ work: @escaping @Sendable (DigestScan) throws -> Value
  ) async throws(ServiceError) -> Value {
    try await withReadTransaction(run, hidesOwn: false) { database, _ in
      try work(DigestScan(database: database))
    }
  }

  /// Runs a transaction for a comparison of readings. It uses the `ReadingBuckets` that earlier requests of
  /// this comparison computed, and adds new readings to them.
  ///
  /// - Parameter begins: whether all rows are read again, since a new comparison begins. A client can compare
  ///   several times with the same `RunStamp`, and another program may have changed rows in the meantime.
  private func withComparison<Value: Sendable>(
    _ run: RunStamp, begins: Bool = false,
    _ work: @escaping @Sendable (ReadingBuckets, Database) throws -> Value
  ) async throws(ServiceError) -> Value {
    let comparison = "\(id) \(tag) \(run.node) \(run.number) \(run.id)"
    if begins { await compared.forget(comparison) }
    let known = await compared.buckets(of: comparison)
    let (value, buckets) = try await withReadTransaction(run, hidesOwn: false) { database, _ in
      var buckets = known
      try buckets.extend(database)
      return (try work(buckets, database), buckets)
    }
    await compared.cache(buckets, of: comparison)
    return value
  }

  /// Runs a transaction that reads for a client's upload (a run). It writes only if the run is not recorded
  /// for its node yet, as with the first request of a run.
  func withReadTransaction<Value: Sendable>(
    _ run: RunStamp, hidesOwn: Bool = true,
    _ work: @escaping @Sendable (Database, _ node: Int64) throws -> Value
  ) async throws(ServiceError) -> Value {
    let read: Value?? = try await file.read { [id] database in
      guard let node = try Nodes(database: database, logbook: id, max: .max).known(run, hidesOwn: hidesOwn)
      else {
        return nil
      }
      return try work(database, node)
    }
    if let read, let value = read { return value }
    return try await file.write { [id, quota] database in
      try work(
        database,
        try Nodes(database: database, logbook: id, max: quota.nodes).findOrRecord(run, hidesOwn: hidesOwn)
      )
    }
  }
}

/// The records in a logbook's file, inside the caller's transaction. `RecordJudge` decides about their
/// changes.
struct RecordStorage: RecordTable {
  private let database: Database
  private let positions: Positions
  private let node: Int64
  private let tag: String
  private var last: Int64

  /// - Parameter tag: the tag of this process's epoch.
  init(_ database: Database, node: Int64, after last: Int64, tag: String) {
    self.database = database
    self.positions = Positions(database: database)
    self.node = node
    self.last = last
    self.tag = tag
  }

  func current(_ guid: String) throws -> CurrentRecord? {
    let statement = try database.cachedStatement(
      sql: "SELECT guid, revision, state FROM record WHERE guid = ?")
    guard let row = try Row.fetchOne(statement, arguments: [guid]) else { return nil }
    let stored = StoredRow(row, of: "record")
    return CurrentRecord(revision: try stored[1], state: try stored.state(2))
  }

  func earlierAnswer(to change: RecordChange) throws -> String? {
    let statement = try database.cachedStatement(
      sql: "SELECT revision FROM accepted WHERE guid = ? AND node = ? AND version = ? AND digest = ?")
    return try String.fetchOne(
      statement, arguments: [change.guid, change.node, change.version, change.digest])
  }

  func knows(_ position: String) throws -> Bool { try positions.knows(position) }

  mutating func store(_ change: RecordChange, _ state: RecordState, isKnown: Bool) throws -> String {
    last += 1
    try positions.beginEpoch(at: last, tag: tag)
    let revision = PositionText.text(last, tag: tag)
    let sql =
      isKnown
      ? "UPDATE record SET seq = ?2, revision = ?3, state = ?5, node = ?6 WHERE guid = ?1"
      : "INSERT INTO record (guid, seq, revision, kind, state, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
    try database.cachedStatement(sql: sql).execute(
      arguments: [change.guid, last, revision, state.kind.rawValue, state.json, node])
    return revision
  }

  func keepAnswer(to change: RecordChange, _ revision: String) throws {
    let arguments: StatementArguments = [change.guid, change.node, change.version, change.digest, revision]
    try database.cachedStatement(
      sql:
        "UPDATE accepted SET version = ?3, digest = ?4, revision = ?5 WHERE guid = ?1 AND node = ?2 AND version <= ?3"
    ).execute(arguments: arguments)
    guard database.changesCount == 0 else { return }
    try database.cachedStatement(
      sql: """
        INSERT INTO accepted (guid, node, version, digest, revision) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE NOT EXISTS (SELECT 1 FROM accepted WHERE guid = ?1 AND node = ?2)
        """
    ).execute(arguments: arguments)
  }
}

extension StoredRow {
  func guid(_ column: Int) throws -> String {
    let guid: String = try self[column]
    guard Guid.isValid(guid) else { throw damage(column) }
    return guid
  }

  /// The state of a record, from the JSON in a column.
  func state(_ column: Int) throws -> RecordState {
    let text: String = try self[column]
    do {
      return try RecordState(json: text)
    } catch {
      // The reason of the parser could quote a part of the text, so the error does not contain it.
      throw damage(column)
    }
  }
}
