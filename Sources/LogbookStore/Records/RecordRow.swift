// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A row of an export, as values for the columns of the table `record`.
struct RecordRow {
  let kind: String
  let entryGuid: String?
  let content: RecordContent
  /// The time that the store shows for the record, in civil seconds.
  let deviceTime: Int64
  let utcOffset: Int
  let offsetSource: Int
  /// The provenance of the record; nil if it is unknown, and for a record that states something about other
  /// items.
  let provenance: Provenance?

  /// - Parameters:
  ///   - time: the time that this store shows for the record.
  ///   - placement: the offset of this time.
  init(_ record: ImportedRecord, format: String, at time: DeviceTime, _ placement: Placement) {
    kind = record.kind.rawValue
    entryGuid =
      record.entryGuid
      ?? (record.entrySourceID.isEmpty ? nil : Digest.uuid(of: ["record", format, record.entrySourceID]))
    content = RecordContent(record, at: time, placement)
    deviceTime = time.seconds
    utcOffset = Int(placement.utcOffset)
    offsetSource = Int(placement.source.rawValue)
    let isOwn = record.guid != nil
    provenance = isOwn ? record.provenance : Provenance(format: format, source: record.source)
  }

  /// A row from a temporary table with these columns.
  init(_ row: StoredRow) throws {
    let format: String? = try row["provenance_format"]
    provenance = try format.map { Provenance(format: $0, source: try row["provenance_source"]) }
    kind = try row["kind"]
    entryGuid = try row["entry_guid"]
    utcOffset = try row["utc_offset"]
    offsetSource = try row["offset_source"]
    deviceTime = try row["device_time"]
    content = RecordContent(
      fields: try row["fields"], deviceTime: deviceTime, utcOffset: utcOffset,
      offsetSource: offsetSource,
      isDeleted: false)
  }
}

extension ImportedRecord {
  /// The guid that identifies the record in every store. If several different rows have one key, it is that
  /// of the first of them.
  ///
  /// - Parameter format: the id of the input's format.
  func guid(format: String) -> String {
    if let guid { return guid }
    return sourceID.isEmpty
      ? RowKey(self, format: format).base : Digest.uuid(of: ["record", format, sourceID])
  }
}

/// The key of a row without an id, as glucoport-json(5) documents it. It consists of these texts, and of an
/// ordinal if several different rows have equal texts.
struct RowKey {
  let texts: [String]
  /// The guid for ordinal 0, which depends only on the texts.
  let base: String

  init(_ record: ImportedRecord, format: String) {
    self.init(texts: [
      "record", format, record.owner, record.kind.rawValue, record.fields.subtype,
      Self.time(of: record),
    ])
  }

  /// The time as the row key states it: the instant if the source states an instant, whatever zone the import
  /// uses; else the shown time. For some formats it is always the shown time.
  private static func time(of record: ImportedRecord) -> String {
    if record.isIdentifiedByShownTime || record.placement.source.placesShownTime {
      return String(record.deviceTime.seconds)
    }
    return "\(record.placement.instant(of: record.deviceTime).seconds)Z"
  }

  init(texts: [String]) {
    self.texts = texts
    base = Digest.uuid(of: texts)
  }

  func guid(ordinal: Int) -> String { ordinal == 0 ? base : Digest.uuid(of: texts + [String(ordinal)]) }
}

/// Inserts the new records of an import, several with one statement.
///
/// SQLite copies each page that a statement changes, so that it can undo the statement. A record changes
/// seven pages. If records with neighbouring guids are inserted together, most of them change the same pages.
final class RecordInsertions {
  private static let columns = [
    "guid", "kind", "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted",
    "imported", "ingest", "provenance_format", "provenance_source",
  ]
  private static let maxRows = 32
  private static let sqlOfMaxRows = sql(rows: maxRows)

  private let database: Database
  private let ingest: Int64
  private var rows: [(guid: String, row: RecordRow)] = []
  private var guids: Set<String> = []

  init(_ database: Database, ingest: Int64) {
    self.database = database
    self.ingest = ingest
  }

  /// Whether the record with this guid is added but not inserted yet.
  func contains(_ guid: String) -> Bool { guids.contains(guid) }

  /// Adds a record with a guid that the store does not have. It is inserted at the latest by `flush`.
  func add(_ guid: String, _ row: RecordRow) throws {
    rows.append((guid, row))
    guids.insert(guid)
    if rows.count == Self.maxRows { try flush() }
  }

  /// Inserts the added records.
  func flush() throws {
    if rows.isEmpty { return }
    // Other numbers of rows are rare, so only one statement is cached.
    let statement =
      rows.count == Self.maxRows
      ? try database.cachedStatement(sql: Self.sqlOfMaxRows)
      : try database.makeStatement(sql: Self.sql(rows: rows.count))
    try statement.setArguments(StatementArguments(rows.flatMap(values)))
    try statement.execute()
    discard()
  }

  /// Forgets the added records: they are inserted, or their transaction was rolled back.
  func discard() {
    rows.removeAll(keepingCapacity: true)
    guids.removeAll(keepingCapacity: true)
  }

  private static func sql(rows: Int) -> String {
    let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
    return "INSERT INTO record (\(columns.joined(separator: ", "))) VALUES "
      + Array(repeating: row, count: rows).joined(separator: ", ")
  }

  /// The values for `columns`.
  private func values(_ new: (guid: String, row: RecordRow)) -> [(any DatabaseValueConvertible)?] {
    let row = new.row
    return [
      new.guid, row.kind, row.entryGuid, row.deviceTime, row.utcOffset, row.offsetSource, row.content.fields,
      row.content.isDeleted, row.content.text, ingest, row.provenance?.format, row.provenance?.source,
    ]
  }
}
