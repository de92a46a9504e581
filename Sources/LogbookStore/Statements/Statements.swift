// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Records that state something about other items. Whenever an edit, an import, a pull or a merge changes one
/// of them, its statement is applied in the same transaction.
enum Statements {
  /// Applies the statements of one kind. `guids` are those that changed.
  typealias Application = @Sendable (_ database: Database, _ guids: [String]) throws -> Void

  /// The function that applies each kind, in this order.
  static let applications: [(kind: RecordKind, apply: Application)] = [
    (.zone, { database, guids in _ = try ZoneStatements.apply(guids, database) })
  ]

  /// Applies the changes. Called at the end of every transaction that may write records or readings.
  ///
  /// - Parameter known: the content of the withdrawals before.
  static func applyChanges(_ database: Database, _ known: WithdrawalCache = WithdrawalCache()) throws {
    while try applyNextChanges(database) {}
    try WithdrawalChanges.apply(database, known)
    // A withdrawal also removes the zone that was stated for its import.
    while try applyNextChanges(database) {}
  }

  /// Applies the changes so far. This may write further statements.
  ///
  /// - Returns: whether there were any.
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
  /// Runs a statement that the connection prepares only once. A run repeats the same few statements.
  /// Preparing them with the triggers of the schema takes longer than running them.
  func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
