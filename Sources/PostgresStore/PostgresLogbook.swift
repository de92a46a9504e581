// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// One logbook of the database, for a login.
struct PostgresLogbook: LogbookService {
  let login: Login
  let clusters: PostgresClusters

  var parts: (any PartService)? { self }
  var digests: (any DigestService)? { self }
  var attachments: (any AttachmentService)? { self }
  var purging: (any PurgeService)? { self }

  func logbook() async throws(ServiceError) -> RemoteLogbook {
    try await transaction(TransactionMode.reading) { [login] transaction, number, _ in
      let rows = try transaction.rows(
        """
        SELECT b.name, c.last_seq, (SELECT tag FROM glucoport.epoch e WHERE e.logbook = $1
          AND e.first_seq <= c.last_seq ORDER BY e.first_seq DESC LIMIT 1), \(CopyState.columns(writes: false))
        FROM glucoport.logbook b JOIN glucoport.counter c ON c.logbook = b.id
          LEFT JOIN glucoport.residence r ON r.logbook = b.id WHERE b.id = $1
        """, .integer(number))
      guard rows.count == 1 else { throw ServiceError.purged }
      try CopyState.check(rows, from: 3, login.place)
      let tag = try rows.optionalText(0, 2) ?? ""
      return RemoteLogbook(
        id: login.logbook, name: try rows.text(0, 0), isWritable: login.role == .write,
        maxReadings: WireProtocol.maxReadings, maxRecords: WireProtocol.maxRecords,
        position: PositionText.text(try rows.integer(0, 1), tag: tag))
    }
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await withChangeTransaction(run) { writer, core in
      let (answer, last) = try PostgresReadingWriter(writer).store(batch)
      guard answer.stored > 0 else { return answer }
      try writer.storeLastChange(last)
      try writer.check(core.quota.readings, "reading", last: last)
      return answer
    }
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await withChangeTransaction(run) { writer, core in
      var judge = RecordJudge(try RecordBatch(writer, changes))
      let verdicts = try judge.apply(changes)
      let (last, position) = try judge.table.write()
      if last > writer.entry.last { try writer.check(core.quota.records, "record", last: last) }
      return RecordAnswer(verdicts: verdicts, position: position)
    }
  }

  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    try await withReadTransaction(run, cursor: cursor) { transaction, entry, node in
      var scan = PageScan(transaction, entry, node: node, limit: limit)
      return try scan.page()
    }
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await withComparison(run, begins: true) { _, _, buckets in buckets.digests }
  }
}

extension PostgresLogbook: PartService {
  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    try await withReadTransaction(run, cursor: cursor) { transaction, entry, node in
      try PageScan(transaction, entry, node: node, limit: limit).page(of: part)
    }
  }
}

extension PostgresLogbook: DigestService {
  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await withReadTransaction(run, hidesOwn: false) { transaction, entry, _ in
      try DigestReader(transaction, entry.logbook).recordDigests()
    }
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    let batch = try await withComparison(run) { transaction, entry, known in
      try known.numbers(in: Set(buckets)).map { numbers in
        try DigestReader(transaction, entry.logbook).readings(numbers)
      }
    }
    guard let batch else { throw .tooLarge }
    return batch
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    try await withReadTransaction(run, hidesOwn: false) { transaction, entry, _ in
      try DigestReader(transaction, entry.logbook).records(in: Set(buckets), after: guid)
    }
  }
}

extension PostgresLogbook: PurgeService {
  func purge(_ logbook: RemoteLogbook) async throws(ServiceError) {
    guard logbook.id == login.logbook else { throw .otherLogbook(id: login.logbook) }
    guard login.role == .write else { throw .readOnly }
    guard logbook.name == (try await self.logbook()).name else {
      throw .refused("this is not the name of the logbook")
    }
    guard try await clusters.home.purge(login.logbook) else { throw .purged }
    // The logins are removed first. If an interruption follows, no login can see the remaining rows, and the
    // next start erases them.
    try await clusters.erase([login.logbook])
  }
}

extension PostgresLogbook {
  /// Runs a transaction in the database that has the logbook. If the logbook was moved away from this
  /// database, the move is recorded in the directory, and the client must send the request again.
  func transaction<Value: Sendable>(
    _ mode: (Int64) -> TransactionMode,
    _ work: @escaping @Sendable (DatabaseTransaction, _ logbook: Int64, PostgresCore) throws -> Value
  ) async throws(ServiceError) -> Value {
    let core = try await clusters.core(at: login.place.address)
    let number = try await core.number(of: login.logbook)
    let outcome: Result<Value, LogbookMovedAway> = try await core.pool.run(mode(number)) { transaction in
      do {
        return .success(try work(transaction, number, core))
      } catch let left as LogbookMovedAway {
        return .failure(left)
      }
    }
    switch outcome {
    case .success(let value): return value
    case .failure(let left):
      try await clusters.home.recordMove(of: login, to: left.cluster)
      throw CopyState.busy
    }
  }

  /// Runs a transaction that changes the logbook, for a login that may write.
  private func withChangeTransaction<Value: Sendable>(
    _ run: RunStamp, _ work: @escaping @Sendable (PostgresWriter, PostgresCore) throws -> Value
  ) async throws(ServiceError) -> Value {
    guard login.role == .write else { throw .readOnly }
    return try await transaction(TransactionMode.changing) { [login] transaction, number, core in
      try work(PostgresWriter(transaction, number, of: login, run, maxNodes: core.quota.nodes), core)
    }
  }

  /// Runs a transaction that reads for a client's upload (a run). It writes only if the run is not recorded
  /// for its node yet, as with the first request of a run.
  func withReadTransaction<Value: Sendable>(
    _ run: RunStamp, cursor: String? = nil, hidesOwn: Bool = true,
    _ work: @escaping @Sendable (DatabaseTransaction, PostgresEntry, _ node: Int64) throws -> Value
  ) async throws(ServiceError) -> Value {
    let read: Value?? = try await transaction(TransactionMode.reading) { [login] transaction, number, _ in
      let entry = try PostgresEntry(
        transaction, number, of: login, run, writes: false, cursor: cursor, hidesOwn: hidesOwn)
      guard let node = entry.node else { return .none }
      return try work(transaction, entry, node)
    }
    if let read, let value = read { return value }
    return try await transaction(TransactionMode.changing) { [login] transaction, number, core in
      let writer = try PostgresWriter(
        transaction, number, of: login, run, maxNodes: core.quota.nodes, cursor: cursor, hidesOwn: hidesOwn)
      return try work(transaction, writer.entry, writer.node)
    }
  }

  /// Runs a transaction for a comparison of readings. It uses the `ReadingBuckets` that earlier requests of
  /// this comparison computed, and adds new readings to them.
  ///
  /// - Parameter begins: whether all rows are read again, since a new comparison begins. A client can compare
  ///   several times with the same `RunStamp`.
  private func withComparison<Value: Sendable>(
    _ run: RunStamp, begins: Bool = false,
    _ work: @escaping @Sendable (DatabaseTransaction, PostgresEntry, ReadingBuckets) throws -> Value
  ) async throws(ServiceError) -> Value {
    let core = try await clusters.core(at: login.place.address)
    let comparison = "\(login.logbook) \(run.node) \(run.number) \(run.id)"
    if begins { await core.compared.forget(comparison) }
    let known = await core.compared.buckets(of: comparison)
    let (value, buckets) = try await withReadTransaction(run, hidesOwn: false) { transaction, entry, _ in
      // If the database was restored in the meantime, it may have fewer readings, so the buckets are computed
      // again.
      var buckets = known.last <= entry.last ? known : ReadingBuckets()
      try DigestReader(transaction, entry.logbook).extend(&buckets, until: entry.last)
      return (try work(transaction, entry, buckets), buckets)
    }
    await core.compared.cache(buckets, of: comparison)
    return value
  }
}
