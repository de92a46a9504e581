// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Decides whether an import shows items again that `undo` hid.
///
/// If the same input is read again in the same way, its items stay hidden: a job may import a folder every
/// night. The option `--again` shows them. Any other file with the same items shows them again. A meter
/// returns its whole memory each time, and an export of a store itself states what is hidden. So imports from
/// meters and of such exports show no item again.
extension IngestWriter {
  /// Ends the writing of records, and hides those that the source deleted. Then hides or shows the items of
  /// this input that an undo withdrew.
  func restoreOrHide(at now: Int64) throws {
    let held = try WithdrawalGroup.validWithdrawals(database)
    guard !held.isEmpty else { return try finishRecords() }
    let known = try InputIdentity.known(of: id, database)
    let same = held.filter { known.contains($0.input.input) }
    let hidden = try Self.hiddenReadings(database)
    if source.restoresWithdrawn {
      try endUndo(of: same, held, at: now)
    } else if !same.isEmpty {
      try finishUndone()
      return
    }
    if try readsFile, !state.statesIdentities {
      try finishRecords(restoresWithdrawn: true)
      try database.executeCached(
        sql: "UPDATE ingest SET shows_withdrawn = 1 WHERE id = ?", arguments: [id])
      let brought = try BroughtItems(WithdrawalChanges.items(database), database)
      let contribution = ImportContribution(id, database, stored: state.stretches.mapValues(\.positions))
      try BroughtItems.insert(
        brought.listed(of: contribution, with: state.knownWithdrawn.lists()), database, at: now)
    } else {
      try finishRecords()
    }
    try WithdrawalChanges.apply(database, withdrawals)
    state.counts.restoredReadings = max(0, try hidden - Self.hiddenReadings(database))
    state.counts.withdrawnReadings = max(0, state.counts.withdrawnReadings - state.counts.restoredReadings)
  }

  /// Ends the withdrawals of this input, and restores the contents that the records have after a `redo`.
  ///
  /// - Parameter held: all valid withdrawals.
  private func endUndo(
    of same: [(guid: String, input: WithdrawnInput)], _ held: [(guid: String, input: WithdrawnInput)],
    at now: Int64
  ) throws {
    let groups = Set(same.map(\.input.group))
    try InputRestoration(database, at: now).end(held.filter { groups.contains($0.input.group) })
    try WithdrawalChanges.apply(database, withdrawals)
    for importID in Set(same.map(\.input.importID)).sorted() {
      let own = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT id FROM ingest WHERE guid = ?"), arguments: [importID])
      guard let own else { continue }
      try StatedContents(database).restoreContents(of: own, at: now)
      try StatedContents(database).updateWriters(after: own)
    }
  }

  /// Ends the writing of records of an input that is undone. The import changes no record. It counts neither
  /// as a statement of its items nor as an import that brought them.
  private func finishUndone() throws {
    if let outcome = try records?.finish(keepsRecords: true) { count(outcome) }
    state.counts.withdrawnRecords = try hiddenRecords()
    for table in ["ingest_record", "ingest_run", "stated_content"] {
      try database.executeCached(sql: "DELETE FROM \(table) WHERE ingest = ?", arguments: [id])
    }
    try database.executeCached(sql: "UPDATE ingest SET is_noted = 1 WHERE id = ?", arguments: [id])
    state.isUndone = true
  }

  /// The number of hidden records that this import lists.
  private func hiddenRecords() throws -> Int {
    try Int.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT count(*) FROM ingest_record AS o CROSS JOIN record ON record.guid = o.guid
          WHERE o.ingest = ? AND record.deleted = 0 AND \(Withdrawn.record)
          """), arguments: [id]) ?? 0
  }

  private func finishRecords(restoresWithdrawn: Bool = false) throws {
    let deleted = restoresWithdrawn ? try withdrawals.visibility(database).deletedContents : [:]
    if let outcome = try records?.finish(restoresWithdrawn: restoresWithdrawn, deleted: Array(deleted.keys)) {
      count(outcome)
    }
    // An export of a store states what is hidden there, and not what a source deleted.
    let isFromSource = !state.statesIdentities && !source.isMerge
    state.counts.deletedRecords += try deletions?.finish(showsRestored: isFromSource) ?? 0
  }

  private var readsFile: Bool {
    get throws {
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT coalesce(digest, '') <> '' FROM ingest WHERE id = ?"),
        arguments: [id]) ?? false
    }
  }

  private static func hiddenReadings(_ database: Database) throws -> Int {
    try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM withdrawn WHERE cause = 1")) ?? 0
  }
}
