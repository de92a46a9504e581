// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Stores the records of an export once, and brings changes of its rows into records that nobody touched here.
///
/// Changes wait in a TEMP table until the input has ended: only then is it known when the export was made.
final class RecordWriter {
  private let database: Database
  private let ingest: Int64
  private let format: String
  private let ordinals: RecordOrdinals

  struct Outcome {
    var new = 0
    var known = 0
    var repeated = 0
    var updated = 0
    var kept = 0
  }

  init(_ database: Database, ingest: Int64, format: String) throws {
    self.database = database
    self.ingest = ingest
    self.format = format
    ordinals = try RecordOrdinals(database)
    try database.executeCached(sql: "DELETE FROM temp.record_change")
  }

  /// What a connection needs before its first ingest.
  static let tables = """
    CREATE TEMP TABLE record_change
      (guid TEXT PRIMARY KEY, device_time INTEGER, utc_offset INTEGER, offset_source INTEGER, fields TEXT,
       imported TEXT) WITHOUT ROWID;
    """

  /// Stores records inside the caller's transaction.
  func write(_ records: [ImportedRecord]) throws -> Outcome {
    var outcome = Outcome()
    var rows: [(key: RowKey, row: RecordRow)] = []
    for record in records {
      let row = RecordRow(record, format: format)
      if let guid = record.guid {
        try settle(row, guid: guid, &outcome)
      } else if !record.sourceID.isEmpty {
        try settle(row, guid: Digest.uuid(of: ["record", format, record.sourceID]), &outcome)
      } else {
        rows.append((RowKey(record, format: format), row))
      }
    }
    // By content, so that the order in which an export lists equal keys decides on no ordinal.
    rows.sort { ($0.key.base, $0.row.content.text) < ($1.key.base, $1.row.content.text) }
    for (key, row) in rows { try write(row, key, &outcome) }
    return outcome
  }

  /// Ends the input: settles the rows that waited for it, then applies what changed at the source, where this export
  /// was made later than the one that wrote the record and the record still is what that one wrote. Called inside the
  /// last transaction, when the ingest's times are set.
  func finish() throws -> Outcome {
    var outcome = Outcome()
    try ordinals.settle(
      known: { try settle($0, guid: $1, &outcome) },
      new: { row, guid in
        try insert(row, guid: guid)
        outcome.new += 1
      })
    let waiting =
      try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM temp.record_change")) ?? 0
    guard waiting > 0 else { return outcome }
    let updated = try applyChanges()
    outcome.updated += updated
    outcome.kept += waiting - updated
    return outcome
  }
}

extension RecordWriter {
  private func write(_ row: RecordRow, _ key: RowKey, _ outcome: inout Outcome) throws {
    switch try ordinals.find(key, row.content) {
    case .repeated: outcome.repeated += 1
    case .stored(let guid): try settle(row, guid: guid, &outcome)
    case .free(let ordinal):
      try insert(row, guid: key.guid(ordinal: ordinal))
      try ordinals.take(ordinal, of: key, for: row.content)
      outcome.new += 1
    case .open:
      if try !ordinals.keep(row, key) { outcome.repeated += 1 }
    }
  }

  private func settle(_ row: RecordRow, guid: String, _ outcome: inout Outcome) throws {
    let select = try database.cachedStatement(
      sql: "SELECT guid, fields, device_time, deleted, imported FROM record WHERE guid = ?")
    guard let found = try Row.fetchOne(select, arguments: [guid]).map({ StoredRow($0, of: "record") }) else {
      outcome.new += 1
      return try insert(row, guid: guid)
    }
    let stored = RecordContent(
      fields: try found[1], deviceTime: try found[2], isDeleted: try found[3])
    if stored == row.content {
      outcome.known += 1
    } else if let imported: String = try found[4], imported == stored.text, !stored.isDeleted {
      try keepChange(row, guid: guid, &outcome)
    } else {
      outcome.kept += 1
    }
  }

  private func insert(_ row: RecordRow, guid: String) throws {
    let statement = try database.cachedStatement(
      sql: """
        INSERT INTO record (guid, kind, entry_guid, device_time, utc_offset, offset_source, fields, deleted, imported,
          ingest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    try statement.execute(arguments: [
      guid, row.kind, row.entryGuid, row.content.deviceTime, row.utcOffset, row.offsetSource,
      row.content.fields, row.content.isDeleted, row.content.text, ingest,
    ])
  }

  /// Keeps a change until the input has ended. Of several different rows under one id the first is taken.
  private func keepChange(_ row: RecordRow, guid: String, _ outcome: inout Outcome) throws {
    let statement = try database.cachedStatement(
      sql: "INSERT INTO temp.record_change VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
    try statement.execute(arguments: [
      guid, row.content.deviceTime, row.utcOffset, row.offsetSource, row.content.fields, row.content.text,
    ])
    guard database.changesCount == 0 else { return }
    let first = try String.fetchOne(
      database.cachedStatement(sql: "SELECT imported FROM temp.record_change WHERE guid = ?"),
      arguments: [guid])
    if first == row.content.text { outcome.repeated += 1 } else { outcome.kept += 1 }
  }

  private func applyChanges() throws -> Int {
    try database.executeCached(
      sql: """
        UPDATE record SET
          fields = c.fields, device_time = c.device_time, utc_offset = c.utc_offset,
          offset_source = c.offset_source, imported = c.imported, edited_at = NULL, ingest = :ingest,
          version = version + 1
        FROM temp.record_change AS c, ingest AS this, ingest AS earlier
        WHERE record.guid = c.guid AND this.id = :ingest AND earlier.id = record.ingest
          AND record.deleted = 0 AND record.imported = \(RecordContent.sql)
          AND (coalesce(this.generated_at, 0), coalesce(this.modified_at, 0))
            > (coalesce(earlier.generated_at, 0), coalesce(earlier.modified_at, 0))
        """, arguments: ["ingest": ingest])
    let updated = database.changesCount
    try database.executeCached(sql: "DELETE FROM temp.record_change")
    return updated
  }
}
