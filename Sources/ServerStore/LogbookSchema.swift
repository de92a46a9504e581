// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// The schema of a logbook's file.
///
/// Readings and records share one sequence of numbers for their changes. A reading keeps its number, and a
/// record gets a new one with each change. The only writing connection assigns the numbers in its
/// transaction.
enum LogbookSchema {
  static let schema = FileSchema(
    applicationID: 0x474C_5542, version: 6, name: "file of a server",
    statements: [tables, rules, contents, LogbookFileRules.statements], firstKept: 5,
    steps: [
      // If the source states only the instant of a reading, its offset_source is 5.
      SchemaStep(
        from: 5,
        statements: [
          "PRAGMA writable_schema = ON",
          """
          UPDATE sqlite_schema SET sql = replace(sql, 'offset_source <= 4', 'offset_source <= 5')
          WHERE type = 'table' AND name = 'reading'
          """,
          "PRAGMA writable_schema = RESET",
        ])
    ])

  private static let tables = """
    -- The first number of each epoch, with the tag of its positions. Each process that writes begins an epoch. So
    -- numbers after a restore differ from equal numbers after the backup.
    CREATE TABLE epoch (first_seq INTEGER PRIMARY KEY, tag TEXT NOT NULL CHECK (length(tag) = 8)) STRICT;

    CREATE TABLE node (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE CHECK (length(name) = 36),
      run_number INTEGER NOT NULL CHECK (run_number > 0),
      run_id TEXT NOT NULL CHECK (length(run_id) = 36),
      -- The number of its last change. Its own changes are kept from a node, so it has to know of them.
      last_seq INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    \(SharedSchema.devices())
    CREATE TABLE series (
      \(SharedSchema.seriesColumns),
      UNIQUE (device, kind, position_kind)
    ) STRICT;

    -- The table has no REFERENCES, since their check takes a fifth of the time of an insert.
    CREATE TABLE reading (
      seq INTEGER PRIMARY KEY,
      series INTEGER NOT NULL,
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      \(SharedSchema.readingColumns(offset: "utc_offset INTEGER NOT NULL")),
      node INTEGER NOT NULL,
      CHECK (seq > 0 AND \(SharedSchema.readingCheck(offset: offsetCheck))),
      UNIQUE (series, position, value_bucket, occurrence)
    ) STRICT;

    CREATE TABLE record (
      guid TEXT PRIMARY KEY CHECK (length(guid) = 36),
      seq INTEGER NOT NULL UNIQUE CHECK (seq > 0),
      revision TEXT NOT NULL,
      -- Any word that a kind can have: what it means is for the programs that know it.
      kind TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 32 AND kind NOT GLOB '*[^a-z-]*'),
      state TEXT NOT NULL CHECK (json_extract(state, '$.kind') IS kind),
      node INTEGER NOT NULL REFERENCES node(id),
      -- A tombstone says that something is gone, and nothing of what it was.
      CHECK (json_extract(state, '$.deleted') IS 0 OR json_extract(state, '$.fields') IS '{}')
    ) STRICT, WITHOUT ROWID;

    -- The last change of a record that was accepted from each node, for a repeated request.
    CREATE TABLE accepted (
      guid TEXT NOT NULL REFERENCES record(guid),
      -- The node that first sent the change; it may have taken another id since.
      node TEXT NOT NULL CHECK (length(node) = 36),
      version INTEGER NOT NULL CHECK (version > 0),
      digest TEXT NOT NULL CHECK (length(digest) = 64),
      revision TEXT NOT NULL,
      PRIMARY KEY (guid, node)
    ) STRICT, WITHOUT ROWID;

    """

  private static let offsetCheck =
    "utc_offset > -86400 AND utc_offset < 86400 AND offset_source >= 0 AND offset_source <= 5"

  private static let rules = """
    CREATE TRIGGER epoch_stays BEFORE DELETE ON epoch
    BEGIN SELECT RAISE(ABORT, 'epochs are never deleted'); END;
    CREATE TRIGGER epoch_is_immutable BEFORE UPDATE ON epoch
    BEGIN SELECT RAISE(ABORT, 'epochs are immutable'); END;

    CREATE TRIGGER node_run_rises BEFORE UPDATE ON node
    WHEN NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.run_number < OLD.run_number OR NEW.last_seq < OLD.last_seq
      OR (NEW.run_number = OLD.run_number AND NEW.run_id <> OLD.run_id)
    BEGIN SELECT RAISE(ABORT, 'run number and last change of a node rise'); END;

    \(SharedSchema.readingStays)
    CREATE TRIGGER reading_is_immutable BEFORE UPDATE ON reading
    BEGIN SELECT RAISE(ABORT, 'readings are immutable'); END;

    \(SharedSchema.recordStays)
    CREATE TRIGGER record_provenance_stays BEFORE UPDATE ON record
    WHEN json_extract(OLD.state, '$.provenance') IS NOT NULL
      AND json_extract(NEW.state, '$.provenance') IS NOT json_extract(OLD.state, '$.provenance')
    BEGIN SELECT RAISE(ABORT, 'the provenance of a record never changes'); END;

    CREATE TRIGGER record_change_moves_it BEFORE UPDATE ON record
    WHEN NEW.seq <= OLD.seq OR NEW.revision = OLD.revision
    BEGIN SELECT RAISE(ABORT, 'a change of a record moves it to a new place'); END;

    CREATE TRIGGER record_comes_last BEFORE INSERT ON record
    WHEN EXISTS (SELECT 1 FROM reading WHERE seq >= NEW.seq) OR EXISTS (SELECT 1 FROM record WHERE seq >= NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'a record comes behind every other change'); END;
    CREATE TRIGGER record_moves_to_the_end BEFORE UPDATE ON record
    WHEN EXISTS (SELECT 1 FROM reading WHERE seq >= NEW.seq)
      OR EXISTS (SELECT 1 FROM record WHERE seq >= NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'a record comes behind every other change'); END;

    """

  private static let contents =
    SharedSchema.contents() + """
      CREATE TRIGGER blob_stays BEFORE DELETE ON blob WHEN OLD.held = OLD.size
      BEGIN SELECT RAISE(ABORT, 'the content of attachments is never deleted'); END;
      CREATE TRIGGER blob_is_immutable BEFORE UPDATE ON blob
      WHEN OLD.held = OLD.size OR NEW.digest <> OLD.digest OR NEW.size <> OLD.size
      BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;
      """
}

/// The rules for a logbook's file that every program must obey; see `PermanentDataRules`.
enum LogbookFileRules {
  static let statements =
    PermanentDataRules.notReplaced + PermanentDataRules.seriesStays + PermanentDataRules.devicesStay()
    + notReplaced
    + referredTo
    + readingIsNotReplaced + ";\n"

  /// A trigger that keeps the existing reading if a second reading with the same identity or number is
  /// inserted. It uses IGNORE and not ABORT: a repeated upload inserts known and new readings in one SQL
  /// statement, and the known readings are skipped.
  ///
  /// The trigger doubles the time of an insert. So `withoutLookUps` drops it while many readings are stored.
  private static let readingIsNotReplaced = """
    CREATE TRIGGER reading_is_not_replaced BEFORE INSERT ON reading
    WHEN EXISTS (SELECT 1 FROM reading WHERE seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM reading WHERE series = NEW.series AND position = NEW.position
        AND value_bucket = NEW.value_bucket AND occurrence = NEW.occurrence)
    BEGIN SELECT RAISE(IGNORE); END
    """

  /// Runs `work` without the trigger that looks up each reading, in a transaction that stores many readings.
  ///
  /// Other connections always see the trigger, since a change of the schema becomes visible with the commit.
  /// If the transaction fails, the rollback restores the trigger.
  static func withoutLookUps<Value>(_ database: Database, _ work: () throws -> Value) throws -> Value {
    try database.execute(sql: "DROP TRIGGER IF EXISTS reading_is_not_replaced")
    let value = try work()
    try database.execute(sql: readingIsNotReplaced)
    return value
  }

  private static let notReplaced = """
    CREATE TRIGGER record_is_not_replaced BEFORE INSERT ON record
    WHEN EXISTS (SELECT 1 FROM record WHERE guid = NEW.guid)
    BEGIN SELECT RAISE(ABORT, 'records are never replaced; a change moves them'); END;

    CREATE TRIGGER accepted_is_not_replaced BEFORE INSERT ON accepted
    WHEN EXISTS (SELECT 1 FROM accepted WHERE guid = NEW.guid AND node = NEW.node)
    BEGIN SELECT RAISE(ABORT, 'what was accepted is never replaced'); END;

    CREATE TRIGGER node_is_not_replaced BEFORE INSERT ON node
    WHEN EXISTS (SELECT 1 FROM node WHERE id = NEW.id OR name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'nodes are never replaced'); END;

    CREATE TRIGGER epoch_is_not_replaced BEFORE INSERT ON epoch
    WHEN EXISTS (SELECT 1 FROM epoch WHERE first_seq = NEW.first_seq)
    BEGIN SELECT RAISE(ABORT, 'epochs are immutable'); END;

    """

  /// Triggers that refuse changes of rows to which readings, records or later requests refer.
  private static let referredTo = """
    CREATE TRIGGER series_is_immutable BEFORE UPDATE ON series
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;

    CREATE TRIGGER node_stays BEFORE DELETE ON node
    BEGIN SELECT RAISE(ABORT, 'nodes are never deleted'); END;

    CREATE TRIGGER accepted_stays BEFORE DELETE ON accepted
    BEGIN SELECT RAISE(ABORT, 'what was accepted is never deleted'); END;

    -- The version stays equal for a merge, which sends other content under the version that was sent before.
    CREATE TRIGGER accepted_rises BEFORE UPDATE ON accepted
    WHEN NEW.guid <> OLD.guid OR NEW.node <> OLD.node OR NEW.version < OLD.version
    BEGIN SELECT RAISE(ABORT, 'the accepted version of a node rises'); END;

    """
}
