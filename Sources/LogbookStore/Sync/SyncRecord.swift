// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// A record with its sync data.
package struct SyncRecord: Hashable, Sendable {
  /// The id of the record.
  package let guid: String
  /// The local content.
  package let state: RecordState
  /// The version, which increases by one with every edit.
  package let version: Int
  /// The version that the remote has; 0 for none.
  package let versionSynced: Int
  /// The version that was sent without an answer so far; nil for none.
  package let sentVersion: Int?
  /// The change that was sent; nil for none, and for a text that cannot be read.
  package let sent: RecordChange?
  /// The remote's revision on which this record is based; nil for none.
  package let revision: String?
  /// The last state on which both sides agreed; nil for none, and for a text that cannot be read.
  package let base: RecordState?
  /// Whether the content is still what an import wrote.
  package let isImportedOnly: Bool
  /// The remote's revision of its side of a conflict; nil without a conflict.
  package let conflictRevision: String?
  /// Whether the remote refused this version permanently.
  package let isQuarantined: Bool

  /// Whether it has content that the remote does not have yet.
  package var isPending: Bool { version > versionSynced }
  /// Whether a person must decide between both sides.
  package var isConflicted: Bool { conflictRevision != nil }

  static let columns = """
    record.guid, record.kind, record.entry_guid, record.device_time, record.utc_offset, record.offset_source,
    record.fields, record.deleted, record.version, record.version_synced, record.sent_version, record.sent,
    record.revision, record.base, record.imported IS NOT NULL AND record.imported = \(RecordContent.sql),
    record.conflict_revision, coalesce(record.quarantined_version = record.version, 0),
    -- What an import wrote is as old as the export, or else as the import.
    coalesce(record.edited_at, CASE WHEN record.imported = \(RecordContent.sql) THEN
      (SELECT coalesce(ingest.generated_at, ingest.started_at) FROM ingest WHERE ingest.id = record.ingest) END),
    record.provenance_format, record.provenance_source
    """

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "record")
    guid = try row[0]
    state = RecordState(
      kind: try row.code(1), entryGuid: try row[2], deviceTime: try row.deviceTime(3),
      placement: try row.placement(4),
      fields: try RecordFields(stored: try row[6], of: guid), isDeleted: try row.number(7, in: 0...1) == 1,
      editedAt: try row.optionalSeconds(17), provenance: try RecordColumns.provenance(row, from: 18))
    version = try row.count(8)
    versionSynced = try row.count(9)
    sentVersion = try row.optionalNumber(10, in: StoredBounds.count).map { Int($0) }
    let texts = SyncTexts(sent: try row[11], base: try row[13])
    sent = texts.sent
    revision = try row[12]
    base = texts.base
    isImportedOnly = try row[14]
    conflictRevision = try row[15]
    isQuarantined = try row[16]
  }
}

/// SQL conditions for the state of a row of `record`. At most one of them is true for a row.
enum RecordCondition {
  /// It is pending, in the words of the index `record_pending`.
  static let isPending = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND (record.quarantined_version IS NULL OR record.quarantined_version < record.version)
    """

  /// The remote refused exactly this version permanently.
  static let isRefused = """
    record.version > record.version_synced AND record.conflict IS NULL
    AND record.quarantined_version = record.version
    """

  /// It is a deleted entry with records that are not deleted: others added them meanwhile.
  static let isOrphaned = """
    record.deleted = 1 AND record.conflict IS NULL AND EXISTS (
      SELECT 1 FROM record AS child WHERE child.entry_guid = record.guid AND child.deleted = 0)
    """
}
