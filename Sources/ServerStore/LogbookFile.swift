// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

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
