// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension SyncTransaction {
  /// Quarantines the records with an unreadable sent, base or conflict state, as after damage to the file.
  /// The unreadable text is removed, so that an edit or a retry sends the record as it is.
  ///
  /// - Returns: the number of records.
  package func quarantineUnreadableRecords() throws -> Int {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT guid, sent, base, conflict FROM record INDEXED BY record_pending
          WHERE \(RecordCondition.isPending) AND (sent IS NOT NULL OR base IS NOT NULL)
          UNION ALL
          SELECT guid, sent, base, conflict FROM record INDEXED BY record_conflicted WHERE conflict IS NOT NULL
          """))
    var damaged: [(guid: String, damages: [SyncTexts.Damage])] = []
    while let row = try rows.next().map({ StoredRow($0, of: "record") }) {
      let damages = SyncTexts(sent: try row[1], base: try row[2], conflict: try row[3]).damages
      if !damages.isEmpty { damaged.append((try row[0], damages)) }
    }
    for (guid, damages) in damaged { try quarantine(guid, damages) }
    return damaged.count + (try quarantineUnsendableRecords())
  }

  /// Quarantines pending records that every remote refuses, whichever program stored them, so that they do
  /// not block others.
  private func quarantineUnsendableRecords() throws -> Int {
    let unsendable = try UnsendableRecords.find(database)
    for (guid, reason) in unsendable {
      try quarantine(guid, reason: "it cannot be sent: \(reason); edit the record")
    }
    return unsendable.count
  }

  private func quarantine(_ guid: String, _ damages: [SyncTexts.Damage]) throws {
    let reasons = damages.map { "'\($0.column)' (byte \($0.error.offset): \($0.error.reason))" }
    let removed = damages.flatMap { Self.columns[$0.column] ?? [] }.map { "\($0) = NULL, " }.joined()
    try database.execute(
      sql: "UPDATE record SET \(removed)quarantine = ?, quarantined_version = version WHERE guid = ?",
      arguments: [
        "this store cannot read what it keeps for sync in \(reasons.joined(separator: ", ")); "
          + "edit the record, or send it as it is with 'glucoport queue retry'", guid,
      ])
  }

  /// The columns that are valid only together.
  private static let columns = [
    "sent": ["sent", "sent_version"], "base": ["base"], "conflict": ["conflict", "conflict_revision"],
  ]
}
