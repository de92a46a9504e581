// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Records that state something about other items: whatever changes one of them, an edit, an import, a pull or a merge,
/// what it states is applied in the same transaction.
enum Statements {
  /// Applies the statements of one kind, of which those with these guids changed.
  typealias Application = @Sendable (_ database: Database, _ guids: [String]) throws -> Void

  /// What applies each kind, in this order.
  static let applications: [(kind: RecordKind, apply: Application)] = [
    (.zone, { database, guids in _ = try ZoneStatements.apply(guids, database) })
  ]

  /// Applies what changed. Called at the end of every transaction that may write records or readings.
  ///
  /// - Parameter known: what the withdrawals said before.
  static func applyChanges(_ database: Database, _ known: KnownWithdrawals = KnownWithdrawals()) throws {
    while try applyNextChanges(database) {}
    try WithdrawalChanges.settle(database, known)
    // A withdrawal takes the zone that was stated for its import with it.
    while try applyNextChanges(database) {}
  }

  /// Applies what changed until now; what applies it may state something itself.
  ///
  /// - Returns: whether there was anything.
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
