// SPDX-License-Identifier: Apache-2.0

import GRDB

/// Holds a connection to its role by TEMP triggers, which belong to the connection and not to the file.
enum Roles {
  static func install(_ role: StoreRole, in database: Database) throws {
    switch role {
    case .reader: try database.execute(sql: "PRAGMA query_only = ON")
    case .importer: try database.execute(sql: leavesReadingSyncAlone + leavesRecordSyncAlone)
    case .editor: try database.execute(sql: storesNoReading + leavesReadingSyncAlone + leavesRecordSyncAlone)
    case .sync: try database.execute(sql: leavesVersionAlone + givesReasonForRequeue)
    }
  }

  private static let storesNoReading = """
    CREATE TEMP TRIGGER role_stores_no_reading BEFORE INSERT ON main.reading
    BEGIN SELECT RAISE(ABORT, 'only imports and sync store readings'); END;

    """

  private static let leavesReadingSyncAlone = """
    CREATE TEMP TRIGGER role_leaves_uploaded_alone BEFORE UPDATE OF uploaded ON main.reading
    BEGIN SELECT RAISE(ABORT, 'only sync writes uploaded'); END;

    """

  private static let leavesRecordSyncAlone = """
    CREATE TEMP TRIGGER role_leaves_record_sync_alone
    BEFORE UPDATE OF version_synced, sent_version, sent, revision, base, conflict, conflict_revision, quarantine
    ON main.record
    WHEN NEW.version_synced IS NOT OLD.version_synced OR NEW.sent_version IS NOT OLD.sent_version
      OR NEW.sent IS NOT OLD.sent OR NEW.revision IS NOT OLD.revision OR NEW.base IS NOT OLD.base
    BEGIN SELECT RAISE(ABORT, 'only sync writes the columns of sync'); END;

    -- The schema lets a pull change the content of a synced record; an edit of one raises its version.
    CREATE TEMP TRIGGER role_edits_raise_version BEFORE UPDATE ON main.record
    WHEN NEW.version = OLD.version AND (
      NEW.fields IS NOT OLD.fields OR NEW.deleted IS NOT OLD.deleted OR NEW.entry_guid IS NOT OLD.entry_guid
      OR NEW.occurred_at IS NOT OLD.occurred_at
      OR ((NEW.utc_offset IS NOT OLD.utc_offset OR NEW.offset_source IS NOT OLD.offset_source)
        AND (OLD.offset_source NOT IN (1, 2, 3) OR NEW.offset_source NOT IN (1, 2, 3))))
    BEGIN SELECT RAISE(ABORT, 'a change of a record raises its version'); END;

    CREATE TEMP TRIGGER role_inserts_unsynced BEFORE INSERT ON main.record
    WHEN NEW.version_synced <> 0 OR NEW.version <> 1
    BEGIN SELECT RAISE(ABORT, 'a record starts at version 1, not synced'); END;

    """

  private static let leavesVersionAlone = """
    CREATE TEMP TRIGGER role_leaves_version_alone BEFORE UPDATE OF version ON main.record
    WHEN NEW.version <> OLD.version
    BEGIN SELECT RAISE(ABORT, 'sync never writes version'); END;

    """

  /// A reading becomes pending again only while a requeue is open, which says why and is closed before the commit.
  private static let givesReasonForRequeue = """
    CREATE TEMP TRIGGER role_gives_reason_for_requeue BEFORE UPDATE OF uploaded ON main.reading
    WHEN OLD.uploaded = 1 AND NEW.uploaded = 0
      AND NOT EXISTS (SELECT 1 FROM main.requeue WHERE is_open = 1)
    BEGIN SELECT RAISE(ABORT, 'a requeue needs its reason'); END;

    """
}
