// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB

/// A store in which one value is replaced by an invalid one, against the schema, as after a fault of the
/// disk. The schema is not changed.
package struct HostileStore {
  /// A column, and the index in `values` of the value that it gets.
  package struct Change: Sendable, CustomStringConvertible {
    package let table: String
    package let column: String
    package let value: Int

    package var description: String { "\(table).\(column) = value \(value)" }
  }

  /// Numbers at the ends of their types, other types, and unusual texts.
  package static let values: [(any DatabaseValueConvertible & Sendable)?] = [
    nil, 0, -1, Int64.min, Int64.max, Int64(1) << 62, 9e18, -1e300, Double.infinity, Int64(5_000_000_000),
    Int64(1_000_000_000_000), Int64(-1_000_000_000_000), 86_400, "x", "", "-1", "9223372036854775807",
    "{\"a\":1e999}", String(repeating: "é", count: 5000), Data([0, 255]),
  ]

  /// The definition of a table, and the rows of the triggers in `sqlite_schema`.
  private struct Rules {
    let table: String
    let triggers: [Row]
  }

  private let path: String

  /// The store in a file that no process has opened.
  package init(_ path: String) { self.path = path }

  /// All changes of one value: each column of each table gets each value of `values`.
  package func changes() throws -> [Change] {
    try DatabaseQueue(path: path).read { database in
      let tables = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
      return try tables.flatMap { table in
        try String.fetchAll(
          database, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table]
        ).flatMap { column in
          Self.values.indices.map { Change(table: table, column: column, value: $0) }
        }
      }
    }
  }

  /// Changes one row. An empty table gets a row first.
  ///
  /// - Parameter row: chooses the row.
  /// - Returns: whether SQLite accepted the change, since some values break an index or a generated column.
  package func make(_ change: Change, row: Int) throws -> Bool {
    let schema = try loosen(change.table)
    let queue = try DatabaseQueue(path: path)
    let isMade = try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
      do {
        try Self.fill(change.table, database)
        let key = try String.fetchAll(
          database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0", arguments: [change.table])
        let columns = key.isEmpty ? "rowid" : key.joined(separator: ", ")
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(change.table)") ?? 1
        try database.execute(
          sql: """
            UPDATE \(change.table) SET \(change.column) = ? WHERE (\(columns)) = (
              SELECT \(columns) FROM \(change.table) ORDER BY \(columns) LIMIT 1 OFFSET ?)
            """, arguments: [Self.values[change.value], row % max(count, 1)])
        return true
      } catch is DatabaseError {
        return false
      }
    }
    try queue.close()
    try restore(schema, change.table)
    return isMade
  }

  /// Removes every rule of a table and every trigger. Returns what is necessary to restore them.
  private func loosen(_ table: String) throws -> Rules {
    let queue = try DatabaseQueue(path: path)
    let rules = try queue.write { database in
      let triggers = try Row.fetchAll(
        database,
        sql:
          "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"
      )
      let text =
        try String.fetchOne(database, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [table])
        ?? ""
      let loose = ["INTEGER", "REAL", "TEXT", "BLOB"].reduce(text.replacing(" STRICT", with: "")) {
        $0.replacing(" \($1) NOT NULL", with: " \($1)")
      }.replacing("), WITHOUT", with: ") WITHOUT")
      try Self.set(loose, table, database)
      try database.execute(sql: "DELETE FROM sqlite_schema WHERE type = 'trigger'")
      return Rules(table: text, triggers: triggers)
    }
    try queue.close()
    return rules
  }

  private func restore(_ rules: Rules, _ table: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try Self.set(rules.table, table, database)
      for trigger in rules.triggers {
        try database.execute(
          sql: "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)",
          arguments: StatementArguments(trigger.databaseValues))
      }
    }
    try queue.close()
  }

  /// Changes the definition of a table in `sqlite_schema` directly, since SQLite would read all definitions
  /// again for each trigger that it drops or makes. The next connection reads the changed definitions.
  private static func set(_ sql: String, _ table: String, _ database: Database) throws {
    try database.execute(sql: "PRAGMA writable_schema = ON")
    try database.execute(
      sql: "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", arguments: [sql, table])
  }

  private static func fill(_ table: String, _ database: Database) throws {
    guard try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") == 0 else { return }
    let columns = try Row.fetchAll(
      database, sql: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table]
    ).map { (name: $0[0] as String, type: $0[1] as String) }
    let guid = try String.fetchOne(database, sql: "SELECT min(guid) FROM record") ?? ""
    let values = columns.map { column -> any DatabaseValueConvertible in
      switch column.type {
      case "TEXT": guid
      case "BLOB": Data(repeating: 1, count: 16)
      default: 1
      }
    }
    try database.execute(
      sql: """
        INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        """, arguments: StatementArguments(values))
  }
}
