// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension Store {
  /// Runs one transaction of the sync engine. It holds the store's write lock from its first SQL statement
  /// on. All of its changes are committed, or none of them. It must not send a request to a remote.
  ///
  /// Needs a store opened as `sync`.
  package func sync<Value>(_ work: (SyncTransaction) throws -> Value) throws -> Value {
    try write { try work(SyncTransaction($0, batch)) }
  }
}

/// The operations of the sync engine on a store, inside one transaction. It must not be used after the
/// transaction.
package struct SyncTransaction {
  let database: Database
  /// The table `batch` in memory, from which SQL statements read many readings at once.
  let rows: BatchTable
  /// Derives the offsets of records without a stated offset.
  let placer: RecordPlacer

  init(_ database: Database, _ rows: BatchTable) {
    self.database = database
    self.rows = rows
    placer = RecordPlacer(database)
  }
}

// MARK: - Runs

extension SyncTransaction {
  /// Begins an upload: increases its number and sets its id. Must be called before the first request, which
  /// contains both.
  package func beginRun(id: String) throws -> RunStamp {
    try database.executeCached(sql: "UPDATE remote SET run = run + 1, run_id = ?", arguments: [id])
    try endTransfers()
    return try currentRun()
  }

  /// Changes the id of this node, and starts the numbers of its uploads again. It is used if the remote has
  /// seen another store with the old id, or if the response to a write was lost. The cursor is kept, since
  /// this store has pulled all changes up to it.
  package func renewNode(_ node: String, runID: String) throws -> RunStamp {
    try database.executeCached(
      sql: "UPDATE remote SET node = ?, run = 1, run_id = ?", arguments: [node, runID])
    return try currentRun()
  }

  /// The number and the id of the current upload. If no upload is running, it returns those of the last
  /// upload; the number is 0 before the first.
  package func currentRun() throws -> RunStamp {
    guard
      let row = try Row.fetchOne(
        database.cachedStatement(sql: "SELECT node, run, run_id, logbook, last_position FROM remote"))
    else { throw Failure(.configuration, "there is no remote; 'glucoport remote set' names one") }
    let stored = StoredRow(row, of: "remote")
    return RunStamp(
      node: try stored[0], number: try stored.number(1, in: StoredBounds.count), id: try stored[2] ?? "",
      logbook: try stored[3],
      lastSeenPosition: try stored[4])
  }

  /// The last upload with its cursor, if it completed its work and nothing was added after that. Nil if there
  /// is something to send, to fetch or to repair, so that a new upload must begin.
  ///
  /// A remote never sends a node the node's own changes. Whether the node knows all of them is checked only
  /// at the first request of an upload. The end of an upload is stored after all of its responses. So a store
  /// that has this end knows each change that the upload made, and may send more requests with the upload's
  /// number. A copy of the store that was made before the end must not send such requests: it would never
  /// receive what the upload sent later.
  package func idleRun() throws -> (run: RunStamp, cursor: String)? {
    let cursor = try String.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT cursor FROM remote WHERE run_id = (SELECT value FROM setting WHERE name = ?)
            AND NOT EXISTS (SELECT 1 FROM pending_range) AND NOT EXISTS (SELECT 1 FROM queued)
            AND NOT EXISTS (SELECT 1 FROM download) AND NOT EXISTS (SELECT 1 FROM transfer)
          """),
      arguments: [StoreSetting.endedRun.rawValue])
    guard let cursor else { return nil }
    return (try currentRun(), cursor)
  }

  /// Stores that the current upload pulled and completed its work; see `idleRun`. An upload without a pull
  /// does not call this, since the remote may not have checked which changes the node knows.
  private func endRun() throws {
    try database.executeCached(
      sql: """
        INSERT INTO setting SELECT ?, run_id FROM remote WHERE run_id IS NOT NULL
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
        """, arguments: [StoreSetting.endedRun.rawValue])
  }

  /// Stores the latest position of the remote that a response stated; nil changes nothing.
  package func setLastSeenPosition(_ position: String?) throws {
    guard let position else { return }
    try database.executeCached(
      sql: "UPDATE remote SET last_position = ? WHERE last_position IS NOT ?",
      arguments: [position, position])
  }

  /// The cursor up to which the remote's changes were pulled; nil before the first pull.
  package func cursor() throws -> String? {
    try String.fetchOne(database.cachedStatement(sql: "SELECT cursor FROM remote"))
  }

  /// Stores the cursor up to which the remote's changes were pulled.
  package func setCursor(_ cursor: String?) throws {
    try database.executeCached(sql: "UPDATE remote SET cursor = ?", arguments: [cursor])
  }
}

extension SyncTransaction {
  /// Stores the remote's name of the logbook, for people.
  package func setLogbookName(_ name: String) throws {
    try database.executeCached(sql: "UPDATE remote SET logbook_name = ?", arguments: [name])
  }
}

// MARK: - Outcomes

extension SyncTransaction {
  /// The number of consecutive failures, and when the next attempt is due.
  package func attempts() throws -> (failures: Int, next: Int64?) {
    guard
      let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT failures, next_attempt FROM remote"))
    else {
      return (0, nil)
    }
    let stored = StoredRow(row, of: "remote")
    return (try stored.count(0), try stored.optionalSeconds(1))
  }

  /// Stores that the upload has completed everything that was requested.
  ///
  /// - Parameter asked: whether the remote answered a request. An upload without requests does not clear an
  ///   earlier failure.
  package func storeSuccess(at now: Int64, pushed: Bool, pulled: Bool, asked: Bool) throws {
    try database.executeCached(
      sql: """
        UPDATE remote SET last_success = :now,
          last_push = CASE WHEN :pushed THEN :now ELSE last_push END,
          last_pull = CASE WHEN :pulled THEN :now ELSE last_pull END
        """, arguments: ["now": now, "pushed": pushed, "pulled": pulled])
    try ActionLog.forget(at: now, database)
    if pulled { try endRun() }
    guard asked else { return }
    try database.executeCached(
      sql: "UPDATE remote SET failures = 0, next_attempt = NULL, last_error = NULL")
    try Store.clear(.persistentFailure, database)
  }

  /// Stores a failure that was reported and that only a person can correct.
  package func storePersistentFailure(_ failure: PersistentFailure) throws {
    try Store.set(.persistentFailure, failure.stored, database)
  }

  /// Stores that the logbook was removed permanently on the remote. Nothing is sent to it again.
  package func storePurge(at now: Int64) throws {
    try database.executeCached(
      sql: "UPDATE remote SET purged_at = ? WHERE purged_at IS NULL", arguments: [now])
  }

  /// Stores that an upload failed. The failure is stored in the database, since another process makes the
  /// next attempt.
  package func storeFailure(failures: Int, next: Int64?, _ sentence: String) throws {
    try database.executeCached(
      sql: "UPDATE remote SET failures = ?, next_attempt = ?, last_error = ?",
      arguments: [failures, next, sentence])
  }
}
