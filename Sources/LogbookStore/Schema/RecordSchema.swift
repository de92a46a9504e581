// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// The table of records, and the rules for changes by an edit and by sync.
enum RecordSchema {
  static let statements = table + rules

  /// The SQL condition that an update changes what a record states of its time (`StatedTime`).
  static let statedTimeChanges =
    "\(statedTime("NEW")) <> \(statedTime("OLD")) OR \(statedOffset("NEW")) IS NOT \(statedOffset("OLD"))"

  /// The SQL expression for the shown time in a row of `record`, or for its instant if the source states only
  /// that.
  static func statedTime(_ row: String) -> String {
    "iif(\(row).offset_source = 5, \(row).device_time - \(row).utc_offset, \(row).device_time)"
  }

  /// The SQL expression for the offset that the source states; NULL for a derived one.
  static func statedOffset(_ row: String) -> String {
    "CASE \(row).offset_source WHEN 0 THEN \(row).utc_offset WHEN 5 THEN 0 END"
  }

  private static let table = """
    CREATE TABLE record (
      guid TEXT PRIMARY KEY,
      -- Any word that a kind can have: what it means is for the programs that know it.
      kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 32 AND kind NOT GLOB '*[^a-z-]*'),
      entry_guid TEXT,
      device_time INTEGER NOT NULL CHECK (\(StoredBounds.check("device_time", StoredBounds.seconds))),
      utc_offset INTEGER NOT NULL CHECK (\(StoredBounds.check("utc_offset", StoredBounds.offset))),
      offset_source INTEGER NOT NULL CHECK (offset_source BETWEEN 0 AND 5),
      fields TEXT NOT NULL CHECK (json_valid(fields)),
      -- When the content was last edited, by the clock of that host; NULL while it is what an import wrote.
      edited_at INTEGER CHECK (\(StoredBounds.check("edited_at", StoredBounds.seconds))),
      deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
      version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1 AND \(StoredBounds.check("version", StoredBounds.count))),
      version_synced INTEGER NOT NULL DEFAULT 0 CHECK (version_synced >= 0),
      sent_version INTEGER,
      sent TEXT,
      revision TEXT,
      base TEXT,
      imported TEXT,
      ingest INTEGER REFERENCES ingest(id),
      -- Where the record came from: the id of a format, a driver or a kind of remote, and the program or device within it;
      -- NULL while unknown.
      provenance_format TEXT CHECK (length(provenance_format) BETWEEN 1 AND \(Provenance.maxFormatBytes)),
      provenance_source TEXT CHECK (length(provenance_source) <= \(Provenance.maxSourceBytes)),
      conflict TEXT,
      conflict_revision TEXT,
      quarantine TEXT,
      -- A record is quarantined only while this is its version: an edit releases it.
      quarantined_version INTEGER,
      CHECK ((provenance_format IS NULL) = (provenance_source IS NULL)),
      CHECK (version_synced <= version),
      CHECK (sent_version IS NULL OR sent_version <= version),
      CHECK ((conflict IS NULL) = (conflict_revision IS NULL)),
      CHECK ((quarantine IS NULL) = (quarantined_version IS NULL)),
      CHECK (quarantined_version IS NULL OR quarantined_version <= version)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX record_pending ON record(guid) WHERE version > version_synced AND conflict IS NULL
      AND (quarantined_version IS NULL OR quarantined_version < version);
    CREATE INDEX record_by_time ON record(device_time);
    CREATE INDEX record_by_entry ON record(entry_guid) WHERE entry_guid IS NOT NULL;
    CREATE INDEX record_conflicted ON record(guid) WHERE conflict IS NOT NULL;
    CREATE INDEX record_deleted ON record(guid) WHERE deleted = 1;

    """

  private static let rules = """
    \(SharedSchema.recordStays)
    CREATE TRIGGER record_version_rises_by_one BEFORE UPDATE OF version ON record
    WHEN NEW.version NOT IN (OLD.version, OLD.version + 1)
    BEGIN SELECT RAISE(ABORT, 'a version rises by exactly one'); END;

    CREATE TRIGGER record_provenance_stays BEFORE UPDATE ON record
    WHEN OLD.provenance_format IS NOT NULL AND (
      NEW.provenance_format IS NOT OLD.provenance_format OR NEW.provenance_source IS NOT OLD.provenance_source)
    BEGIN SELECT RAISE(ABORT, 'the provenance of a record never changes'); END;

    -- An edit raises the version and changes no column of sync.
    CREATE TRIGGER record_edit_leaves_sync_alone BEFORE UPDATE ON record
    WHEN NEW.version = OLD.version + 1 AND (
      NEW.version_synced IS NOT OLD.version_synced OR NEW.sent_version IS NOT OLD.sent_version
      OR NEW.sent IS NOT OLD.sent OR NEW.revision IS NOT OLD.revision OR NEW.base IS NOT OLD.base
      OR NEW.conflict IS NOT OLD.conflict OR NEW.conflict_revision IS NOT OLD.conflict_revision
      OR NEW.quarantine IS NOT OLD.quarantine OR NEW.quarantined_version IS NOT OLD.quarantined_version)
    BEGIN SELECT RAISE(ABORT, 'an edit leaves the columns of sync alone'); END;

    -- Content changes without a new version in two cases: a pull onto a synced record, and a merge into the sent
    -- version. The merge also sets the remote's base and revision in the same statement. A derived offset is not
    -- content, and neither is the time at which the zones show an instant.
    CREATE TRIGGER record_content_is_versioned BEFORE UPDATE ON record
    WHEN NEW.version = OLD.version AND (
      NEW.fields IS NOT OLD.fields OR NEW.deleted IS NOT OLD.deleted OR NEW.entry_guid IS NOT OLD.entry_guid
      OR \(statedTimeChanges))
      AND NOT (OLD.version = OLD.version_synced AND NEW.version_synced = NEW.version)
      AND NOT (OLD.version IS OLD.sent_version AND NEW.base IS NOT OLD.base AND NEW.revision IS NOT OLD.revision)
    BEGIN SELECT RAISE(ABORT, 'a change of a record raises its version'); END;

    """
}
