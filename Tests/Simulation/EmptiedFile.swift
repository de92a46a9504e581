// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// Deletes all rows of a database, so that the next `World` can use the database through its open
/// connections. Opening a database and preparing its SQL statements takes several times as long as
/// simulating a world.
final class EmptiedFile {
  private var handle: OpaquePointer?
  private var statements: [OpaquePointer] = []

  /// Prepares the deletion of the rows in the database at a path.
  ///
  /// - Parameter kept: the rows that are not deleted, as an SQL condition for each table with such rows.
  init(_ path: String, keeping kept: [String: String]) throws {
    try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil))
    // Triggers with a SELECT refuse each deletion. The authorizer makes SQLite skip these SELECT statements.
    sqlite3_set_authorizer(
      handle,
      { _, action, _, _, _, trigger in
        action == SQLITE_SELECT && trigger != nil ? SQLITE_IGNORE : SQLITE_OK
      }, nil)
    let deletions = try tables().map { "DELETE FROM \($0)\(kept[$0].map { " WHERE NOT (\($0))" } ?? "")" }
    statements = try (["BEGIN IMMEDIATE"] + deletions + ["COMMIT"]).map(prepare)
  }

  deinit {
    for statement in statements { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  /// Deletes all rows except those that match a condition in `kept`.
  func empty() throws {
    for statement in statements {
      sqlite3_step(statement)
      try check(sqlite3_reset(statement))
    }
  }
}

extension EmptiedFile {
  private func tables() throws -> [String] {
    let statement = try prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    defer { sqlite3_finalize(statement) }
    var names: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      if let name = sqlite3_column_text(statement, 0) { names.append(String(cString: name)) }
    }
    return names
  }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    guard let statement else { throw Broken("no statement: \(sql)") }
    return statement
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw Broken("cannot empty a database: \(String(cString: sqlite3_errmsg(handle)))")
  }
}
