// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Store {
  /// How many readings and records are hidden here and may still have documents on the site that is the remote.
  package func siteRemovals() throws -> SiteMoves.Counts {
    try read { database in
      let readings = try Int.fetchOne(
        database.cachedStatement(
          sql: "SELECT count(*) FROM \(SyncTransaction.withdrawnTables) WHERE r.uploaded = 1"))
      let records = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM record WHERE \(SyncTransaction.isHiddenOnSite)"))
      return SiteMoves.Counts(readings: readings ?? 0, records: records ?? 0)
    }
  }
}

/// Records that are hidden here, and whose documents a site without withdrawals is not to show.
extension SyncTransaction {
  /// A condition on a row of `record` that is hidden and of which the site may have a document.
  fileprivate static let isHiddenOnSite = """
    record.guid IN (
        SELECT guid FROM listed_record WHERE is_withdrawn = 1
        UNION SELECT child.guid FROM listed_record AS l JOIN record AS child ON child.entry_guid = l.guid
        WHERE l.is_withdrawn = 1)
      AND record.guid NOT IN (SELECT guid FROM removed_record)
      AND record.deleted = 0 AND record.conflict IS NULL AND NOT \(Withdrawn.isStatement)
      AND (record.revision IS NOT NULL OR record.sent IS NOT NULL)
    """

  /// Hidden records of which the site may have a document, as many as `limit`.
  package func hiddenRecords(limit: Int) throws -> [SyncRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM record WHERE \(Self.isHiddenOnSite)
          ORDER BY record.guid LIMIT ?
          """), arguments: [limit]
    ).map(SyncRecord.init)
  }

  /// The site shows no document of this record. One of another program stays, and is that program's.
  package func noteRemoved(_ guid: String) throws {
    try database.executeCached(
      sql: "INSERT INTO removed_record VALUES (?) ON CONFLICT DO NOTHING", arguments: [guid])
    try database.executeCached(sql: "DELETE FROM resend_record WHERE guid = ?", arguments: [guid])
  }

  /// Queues what was removed and is shown again, be it that the withdrawal was taken back or that the record was edited.
  ///
  /// What says so goes up first: another store that pulled the record without it would remove the document once more.
  package func requeueShownRecords() throws {
    let isSaying = try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM record INDEXED BY record_pending
            WHERE \(RecordCondition.isPending) AND \(Withdrawn.isStatement))
          """))
    guard isSaying != true else { return }
    let shown = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT r.guid FROM removed_record AS r LEFT JOIN record ON record.guid = r.guid
          WHERE record.guid IS NULL OR record.deleted = 1 OR \(Withdrawn.record) = 0
          """))
    for guid in shown {
      try database.executeCached(sql: "DELETE FROM removed_record WHERE guid = ?", arguments: [guid])
      _ = try requeue(record: guid)
    }
  }

  /// Every record that is hidden.
  package func hiddenRecords() throws -> Set<String> {
    try Set(
      String.fetchAll(
        database.cachedStatement(sql: "SELECT guid FROM record WHERE \(Withdrawn.recordIsUnsent)")))
  }

  /// Whether a record is hidden, so that a site does not get it.
  package func isHidden(record guid: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Withdrawn.record) FROM record WHERE guid = ? AND deleted = 0"),
      arguments: [guid]) ?? false
  }
}
