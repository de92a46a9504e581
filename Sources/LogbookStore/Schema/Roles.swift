// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// Limits a connection to its role. The limits are TEMP triggers, which belong to the connection and not to
/// the file.
enum Roles {
  static func install(_ role: StoreRole, in database: Database) throws {
    if role != .reader { try database.execute(sql: queuesWhatIsPending) }
    switch role {
    case .reader: try database.execute(sql: "PRAGMA query_only = ON")
    case .importer: try database.execute(sql: writesLocally)
    case .editor: try database.execute(sql: storesNoReading + refusesProvenanceChanges + writesLocally)
    case .resolver:
      try database.execute(
        sql: storesNoReading + refusesProvenanceChanges + leavesReadingSyncAlone + leavesBlobSyncAlone
          + allowsOnlyResolutions
          + editsRecords
          + leavesRemoteAlone)
    case .sync: try database.execute(sql: leavesVersionAlone + followsUploads)
    }
  }

  /// Runs work of the role `sync` in a transaction, without the triggers that run for each change of
  /// `uploaded`. The work may only mark readings as uploaded, and must count them itself. If it fails, the
  /// rollback restores the triggers.
  static func withoutUploadTriggers(_ database: Database, _ work: () throws -> Void) throws {
    try database.execute(
      sql: """
        DROP TRIGGER temp.role_gives_reason_for_requeue; DROP TRIGGER temp.role_counts_uploads;
        DROP TRIGGER main.reading_is_in_range_again
        """)
    try work()
    try database.execute(sql: followsUploads + PendingSchema.readingIsInRangeAgain)
  }

  /// Drops the triggers that look up each new reading, in a transaction that stores many readings.
  /// `createReadingTriggers` must create them again. The caller adds pending readings to their ranges itself.
  ///
  /// Other connections always see the triggers: a change of the schema becomes visible with the commit. A
  /// reading whose identity is already stored still fails, by the primary key.
  static func dropReadingTriggers(_ database: Database) throws {
    try database.execute(
      sql: """
        DROP TRIGGER IF EXISTS main.reading_is_not_replaced; DROP TRIGGER IF EXISTS main.reading_is_in_range
        """)
  }

  /// Creates the triggers again that `dropReadingTriggers` dropped, before the transaction ends.
  static func createReadingTriggers(_ database: Database) throws {
    try database.execute(sql: StoreFileRules.readingIsNotReplaced + ";\n" + PendingSchema.readingIsInRange)
  }

  private static let writesLocally =
    leavesReadingSyncAlone + leavesBlobSyncAlone + leavesRecordSyncAlone + editsRecords + keepsTombstones
    + leavesRemoteAlone

  private static let storesNoReading = """
    CREATE TEMP TRIGGER role_stores_no_reading BEFORE INSERT ON main.reading
    BEGIN SELECT RAISE(ABORT, 'only imports and sync store readings'); END;

    """

  /// Refuses to set the provenance of a record. Only an import or a remote can know the provenance of a
  /// record that has none.
  private static let refusesProvenanceChanges = """
    CREATE TEMP TRIGGER role_leaves_provenance_alone
    BEFORE UPDATE OF \(RecordColumns.provenance.joined(separator: ", ")) ON main.record
    WHEN \(changes(RecordColumns.provenance))
    BEGIN SELECT RAISE(ABORT, 'only imports and sync learn where a record came from'); END;

    """

  private static let leavesReadingSyncAlone = """
    CREATE TEMP TRIGGER role_leaves_uploaded_alone BEFORE UPDATE OF uploaded ON main.reading
    BEGIN SELECT RAISE(ABORT, 'only sync writes uploaded'); END;

    """

  private static let leavesBlobSyncAlone = """
    CREATE TEMP TRIGGER role_leaves_content_sync_alone BEFORE UPDATE OF uploaded, refusal ON main.blob
    WHEN NEW.uploaded IS NOT OLD.uploaded OR NEW.refusal IS NOT OLD.refusal
    BEGIN SELECT RAISE(ABORT, 'only sync writes what the remote has of a content'); END;

    """

  private static let syncColumns = [
    "version_synced", "sent_version", "sent", "revision", "base", "conflict", "conflict_revision",
    "quarantine", "quarantined_version",
  ]

  private static let keptByResolution =
    RecordColumns.content + RecordColumns.provenance + [
      "version", "version_synced", "quarantine", "quarantined_version",
    ]

  /// The SQL condition that an update changes one of these columns.
  private static func changes(_ columns: [String]) -> String {
    columns.map { "NEW.\($0) IS NOT OLD.\($0)" }.joined(separator: " OR ")
  }

  private static let leavesRecordSyncAlone = """
    CREATE TEMP TRIGGER role_leaves_record_sync_alone
    BEFORE UPDATE OF \(syncColumns.joined(separator: ", ")) ON main.record
    WHEN \(changes(syncColumns))
    BEGIN SELECT RAISE(ABORT, 'only sync writes the columns of sync'); END;

    """

  /// Refuses changes of the sync columns, except those of a resolution of a conflict. A resolution makes the
  /// remote's state the base, and writes the chosen content as an edit. A decision about a deleted entry has
  /// no base, so that a different decision on another node becomes a conflict.
  private static let allowsOnlyResolutions = """
    CREATE TEMP TRIGGER role_takes_remote_side_as_base
    BEFORE UPDATE OF \(syncColumns.joined(separator: ", ")) ON main.record
    WHEN (\(changes(syncColumns))) AND NOT (
      OLD.conflict IS NOT NULL AND NEW.conflict IS NULL
      AND NEW.base IS OLD.conflict AND NEW.revision IS OLD.conflict_revision AND NEW.sent IS NULL
      AND NEW.sent_version IS NULL
      AND NOT (\(changes(keptByResolution))))
      AND NOT (OLD.deleted = 1 AND NEW.base IS NULL
        AND NOT (\(changes(syncColumns.filter { $0 != "base" } + RecordColumns.content + ["version"]))))
    BEGIN SELECT RAISE(ABORT, 'a resolution takes the remote side as the base and changes nothing else'); END;

    """

  private static let editsRecords = """
    -- The schema lets a pull change the content of a synced record. An edit must raise the version instead.
    CREATE TEMP TRIGGER role_edits_raise_version BEFORE UPDATE ON main.record
    WHEN NEW.version = OLD.version AND (
      \(changes(["fields", "deleted", "entry_guid", "edited_at"] + RecordColumns.provenance))
      OR \(RecordSchema.statedTimeChanges))
    BEGIN SELECT RAISE(ABORT, 'a change of a record raises its version'); END;

    CREATE TEMP TRIGGER role_inserts_unsynced BEFORE INSERT ON main.record
    WHEN NEW.version_synced <> 0 OR NEW.version <> 1
      OR coalesce(\(syncColumns.dropFirst().map { "NEW.\($0)" }.joined(separator: ", "))) IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a record starts at version 1, not synced'); END;

    """

  /// Refuses changes of deleted records by an edit or an import. Only an undo restores a record that was
  /// deleted in this store.
  private static let keepsTombstones = """
    CREATE TEMP TRIGGER role_keeps_tombstones BEFORE UPDATE ON main.record
    WHEN OLD.deleted = 1 AND NEW.version <> OLD.version AND NOT (NEW.deleted = 0 AND EXISTS (
      SELECT 1 FROM main.action_state AS s
      WHERE s.guid = NEW.guid AND s.deleted = 0 AND s.kind = NEW.kind AND s.fields = NEW.fields))
    BEGIN SELECT RAISE(ABORT, 'only a resolution or an undo brings a deleted record back'); END;

    """

  private static let leavesRemoteAlone = """
    CREATE TEMP TRIGGER role_adds_no_remote BEFORE INSERT ON main.remote
    BEGIN SELECT RAISE(ABORT, 'only sync writes the remote'); END;

    CREATE TEMP TRIGGER role_leaves_remote_alone BEFORE UPDATE ON main.remote
    BEGIN SELECT RAISE(ABORT, 'only sync writes the remote'); END;

    """

  private static let queuedFollows = "what is queued follows versions and contents, which alone decide"

  /// Only the triggers of the schema fill `queued`. This rule refuses other writes: queueing an item that is
  /// not pending, queueing it for another entry, or removing a pending item.
  private static let queuesWhatIsPending = """
    CREATE TEMP TRIGGER role_queues_what_is_pending BEFORE INSERT ON main.queued
    WHEN NOT EXISTS (
      SELECT 1 FROM main.record AS r WHERE r.guid = NEW.record AND NEW.entry = coalesce(r.entry_guid, r.guid)
        AND CASE NEW.aspect WHEN 'record' THEN r.version > r.version_synced
          ELSE r.kind = 'attachment' AND r.deleted = 0 AND EXISTS (
            SELECT 1 FROM main.blob AS b WHERE b.digest = json_extract(r.fields, '$.sha256')
              AND b.held = b.size AND b.uploaded = 0) END)
    BEGIN SELECT RAISE(ABORT, '\(queuedFollows)'); END;

    -- A record may get another entry and become synced in one statement, so only the entry is checked.
    CREATE TEMP TRIGGER role_moves_what_is_queued BEFORE UPDATE ON main.queued
    WHEN NEW.record <> OLD.record OR NEW.aspect <> OLD.aspect OR NEW.queued_at <> OLD.queued_at
      OR NEW.entry IS NOT (SELECT coalesce(entry_guid, guid) FROM main.record WHERE guid = NEW.record)
    BEGIN SELECT RAISE(ABORT, '\(queuedFollows)'); END;

    -- Only rows of records are checked: a trigger of the schema deletes and inserts the row of a content.
    CREATE TEMP TRIGGER role_keeps_what_is_pending BEFORE DELETE ON main.queued
    WHEN OLD.aspect = 'record'
      AND EXISTS (SELECT 1 FROM main.record WHERE guid = OLD.record AND version > version_synced)
    BEGIN SELECT RAISE(ABORT, '\(queuedFollows)'); END;

    """

  private static let leavesVersionAlone = """
    CREATE TEMP TRIGGER role_leaves_version_alone BEFORE UPDATE OF version ON main.record
    WHEN NEW.version <> OLD.version
    BEGIN SELECT RAISE(ABORT, 'sync never writes version'); END;

    """

  private static let followsUploads = givesReasonForRequeue + countsUploads

  /// Allows a reading to become pending again only while a row of `requeue` is open, which states the reason.
  /// The row is closed before the commit.
  private static let givesReasonForRequeue = """
    CREATE TEMP TRIGGER role_gives_reason_for_requeue BEFORE UPDATE OF uploaded ON main.reading
    WHEN OLD.uploaded = 1 AND NEW.uploaded = 0
      AND NOT EXISTS (SELECT 1 FROM main.requeue WHERE is_open = 1)
    BEGIN SELECT RAISE(ABORT, 'a requeue needs its reason'); END;

    """

  /// Keeps the number of pending readings in each series correct.
  private static let countsUploads = """
    CREATE TEMP TRIGGER role_counts_uploads AFTER UPDATE OF uploaded ON main.reading
    WHEN NEW.uploaded <> OLD.uploaded
    BEGIN UPDATE series SET pending = pending + OLD.uploaded - NEW.uploaded WHERE id = NEW.series; END;

    """
}

/// The rules for data that no program may change; see also `PermanentDataRules`.
enum StoreFileRules {
  static let statements =
    PermanentDataRules.notReplaced + notReplaced + readingIsNotReplaced + ";\n"
    + PermanentDataRules.devicesStay(identifiedBy: ["identity"]) + referredTo

  /// Refuses a second reading with the same identity. glucoport itself never tries to insert one; see
  /// `ReadingWriter`.
  ///
  /// The trigger doubles the time of an insert: 0.7 s for a million readings. So `Roles.dropReadingTriggers`
  /// drops it in transactions that store many readings.
  static let readingIsNotReplaced = """
    CREATE TRIGGER reading_is_not_replaced BEFORE INSERT ON reading
    WHEN EXISTS (SELECT 1 FROM reading WHERE partition = NEW.partition AND position = NEW.position
      AND series = NEW.series AND value_bucket = NEW.value_bucket AND occurrence = NEW.occurrence)
    BEGIN SELECT RAISE(ABORT, 'readings are immutable'); END
    """

  private static let notReplaced = """
    CREATE TRIGGER record_is_not_replaced BEFORE INSERT ON record
    WHEN EXISTS (SELECT 1 FROM record WHERE guid = NEW.guid)
    BEGIN SELECT RAISE(ABORT, 'records are never replaced; an edit raises the version'); END;

    CREATE TRIGGER ingest_is_not_replaced BEFORE INSERT ON ingest
    WHEN EXISTS (SELECT 1 FROM ingest WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'imports are never replaced'); END;

    CREATE TRIGGER requeue_is_not_replaced BEFORE INSERT ON requeue
    WHEN EXISTS (SELECT 1 FROM requeue WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the reasons of requeues are never replaced'); END;

    """

  /// The triggers that keep the ids of the rows to which readings and records refer. They do not use `UPDATE
  /// OF id`, since it does not fire if an SQL statement writes the column as `rowid`.
  private static let referredTo = """
    CREATE TRIGGER series_number BEFORE UPDATE ON series WHEN NEW.id <> OLD.id
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;

    CREATE TRIGGER ingest_stays BEFORE DELETE ON ingest
    BEGIN SELECT RAISE(ABORT, 'imports are never deleted'); END;

    CREATE TRIGGER ingest_number BEFORE UPDATE ON ingest WHEN NEW.id <> OLD.id
    BEGIN SELECT RAISE(ABORT, 'the number of an import never changes'); END;

    CREATE TRIGGER requeue_number BEFORE UPDATE ON requeue WHEN NEW.id <> OLD.id
    BEGIN SELECT RAISE(ABORT, 'the reasons of requeues never change'); END;

    """
}
