// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Hides the records that an export states as deleted at their source.
///
/// Each record gets a withdrawal that is limited to its present content, so that an edit by a person stays
/// visible. The withdrawal belongs to the import. An undo of the import shows the record again.
///
/// If several exports state the record, the one with the newest item decides. If the times of the newest
/// items are equal, the deletion decides, in every order of the imports. A later export that states the
/// record as valid ends the withdrawal. A withdrawal that a person changed stays as it is.
///
/// The guids are in a TEMP table, so that the use of memory does not grow with the input.
final class SourceDeletions {
  private static let deleted = "deleted at the source"
  private static let restored = "deleted at the source, then restored"
  /// The maximum number of noted records that one SQL query returns.
  private static let step = 5000

  private let database: Database
  private let ingest: Int64

  init(_ database: Database, ingest: Int64) throws {
    self.database = database
    self.ingest = ingest
    try database.executeCached(sql: "DELETE FROM temp.deleted_at_source")
  }

  /// The tables that a connection needs before its first ingest.
  static let tables = "CREATE TEMP TABLE deleted_at_source (guid TEXT PRIMARY KEY) WITHOUT ROWID;"

  /// Hides the records of a batch that this import stored, in the transaction that stored them. The other
  /// records of the batch are noted until `finish`, since the age of the export is only known then.
  ///
  /// - Returns: the number of records that became hidden.
  func hideNew(_ guids: [String]) throws -> Int {
    var hidden = 0
    for guid in guids {
      try database.executeCached(
        sql: "INSERT INTO temp.deleted_at_source VALUES (?) ON CONFLICT DO NOTHING", arguments: [guid])
      guard let found = try Row.fetchOne(database.cachedStatement(sql: Self.new), arguments: [guid, ingest])
      else { continue }
      let withdrawal = try withdrawal(StoredRow(found, of: "record"))
      guard let own = withdrawal.guid, try !exists(own) else { continue }
      try insert(withdrawal, guid: own)
      hidden += 1
    }
    return hidden
  }

  /// Hides the noted records. Call it when the records of the input and the times of the ingest are stored.
  ///
  /// - Parameter showsRestored: whether to show records again that the input states as valid.
  /// - Returns: the number of records that became hidden.
  func finish(showsRestored: Bool) throws -> Int {
    var (hidden, last) = (0, "")
    while true {
      let rows = try Row.fetchAll(
        database.cachedStatement(sql: Self.noted),
        arguments: ["ingest": ingest, "last": last, "step": Self.step])
      guard let end = rows.last else { break }
      last = try StoredRow(end, of: "record")[0]
      hidden += try write(
        rows.compactMap { row in
          let row = StoredRow(row, of: "record")
          let withdrawal = try withdrawal(row)
          guard let own = withdrawal.guid else { return nil }
          // `write` compares the age of this export with the age in an existing withdrawal, so an existing
          // withdrawal is always passed to it.
          let isLatest: Bool = try row[5]
          return try isLatest || exists(own) ? withdrawal : nil
        })
    }
    if showsRestored { _ = try write(restoredRecords()) }
    return hidden
  }
}

extension SourceDeletions {
  private static let content =
    "record.guid, record.fields, record.device_time, record.utc_offset, record.offset_source"

  /// The SQL query for a record that this import stored and that no person edited.
  private static let new = """
    SELECT \(content) FROM record WHERE guid = ? AND ingest = ? AND deleted = 0 AND \(ContentExport.isImported)
    """

  /// The SQL query for the noted records with content that an import wrote. The last column states whether no
  /// export with a later item has the content.
  private static let noted = """
    SELECT \(content), record.ingest IS :ingest
      OR (\(ExportAge.generated("this")) >= coalesce(\(ContentExport.generated), 0) AND NOT EXISTS (
        SELECT 1 FROM ingest_record AS o CROSS JOIN ingest AS w ON \(ContentExport.isStatement)
        WHERE \(ExportAge.generated("w")) > \(ExportAge.generated("this"))))
    FROM temp.deleted_at_source AS d CROSS JOIN record ON record.guid = d.guid CROSS JOIN ingest AS this
    WHERE d.guid > :last AND this.id = :ingest AND record.deleted = 0 AND \(ContentExport.isImported)
    ORDER BY d.guid LIMIT :step
    """

  /// The SQL query for the hidden records that the input states as valid.
  private static let valid = """
    SELECT l.guid FROM listed_record AS l CROSS JOIN ingest_record AS o ON o.guid = l.guid AND o.ingest = ?
    WHERE l.is_withdrawn = 1 AND l.guid NOT IN (SELECT guid FROM temp.deleted_at_source)
    """

  /// The SQL query for a withdrawal that only imports wrote, if the newest item of this export is newer than
  /// those of their exports.
  private static let older = """
    SELECT record.fields, record.device_time FROM record CROSS JOIN ingest AS this
    WHERE record.guid = ? AND this.id = ? AND record.deleted = 0 AND \(ContentExport.isImported)
      AND coalesce(\(ContentExport.generated), 0) < \(ExportAge.generated("this"))
    """

  private func exists(_ guid: String) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM record WHERE guid = ?)"), arguments: [guid])
      ?? false
  }

  /// The withdrawal of a record. It is equal in every store, whatever the zone of the logbook.
  private func withdrawal(_ row: StoredRow) throws -> RecordWithdrawal {
    let content = RecordContent(
      fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
      isDeleted: false)
    return RecordWithdrawal(
      withdrawal: Withdrawal(
        .record(try row[0]), isHidden: true, reason: Self.deleted, content: content.withdrawalDigest),
      time: DeviceTime(seconds: content.deviceTime))
  }

  private func restoredRecords() throws -> [RecordWithdrawal] {
    try String.fetchAll(database.cachedStatement(sql: Self.valid), arguments: [ingest]).compactMap { guid in
      guard let own = Withdrawal(.record(guid), isHidden: true).guid,
        let found = try Row.fetchOne(
          database.cachedStatement(sql: Self.older), arguments: [own, ingest]
        ).map({ StoredRow($0, of: "record") }),
        var withdrawal = Withdrawal(json: try found[0]), withdrawal.isHidden, !withdrawal.content.isEmpty
      else { return nil }
      withdrawal.isHidden = false
      withdrawal.reason =
        withdrawal.reason == RetypedDoses.corrected ? RetypedDoses.restored : Self.restored
      return RecordWithdrawal(withdrawal: withdrawal, time: try found.deviceTime(1))
    }
  }

  /// Writes withdrawals as rows of this import.
  ///
  /// - Returns: the number of those that are new or changed.
  private func write(_ withdrawals: [RecordWithdrawal]) throws -> Int {
    guard !withdrawals.isEmpty else { return 0 }
    let writer = try RecordWriter(database, ingest: ingest, format: "")
    let new = try writer.write(withdrawals.map(\.record)).new
    return try new + writer.finish().updated
  }

  private func insert(_ withdrawal: RecordWithdrawal, guid: String) throws {
    let record = withdrawal.record
    let state = RecordState(
      kind: record.kind, entryGuid: nil, deviceTime: record.deviceTime, placement: record.placement,
      fields: record.fields, isDeleted: false)
    try database.executeCached(
      sql: RecordColumns.insertion(with: ["imported", "ingest"]),
      arguments: try RecordColumns.insertionArguments(state, RecordPlacer(database)) + [
        "guid": guid, "kind": state.kind.rawValue, "imported": RecordContent(state).text, "ingest": ingest,
      ])
  }
}

/// The withdrawal of a record, with the time that its own record gets.
private struct RecordWithdrawal {
  let withdrawal: Withdrawal
  let time: DeviceTime

  var guid: String? { withdrawal.guid }

  var record: ImportedRecord {
    var record = ImportedRecord(
      kind: .withdrawal, at: time, placement: Placement(utcOffset: 0, source: .stated),
      fields: withdrawal.fields, line: 0)
    record.guid = guid
    return record
  }
}

extension RecordState {
  /// Whether this is a withdrawal as imports write it: for a reading that an export corrects, or for a record
  /// that its source deleted. A later export in any store can change the withdrawal, so the age of its export
  /// is sent.
  var isWithdrawalByImport: Bool {
    isOfOneReading || kind == .withdrawal && !(Withdrawal(fields: fields)?.content ?? "").isEmpty
  }
}
