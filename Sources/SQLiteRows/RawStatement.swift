// SPDX-License-Identifier: Apache-2.0

public import GRDB
public import GRDBSQLite

/// A prepared statement of SQLite's C interface. It is used in loops in which GRDB's own statement would take
/// most of the time.
///
/// Parameters are numbered from 1, columns from 0. It must be used on the thread of its connection.
@usableFromInline package final class RawStatement {
  @usableFromInline let handle: OpaquePointer
  @usableFromInline let connection: OpaquePointer
  private let kept: Statement

  /// Uses the cached statement of the connection for this SQL text. Two instances with the same text must not
  /// be used at the same time.
  package init(keptBy database: Database, _ sql: String) throws {
    guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
    let statement = try database.cachedStatement(sql: sql)
    self.connection = connection
    handle = statement.sqliteStatement
    kept = statement
  }

  /// Prepares a separate statement, so that several statements with the same SQL text can be used at the same
  /// time.
  package init(of database: Database, _ sql: String) throws {
    guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
    let statement = try database.makeStatement(sql: sql)
    self.connection = connection
    handle = statement.sqliteStatement
    kept = statement
  }

  deinit {
    // Resetting ends the SQL statement. Otherwise it would keep its snapshot of the database.
    sqlite3_reset(handle)
  }

  /// Binds a value to the parameter at `index`.
  @inlinable @inline(__always) package func bind(_ value: Int64, at index: Int32) {
    sqlite3_bind_int64(handle, index, value)
  }

  /// Binds a value to the parameter at `index`; nil becomes NULL.
  @inlinable @inline(__always) package func bind(_ value: Double?, at index: Int32) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  /// Moves to the next row. Returns false after the last row; the statement is then reset.
  @inlinable @inline(__always) package func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else { throw error() }
    return false
  }

  /// Runs an SQL statement that returns no rows. Returns the number of rows that it changed.
  @inlinable @inline(__always) package func run() throws -> Int {
    while try step() {}
    return Int(sqlite3_changes(connection))
  }

  /// Ends the SQL statement before its last row, so that parameters can be bound again.
  package func reset() { sqlite3_reset(handle) }

  /// The value of a column in the current row as a whole number; 0 for NULL.
  @inlinable @inline(__always) package func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// The value of a column in the current row as a number; nil for NULL.
  @inlinable @inline(__always) package func number(_ column: Int32) -> Double? {
    // This call returns both type and value. Two calls would take longer for each of millions of rows.
    let value = sqlite3_column_value(handle, column)
    return sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_double(value)
  }

  /// The whole number in a column; nil if the column contains anything else. A damaged byte can change a
  /// number into NULL or text, which `integer` reads as 0.
  @inlinable @inline(__always) package func exactInteger(_ column: Int32) -> Int64? {
    let value = sqlite3_column_value(handle, column)
    return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
  }

  /// The reason why a column is not a whole number; nil if it is one.
  @inlinable @inline(__always) package func typeProblem(asInteger column: Int32) -> String? {
    exactInteger(column) == nil ? typeProblem(column) : nil
  }

  /// The number in a column, nil for NULL. `fits` is false if the column contains anything else.
  @inlinable @inline(__always) package func exactNumber(_ column: Int32) -> (number: Double?, fits: Bool) {
    let value = sqlite3_column_value(handle, column)
    return switch sqlite3_value_type(value) {
    case SQLITE_FLOAT, SQLITE_INTEGER: (sqlite3_value_double(value), true)
    case SQLITE_NULL: (nil, true)
    default: (nil, false)
    }
  }

  /// The reason why a column does not have the required type.
  @usableFromInline package func typeProblem(_ column: Int32) -> String {
    let title = String(cString: sqlite3_column_name(handle, column))
    return sqlite3_column_type(handle, column) == SQLITE_NULL
      ? "\(title) is NULL" : "\(title) is not a number"
  }

  /// The bytes of a column's text, which are valid until the next step; empty for NULL.
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
