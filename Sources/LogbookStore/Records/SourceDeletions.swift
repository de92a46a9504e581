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
/// `StatedContents` has what each of these exports states, so that after an undo the latest remaining one
/// decides.
///
/// The guids are in a TEMP table, so that the use of memory does not grow with the input.
final class SourceDeletions {
  static let deleted = "deleted at the source"
  fileprivate static let restored = "deleted at the source, then restored"
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
      guard let own = withdrawal.guid, try !RecordEditor.exists(own, database) else { continue }
      try insert(withdrawal, guid: own, ingest: ingest)
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
      var (latest, others): ([RecordWithdrawal], [RecordWithdrawal]) = ([], [])
      for row in rows.map({ StoredRow($0, of: "record") }) {
        let withdrawal = try withdrawal(row)
        guard let own = withdrawal.guid else { continue }
        let isLatest: Bool = try row[5]
        // `write` compares the age of this export with the age in an existing withdrawal, so an existing
        // withdrawal is always passed to it.
        if try !RecordEditor.exists(own, database) {
          let exports = try imports(ofRecord: try row[0])
          if !isLatest {
            // The record stays visible until the last later export is undone.
            guard let last = exports.first, last.isOwn else { continue }
            try insert(withdrawal.restored(), guid: own, ingest: last.ingest)
          }
          try state(withdrawal.restored(), of: own, by: exports.map(\.ingest))
          if !exports.isEmpty { try state(withdrawal, of: own, by: [ingest]) }
          if !isLatest { continue }
        }
        if isLatest { latest.append(withdrawal) } else { others.append(withdrawal) }
      }
      // What an undone import of a later export stated about a record does not count.
      hidden += try write(latest, restoresWithdrawn: true) + write(others)
    }
    if showsRestored { try showRestored() }
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

  /// The SQL query for the noted records with content that an import wrote, each with the content that this
  /// input states. The last column states whether no export with a later item has the content.
  private static let noted = """
    SELECT record.guid, coalesce(s.fields, record.fields), coalesce(s.device_time, record.device_time),
      coalesce(s.utc_offset, record.utc_offset), coalesce(s.offset_source, record.offset_source),
      record.ingest IS :ingest
      OR ((\(ExportAge.generated("this")) >= coalesce(\(ContentExport.generated), 0) OR \(ContentExport.isOfUndoneImport)) AND NOT EXISTS (
        SELECT 1 FROM ingest AS w
        WHERE \(ContentExport.isStatement) AND \(ExportAge.generated("w")) > \(ExportAge.generated("this"))))
    FROM temp.deleted_at_source AS d CROSS JOIN record ON record.guid = d.guid CROSS JOIN ingest AS this
      LEFT JOIN stated_content AS s ON s.guid = d.guid AND s.ingest = this.id
    WHERE d.guid > :last AND this.id = :ingest AND record.deleted = 0 AND \(ContentExport.isImported)
    ORDER BY d.guid LIMIT :step
    """

  /// The SQL query for the records of this input that it states as valid, and for which an import wrote a
  /// withdrawal. The condition on the length leaves out the withdrawals of imports, whose lists take long to
  /// parse.
  private static let valid = """
    SELECT json_extract(l.fields, '$.record') AS named FROM record AS l INDEXED BY record_withdrawing
    WHERE l.kind = 'withdrawal' AND l.deleted = 0 AND length(l.fields) < 1000
      AND json_extract(l.fields, '$.content') IS NOT NULL
      AND (EXISTS (SELECT 1 FROM ingest_record AS o WHERE (o.guid, o.ingest) = (named, ?1))
        OR EXISTS (SELECT 1 FROM record AS r WHERE r.guid = named AND r.ingest = ?1))
      AND named NOT IN (SELECT guid FROM temp.deleted_at_source)
    """

  /// The SQL query for a withdrawal that only imports wrote. One column states whether the record that it
  /// names is hidden. The last ones state whether this export is later than the one that wrote the
  /// withdrawal, and whether the import that wrote it is undone. A dose without a use stays hidden by the
  /// same dose with a use; see `RetypedDoses`.
  private static let written = """
    SELECT record.fields, record.device_time,
      EXISTS (SELECT 1 FROM listed_record AS l WHERE l.guid = ?3 AND l.is_withdrawn = 1),
      coalesce(\(ContentExport.generated), 0) < \(ExportAge.generated("this")),
      \(ContentExport.isOfUndoneImport)
    FROM record CROSS JOIN ingest AS this
    WHERE record.guid = ?1 AND this.id = ?2 AND record.deleted = 0 AND \(ContentExport.isImported)
      AND NOT EXISTS (SELECT 1 FROM record AS r WHERE r.guid = ?3 AND r.kind = 'insulin'
        AND json_extract(r.fields, '$.subtype') IS NULL
        AND json_extract(record.fields, '$.text') = '\(Withdrawal.correctedAtSource)')
    """

  /// The SQL query for the other imports that contain a record, the latest export first.
  private static let imports = """
    SELECT w.id, NOT (\(ExportOrigin.isOrigin("w"))) FROM ingest AS w
    WHERE w.id IN (SELECT ingest FROM record WHERE guid = ?1 UNION SELECT ingest FROM ingest_record WHERE guid = ?1
        UNION SELECT ingest FROM stated_content WHERE guid = ?1)
      AND w.id <> ?2 AND w.outcome IN ('whole', 'truncated')
    ORDER BY NOT \(ImportContribution.isUndone(of: "w")) DESC,
      \(ExportAge.generated("w")) DESC, \(ExportAge.modified("w")) DESC, \(RecordWriter.importOrder("w")) DESC
    """

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

  private func imports(ofRecord guid: String) throws -> [(ingest: Int64, isOwn: Bool)] {
    try Row.fetchAll(database.cachedStatement(sql: Self.imports), arguments: [guid, ingest]).map { row in
      let row = StoredRow(row, of: "ingest")
      return (try row[0], try row[1])
    }
  }

  /// Stores this content of a withdrawal as the statement of imports.
  private func state(_ withdrawal: RecordWithdrawal, of guid: String, by imports: [Int64]) throws {
    try withdrawal.storeStatements(by: imports, of: guid, database)
  }

  /// Ends the withdrawals of records that this input states as valid, if its export is the latest one. If it
  /// is not, its statement is noted.
  private func showRestored() throws {
    var (deletions, corrections): ([RecordWithdrawal], [RecordWithdrawal]) = ([], [])
    for guid in try String.fetchAll(database.cachedStatement(sql: Self.valid), arguments: [ingest]) {
      guard let own = Withdrawal(.record(guid), isHidden: true).guid,
        let found = try Row.fetchOne(
          database.cachedStatement(sql: Self.written), arguments: [own, ingest, guid]
        ).map({ StoredRow($0, of: "record") }),
        let withdrawal = Withdrawal(json: try found[0]), !withdrawal.content.isEmpty
      else { continue }
      let present = RecordWithdrawal(withdrawal: withdrawal, time: try found.deviceTime(1))
      let (hidesRecord, isEarlier, isUndone): (Bool, Bool, Bool) = (
        try found[2], try found[3], try found[4]
      )
      // A correction by another export has its own rule; see `RetypedDoses`.
      let isDeletion = [Self.deleted, Self.restored].contains(withdrawal.reason)
      if isDeletion && (!withdrawal.isHidden || isEarlier || isUndone) {
        deletions.append(present.restored())
      } else if !isDeletion && withdrawal.isHidden && isEarlier && hidesRecord {
        corrections.append(present.restored())
      } else if isDeletion {
        try StatedContents(database).storeCurrent("(?)", [own])
        try state(present.restored(), of: own, by: [ingest])
      }
    }
    _ = try write(deletions, restoresWithdrawn: true) + write(corrections)
  }

  /// Writes withdrawals as rows of this import.
  ///
  /// - Parameter restoresWithdrawn: whether to change withdrawals that only undone imports stated, also if
  ///   their exports are later.
  /// - Returns: the number of those that are new or changed.
  private func write(_ withdrawals: [RecordWithdrawal], restoresWithdrawn: Bool = false) throws -> Int {
    guard !withdrawals.isEmpty else { return 0 }
    let writer = try RecordWriter(database, ingest: ingest, format: "")
    let new = try writer.write(withdrawals.map(\.record)).new
    return try new + writer.finish(restoresWithdrawn: restoresWithdrawn).updated
  }

  private func insert(_ withdrawal: RecordWithdrawal, guid: String, ingest: Int64) throws {
    let state = withdrawal.state
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

  var state: RecordState {
    RecordState(
      kind: .withdrawal, entryGuid: nil, deviceTime: time,
      placement: Placement(utcOffset: 0, source: .stated),
      fields: withdrawal.fields, isDeleted: false)
  }

  /// Stores this content of a withdrawal as the statement of imports.
  func storeStatements(by imports: [Int64], of guid: String, _ database: Database) throws {
    for ingest in imports { try StatedContents(database).insert(state, of: guid, ingest: ingest) }
  }

  /// The ended withdrawal, for an export that states the record as valid.
  func restored() -> RecordWithdrawal {
    var withdrawal = withdrawal
    withdrawal.isHidden = false
    withdrawal.reason =
      withdrawal.reason == RetypedDoses.corrected ? RetypedDoses.restored : SourceDeletions.restored
    return RecordWithdrawal(withdrawal: withdrawal, time: time)
  }
}

extension SourceDeletions {
  /// Stores which imports of this store state a record as valid, if another store stated that its source
  /// deleted the record. `StatedContents.restoreReplaced` then ends the withdrawal if the export of such an
  /// import is later.
  ///
  /// - Parameter new: the content of a new withdrawal from the other store.
  static func storeValid(besides new: RecordState, of guid: String, _ database: Database) throws {
    guard new.kind == .withdrawal, !new.isDeleted, new.export != nil,
      let withdrawal = Withdrawal(fields: new.fields),
      withdrawal.reason == deleted, case .record(let record) = withdrawal.subject
    else { return }
    let statements = try Row.fetchAll(database.cachedStatement(sql: statements), arguments: [record])
    let imports = try statements.map { StoredRow($0, of: "record") }.filter { row in
      let content = RecordContent(
        fields: try row[1], deviceTime: try row[2], utcOffset: try row[3], offsetSource: try row[4],
        isDeleted: false)
      return content.withdrawalDigest == withdrawal.content
    }.map { try $0[0] as Int64 }
    try RecordWithdrawal(withdrawal: withdrawal, time: new.deviceTime).restored()
      .storeStatements(by: imports, of: guid, database)
  }

  /// The SQL query for the imports of this store that contain a record, each with the content that it states.
  private static let statements = """
    SELECT w.id, coalesce(s.fields, record.fields), coalesce(s.device_time, record.device_time),
      coalesce(s.utc_offset, record.utc_offset), coalesce(s.offset_source, record.offset_source)
    FROM record CROSS JOIN ingest AS w LEFT JOIN stated_content AS s ON (s.guid, s.ingest) = (record.guid, w.id)
    WHERE record.guid = ?1 AND record.deleted = 0
      AND w.id IN (SELECT record.ingest UNION SELECT ingest FROM ingest_record WHERE guid = ?1
        UNION SELECT ingest FROM stated_content WHERE guid = ?1)
      AND w.outcome IN ('whole', 'truncated') AND NOT (\(ExportOrigin.isOrigin("w")))
    """
}

extension RecordState {
  /// Whether this is a withdrawal as imports write it: for a reading that an export corrects, or for a record
  /// that its source deleted. A later export in any store can change the withdrawal, so the age of its export
  /// is sent.
  var isWithdrawalByImport: Bool {
    isOfOneReading || kind == .withdrawal && !(Withdrawal(fields: fields)?.content ?? "").isEmpty
  }
}
