// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// A row of an export as the columns of a record hold it.
struct RecordRow {
  let kind: String
  let entryGuid: String?
  let content: RecordContent
  let utcOffset: Int
  let offsetSource: Int
  /// Nil if unknown, and for a statement about other records.
  let provenance: Provenance?

  /// - Parameter placement: the offset of the record's time in this store.
  init(_ record: ImportedRecord, format: String, _ placement: Placement) {
    kind = record.kind.rawValue
    entryGuid =
      record.entryGuid
      ?? (record.entrySourceID.isEmpty ? nil : Digest.uuid(of: ["record", format, record.entrySourceID]))
    content = RecordContent(record, placement)
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
    content = RecordContent(
      fields: try row["fields"], deviceTime: try row["device_time"], utcOffset: utcOffset,
      offsetSource: offsetSource,
      isDeleted: false)
  }
}

/// The identity of a row without an id, as glucoport-json(5) documents it: these texts, and an ordinal if
/// several different rows of one file agree in them.
struct RowKey {
  let texts: [String]
  /// The guid of the first row with these texts.
  let base: String

  init(_ record: ImportedRecord, format: String) {
    self.init(texts: [
      "record", format, record.owner, record.kind.rawValue, record.fields.subtype,
      String(record.deviceTime.seconds),
    ])
  }

  init(texts: [String]) {
    self.texts = texts
    base = Digest.uuid(of: texts)
  }

  func guid(ordinal: Int) -> String { ordinal == 0 ? base : Digest.uuid(of: texts + [String(ordinal)]) }
}
