// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Applies records that state something about other items, such as zone records. Whenever an edit, an import,
/// a pull or a merge changes such a record, the record is applied in the same transaction.
enum Statements {
  /// A function that applies records of one kind. `guids` are the records that changed.
  typealias Application = @Sendable (_ database: Database, _ guids: [String]) throws -> Void

  /// The functions for each kind, in the order in which they run.
  static let applications: [(kind: RecordKind, apply: Application)] = [
    (.zone, { database, guids in _ = try ZoneStatements.apply(guids, database) })
  ]

  /// Applies all changed records. Must be called at the end of every transaction that may write records or
  /// readings.
  ///
  /// - Parameter known: a cache of decoded withdrawals.
  static func applyChanges(_ database: Database, _ known: WithdrawalCache = WithdrawalCache()) throws {
    while try applyNextChanges(database) {}
    try WithdrawalChanges.apply(database, known)
    // A withdrawal of an import may also remove the zone that was stated for it, so changed records are
    // applied again.
    while try applyNextChanges(database) {}
  }

  /// Applies the changes that are noted so far. This may change further records that must be applied.
  ///
  /// - Returns: whether there were any changes.
  private static func applyNextChanges(_ database: Database) throws -> Bool {
    let changed = try Row.fetchAll(
      database.cachedStatement(sql: "SELECT kind, guid FROM changed_statement ORDER BY guid")
    ).map { row in
      let row = StoredRow(row, of: "changed_statement", key: 1..<2)
      return (kind: try row[0] as String, guid: try row[1] as String)
    }
    let hasListedReadings = try ZoneStatements.hasNewReadings(database)
    guard !changed.isEmpty || hasListedReadings else { return false }
    try database.executeCached(sql: "DELETE FROM changed_statement")
    for (kind, apply) in applications {
      let guids = changed.filter { $0.kind == kind.rawValue }.map(\.guid)
      if !guids.isEmpty || (kind == .zone && hasListedReadings) { try apply(database, guids) }
    }
    return true
  }
}

extension Database {
  /// Runs an SQL statement that the connection prepares only once. An import repeats the same few statements,
  /// and preparing them with all triggers takes longer than running them.
  func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// Whether a table has a row; `table` may have an SQL condition after its name.
  func hasRow(in table: String) throws -> Bool {
    try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table))")) ?? false
  }
}
