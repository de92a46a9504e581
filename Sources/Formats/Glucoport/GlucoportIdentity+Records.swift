// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Records of a glucoport export, with their identity.
extension GlucoportIdentity {
  /// Why a record cannot be rebuilt, without any of its values.
  struct Reason: Error {
    let text: String
  }

  /// The record of a row.
  ///
  /// - Parameter guid: its identity, which another format may state elsewhere.
  func record(from row: Row, guid: Field) -> Result<ImportedRecord, Reason> {
    guard let kind = RecordKind(rawValue: field(.kind, of: row).text) else {
      return .failure(Reason(text: "a kind that is not 1 to 32 lower-case letters and hyphens"))
    }
    guard let (time, placement) = time(of: row) else {
      return .failure(Reason(text: Self.badTime))
    }
    let entry = field(.entryGuid, of: row)
    guard Self.isGuid(guid), entry.isEmpty || Self.isGuid(entry) else {
      return .failure(Reason(text: "invalid guid"))
    }
    guard let fields = RecordFields(json: field(.fields, of: row)) else {
      return .failure(
        Reason(text: "the fields are not a JSON object of numbers, texts, flags and lists of words"))
    }
    if let fault = fields.fault { return .failure(Reason(text: fault)) }
    guard let provenance = provenance(of: row) else {
      return .failure(Reason(text: "the provenance is not a JSON object of a format and a source"))
    }
    let deleted = field(.deleted, of: row)
    guard deleted.isEmpty || Self.flag(deleted) != nil else {
      return .failure(Reason(text: "'deleted' is neither true nor false"))
    }
    var record = ImportedRecord(kind: kind, at: time, placement: placement, fields: fields, line: row.line)
    record.guid = guid.text
    record.entryGuid = entry.isEmpty ? nil : entry.text
    record.provenance = provenance
    record.deleted = Self.flag(deleted) ?? false
    // A tombstone has no fields.
    if !record.deleted || !fields.values.isEmpty, let fault = kind.details?.fault(in: fields) {
      return .failure(Reason(text: fault))
    }
    return .success(record)
  }

  /// The provenance. The inner optional is nil if it is unknown, the outer one if the cell is invalid.
  private func provenance(of row: Row) -> Provenance?? {
    let field = field(.provenance, of: row)
    if field.isEmpty { return .some(nil) }
    do throws(JSONError) {
      return .some(try Provenance(json: String(decoding: field.bytes, as: UTF8.self)))
    } catch {
      return nil
    }
  }

  static func flag(_ field: Field) -> Bool? {
    if field.equals("true") { return true }
    return field.equals("false") ? false : nil
  }

  /// A key of this or another program: printable, without blanks.
  private static func isGuid(_ field: Field) -> Bool {
    field.count > 0 && field.count <= 128 && field.bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
