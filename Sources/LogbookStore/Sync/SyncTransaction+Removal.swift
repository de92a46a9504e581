// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

extension Store {
  /// The numbers of hidden readings and records that may still have documents on the remote site.
  package func siteRemovals() throws -> SiteMoves.MoveCounts {
    try read { database in
      let readings = try Int.fetchOne(
        database.cachedStatement(
          sql: "SELECT count(*) FROM \(SyncTransaction.withdrawnTables) WHERE r.uploaded = 1"))
      let records = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM record WHERE \(SyncTransaction.isHiddenOnSite)"))
      return SiteMoves.MoveCounts(readings: readings ?? 0, records: records ?? 0)
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

  /// Queues items again that another store may have removed from the site. That store undid its import of
  /// these items, and did not know that an import of this store contains them, too. What the site still has,
  /// it does not store twice. No store removes the documents of other programs, so their readings are left
  /// out.
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

  /// The SQL condition that a row of `record` is hidden and has the content of an undone import of this
  /// store. No person edited it, and another store did not write it.
  private static let isOfUndoneImport = """
    (record.deleted = 0 AND \(StatedContents.isOwn)
      AND EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = record.guid AND l.is_withdrawn = 1)
      AND EXISTS (SELECT 1 FROM ingest AS i WHERE i.id = record.ingest AND \(ImportContribution.isUndone(of: "i"))))
    """

  /// Whether a record is hidden and has the content of an undone import of this store. A site never gets it,
  /// so that what arrives from the site replaces it.
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

/// A batch of readings whose documents on the site must be moved to another instant.
package struct PendingMoves: Sendable {
  /// The readings, with the offsets to which their documents must be moved.
  package let readings: PendingReadings
  /// The readings that must be sent even if the remote has no document of them. An earlier upload may have
  /// deleted the document, or may not have sent it yet.
  package let owed: Set<ReadingKey>
}

// MARK: - Readings

extension SyncTransaction {
  /// Whether the first queued moves lead to later instants. If so, the last readings are moved first, so that
  /// no document moves to a time that another document still has.
  package func moveLater() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT m.sent_offset > r.derived_offset FROM resend AS m
            CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "m")) LIMIT 1
          """)) ?? false
  }

  /// The first readings after `key` whose documents must be moved. Withdrawn readings are left out, since
  /// their documents are removed instead.
  package func pendingMoves(after key: ReadingKey?, limit: Int, isDescending: Bool) throws -> PendingMoves {
    let found = try readings(
      "resend AS m CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "m"))", Withdrawn.readingIsForSites,
      orderedBy: "m", after: key, limit: limit, isDescending: isDescending)
    let owed = try RawStatement(
      keptBy: database,
      """
      SELECT \(SiteSchema.keyColumns) FROM resend INDEXED BY resend_begun WHERE is_begun = 1
      UNION ALL
      SELECT r.partition, r.position, r.series, r.value_bucket, r.occurrence FROM unanswered AS u
        CROSS JOIN resend AS m ON \(SiteSchema.isSame("m", "u"))
        CROSS JOIN reading AS r ON \(SiteSchema.isSame("r", "u")) WHERE r.uploaded = 0
      """)
    var keys: Set<ReadingKey> = []
    while try owed.step() { keys.insert(owed.key(from: 0)) }
    return PendingMoves(readings: found, owed: keys)
  }

  /// Notes that the documents of these readings may be deleted from now on. If a document is then missing on
  /// the remote, the reading is sent.
  ///
  /// - Returns: the indexes of the readings that may be moved to these offsets. Another process may have
  ///   changed the zone after they were read. A reading that this process removed from the queue is left out,
  ///   and so is a reading whose offset differs.
  package func beginMoves(of keys: [ReadingKey], placedBy offsets: [Int32]) throws -> [Int] {
    try keys.isEmpty ? [] : changedIndexes("UPDATE resend SET is_begun = 1 WHERE", keys, placedBy: offsets)
  }

  /// Removes these readings from the queue of moves: the remote has no document of them that must be moved.
  package func endMoves(of keys: [ReadingKey]) throws {
    try forEach(keys, "DELETE FROM resend WHERE \(Self.isBoundKey)")
  }

  /// Removes from the queue of moves the readings whose documents now have these offsets. A reading stays
  /// queued if another process has changed its offset since it was read.
  package func endMoves(of keys: [ReadingKey], placedBy offsets: [Int32]) throws {
    if !keys.isEmpty { _ = try changedIndexes("DELETE FROM resend WHERE", keys, placedBy: offsets) }
  }

  /// The indexes in `keys` of the readings for which `sql` changed a row. Only readings that still have these
  /// offsets are changed.
  private func changedIndexes(_ sql: String, _ keys: [ReadingKey], placedBy offsets: [Int32]) throws -> [Int]
  {
    let statement = try RawStatement(
      keptBy: database,
      """
      \(sql) \(Self.isBoundKey) AND EXISTS (
        SELECT 1 FROM reading AS r WHERE \(SiteSchema.isSame("r", "resend")) AND \(StoredOffset.sql("r")) = ?6)
      """)
    return try zip(keys, offsets).enumerated().filter { _, item in
      statement.bind(item.0, at: 1)
      statement.bind(Int64(item.1), at: 6)
      return try statement.run() > 0
    }.map(\.offset)
  }

  /// Marks these readings as uploaded: the remote has them at the right instants.
  package func markPresentOnRemote(_ keys: [ReadingKey]) throws {
    guard !keys.isEmpty else { return }
    try UploadMarks(database: database).set(keys)
    try forgetUnanswered(keys)
  }

  /// Stores that the remote refused these readings at their new instants, and that it has no documents of
  /// them any more.
  package func refuseMoves(of keys: [ReadingKey], reason: String, at now: Int64) throws {
    guard !keys.isEmpty else { return }
    try endMoves(of: keys)
    _ = try requeue(keys, reason: "moved to a time that the remote refuses", at: now)
    try forgetUnanswered(keys)
    try quarantine(keys, reason: reason, at: now)
  }

  /// Notes that the site may have documents of these readings, although they are not marked as uploaded.
  func markUnanswered(_ keys: [ReadingKey]) throws {
    guard try Bool.fetchOne(database.cachedStatement(sql: "SELECT \(SiteSchema.isConnected)")) == true else {
      return
    }
    try forEach(keys, "INSERT INTO unanswered VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING")
  }

  /// Removes the notes of `markUnanswered`: the site has no documents of these readings that the store does
  /// not know.
  package func forgetUnanswered(_ keys: [ReadingKey]) throws {
    guard try database.hasRow(in: "unanswered") else { return }
    try forEach(keys, "DELETE FROM unanswered WHERE \(Self.isBoundKey)")
  }

  private static let isBoundKey =
    "partition = ?1 AND position = ?2 AND series = ?3 AND value_bucket = ?4 AND occurrence = ?5"

  private func forEach(_ keys: [ReadingKey], _ sql: String) throws {
    guard !keys.isEmpty else { return }
    let statement = try RawStatement(keptBy: database, sql)
    for key in keys {
      statement.bind(key, at: 1)
      _ = try statement.run()
    }
  }
}

// MARK: - Records

extension SyncTransaction {
  /// The zones of the logbook at this moment of the transaction.
  package func timezone() throws -> LogbookZone { try LogbookZones(database).zone() }

  /// The zones of the logbook, with those that were stated for imports of these records.
  package func timezone(of records: [String]) throws -> LogbookZone {
    var zone = try timezone()
    let names = try Dictionary(
      ItemZoneTables.names(database).map { ($0.id, $0.zone) }, uniquingKeysWith: { first, _ in first })
    guard !names.isEmpty else { return zone }
    for guid in records {
      let id = try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT \(ItemZoneTables.zoneOfRecord) FROM record WHERE guid = ?"),
        arguments: [guid])
      if let id { zone.recordZones[guid] = names[id] }
    }
    return zone
  }

  /// The first records after this guid whose documents must be moved, or for which an interrupted move may
  /// have left an old document. Pending, conflicted and deleted records are included. Hidden records are left
  /// out, since their documents are removed instead.
  package func pendingMoves(after guid: String, limit: Int) throws -> [SyncRecord] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM resend_record JOIN record USING (guid)
          WHERE resend_record.guid > ? AND NOT \(Withdrawn.recordIsUnsent)
          ORDER BY resend_record.guid LIMIT ?
          """), arguments: [guid, limit]
    ).map(SyncRecord.init)
  }

  /// Removes this record from the queue of moves: its document is at the right instant, or cannot be moved.
  ///
  /// - Parameter revision: the new revision of the remote's state; nil if it did not change.
  package func endMove(of record: SyncRecord, revision: String?) throws {
    // If another process changed the zone meanwhile, the document must be moved again, so the row stays.
    try database.executeCached(
      sql: """
        DELETE FROM resend_record WHERE guid = ?1 AND NOT EXISTS (
          SELECT 1 FROM record WHERE guid = ?1 AND utc_offset <> ?2)
        """, arguments: [record.guid, record.state.placement.utcOffset])
    guard let revision, revision != record.revision else { return }
    // If the record was edited in the meantime, it gets the new revision when it is sent.
    try database.executeCached(
      sql: "UPDATE record SET revision = ? WHERE guid = ? AND version = version_synced AND revision IS ?",
      arguments: [revision, record.guid, record.revision])
  }
}
