// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// A record with the data that sync needs.
package struct SyncRecord: Hashable, Sendable {
  /// The id of the record.
  package let guid: String
  /// The local content.
  package let state: RecordState
  /// The version, which increases by one with every edit.
  package let version: Int
  /// The version that the remote has; 0 for none.
  package let versionSynced: Int
  /// The version that was sent and not answered yet; nil if there is none.
  package let sentVersion: Int?
  /// The change that was sent and not answered yet; nil if there is none or its text is damaged.
  package let sent: RecordChange?
  /// The remote's revision on which this record is based; nil if the remote does not have it.
  package let revision: String?
  /// The last state on which this store and the remote agreed; nil if there is none or its text is damaged.
  package let base: RecordState?
  /// Whether no person has edited the content since an import wrote it.
  package let isImportedOnly: Bool
  /// The revision of the remote's state in a conflict; nil without a conflict.
  package let conflictRevision: String?
  /// Whether the remote refused this version permanently.
  package let isQuarantined: Bool

  /// Whether the record has a version that the remote does not have.
  package var isPending: Bool { version > versionSynced }
  /// Whether the record is in conflict, so that a person must decide.
  package var isConflicted: Bool { conflictRevision != nil }

  static let columns = """
    record.guid, record.kind, record.entry_guid, record.device_time, record.utc_offset, record.offset_source,
    record.fields, record.deleted, record.version, record.version_synced, record.sent_version, record.sent,
    record.revision, record.base, \(ContentExport.isImported), record.conflict_revision,
    coalesce(record.quarantined_version = record.version, 0), record.edited_at,
    record.provenance_format, record.provenance_source, \(ContentExport.columns), \(ContentExport.statementColumns)
    """

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "record")
    guid = try row[0]
    version = try row.count(8)
    versionSynced = try row.count(9)
    let texts = SyncTexts(sent: try row[11], base: try row[13])
    isImportedOnly = try row[14]
    var state = RecordState(
      kind: try row.code(1), entryGuid: try row[2], deviceTime: try row.deviceTime(3),
      placement: try row.placement(4),
      fields: try RecordFields(stored: try row[6], of: guid), isDeleted: try row.number(7, in: 0...1) == 1,
      editedAt: try row.optionalSeconds(17), provenance: try RecordColumns.provenance(row, from: 18))
    if isImportedOnly {
      let age = ContentExport.age(
        own: try Self.age(row, from: 20), agreed: texts.base?.export, statement: try Self.age(row, from: 22),
        isSynced: version == versionSynced)
      // If an import wrote the content and no time of an edit is stored, the time of the export is used.
      state.editedAt = state.editedAt ?? age?.instant
      if state.kind.details?.isListed == true || state.isWithdrawalByImport { state.export = age }
    }
    self.state = state
    sentVersion = try row.optionalNumber(10, in: StoredBounds.count).map { Int($0) }
    sent = texts.sent
    revision = try row[12]
    base = texts.base
    conflictRevision = try row[15]
    isQuarantined = try row[16]
  }

  /// The age of an export of this store; nil without one.
  ///
  /// - Parameter first: the index of the first of the two columns that state the age.
  private static func age(_ row: StoredRow, from first: Int) throws -> ExportAge? {
    guard let modified = try row.optionalSeconds(first + 1) else { return nil }
    return ExportAge(generated: try row.seconds(first), modified: modified)
  }
}

/// SQL conditions on a row of `record`. At most one of them is true for a row.
enum RecordCondition {
  /// The record is pending. The text is the same as in the index `record_pending`, so that SQLite uses the
  /// index.
  static let isPending = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND (record.quarantined_version IS NULL OR record.quarantined_version < record.version)
    """

  /// The remote permanently refused exactly this version.
  static let isRefused = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND record.quarantined_version = record.version
    """

  /// The record is a deleted entry, and other nodes have added records to it.
  static let isOrphaned = """
    record.deleted = 1 AND record.conflict IS NULL AND EXISTS (
      SELECT 1 FROM record AS child WHERE child.entry_guid = record.guid AND child.deleted = 0)
    """
}
