// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import LogbookStore

/// Makes one statement of a connection fail, as a faulty disk does. Committed data are kept. If a COMMIT
/// fails, its data are committed, but the caller does not know it.
final class StatementFault {
  /// Whether the statement was reached and failed.
  private(set) var hasFailed = false
  private let store: Store
  private let place: Int
  private var statements = 0

  /// Makes the statement with this number fail until the fault is ended. Statements are counted from 1.
  init(_ store: Store, at place: Int) {
    self.store = store
    self.place = place
    watch()
  }

  /// Ends the fault, so that all statements succeed again.
  func end() {
    store.queue.inDatabase { database in
      sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
      sqlite3_trace_v2(database.sqliteConnection, 0, nil, nil)
    }
  }

  private func watch() {
    // The pointer stays valid: the owner of this object calls `end()` before it releases the object.
    let context = Unmanaged.passUnretained(self).toOpaque()
    store.queue.inDatabase { database in
      sqlite3_trace_v2(
        database.sqliteConnection, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          StatementFault.of(context)?.count(statement.flatMap { sqlite3_sql(OpaquePointer($0)) })
          return 0
        }, context)
      // SQLite calls this handler while a statement runs and when it ends.
      sqlite3_progress_handler(
        database.sqliteConnection, 1, { StatementFault.of($0)?.failsNow() == true ? 1 : 0 }, context)
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> StatementFault? {
    context.map { Unmanaged<StatementFault>.fromOpaque($0).takeUnretainedValue() }
  }

  private func count(_ sql: UnsafePointer<CChar>?) {
    // A BEGIN is not counted, so it never fails. If it failed on a real disk, no transaction would have
    // started.
    let begins = sql.map { String(cString: $0).hasPrefix("BEGIN") } ?? false
    if !begins, !hasFailed { statements += 1 }
  }

  private func failsNow() -> Bool {
    guard statements == place, !hasFailed else { return false }
    hasFailed = true
    return true
  }
}
