// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Logbook

/// Makes SQLite files for tests, including files that no app makes.
package enum DatabaseWriter {
  /// The bytes of a database after some statements.
  package static func database(_ sql: String) throws -> [UInt8] {
    var connection: OpaquePointer?
    guard sqlite3_open(":memory:", &connection) == SQLITE_OK, let connection else {
      throw Failure(.inputOutput, "no database in memory")
    }
    defer { sqlite3_close_v2(connection) }
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw Failure(.badInput, String(cString: sqlite3_errmsg(connection)))
    }
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(connection, "main", &size, 0) else {
      throw Failure(.inputOutput, "the database cannot be copied")
    }
    defer { sqlite3_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  /// The bytes of a database with a changed definition of a table, as only an attacker would write it.
  package static func database(_ sql: String, defining table: String, as definition: String) throws -> [UInt8]
  {
    try database(
      sql + ";PRAGMA writable_schema = ON;"
        + "UPDATE sqlite_schema SET sql = '\(definition)' WHERE name = '\(table)'")
  }
}
