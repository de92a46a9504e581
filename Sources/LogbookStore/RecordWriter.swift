// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Stores the records of an export once, and brings changes of its rows into records that nobody touched here.
///
/// Changes wait in a TEMP table until the input has ended: only then is it known when the export was made.
final class RecordWriter {
  private let database: Database
  private let ingest: Int64
  private let format: String

  struct Outcome {
    var new = 0
    var known = 0
    var repeated = 0
    var kept = 0
  }

  init(_ database: Database, ingest: Int64, format: String) throws {
    self.database = database
    self.ingest = ingest
    self.format = format
    try database.execute(
      sql: """
        CREATE TEMP TABLE IF NOT EXISTS row_seen
          (base TEXT, content TEXT, ordinal INTEGER, PRIMARY KEY (base, content)) WITHOUT ROWID;
        CREATE TEMP TABLE IF NOT EXISTS record_change
          (guid TEXT PRIMARY KEY, occurred_at INTEGER, utc_offset INTEGER, offset_source INTEGER, fields TEXT,
           imported TEXT) WITHOUT ROWID;
        DELETE FROM row_seen;
        DELETE FROM record_change;
        """)
  }

  /// Stores records inside the caller's transaction.
  func write(_ records: [ImportedRecord]) throws -> Outcome {
    var outcome = Outcome()
    for record in records { try write(record, &outcome) }
    return outcome
  }

  private func write(_ record: ImportedRecord, _ outcome: inout Outcome) throws {
    let content = RecordContent(record)
    guard let guid = try identity(of: record, content: content) else {
      outcome.repeated += 1
      return
    }
    let select = try database.cachedStatement(
      sql: "SELECT fields, occurred_at, deleted, imported FROM record WHERE guid = ?")
    guard let row = try Row.fetchOne(select, arguments: [guid]) else {
      outcome.new += 1
      return try insert(record, guid: guid, content: content)
    }
    let stored = RecordContent(fields: row[0], occurredAt: row[1], isDeleted: row[2])
    if stored == content {
      outcome.known += 1
    } else if let imported: String = row[3], imported == stored.text, !stored.isDeleted {
      try keepChange(record, guid: guid, content: content)
    } else {
      outcome.kept += 1
    }
  }

  /// The record's guid; nil when an equal row of this input has it already.
  private func identity(of record: ImportedRecord, content: RecordContent) throws -> String? {
    if let guid = record.guid { return guid }
    if !record.sourceID.isEmpty { return Digest.uuid(of: ["record", format, record.sourceID]) }
    let parts = [
      "record", format, record.owner, record.kind.rawValue, record.fields.subtype,
      String(record.deviceTime.seconds),
    ]
    let base = Digest.uuid(of: parts)
    let seen = try database.cachedStatement(
      sql: "SELECT count(*), coalesce(max(content = ?2), 0) FROM temp.row_seen WHERE base = ?1")
    guard let row = try Row.fetchOne(seen, arguments: [base, content.text]) else { return nil }
    if row[1] as Int > 0 { return nil }
    let ordinal: Int = row[0]
    let insert = try database.cachedStatement(sql: "INSERT INTO temp.row_seen VALUES (?, ?, ?)")
    try insert.execute(arguments: [base, content.text, ordinal])
    return ordinal == 0 ? base : Digest.uuid(of: parts + [String(ordinal)])
  }

  private func insert(_ record: ImportedRecord, guid: String, content: RecordContent) throws {
    let statement = try database.cachedStatement(
      sql: """
        INSERT INTO record (guid, kind, entry_guid, occurred_at, utc_offset, offset_source, fields, deleted, imported,
          ingest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    let entry =
      record.entryGuid
      ?? (record.entrySourceID.isEmpty ? nil : Digest.uuid(of: ["record", format, record.entrySourceID]))
    try statement.execute(arguments: [
      guid, record.kind.rawValue, entry, content.occurredAt, Int(record.placement.utcOffset),
      Int(record.placement.source.rawValue), content.fields, content.isDeleted, content.text, ingest,
    ])
  }

  private func keepChange(_ record: ImportedRecord, guid: String, content: RecordContent) throws {
    let statement = try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO temp.record_change VALUES (?, ?, ?, ?, ?, ?)")
    try statement.execute(arguments: [
      guid, content.occurredAt, Int(record.placement.utcOffset), Int(record.placement.source.rawValue),
      content.fields, content.text,
    ])
  }

  /// Applies what changed at the source, where this export was made later than the one that wrote the record and
  /// the record still is what that one wrote. Called inside the last transaction, when the ingest's times are set.
  func applyChanges() throws -> (updated: Int, kept: Int) {
    let waiting = try Int.fetchOne(database, sql: "SELECT count(*) FROM temp.record_change") ?? 0
    guard waiting > 0 else { return (0, 0) }
    try database.execute(
      sql: """
        UPDATE record SET
          fields = c.fields, occurred_at = c.occurred_at, utc_offset = c.utc_offset,
          offset_source = c.offset_source, imported = c.imported, ingest = :ingest, version = version + 1
        FROM temp.record_change AS c, ingest AS this, ingest AS earlier
        WHERE record.guid = c.guid AND this.id = :ingest AND earlier.id = record.ingest
          AND record.deleted = 0 AND record.imported = \(RecordContent.sql)
          AND (coalesce(this.generated_at, 0), coalesce(this.modified_at, 0))
            > (coalesce(earlier.generated_at, 0), coalesce(earlier.modified_at, 0))
        """, arguments: ["ingest": ingest])
    let updated = database.changesCount
    try database.execute(sql: "DELETE FROM temp.record_change")
    return (updated, waiting - updated)
  }
}

/// What of a record an import compares: its fields, its time and whether it is deleted.
struct RecordContent: Equatable {
  let fields: String
  let occurredAt: Int64
  let isDeleted: Bool

  init(fields: String, occurredAt: Int64, isDeleted: Bool) {
    self.fields = fields
    self.occurredAt = occurredAt
    self.isDeleted = isDeleted
  }

  init(_ record: ImportedRecord) {
    fields = record.deleted ? "{}" : record.fields.json
    occurredAt = record.deviceTime.seconds
    isDeleted = record.deleted
  }

  /// The form in which `imported` keeps it: the time, then the fields.
  var text: String { "\(occurredAt) \(fields)" }
  /// The same text of a stored row.
  static let sql = "(record.occurred_at || ' ' || record.fields)"
}
