// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The schema of a store, as steps that are never edited once released.
enum Schema {
  /// The application id in the file's header: "GLUC".
  static let applicationID = 0x474C_5543
  /// The number of the newest step. A store with a larger one is from a newer program.
  static let version = 5

  /// Takes the steps that a store lacks.
  static func migrate(_ database: Database, to version: Int = version) throws {
    let current = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    // Views hold nothing, so every step makes them anew; in between they would name columns that come or go.
    try database.execute(sql: ViewSchema.removal)
    if current < 1 { try createFirst(database) }
    if current < 2, version >= 2 { try database.execute(sql: meterColumns) }
    if current < 3, version >= 3 {
      try database.execute(sql: uploadsCountedByRole)
      try database.execute(sql: QueueSchema.statements)
    }
    if current < 4, version >= 4 { try database.execute(sql: sharedSections) }
    if current < 5, version >= 5 { try identifyDevices(database) }
    try database.execute(sql: ViewSchema.statements)
    try database.execute(sql: "PRAGMA user_version = \(version)")
  }

  private static func createFirst(_ database: Database) throws {
    try database.execute(sql: tables)
    try database.execute(sql: readingRules)
    try database.execute(sql: recordRules)
    try database.execute(sql: "PRAGMA application_id = \(applicationID)")
  }

  /// What the ingest of a meter's memory keeps beside that of an export: which meter it was, and both clocks at one
  /// moment, of which `clock_difference` is the meter's lead over the logbook's local time in seconds.
  private static let meterColumns = """
    ALTER TABLE ingest ADD COLUMN meter INTEGER REFERENCES device(id);
    ALTER TABLE ingest ADD COLUMN firmware TEXT;
    ALTER TABLE ingest ADD COLUMN clock_meter INTEGER;
    ALTER TABLE ingest ADD COLUMN clock_host INTEGER CHECK (
      (clock_host IS NULL) = (clock_meter IS NULL) AND (clock_host IS NULL) = (clock_difference IS NULL));
    """

  /// What follows the uploads belongs to the role that alone writes them: a statement that marks many readings and
  /// counts them itself takes a third of the time without any trigger.
  private static let uploadsCountedByRole = "DROP TRIGGER reading_upload_is_counted"

  /// Ticks that are instants stand together like shown times, so that an import whose devices take turns appends; a count
  /// that each device begins anew stands apart. Series that are there keep their partition.
  private static let sharedSections = """
    ALTER TABLE series DROP COLUMN partition;
    ALTER TABLE series ADD COLUMN is_instant INTEGER NOT NULL DEFAULT 0 CHECK (is_instant IN (0, 1));
    ALTER TABLE series ADD COLUMN partition INTEGER NOT NULL GENERATED ALWAYS AS (
      CASE WHEN position_kind = 0 THEN kind WHEN is_instant THEN -kind ELSE 4 + id END) VIRTUAL;

    DROP TRIGGER series_identity;
    CREATE TRIGGER series_identity BEFORE UPDATE OF id, device, kind, position_kind, is_instant ON series
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;
    """

  /// A device's part of the canonical text by which annotations name readings, so that the views compare texts without
  /// escaping them; and the index by which they find the annotations that withdraw a reading.
  private static func identifyDevices(_ database: Database) throws {
    try database.execute(sql: "ALTER TABLE device ADD COLUMN identity TEXT NOT NULL DEFAULT ''")
    for row in try Row.fetchAll(database, sql: "SELECT id, vendor, model, serial, format FROM device") {
      let device = Device(vendor: row[1], model: row[2], serial: row[3], format: row[4])
      try database.execute(
        sql: "UPDATE device SET identity = ? WHERE id = ?",
        arguments: [ReadingIdentity.text(of: device), row[0] as Int64])
    }
    try database.execute(sql: WithdrawnReading.index)
  }

  private static let tables = """
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE device (
      id INTEGER PRIMARY KEY,
      vendor TEXT NOT NULL,
      model TEXT NOT NULL,
      serial TEXT NOT NULL,
      format TEXT NOT NULL,
      firmware TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE UNIQUE INDEX device_by_serial ON device(vendor, serial) WHERE serial <> '';
    CREATE UNIQUE INDEX device_by_model ON device(format, model) WHERE serial = '';

    CREATE TABLE ingest (
      id INTEGER PRIMARY KEY,
      source TEXT NOT NULL,
      format TEXT NOT NULL,
      digest TEXT,
      decisions TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(decisions)),
      clock_difference INTEGER,
      started_at INTEGER NOT NULL,
      finished_at INTEGER,
      outcome TEXT NOT NULL DEFAULT 'running'
        CHECK (outcome IN ('running', 'whole', 'truncated', 'failed')),
      generated_at INTEGER,
      modified_at INTEGER,
      counts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(counts))
    ) STRICT;

    CREATE TABLE rejection (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      line INTEGER NOT NULL,
      reason TEXT NOT NULL
    ) STRICT;
    CREATE INDEX rejection_by_ingest ON rejection(ingest);

    -- One device's readings of one kind on one position_kind, with the numbers that a count over all readings would give. The
    -- insert adds to them; a trigger follows the uploads.
    CREATE TABLE series (
      id INTEGER PRIMARY KEY,
      device INTEGER NOT NULL REFERENCES device(id),
      kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),
      position_kind INTEGER NOT NULL CHECK (position_kind IN (0, 1)),
      partition INTEGER NOT NULL GENERATED ALWAYS AS (CASE position_kind WHEN 0 THEN kind ELSE 4 + id END) VIRTUAL,
      readings INTEGER NOT NULL DEFAULT 0 CHECK (readings >= 0),
      pending INTEGER NOT NULL DEFAULT 0 CHECK (pending BETWEEN 0 AND readings),
      first_position INTEGER,
      last_position INTEGER,
      first_time INTEGER,
      last_time INTEGER,
      UNIQUE (device, kind, position_kind)
    ) STRICT;

    -- Readings whose source later gave another value: the first is kept, the other is listed here.
    CREATE TABLE revision (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      value REAL,
      unit INTEGER NOT NULL,
      range_flag INTEGER NOT NULL,
      PRIMARY KEY (series, position, value_bucket, occurrence, ingest)
    ) STRICT, WITHOUT ROWID;

    -- A series, a position, a value_bucket and an occurrence are the identity. The partition goes before them, so that an import
    -- appends even when the devices take turns: all readings of one kind that a shown time places stand together in the
    -- order of time, twice as fast to insert as one stretch for each device. Ticks stand apart; see `sharedSections`.
    CREATE TABLE reading (
      partition INTEGER NOT NULL,
      position INTEGER NOT NULL,
      series INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      device_time INTEGER NOT NULL,
      utc_offset INTEGER NOT NULL,
      offset_source INTEGER NOT NULL,
      value REAL,
      unit INTEGER NOT NULL,
      range_flag INTEGER NOT NULL,
      threshold REAL,
      marks INTEGER NOT NULL,
      ingest INTEGER NOT NULL,
      uploaded INTEGER NOT NULL DEFAULT 0,
      -- One check of plain comparisons costs a fiftieth of an insert; one for each column, with IN and functions, cost
      -- more than a third.
      CHECK (occurrence >= 0
        AND utc_offset > -86400 AND utc_offset < 86400 AND offset_source >= 0 AND offset_source <= 4
        AND unit >= 0 AND unit <= 1 AND range_flag >= 0 AND range_flag <= 2 AND uploaded >= 0 AND uploaded <= 1
        AND (value IS NULL) = (range_flag <> 0)),
      PRIMARY KEY (partition, position, series, value_bucket, occurrence)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reading_pending ON reading(partition, position, series, value_bucket, occurrence) WHERE uploaded = 0;

    -- Readings that the remote refuses for good, with its words. They stay pending, and are not sent.
    CREATE TABLE refusal (
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      reason TEXT NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (series, position, value_bucket, occurrence)
    ) STRICT, WITHOUT ROWID;

    -- Why a reading that was on the remote is to be sent again.
    CREATE TABLE requeue (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      reason TEXT NOT NULL,
      is_open INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1))
    ) STRICT;

    CREATE TABLE record (
      guid TEXT PRIMARY KEY,
      kind TEXT NOT NULL
        CHECK (kind IN ('insulin', 'food', 'exercise', 'note', 'annotation', 'attachment')),
      entry_guid TEXT,
      device_time INTEGER NOT NULL,
      utc_offset INTEGER NOT NULL CHECK (abs(utc_offset) < 86400),
      offset_source INTEGER NOT NULL CHECK (offset_source BETWEEN 0 AND 4),
      fields TEXT NOT NULL CHECK (json_valid(fields)),
      -- When the content was last edited, by the clock of that host; NULL while it is what an import wrote.
      edited_at INTEGER,
      deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
      version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
      version_synced INTEGER NOT NULL DEFAULT 0 CHECK (version_synced >= 0),
      sent_version INTEGER,
      sent TEXT,
      revision TEXT,
      base TEXT,
      imported TEXT,
      ingest INTEGER REFERENCES ingest(id),
      conflict TEXT,
      conflict_revision TEXT,
      quarantine TEXT,
      -- A record is quarantined only while this is its version: an edit releases it.
      quarantined_version INTEGER,
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

    -- The server that the store syncs with. A removed one leaves behind which logbook this store was synced with.
    CREATE TABLE remote (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      kind TEXT,
      url TEXT,
      -- Where the secret comes from; the secret itself is nowhere in the store.
      token_file TEXT,
      token_command TEXT,
      allows_plain_http INTEGER NOT NULL DEFAULT 0 CHECK (allows_plain_http IN (0, 1)),
      logbook TEXT,
      logbook_name TEXT,
      node TEXT NOT NULL,
      run INTEGER NOT NULL DEFAULT 0 CHECK (run >= 0),
      run_id TEXT,
      cursor TEXT,
      mark TEXT,
      failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
      next_attempt INTEGER,
      last_success INTEGER,
      last_error TEXT,
      CHECK ((url IS NULL) = (kind IS NULL)),
      CHECK ((token_file IS NOT NULL) + (token_command IS NOT NULL) = (url IS NOT NULL)),
      CHECK ((logbook IS NULL) = (logbook_name IS NULL)),
      CHECK (url IS NULL OR logbook IS NOT NULL),
      CHECK ((run = 0) = (run_id IS NULL))
    ) STRICT;
    """

  /// What may never happen to a reading, whoever asks.
  private static let readingRules = """
    CREATE TRIGGER reading_stays BEFORE DELETE ON reading
    BEGIN SELECT RAISE(ABORT, 'readings are never deleted'); END;

    CREATE TRIGGER reading_is_immutable
    BEFORE UPDATE OF partition, position, series, value_bucket, occurrence, device_time, value, unit, range_flag, threshold, marks,
      ingest ON reading
    BEGIN SELECT RAISE(ABORT, 'readings are immutable'); END;

    CREATE TRIGGER reading_upload_is_counted AFTER UPDATE OF uploaded ON reading
    WHEN NEW.uploaded <> OLD.uploaded
    BEGIN UPDATE series SET pending = pending + OLD.uploaded - NEW.uploaded WHERE id = NEW.series; END;

    CREATE TRIGGER series_stays BEFORE DELETE ON series
    BEGIN SELECT RAISE(ABORT, 'series are never deleted'); END;

    CREATE TRIGGER series_identity BEFORE UPDATE OF id, device, kind, position_kind ON series
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;

    CREATE TRIGGER reading_offset_is_derived BEFORE UPDATE OF utc_offset, offset_source ON reading
    WHEN OLD.offset_source NOT IN (1, 2, 3) OR NEW.offset_source NOT IN (1, 2, 3)
    BEGIN SELECT RAISE(ABORT, 'only an offset that comes from the time zone can be recomputed'); END;

    CREATE TRIGGER requeue_stays BEFORE DELETE ON requeue
    BEGIN SELECT RAISE(ABORT, 'the reasons of requeues are never deleted'); END;
    """

  /// What an edit and what a write by sync may do to a record.
  private static let recordRules = """
    CREATE TRIGGER record_stays BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'records are never removed; a deleted record is a tombstone'); END;

    CREATE TRIGGER record_identity BEFORE UPDATE OF guid, kind ON record
    BEGIN SELECT RAISE(ABORT, 'guid and kind of a record never change'); END;

    CREATE TRIGGER record_version_rises_by_one BEFORE UPDATE OF version ON record
    WHEN NEW.version NOT IN (OLD.version, OLD.version + 1)
    BEGIN SELECT RAISE(ABORT, 'a version rises by exactly one'); END;

    -- An edit raises the version and leaves every column of sync alone.
    CREATE TRIGGER record_edit_leaves_sync_alone BEFORE UPDATE ON record
    WHEN NEW.version = OLD.version + 1 AND (
      NEW.version_synced IS NOT OLD.version_synced OR NEW.sent_version IS NOT OLD.sent_version
      OR NEW.sent IS NOT OLD.sent OR NEW.revision IS NOT OLD.revision OR NEW.base IS NOT OLD.base
      OR NEW.conflict IS NOT OLD.conflict OR NEW.conflict_revision IS NOT OLD.conflict_revision
      OR NEW.quarantine IS NOT OLD.quarantine OR NEW.quarantined_version IS NOT OLD.quarantined_version)
    BEGIN SELECT RAISE(ABORT, 'an edit leaves the columns of sync alone'); END;

    -- Content changes without a new version in two cases: a pull onto a synced record, or a merge into the version
    -- that was sent, which takes the remote's base and revision in the same statement. The time zone apart.
    CREATE TRIGGER record_content_is_versioned BEFORE UPDATE ON record
    WHEN NEW.version = OLD.version AND (
      NEW.fields IS NOT OLD.fields OR NEW.deleted IS NOT OLD.deleted OR NEW.entry_guid IS NOT OLD.entry_guid
      OR NEW.device_time IS NOT OLD.device_time
      OR ((NEW.utc_offset IS NOT OLD.utc_offset OR NEW.offset_source IS NOT OLD.offset_source)
        AND (OLD.offset_source NOT IN (1, 2, 3) OR NEW.offset_source NOT IN (1, 2, 3))))
      AND NOT (OLD.version = OLD.version_synced AND NEW.version_synced = NEW.version)
      AND NOT (OLD.version IS OLD.sent_version AND NEW.base IS NOT OLD.base AND NEW.revision IS NOT OLD.revision)
    BEGIN SELECT RAISE(ABORT, 'a change of a record raises its version'); END;
    """
}
