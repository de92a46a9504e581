// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension Store {
  /// Runs one transaction of the sync engine, which holds the store's write lock from its first statement.
  /// Either all of its changes are committed or none. No request to a remote is sent inside it.
  ///
  /// Needs a store opened as `sync`.
  package func sync<Value>(_ work: (SyncTransaction) throws -> Value) throws -> Value {
    try write { try work(SyncTransaction($0, batch)) }
  }
}

/// The changes that the sync engine may make to a store, inside one transaction. Valid only there.
package struct SyncTransaction {
  let database: Database
  /// The table from which statements read many readings at once.
  let rows: BatchTable
  /// Derives the offsets of records that state none.
  let placer: RecordPlacer

  init(_ database: Database, _ rows: BatchTable) {
    self.database = database
    self.rows = rows
    placer = RecordPlacer(database)
  }
}

// MARK: - Runs

extension SyncTransaction {
  /// Begins a run: increases the run's number and sets its id, before the first request contains both.
  package func beginRun(id: String) throws -> RunStamp {
    try database.executeCached(sql: "UPDATE remote SET run = run + 1, run_id = ?", arguments: [id])
    try endTransfers()
    return try currentRun()
  }

  /// Gives this installation a new id. Either the remote has seen another store with the old id, or its
  /// answer to a write of this one was lost. The cursor is kept, since this store has pulled the changes up
  /// to it.
  package func renewNode(_ node: String, runID: String) throws -> RunStamp {
    try database.executeCached(
      sql: "UPDATE remote SET node = ?, run = 1, run_id = ?", arguments: [node, runID])
    return try currentRun()
  }

  /// The last run, or the current one; its number is 0 before the first.
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

  /// Stores the latest position of the remote.
  package func setLastSeenPosition(_ position: String?) throws {
    guard let position else { return }
    try database.executeCached(
      sql: "UPDATE remote SET last_position = ? WHERE last_position IS NOT ?",
      arguments: [position, position])
  }

  /// The cursor up to which the remote's changes have been pulled; nil for none.
  package func cursor() throws -> String? {
    try String.fetchOne(database.cachedStatement(sql: "SELECT cursor FROM remote"))
  }

  /// Stores the cursor up to which the remote's changes have been pulled.
  package func setCursor(_ cursor: String?) throws {
    try database.executeCached(sql: "UPDATE remote SET cursor = ?", arguments: [cursor])
  }
}

extension SyncTransaction {
  /// Stores the name of the logbook, for people.
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

  /// Stores that the run did everything that was requested.
  ///
  /// - Parameter asked: whether the remote answered. A run without requests does not clear an earlier
  ///   failure.
  package func storeSuccess(at now: Int64, pushed: Bool, pulled: Bool, asked: Bool) throws {
    try database.executeCached(
      sql: """
        UPDATE remote SET last_success = :now,
          last_push = CASE WHEN :pushed THEN :now ELSE last_push END,
          last_pull = CASE WHEN :pulled THEN :now ELSE last_pull END
        """, arguments: ["now": now, "pushed": pushed, "pulled": pulled])
    try ActionLog.forget(at: now, database)
    guard asked else { return }
    try database.executeCached(
      sql: "UPDATE remote SET failures = 0, next_attempt = NULL, last_error = NULL")
    try Store.clear(.persistentFailure, database)
  }

  /// Stores a reported failure that only a person can correct.
  package func storePersistentFailure(_ failure: PersistentFailure) throws {
    try Store.set(.persistentFailure, failure.stored, database)
  }

  /// Stores that the logbook was removed on the remote permanently: nothing is sent to it again.
  package func storePurge(at now: Int64) throws {
    try database.executeCached(
      sql: "UPDATE remote SET purged_at = ? WHERE purged_at IS NULL", arguments: [now])
  }

  /// Stores that a run failed. The next attempt is another process.
  package func storeFailure(failures: Int, next: Int64?, _ sentence: String) throws {
    try database.executeCached(
      sql: "UPDATE remote SET failures = ?, next_attempt = ?, last_error = ?",
      arguments: [failures, next, sentence])
  }
}
