// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite

/// A cached statement of the connection, bound and stepped without GRDB's own values, for the loops over readings.
///
/// Parameters count from 1, columns from 0.
struct RawRow {
  private let statement: Statement
  private let handle: OpaquePointer

  init(_ database: Database, _ sql: String) throws {
    statement = try database.cachedStatement(sql: sql)
    handle = statement.sqliteStatement
  }

  @inline(__always) func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

  @inline(__always) func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Steps to the next row; false at the end.
  @inline(__always) func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code), message: statement.sql)
    }
  }

  /// Leaves the rows that were not stepped to. Belongs behind every use, since a statement at work keeps its snapshot.
  func reset() { sqlite3_reset(handle) }

  @inline(__always) func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  @inline(__always) func number(_ column: Int32) -> Double? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_double(handle, column)
  }
}
