// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

extension SyncTransaction {
  /// States what imports of this store brought, too, of what withdrawals that came from the remote list. Called when a page
  /// was applied, in its transaction.
  package func stateBrought(at now: Int64) throws {
    let changed = try String.fetchAll(
      database.cachedStatement(sql: "SELECT DISTINCT fields FROM changed_withdrawal")
    ).compactMap { Withdrawal(json: $0) }
    guard !changed.isEmpty else { return }
    let brought = try BroughtItems(WithdrawalChanges.items(database), database)
    var (series, records) = (Set<SeriesName>(), Set<String>())
    for case .input(let input) in changed.map(\.subject) {
      // A copy of this store undid an import, or shows it again: others may list what it brought.
      if try isOwnImport(input.importID) {
        (series, records) = brought.everything
        break
      }
      for listed in try [input] + BroughtItems.stated(by: input.importID, database) {
        series.formUnion(listed.points.keys)
        records.formUnion(listed.records.keys)
      }
    }
    try BroughtItems.insert(brought.missing(in: series, records: records), database, at: now)
  }

  private func isOwnImport(_ importID: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE guid = ?)"),
      arguments: [importID]) ?? false
  }
}
