// SPDX-License-Identifier: Apache-2.0

package import GRDB
import GRDBSQLite

/// A prepared statement of the raw connection, for loops in which GRDB's own statement would take most of the time.
///
/// Parameters are numbered from 1, columns from 0. Everything runs on the connection's one thread.
package final class RawStatement {
  @usableFromInline let handle: OpaquePointer
  @usableFromInline let connection: OpaquePointer
  private let kept: Statement

  /// Takes the cached statement of the connection for this text. Only one of a text may be in use at a time.
  package init(keptBy database: Database, _ sql: String) throws {
    guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
    let statement = try database.cachedStatement(sql: sql)
    self.connection = connection
    handle = statement.sqliteStatement
    kept = statement
  }

  /// Prepares a separate statement: several of a text may be in use at a time.
  package init(of database: Database, _ sql: String) throws {
    guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
    let statement = try database.makeStatement(sql: sql)
    self.connection = connection
    handle = statement.sqliteStatement
    kept = statement
  }

  deinit {
    // An unfinished statement would keep its snapshot.
    sqlite3_reset(handle)
  }

  /// Binds a parameter.
  @inlinable @inline(__always) package func bind(_ value: Int64, at index: Int32) {
    sqlite3_bind_int64(handle, index, value)
  }

  /// Binds a parameter; nil is NULL.
  @inlinable @inline(__always) package func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Steps to the next row; false at the end, where the statement is reset.
  @inlinable @inline(__always) package func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else { throw error() }
    return false
  }

  /// Runs a statement without rows. Returns the number of rows that it changed.
  @inlinable @inline(__always) package func run() throws -> Int {
    while try step() {}
    return Int(sqlite3_changes(connection))
  }

  /// Skips the remaining rows, so that parameters can be bound again.
  package func reset() { sqlite3_reset(handle) }

  /// A column of the row as a whole number; 0 for NULL.
  @inlinable @inline(__always) package func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// A column of the row as a number; nil for NULL.
  @inlinable @inline(__always) package func number(_ column: Int32) -> Double? {
    // One look-up for both questions, since rows are read by the million.
    let value = sqlite3_column_value(handle, column)
    return sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_double(value)
  }

  /// A column that must hold a whole number; nil if it does not. One damaged byte can change a number into NULL or
  /// text, which `integer` reads as 0.
  @inlinable @inline(__always) package func exactInteger(_ column: Int32) -> Int64? {
    let value = sqlite3_column_value(handle, column)
    return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
  }

  /// What is wrong with a column that must hold a whole number; nil if it does.
  @inlinable @inline(__always) package func misfit(asInteger column: Int32) -> String? {
    exactInteger(column) == nil ? misfit(column) : nil
  }

  /// A column that must hold a number or NULL, and whether it does.
  @inlinable @inline(__always) package func exactNumber(_ column: Int32) -> (number: Double?, fits: Bool) {
    let value = sqlite3_column_value(handle, column)
    return switch sqlite3_value_type(value) {
    case SQLITE_FLOAT, SQLITE_INTEGER: (sqlite3_value_double(value), true)
    case SQLITE_NULL: (nil, true)
    default: (nil, false)
    }
  }

  /// What is wrong with a column that holds another type.
  @usableFromInline package func misfit(_ column: Int32) -> String {
    let title = String(cString: sqlite3_column_name(handle, column))
    return sqlite3_column_type(handle, column) == SQLITE_NULL ? "\(title) is NULL" : "\(title) is no number"
  }

  /// The bytes of a column that holds text, until the next step; none for NULL.
  package func text(_ column: Int32) -> UnsafeRawBufferPointer {
    let bytes = UnsafeRawPointer(sqlite3_column_text(handle, column))
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Whether a column of the row is NULL.
  @inlinable @inline(__always) package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  @usableFromInline func error() -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: String(cString: sqlite3_errmsg(connection)))
  }
}
