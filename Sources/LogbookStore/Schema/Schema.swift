// SPDX-License-Identifier: Apache-2.0

import SQLiteRows

/// The schema of a store. Its number rises with every released change, for which there is a step; a released schema and a
/// released step are never edited. `Tests/Fixtures/stores` has a store of each released version.
enum Schema {
  static let schema = FileSchema(
    applicationID: 0x474C_5543, version: 13, name: "store",
    statements: [
      tables, ReadingSchema.statements, PendingSchema.statements, RecordSchema.statements,
      ContentSchema.statements,
      SameReadingSchema.statements, WithdrawalSchema.statements, ActionSchema.statements,
      QueueSchema.statements, PersonSchema.statements,
      StatementSchema.statements, SiteSchema.statements, LastingSchema.statements, ViewSchema.statements,
    ], firstKept: 13)

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
