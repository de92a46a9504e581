// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import LogbookStore

/// One statement of a connection that fails, as when the disk does. What was committed stays; a failing COMMIT has
/// committed, and the caller does not know.
final class StatementFault {
  /// Whether the statement came and failed.
  private(set) var hasStruck = false
  private let store: Store
  private let place: Int
  private var statements = 0

  /// Lets a statement fail, counted from 1, until the fault ends.
  init(_ store: Store, at place: Int) {
    self.store = store
    self.place = place
    watch()
  }

  /// Lets every statement go through from here on.
  func end() {
    store.queue.inDatabase { database in
      sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
      sqlite3_trace_v2(database.sqliteConnection, 0, nil, nil)
    }
  }

  private func watch() {
    // Whoever makes a fault ends it, so that it outlives its use by SQLite.
    let context = Unmanaged.passUnretained(self).toOpaque()
    store.queue.inDatabase { database in
      sqlite3_trace_v2(
        database.sqliteConnection, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          StatementFault.of(context)?.note(statement.flatMap { sqlite3_sql(OpaquePointer($0)) })
          return 0
        }, context)
      // SQLite asks before a statement goes on, and when it ends.
      sqlite3_progress_handler(
        database.sqliteConnection, 1, { StatementFault.of($0)?.strikes() == true ? 1 : 0 }, context)
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> StatementFault? {
    context.map { Unmanaged<StatementFault>.fromOpaque($0).takeUnretainedValue() }
  }

  private func note(_ sql: UnsafePointer<CChar>?) {
    // A transaction that begins and says that it did not is nothing that a disk does.
    let begins = sql.map { String(cString: $0).hasPrefix("BEGIN") } ?? false
    if !begins, !hasStruck { statements += 1 }
  }

  private func strikes() -> Bool {
    guard statements == place, !hasStruck else { return false }
    hasStruck = true
    return true
  }
}
