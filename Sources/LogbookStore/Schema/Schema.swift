// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// The schema of a store. Every released change increases the version number and adds a step that upgrades a
/// store. A released schema and a released step are never edited. `Tests/Fixtures/stores` has a store of each
/// released version.
enum Schema {
  static let schema = FileSchema(
    applicationID: 0x474C_5543, version: 17, name: "store",
    statements: [
      tables, ReadingSchema.statements, PendingSchema.statements, RecordSchema.statements,
      ContentSchema.statements,
      SameReadingSchema.statements, WithdrawalSchema.statements, ActionSchema.statements,
      QueueSchema.statements, PersonSchema.statements,
      StatementSchema.statements, SiteSchema.statements, StoreFileRules.statements, ViewSchema.statements,
    ], firstKept: 13,
    steps: [
      SchemaStep(
        from: 13,
        statements: [
          "ALTER TABLE transfer RENAME COLUMN first_section TO first_partition",
          "ALTER TABLE transfer RENAME COLUMN last_section TO last_partition",
        ]),
      SchemaStep(from: 14, statements: instants),
      SchemaStep(from: 15, statements: WithdrawalSchema.statingContents),
      SchemaStep(from: 16, statements: WithdrawalSchema.hidingImports),
    ])

  /// The step to version 15, which adds items whose source states only the instant (`offset_source` 5). It
  /// only changes the stored texts of three CREATE TABLE statements, since existing rows are valid in both
  /// versions.
  private static let instants = [
    "PRAGMA writable_schema = ON",
    """
    UPDATE sqlite_schema SET sql = replace(sql, 'offset_source <= 4', 'offset_source <= 5')
    WHERE type = 'table' AND name = 'reading'
    """,
    """
    UPDATE sqlite_schema SET sql = replace(sql, 'offset_source BETWEEN 0 AND 4', 'offset_source BETWEEN 0 AND 5')
    WHERE type = 'table' AND name = 'record'
    """,
    """
    UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (has_strays IN (0, 1)),', 'CHECK (has_strays IN (0, 1)),
      -- Whether the zones of the logbook show readings of which the source states only the instant.
      has_instants INTEGER NOT NULL DEFAULT 0 CHECK (has_instants IN (0, 1)),')
    WHERE type = 'table' AND name = 'series'
    """,
    "PRAGMA writable_schema = RESET",
    "DROP INDEX reading_repeated",
    """
    CREATE INDEX reading_repeated ON reading(series, position) WHERE offset_source >= 3 AND offset_source <= 4
    """,
    // The table `zone_period` gets other columns. These rows make the next transaction fill the new table.
    "INSERT INTO changed_statement SELECT guid, 'zone' FROM zone_period WHERE TRUE ON CONFLICT DO NOTHING",
    "DROP TABLE zone_period",
    """
    CREATE TABLE zone_period (
      guid TEXT PRIMARY KEY,
      first_time INTEGER NOT NULL,
      end_time INTEGER NOT NULL,
      first_instant INTEGER NOT NULL,
      end_instant INTEGER NOT NULL,
      made_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
  ]

  /// The result of `SchemaComparison.checksum` for a new store of this version.
  static let checksum: UInt64 = 0x7A09_110F_2206_E647

  private static let tables = """
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    \(SharedSchema.devices(deviceColumns))
    CREATE TABLE ingest (
      id INTEGER PRIMARY KEY,
      source TEXT NOT NULL,
      format TEXT NOT NULL,
      digest TEXT,
      decisions TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(decisions)),
      clock_difference INTEGER CHECK (\(StoredBounds.check("clock_difference", StoredBounds.seconds))),
      started_at INTEGER NOT NULL CHECK (\(StoredBounds.check("started_at", StoredBounds.seconds))),
      finished_at INTEGER CHECK (\(StoredBounds.check("finished_at", StoredBounds.seconds))),
      outcome TEXT NOT NULL DEFAULT 'running'
        CHECK (outcome IN ('running', 'whole', 'truncated', 'failed')),
      generated_at INTEGER CHECK (\(StoredBounds.check("generated_at", StoredBounds.seconds))),
      modified_at INTEGER CHECK (\(StoredBounds.check("modified_at", StoredBounds.seconds))),
      counts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(counts)),
      -- What the ingest of a meter's memory keeps beside that of an export: which meter it was, and both clocks at one
      -- moment, of which `clock_difference` is the meter's lead over the logbook's local time in seconds.
      meter INTEGER REFERENCES device(id),
      firmware TEXT,
      clock_meter INTEGER CHECK (\(StoredBounds.check("clock_meter", StoredBounds.seconds))),
      clock_host INTEGER CHECK (\(StoredBounds.check("clock_host", StoredBounds.seconds))),
      -- 0 where it met the store's readings in too many pieces to note them.
      is_noted INTEGER NOT NULL DEFAULT 1 CHECK (is_noted IN (0, 1)),
      -- Whether what it brought is shown although earlier withdrawals list it.
      shows_withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (shows_withdrawn IN (0, 1)),
      -- The same in every copy of the store: by it a restored copy recognises withdrawals of its imports.
      guid TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
      CHECK ((clock_host IS NULL) = (clock_meter IS NULL) AND (clock_host IS NULL) = (clock_difference IS NULL))
    ) STRICT;

    CREATE TABLE rejection (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      line INTEGER NOT NULL,
      reason TEXT NOT NULL
    ) STRICT;
    CREATE INDEX rejection_by_ingest ON rejection(ingest);

    -- The server with which the store syncs. After a removal, the row still has the id of the logbook.
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
      run INTEGER NOT NULL DEFAULT 0 CHECK (\(StoredBounds.check("run", StoredBounds.count))),
      run_id TEXT,
      cursor TEXT,
      last_position TEXT,
      failures INTEGER NOT NULL DEFAULT 0 CHECK (\(StoredBounds.check("failures", StoredBounds.count))),
      next_attempt INTEGER CHECK (\(StoredBounds.check("next_attempt", StoredBounds.seconds))),
      last_success INTEGER CHECK (\(StoredBounds.check("last_success", StoredBounds.seconds))),
      last_push INTEGER CHECK (\(StoredBounds.check("last_push", StoredBounds.seconds))),
      last_pull INTEGER CHECK (\(StoredBounds.check("last_pull", StoredBounds.seconds))),
      -- When the logbook was permanently removed on the server: nothing is sent there again.
      purged_at INTEGER CHECK (\(StoredBounds.check("purged_at", StoredBounds.seconds))),
      last_error TEXT,
      CHECK ((url IS NULL) = (kind IS NULL)),
      CHECK ((token_file IS NOT NULL) + (token_command IS NOT NULL) = (url IS NOT NULL)),
      CHECK ((logbook IS NULL) = (logbook_name IS NULL)),
      CHECK (url IS NULL OR logbook IS NOT NULL),
      CHECK ((run = 0) = (run_id IS NULL))
    ) STRICT;
    """

  private static let deviceColumns = """
    ,
      firmware TEXT NOT NULL DEFAULT '',
      -- The device's part of the canonical text by which annotations name readings, so that the views compare texts
      -- without escaping them.
      identity TEXT NOT NULL
    """
}

/// The table of people's actions in this store, for `undo`. It is never sent.
enum ActionSchema {
  static let statements = """
    -- Actions in the order of their numbers. An import is a row of `ingest`. It precedes the actions that name it
    -- as the latest.
    CREATE TABLE action (
      id INTEGER PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'delete', 'hide', 'restore')),
      made_at INTEGER NOT NULL,
      latest_ingest INTEGER NOT NULL,
      is_undone INTEGER NOT NULL DEFAULT 0 CHECK (is_undone IN (0, 1))
    ) STRICT;

    -- The records of an action before and after it. A record that the action added has only the second row.
    CREATE TABLE action_state (
      action INTEGER NOT NULL REFERENCES action(id) ON DELETE CASCADE,
      guid TEXT NOT NULL,
      is_after INTEGER NOT NULL CHECK (is_after IN (0, 1)),
      kind TEXT NOT NULL,
      entry_guid TEXT,
      device_time INTEGER NOT NULL,
      utc_offset INTEGER NOT NULL,
      offset_source INTEGER NOT NULL,
      fields TEXT NOT NULL CHECK (json_valid(fields)),
      deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
      PRIMARY KEY (action, guid, is_after)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX action_state_by_record ON action_state(guid);

    -- What `redo` does again, the last row first. A new action or import deletes these rows.
    CREATE TABLE redo (
      id INTEGER PRIMARY KEY,
      ingest INTEGER UNIQUE REFERENCES ingest(id),
      action INTEGER UNIQUE REFERENCES action(id) ON DELETE CASCADE,
      CHECK ((ingest IS NULL) <> (action IS NULL))
    ) STRICT;

    """
}

/// The tables for the contents of attachments, stored once for each SHA-256. A content is divided into parts,
/// so that the program never holds a complete content in memory.
enum ContentSchema {
  static let statements = SharedSchema.contents(columns) + rules

  private static let columns = """
    ,
      uploaded INTEGER NOT NULL DEFAULT 0 CHECK (uploaded IN (0, 1)),
      -- The words of a remote that refuses it permanently.
      refusal TEXT,
      CHECK (uploaded = 0 OR held = size)
    """

  private static let rules = """
    CREATE TRIGGER blob_stays BEFORE DELETE ON blob
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is never deleted'); END;

    -- The size of a content is certain only when the content is complete. Before that, it is only the remote's
    -- statement.
    CREATE TRIGGER blob_is_immutable BEFORE UPDATE ON blob
    WHEN NEW.digest <> OLD.digest OR (OLD.held = OLD.size AND (NEW.size <> OLD.size OR NEW.held <> OLD.held))
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;
    """
}

/// The table of what inputs stated about the store's person. It is never sent.
enum PersonSchema {
  static let statements = """
    -- Digests with the salt of this store, or of a store that was merged into it. The statements of an undone
    -- import are ignored.
    CREATE TABLE stated_person (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      -- 0: a name; 1: an id; 2: a date of birth.
      kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),
      -- The format and the name of an id.
      place TEXT NOT NULL,
      salt TEXT NOT NULL,
      -- The digests of the words, sorted, with a blank between them.
      words TEXT NOT NULL CHECK (words NOT GLOB '*[^0-9a-f ]*' AND length(words) >= 32),
      PRIMARY KEY (ingest, kind, place, salt, words)
    ) STRICT, WITHOUT ROWID;

    """
}

/// The table of the readings that the remote has in documents of other programs.
enum SameReadingSchema {
  static let statements = """
    -- `document` is the key of the reading in the document: the 16 bytes of its identity. Several readings may
    -- have the same document, and several documents may have the same reading.
    CREATE TABLE same_as (
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      document BLOB NOT NULL CHECK (length(document) = 16),
      -- Whether the remote has no document of the reading itself.
      is_only_there INTEGER NOT NULL CHECK (is_only_there IN (0, 1)),
      PRIMARY KEY (series, position, value_bucket, occurrence, document)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX same_as_by_document ON same_as(document);
    """
}
