// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookAPI

/// Moves a logbook to another database while its clients continue to work.
///
/// At each moment, exactly one copy accepts changes. This is the old copy until the commit that sets its
/// state to `left`, even if the move is interrupted; see `CopyState`. After this commit, it is the new copy.
/// The old copy states where the new one is, and the first request that uses the old copy records this in the
/// directory. So no transaction over two databases is needed.
package struct LogbookMove {
  /// The steps of a move, between which an interruption has different consequences.
  enum Step: CaseIterable {
    /// The logbook is locked, so that other commands cannot move it.
    case locked
    /// Most rows are copied, while clients still change the logbook. The new database has not committed these
    /// rows yet.
    case copiedMost
    /// The old copy refuses changes as long as this command keeps its connection.
    case closed
    /// The new database has committed the complete copy.
    case copied
    /// The state of the old copy is `left`.
    case left
    /// The directory has recorded the move.
    case recorded
  }

  /// The result of a move.
  package struct MoveResult: Sendable {
    /// The cluster from which the logbook was moved; nil if it already was in the requested one.
    package let source: String?
    package let counts: TransferCounts
    /// How long changes were refused.
    package let pause: Duration
  }

  private let directory: PostgresDirectory
  private let logbook: PostgresDirectory.Located
  private let target: PostgresTransfer
  private let cluster: String

  /// Moves a logbook. After an interruption, it can be called again.
  ///
  /// - Throws: `Failure`: `missingInput` if the logbook or the cluster does not exist, `temporary` while
  ///   another command moves it, `permission`, `unavailable`. It is `cannotCreate` if the cluster has another
  ///   logbook with this name.
  package static func run(_ name: String, to cluster: String, in directory: PostgresDirectory) throws
    -> MoveResult
  {
    try run(name, to: cluster, in: directory) { _ in }
  }

  /// Moves a logbook, and calls a closure after each step, with which tests interrupt the move.
  ///
  /// - Parameter reached: called after each step. If it throws, the move stops without cleaning up, as after
  ///   a crash.
  static func run(
    _ name: String, to cluster: String, in directory: PostgresDirectory, reached: (Step) throws -> Void
  ) throws -> MoveResult {
    guard let address = try directory.clusters().first(where: { $0.name == cluster })?.address else {
      throw Failure(
        .missingInput,
        "no cluster is named '\(cluster)'; name its database with 'glucoport serve database add-cluster'")
    }
    let logbook = try directory.locked(name)
    guard logbook.entry.cluster != cluster else {
      return MoveResult(source: nil, counts: TransferCounts(), pause: .zero)
    }
    let target = try directory.connect(to: address)
    try target.requireOwner()
    guard try target.identity() != logbook.database.identity() else {
      throw Failure(.usage, "the clusters '\(cluster)' and '\(logbook.entry.cluster)' are the same database")
    }
    return try LogbookMove(directory: directory, logbook: logbook, target: target, cluster: cluster)
      .run(reached)
  }

  private func run(_ reached: (Step) throws -> Void) throws -> MoveResult {
    // If an interrupted move left the state `leaving`, it is reset.
    try setState("here")
    try reached(.locked)
    let (counts, closed) = try copy(reached)
    try reached(.copied)
    guard try setState("left") else { throw try removePurgedCopy() }
    try reached(.left)
    guard try directory.recordMove(of: logbook.entry, to: cluster) || isRecorded() else {
      throw try removePurgedCopy()
    }
    let pause = ContinuousClock.now - closed
    try reached(.recorded)
    try target.transaction { transaction in
      _ = try transaction.rows(
        "SELECT glucoport.arrive($1, $2)", .text(logbook.entry.guid), .integer(logbook.entry.moves + 1))
    }
    return MoveResult(source: logbook.entry.cluster, counts: counts, pause: pause)
  }

  /// Copies most rows, makes the old copy refuse changes, then copies the remaining rows. All this is one
  /// transaction of the new database.
  private func copy(
    _ reached: (Step) throws -> Void
  ) throws -> (TransferCounts, closed: ContinuousClock.Instant) {
    try target.transaction("BEGIN; SET LOCAL lock_timeout = \(Self.lockMilliseconds)") { transaction in
      let number = try receive(transaction)
      let writer = TransferWriter(transaction, number)
      var counts = TransferCounts()
      func write(_ rows: TransferredRows) throws {
        counts.add(rows)
        try writer.write(rows)
      }
      let (last, contents) = try withReader { reader, _ in
        (try reader.readReadings(write), try reader.readCompleteParts(write))
      }
      try reached(.copiedMost)
      guard try setState("leaving") else { throw gone }
      let closed = ContinuousClock.now
      try reached(.closed)
      try withReader { reader, old in
        try reader.readSmall(write)
        try reader.readRecords(write)
        _ = try reader.readReadings(after: last, write)
        try reader.readAnswers(write)
        try reader.readContents(except: contents, write)
        let totals = try old.rows(
          """
          SELECT c.last_seq, b.bytes FROM glucoport.counter c JOIN glucoport.contents b ON b.logbook = c.logbook
          WHERE c.logbook = $1
          """, .integer(logbook.number))
        guard totals.count == 1 else { throw gone }
        try writer.finish(last: totals.integer(0, 0), contentBytes: totals.integer(0, 1))
      }
      try transaction.rows(
        "UPDATE glucoport.residence SET moves = $2, state = 'here', cluster = NULL WHERE logbook = $1",
        .integer(number), .integer(logbook.entry.moves + 1))
      counts.logbooks = 1
      return (counts, closed)
    }
  }

  /// Creates an empty copy that no request uses yet, and returns its number.
  private func receive(_ transaction: DatabaseTransaction) throws -> Int64 {
    let entry = logbook.entry
    guard try transaction.rows("SELECT 1 FROM glucoport.purged WHERE guid = $1", .text(entry.guid)).count == 0
    else {
      throw Failure(.cannotCreate, "the logbook '\(entry.name)' was removed permanently from '\(cluster)'")
    }
    try PostgresTransfer.requireName(entry.name, of: entry.guid, transaction)
    let number = try transaction.rows(
      """
      INSERT INTO glucoport.logbook (guid, name, is_guest) VALUES ($1, $2, true)
      ON CONFLICT (guid) DO UPDATE SET guid = excluded.guid RETURNING id
      """, .text(entry.guid), .text(entry.name)
    ).integer(0, 0)
    try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
    _ = try PostgresDirectory.clear(number, of: entry, transaction)
    return number
  }
}

extension LogbookMove {
  /// The time limit for locks, in milliseconds. Requests hold a lock for at most half of this time.
  private static let lockMilliseconds = 60_000

  private func withReader<Value>(
    _ work: (TransferReader, DatabaseTransaction) throws -> Value
  ) throws -> Value {
    try logbook.database.transaction(PostgresTransfer.snapshot) { transaction in
      try transaction.run("SET LOCAL glucoport.logbook = '\(logbook.number)'")
      return try work(TransferReader(transaction, .integer(logbook.number)), transaction)
    }
  }

  /// Sets the state of the old copy, after all transactions that change it have ended.
  ///
  /// - Returns: false if the logbook was removed.
  /// - Throws: `Failure` of category `temporary` if another command has moved it, or if the lock was lost.
  @discardableResult
  private func setState(_ state: String) throws -> Bool {
    try logbook.database.transaction { transaction in
      let number = SQLValue.integer(logbook.number)
      try transaction.run(
        """
        SET LOCAL glucoport.logbook = '\(logbook.number)'; SET LOCAL lock_timeout = \(Self.lockMilliseconds)
        """)
      for table in ["counter", "contents"] {
        let rows = try transaction.rows(
          "SELECT 1 FROM glucoport.\(table) WHERE logbook = $1 FOR UPDATE", number)
        guard rows.count == 1 else { return false }
      }
      let marked = try transaction.rows(
        """
        INSERT INTO glucoport.residence AS r (logbook, moves, state, cluster)
        SELECT $1, $2, $3, $4 WHERE EXISTS (
          SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
            AND mode = 'ExclusiveLock' AND classid = \(CopyState.lockClass)
            AND objid = \(CopyState.lockKey("\(logbook.number)")) AND objsubid = 2)
        ON CONFLICT (logbook) DO UPDATE SET state = excluded.state, cluster = excluded.cluster
          WHERE r.moves = excluded.moves AND r.state <> 'left' RETURNING 1
        """, number, .integer(logbook.entry.moves), .text(state), .text(state == "left" ? cluster : nil))
      guard marked.count == 1 else {
        throw Failure(
          .temporary,
          "the lock of the logbook '\(logbook.entry.name)' was lost; run the command again, without a pooler between"
        )
      }
      return true
    }
  }

  /// Whether a request has recorded the move in the directory. A request does so if it uses the old copy.
  private func isRecorded() throws -> Bool {
    try directory.entries(logbook.entry.name).contains {
      $0.guid == logbook.entry.guid && $0.moves > logbook.entry.moves
    }
  }

  private var gone: Failure {
    Failure(.missingInput, "the logbook '\(logbook.entry.name)' was removed permanently meanwhile")
  }

  /// Removes the new copy of a logbook that was purged during the move, and returns the failure for it.
  private func removePurgedCopy() throws -> Failure {
    try target.transaction { transaction in
      guard let number = try PostgresDirectory.number(of: logbook.entry, transaction) else { return }
      try transaction.run("SET LOCAL glucoport.logbook = '\(number)'")
      try transaction.rows("SELECT glucoport.purge($1)", .text(logbook.entry.guid))
    }
    var isErased = false
    while !isErased {
      isErased = try target.transaction { try $0.rows("SELECT glucoport.erase()").integer(0, 0) == 0 }
    }
    return gone
  }
}
