// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite

/// A prepared statement of the raw connection, for the loops in which GRDB's own would take most of the time.
///
/// Parameters count from 1, columns from 0. Everything runs on the connection's one thread.
final class RawStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  /// Owns the handle.
  private let kept: Statement

  /// Takes the statement that the connection keeps for this text. Only one of a text may be at work at a time.
  init(keptBy database: Database, _ sql: String) throws {
    guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
    let statement = try database.cachedStatement(sql: sql)
    self.connection = connection
    handle = statement.sqliteStatement
    kept = statement
  }

  deinit {
    // One that was left before its last row would keep its snapshot.
    sqlite3_reset(handle)
  }

  @inline(__always) func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
  @inline(__always) func bind(_ value: Double, at index: Int32) { sqlite3_bind_double(handle, index, value) }
  @inline(__always) func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

  @inline(__always) func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Steps to the next row; false at the end, where the statement is reset.
  @inline(__always) func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else { throw Self.error(connection, code) }
    return false
  }

  /// Runs a statement that yields no rows; gives how many rows it changed.
  @inline(__always) func run() throws -> Int {
    while try step() {}
    return Int(sqlite3_changes(connection))
  }

  @inline(__always) func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  @inline(__always) func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  @inline(__always) func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  private static func error(_ connection: OpaquePointer, _ code: Int32) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: String(cString: sqlite3_errmsg(connection)))
  }
}
