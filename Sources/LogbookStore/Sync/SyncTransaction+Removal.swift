// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

extension Store {
  /// The numbers of hidden readings and records that may still have documents on the remote site.
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

/// Handles hidden records on a site that does not know withdrawals: their documents must not be visible
/// there.
extension SyncTransaction {
  /// The SQL condition that a row of `record` is hidden and may still have a document on the site.
  fileprivate static let isHiddenOnSite = """
    record.guid IN (
        SELECT guid FROM listed_record WHERE is_withdrawn = 1
        UNION SELECT child.guid FROM listed_record AS l JOIN record AS child ON child.entry_guid = l.guid
        WHERE l.is_withdrawn = 1)
      AND record.guid NOT IN (SELECT guid FROM removed_record)
      AND record.deleted = 0 AND record.conflict IS NULL AND NOT \(Withdrawn.isStatement)
      AND (record.revision IS NOT NULL OR record.sent IS NOT NULL)
    """

  /// At most `limit` hidden records that may still have a document on the site.
  package func hiddenRecords(limit: Int) throws -> [SyncRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM record WHERE \(Self.isHiddenOnSite)
          ORDER BY record.guid LIMIT ?
          """), arguments: [limit]
    ).map(SyncRecord.init)
  }

  /// Stores that the site no longer shows a document of this record. Documents that other programs wrote are
  /// not removed.
  package func storeRemoval(_ guid: String) throws {
    try database.executeCached(
      sql: "INSERT INTO removed_record VALUES (?) ON CONFLICT DO NOTHING", arguments: [guid])
    try database.executeCached(sql: "DELETE FROM resend_record WHERE guid = ?", arguments: [guid])
  }

  /// Queues records whose documents were removed, if they are visible again after an edit or the end of a
  /// withdrawal.
  ///
  /// The changed withdrawal is sent first. Otherwise another store could pull the record without the
  /// withdrawal's change, and would remove the document again.
  package func requeueShownRecords() throws {
    let isStatementPending = try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM record INDEXED BY record_pending
            WHERE \(RecordCondition.isPending) AND \(Withdrawn.isStatement))
          """))
    guard isStatementPending != true else { return }
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

  /// The number of readings that are queued again at once, which limits the memory for their keys.
  private static let maxRequeued = 50_000

  /// Queues items again that another store may have removed from the site. That store undid its import of these
  /// items, and did not know that an import of this store contains them, too. What the site still has, it does
  /// not store twice. No store removes the documents of other programs, so their readings are left out.
  func requeueOnSite(_ inputs: [WithdrawnInput], at now: Int64) throws {
    guard !inputs.isEmpty,
      try Bool.fetchOne(database.cachedStatement(sql: "SELECT \(SiteSchema.isConnected)")) == true
    else { return }
    let foreign = try readingsInForeignDocuments(in: Set(inputs.flatMap(\.points.keys))).mapValues(Set.init)
    var keys: [ReadingKey] = []
    func send() throws {
      _ = try requeue(keys, reason: "another store may have removed it from the site", at: now)
      keys.removeAll(keepingCapacity: true)
    }
    for (name, points) in inputs.flatMap(\.points) {
      guard let series = try name.stored(database),
        let partition = try Int64.fetchOne(
          database.cachedStatement(sql: "SELECT partition FROM series WHERE id = ?"), arguments: [series])
      else { continue }
      for point in points.points where foreign[series]?.contains(point) != true {
        keys.append(
          ReadingKey(
            partition: partition, position: point.position, series: series, valueBucket: point.valueBucket,
            occurrence: point.occurrence))
        if keys.count == Self.maxRequeued { try send() }
      }
    }
    if !keys.isEmpty { try send() }
    for guid in inputs.flatMap(\.records.keys) { _ = try requeue(record: guid) }
  }

  /// The guids of all records that are not sent to a site because they are hidden.
  package func hiddenRecords() throws -> Set<String> {
    try Set(
      String.fetchAll(
        database.cachedStatement(sql: "SELECT guid FROM record WHERE \(Withdrawn.recordIsUnsent)")))
  }

  /// Whether a record is hidden, and so is not sent to a site.
  package func isHidden(record guid: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Withdrawn.record) FROM record WHERE guid = ? AND deleted = 0"),
      arguments: [guid]) ?? false
  }

  /// The SQL condition that a row of `record` is hidden and has the content of an undone import of this store. No
  /// person edited it, and another store did not write it.
  private static let isOfUndoneImport = """
    (record.deleted = 0 AND \(StatedContents.isOwn)
      AND EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = record.guid AND l.is_withdrawn = 1)
      AND EXISTS (SELECT 1 FROM ingest AS i WHERE i.id = record.ingest AND \(ImportContribution.isUndone(of: "i"))))
    """

  /// Whether a record is hidden and has the content of an undone import of this store. A site never gets it, so
  /// that what arrives from the site replaces it.
  package func isOfUndoneImport(record guid: String) throws -> Bool {
    guard try database.hasRow(in: "listed_record WHERE is_withdrawn = 1") else { return false }
    return try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT \(Self.isOfUndoneImport) FROM record WHERE guid = ?"),
      arguments: [guid]) ?? false
  }

  /// Marks a pending record for which `isOfUndoneImport` is true as synced, so that a state of the remote may
  /// replace its content. All other records stay pending, and the schema refuses to replace an edit.
  func endUnsentVersion(_ guid: String) throws {
    guard try isOfUndoneImport(record: guid) else { return }
    try database.executeCached(
      sql: "UPDATE record SET version_synced = version, sent_version = NULL, sent = NULL WHERE guid = ?",
      arguments: [guid])
  }

  /// The guids of all pending records for which `isOfUndoneImport` is true.
  package func pendingRecordsOfUndoneImports() throws -> Set<String> {
    guard try database.hasRow(in: "listed_record WHERE is_withdrawn = 1") else { return [] }
    return try Set(
      String.fetchAll(
        database.cachedStatement(
          sql: "SELECT guid FROM record WHERE \(RecordCondition.isPending) AND \(Self.isOfUndoneImport)")))
  }
}
