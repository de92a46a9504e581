// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The contents that imports of this store stated for records whose imports differ, in the table
/// `stated_content`. After an undo, a record has the content of the latest export whose import is not undone,
/// as if the undone import had never happened.
///
/// A record for which all imports stated the same content has no row.
struct StatedContents {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// The content of a record that one import stated.
  struct Statement {
    let ingest: Int64
    /// Whether the import was made in this store. If not, the row of `ingest` only has the age of the export.
    let isOwn: Bool
    let state: RecordState
  }

  private static let columns = "guid, ingest, device_time, utc_offset, offset_source, fields"

  /// The SQL condition that the row `s` of the table states the present content of its row of `record`.
  static let isCurrent = "\(RecordContent.sql(of: "s")) = \(RecordContent.sql)"

  /// The SQL condition that the row `s` for the record `r` states that its source deleted an item. Of exports
  /// with equal newest items, the deletion decides; see `SourceDeletions`.
  private static let isDeletion = """
    (r.kind = 'withdrawal' AND json_extract(s.fields, '$.hidden') = 1
      AND json_extract(s.fields, '$.text') = '\(SourceDeletions.deleted)')
    """

  /// The SQL condition that an import of this store, and not of another one, wrote the content of a record.
  static let isOwn =
    "record.ingest IS NOT NULL AND \(ContentExport.isImported) AND NOT \(ContentExport.isFromRemote)"

  /// The SQL condition that an import of another store wrote the content of a record.
  private static let isFromRemote = "\(ContentExport.isImported) AND \(ContentExport.isFromRemote)"

  /// The SQL condition that an import `w` has ended and is not undone.
  static let isValid =
    "w.outcome IN ('whole', 'truncated') AND NOT \(ImportContribution.isUndone(of: "w"))"

  /// The SQL condition that a valid import of this store stated the present content of a record.
  private static let isStated = "EXISTS (SELECT 1 FROM ingest AS w WHERE \(ContentExport.isStatement))"

  /// The SQL condition that a valid import of this store stated another content of a record than the present
  /// one. No export with later items may have the present content.
  private static let mayBeStatedOtherwise = """
    (SELECT count(s.newest) FILTER (WHERE NOT s.is_current) > 0
      AND coalesce(max(s.newest) FILTER (WHERE NOT s.is_current) >= max(s.newest) FILTER (WHERE s.is_current), TRUE)
    FROM (SELECT \(ExportAge.generated("w")) AS newest, \(isCurrent) AS is_current
      FROM stated_content AS s CROSS JOIN ingest AS w ON w.id = s.ingest
      WHERE s.guid = record.guid AND \(isValid) AND NOT (\(ExportOrigin.isOrigin("w")))) AS s)
    """
}

// MARK: - Storing

extension StatedContents {
  /// Stores the present content of records before another content replaces it, for all imports of this store
  /// that stated it. An import of another store may have written the content.
  ///
  /// - Parameter guids: an SQL expression for the ids of the records.
  func storeCurrent(_ guids: String, _ arguments: StatementArguments = []) throws {
    let content = "record.device_time, record.utc_offset, record.offset_source, record.fields"
    try database.executeCached(
      sql: """
        INSERT INTO stated_content (\(Self.columns))
        SELECT record.guid, record.ingest, \(content) FROM record
        WHERE record.guid IN \(guids) AND \(Self.isOwn) ON CONFLICT DO NOTHING
        """, arguments: arguments)
    try database.executeCached(
      sql: """
        INSERT INTO stated_content (\(Self.columns))
        SELECT record.guid, o.ingest, \(content)
        FROM record CROSS JOIN ingest_record AS o
          ON o.guid = record.guid
        WHERE record.guid IN \(guids) AND (\(Self.isOwn) OR \(Self.isFromRemote)) ON CONFLICT DO NOTHING
        """, arguments: arguments)
  }

  /// Stores the present content of a record before a state of the remote or of a merged store replaces it.
  func storeContent(of record: SyncRecord, replacedBy other: RecordState) throws {
    guard record.isImportedOnly, !record.state.agrees(with: other) else { return }
    try storeCurrent("(?)", [record.guid])
  }

  /// Stores the content of a merged store that this store does not adopt, since its own is of a later export.
  ///
  /// - Parameter ingest: the row of `ingest` with the age of the earlier export.
  func storeUnadopted(_ earlier: RecordState, of record: SyncRecord, ingest: Int64) throws {
    try storeCurrent("(?)", [record.guid])
    try insert(earlier, of: record.guid, ingest: ingest)
  }

  /// Stores both contents of each record in `temp.record_change`: the present one, and that of an import.
  func storeChanges(by ingest: Int64) throws {
    let changed = "(SELECT guid FROM temp.record_change)"
    try storeCurrent(changed)
    try storeFromRemote(changed)
    try database.executeCached(
      sql: """
        INSERT INTO stated_content (\(Self.columns))
        SELECT guid, ?, device_time, utc_offset, offset_source, fields FROM temp.record_change WHERE TRUE
        ON CONFLICT DO NOTHING
        """, arguments: [ingest])
  }

  /// Stores the present content of records that imports of other stores wrote, before another content
  /// replaces it.
  ///
  /// - Parameter guids: an SQL expression for the ids of the records.
  private func storeFromRemote(_ guids: String, _ arguments: StatementArguments = []) throws {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT \(SyncRecord.columns) FROM record
          WHERE record.guid IN \(guids) AND \(Self.isFromRemote)
          """), arguments: arguments)
    for record in try rows.map(SyncRecord.init) {
      guard let age = record.state.export else { continue }
      try insert(record.state, of: record.guid, ingest: ExportOrigin.ingest(of: WritingAge(age), database))
    }
  }

  /// Stores a content that an import stated for a record, unless a content of this import is stored.
  func insert(_ state: RecordState, of guid: String, ingest: Int64) throws {
    try database.executeCached(
      sql: "INSERT INTO stated_content (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      arguments: [
        guid, ingest, state.deviceTime.seconds, state.placement.utcOffset, state.placement.source.rawValue,
        state.fields.json,
      ])
  }

  /// Stores the present content of a record as the statement of an import, if the record's imports differ.
  func storeKnown(_ guid: String, by ingest: Int64) throws {
    try database.executeCached(
      sql: """
        INSERT INTO stated_content (\(Self.columns))
        SELECT guid, ?2, device_time, utc_offset, offset_source, fields FROM record
        WHERE guid = ?1 AND EXISTS (SELECT 1 FROM stated_content WHERE guid = ?1)
        ON CONFLICT DO NOTHING
        """, arguments: [guid, ingest])
  }

  /// Whether the imports of any record differ.
  var hasAny: Bool { get throws { try database.hasRow(in: "stated_content") } }
}

// MARK: - Undo and redo

extension StatedContents {
  /// The content that an import stated for a record; nil if all imports of the record state the same.
  func content(of record: String, by ingest: Int64) throws -> Statement? {
    try statements("s.ingest = ?2", record, ingest).first
  }

  /// The content of the latest export that states a record; nil if there is none. Undone imports do not
  /// count. A content of another store does not count if only undone imports state it.
  ///
  /// - Parameters:
  ///   - ingest: the import that is undone and does not count; 0 for none.
  ///   - visibility: the visibility after the undo.
  func latest(of record: String, besides ingest: Int64 = 0, _ visibility: Visibility) throws -> Statement? {
    let withdrawn = visibility.listedRecords[record] ?? []
    return try statements("s.ingest <> ?2 AND \(Self.isValid)", record, ingest)
      .first { $0.isOwn || !withdrawn.contains($0.state.withdrawalDigest) }
  }

  /// The contents that imports stated for a record, from the latest to the earliest export.
  private func statements(_ condition: String, _ guid: String, _ ingest: Int64) throws -> [Statement] {
    try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT s.guid, s.ingest, r.kind, r.entry_guid, s.device_time, s.utc_offset, s.offset_source, s.fields,
            NOT (\(ExportOrigin.isOrigin("w")))
          FROM stated_content AS s CROSS JOIN ingest AS w ON w.id = s.ingest JOIN record AS r ON r.guid = s.guid
          WHERE s.guid = ?1 AND \(condition)
          ORDER BY \(ExportAge.generated("w")) DESC, \(Self.isDeletion) DESC, \(ExportAge.modified("w")) DESC, \(RecordWriter.importOrder("w")) DESC
          """), arguments: [guid, ingest]
    ).map { row in
      let row = StoredRow(row, of: "stated_content")
      return Statement(
        ingest: try row[1], isOwn: try row[8],
        state: RecordState(
          kind: try row.code(2), entryGuid: try row[3], deviceTime: try row.deviceTime(4),
          placement: try row.placement(5), fields: try RecordFields(stored: try row[7], of: guid),
          isDeleted: false))
    }
  }

  /// Writes the contents that an import states, after its redo. A record keeps a content of a later export,
  /// and what a person wrote.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  func restoreContents(of ingest: Int64, at now: Int64) throws {
    let guids = try guidsToRestore(of: ingest)
    for guid in guids {
      guard let content = try content(of: guid, by: ingest) else { continue }
      // A later undo of the import must find the content of the other store.
      try storeFromRemote("(?)", [guid])
      try InputRestoration(database, at: now).write(content.state, to: guid, ingest: ingest)
    }
    try BroughtItems.state(records: Set(guids), database, at: now)
  }

  /// Sets the import of the latest export with the present content of a record as the one that wrote it.
  /// After an undo or redo of an import, another import may be the latest one. Later imports compare their
  /// ages with that of its export.
  ///
  /// - Parameter ingest: the import that was undone, or whose undo has ended.
  func updateWriters(after ingest: Int64) throws {
    let guids = try String.fetchAll(
      database.cachedStatement(sql: "SELECT guid FROM stated_content WHERE ingest = ?"), arguments: [ingest])
    guard !guids.isEmpty else { return }
    let visibility = try Visibility(WithdrawalChanges.items(database))
    for guid in guids {
      guard let latest = try latest(of: guid, visibility), latest.isOwn else { continue }
      try database.executeCached(
        sql: """
          UPDATE record SET ingest = ?2
          WHERE guid = ?1 AND \(Self.isOwn) AND record.ingest <> ?2 AND \(RecordContent.sql) = ?3
          """, arguments: [guid, latest.ingest, RecordContent(latest.state).text])
    }
  }

  /// Sends records again that keep their content after the undo of an import. Other stores know such a
  /// content by the age of the undone export, or a change with this age waits to be sent. Another store may
  /// know an export between the remaining and the undone one, with another content.
  func sendEarlierAges(after ingest: Int64) throws {
    let remaining = """
      FROM ingest AS w
      WHERE w.id <> ?1 AND (\(ContentExport.isStatement) OR (w.id = record.ingest AND \(Self.isValid)
        AND NOT EXISTS (SELECT 1 FROM stated_content AS s WHERE s.guid = record.guid)))
      ORDER BY \(ExportAge.generated("w")) DESC, \(ExportAge.modified("w")) DESC LIMIT 1
      """
    let undone =
      "(SELECT \(ExportAge.generated("u")), \(ExportAge.modified("u")) FROM ingest AS u WHERE u.id = ?1)"
    let guids = try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT guid FROM record
          WHERE guid IN (SELECT guid FROM record WHERE ingest = ?1 UNION SELECT guid FROM ingest_record WHERE ingest = ?1
              UNION SELECT guid FROM stated_content WHERE ingest = ?1)
            AND deleted = 0 AND conflict IS NULL AND \(ContentExport.isImported)
            AND CASE WHEN version = version_synced THEN \(ContentExport.agreedAge) = \(undone)
              ELSE ingest = ?1 OR sent IS NOT NULL END
            AND \(undone) > (SELECT \(ExportAge.generated("w")), \(ExportAge.modified("w")) \(remaining))
          """), arguments: [ingest])
    for guid in guids {
      // A redo or a later undo must find the records of each import, although another one becomes their
      // writer.
      try linkWriter(of: guid)
      try database.executeCached(
        sql: "UPDATE record SET version = version + 1, ingest = (SELECT w.id \(remaining)) WHERE guid = ?2",
        arguments: [ingest, guid])
    }
  }

  /// Updates what this store knows about the content of a record before it adopts an equal content with
  /// another age of the export. The import of this store that wrote the content still states it. What another
  /// store stated by a later age no longer holds.
  func storeOtherAge(_ age: ExportAge, of guid: String) throws {
    try linkWriter(of: guid)
    try database.executeCached(
      sql: """
        DELETE FROM stated_content WHERE guid = ?1 AND ingest IN (
          SELECT s.ingest FROM stated_content AS s JOIN record ON record.guid = s.guid JOIN ingest AS w ON w.id = s.ingest
          WHERE s.guid = ?1 AND \(Self.isCurrent) AND \(ExportOrigin.isOrigin("w"))
            AND (\(ExportAge.generated("w")), \(ExportAge.modified("w"))) > (?2, ?3))
        """, arguments: [guid, age.generated, age.modified])
  }

  /// Lists a record for the import that wrote it.
  private func linkWriter(of guid: String) throws {
    try database.executeCached(
      sql: """
        INSERT INTO ingest_record (ingest, guid) SELECT ingest, guid FROM record WHERE guid = ? AND ingest IS NOT NULL
        ON CONFLICT DO NOTHING
        """, arguments: [guid])
  }

  /// The records whose content `restoreContents` writes.
  func guidsToRestore(of ingest: Int64) throws -> [String] {
    try String.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT s.guid FROM stated_content AS s CROSS JOIN record ON record.guid = s.guid
            CROSS JOIN ingest AS this ON this.id = s.ingest
          WHERE s.ingest = ?1 AND record.deleted = 0 AND \(ContentExport.isImported) AND NOT \(Self.isCurrent)
            AND (\(RecordWriter.isOfEarlierExport) OR (\(Self.isOwn) AND NOT \(Self.isStated)))
          ORDER BY s.guid
          """), arguments: [ingest])
  }

  /// Contents of this store's imports that contents of other stores replaced, and that the record must get
  /// again. This is so if the other content is withdrawn, or is of an earlier export. The store that undid an
  /// import cannot restore them, since it may not know that this store imported the same or another export.
  func replaced() throws -> [(guid: String, statement: Statement)] {
    guard try hasAny else { return [] }
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT record.guid, record.device_time, record.utc_offset, record.offset_source, record.fields FROM record
          WHERE record.guid IN (SELECT guid FROM stated_content) AND record.deleted = 0 AND record.conflict IS NULL
            AND \(ContentExport.isImported) AND \(Self.mayBeStatedOtherwise)
          ORDER BY record.guid
          """))
    guard !rows.isEmpty else { return [] }
    let visibility = try Visibility(WithdrawalChanges.items(database))
    return try rows.compactMap { row in
      let row = StoredRow(row, of: "record")
      let guid: String = try row[0]
      let content = RecordContent(
        fields: try row[4], deviceTime: try row[1], utcOffset: try row[2], offsetSource: try row[3],
        isDeleted: false)
      guard let latest = try latest(of: guid, visibility), latest.isOwn,
        RecordContent(latest.state).text != content.text
      else { return nil }
      let withdrawn = visibility.listedRecords[guid] ?? []
      let isWithdrawn =
        withdrawn.contains(content.withdrawalDigest) && !withdrawn.contains(latest.state.withdrawalDigest)
      let isReplaced = try isWithdrawn || isOfEarlierExport(guid, than: latest.ingest)
      return isReplaced ? (guid, latest) : nil
    }
  }

  private func isOfEarlierExport(_ guid: String, than ingest: Int64) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT \(RecordWriter.isOfEarlierExport) FROM record CROSS JOIN ingest AS this
          WHERE record.guid = ? AND this.id = ?
          """), arguments: [guid, ingest]) ?? false
  }

  /// Writes the contents in `replaced` as edits. Must be called in a transaction that changed withdrawals or
  /// adopted contents, before `BroughtItems` are computed.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  func restoreReplaced(at now: Int64) throws {
    let replaced = try replaced()
    for (guid, statement) in replaced {
      try InputRestoration(database, at: now).write(statement.state, to: guid, ingest: statement.ingest)
    }
    try BroughtItems.state(records: Set(replaced.map(\.guid)), database, at: now)
  }
}
