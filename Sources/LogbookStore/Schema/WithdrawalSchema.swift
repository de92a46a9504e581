// SPDX-License-Identifier: Apache-2.0

/// The tables of the items that imports contain, and of those that records of kind `withdrawal` hide. Only
/// the records decide what is hidden. `withdrawn` and `listed_record` are derived from them, in the same
/// transaction.
enum WithdrawalSchema {
  static let statements = provenance + results + changes

  /// The items of an import that the store already had. Items that the import stored are not listed here,
  /// since their rows contain the number of the import.
  private static let provenance = """
    -- Readings that are stored one after the other. A run includes only readings that no import after `latest`
    -- stored.
    CREATE TABLE ingest_run (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      series INTEGER NOT NULL REFERENCES series(id),
      first_position INTEGER NOT NULL,
      first_bucket INTEGER NOT NULL,
      first_occurrence INTEGER NOT NULL,
      last_position INTEGER NOT NULL,
      last_bucket INTEGER NOT NULL,
      last_occurrence INTEGER NOT NULL,
      latest INTEGER NOT NULL,
      PRIMARY KEY (ingest, series, first_position, first_bucket, first_occurrence)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX ingest_run_by_series ON ingest_run(series, first_position);

    CREATE TABLE ingest_record (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      guid TEXT NOT NULL,
      PRIMARY KEY (guid, ingest)
    ) STRICT, WITHOUT ROWID;

    \(statedContents)

    -- For each group of withdrawals, the newest import when it arrived; 0 if an import of this store made it.
    -- Later imports decided about their items when they ended.
    CREATE TABLE withdrawal_arrival (
      withdrawal TEXT PRIMARY KEY,
      latest INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    """

  private static let statedContents = """
    -- What the imports of a record stated, if their contents differ.
    CREATE TABLE stated_content (
      guid TEXT NOT NULL,
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      device_time INTEGER NOT NULL,
      utc_offset INTEGER NOT NULL,
      offset_source INTEGER NOT NULL,
      fields TEXT NOT NULL,
      PRIMARY KEY (guid, ingest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX stated_content_by_ingest ON stated_content(ingest);
    """

  /// The step to version 16. The table `ingest_change` of earlier versions has the contents of records before
  /// imports changed them. The contents that undone imports had written are only in their withdrawals.
  static let statingContents = [
    statedContents,
    """
    INSERT INTO stated_content SELECT guid, earlier, device_time, utc_offset, offset_source, fields FROM ingest_change
    WHERE TRUE ORDER BY ingest DESC ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO stated_content SELECT guid, ingest, device_time, utc_offset, offset_source, fields FROM record
    WHERE guid IN (SELECT guid FROM ingest_change) AND ingest IS NOT NULL AND imported = \(RecordContent.sql)
    ON CONFLICT DO NOTHING
    """,
    // An import that found a record known stated what the latest import before it had stated.
    """
    INSERT INTO stated_content SELECT o.guid, o.ingest, s.device_time, s.utc_offset, s.offset_source, s.fields
    FROM ingest_record AS o CROSS JOIN stated_content AS s ON s.guid = o.guid
    WHERE s.ingest = (SELECT max(e.ingest) FROM stated_content AS e WHERE e.guid = o.guid AND e.ingest <= o.ingest)
    ON CONFLICT DO NOTHING
    """,
    "DROP TABLE ingest_change",
  ]

  private static let results = """
    -- Readings that are not shown. 1: the reading is withdrawn. 2: an equal reading at its position is shown.
    CREATE TABLE withdrawn (
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      cause INTEGER NOT NULL CHECK (cause IN (1, 2)),
      PRIMARY KEY (series, position, value_bucket, occurrence)
    ) STRICT, WITHOUT ROWID;

    -- Records that a withdrawal names, also those that the store does not have, and whether it hides them as
    -- they are.
    CREATE TABLE listed_record (
      guid TEXT PRIMARY KEY,
      is_withdrawn INTEGER NOT NULL CHECK (is_withdrawn IN (0, 1))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX listed_record_withdrawn ON listed_record(is_withdrawn);

    CREATE INDEX record_withdrawing ON record(guid) WHERE kind = 'withdrawal';
    \(importsOfWithdrawals);

    """

  /// With the last two columns, the query whether an import is undone parses none of its withdrawals, which
  /// may be long.
  private static let importsOfWithdrawals = """
    CREATE INDEX record_withdrawal_import ON record(
      json_extract(fields, '$.import'), json_extract(fields, '$.hidden'), deleted) WHERE kind = 'withdrawal'
    """

  /// The step to version 17, which adds columns to an index.
  static let hidingImports = ["DROP INDEX record_withdrawal_import", importsOfWithdrawals]

  /// The changes since the tables in `results` were last updated. These tables are empty at the end of each
  /// transaction.
  private static let changes = """
    CREATE TABLE changed_withdrawal (id INTEGER PRIMARY KEY, fields TEXT NOT NULL) STRICT;
    CREATE TABLE changed_record (guid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE changed_series (
      id INTEGER PRIMARY KEY,
      series INTEGER NOT NULL REFERENCES series(id),
      first_position INTEGER NOT NULL,
      last_position INTEGER NOT NULL
    ) STRICT;

    CREATE TRIGGER withdrawal_is_new AFTER INSERT ON record WHEN NEW.kind = 'withdrawal' AND NEW.deleted = 0
    BEGIN INSERT INTO changed_withdrawal (fields) VALUES (NEW.fields); END;

    CREATE TRIGGER withdrawal_changes AFTER UPDATE OF fields, deleted ON record
    WHEN NEW.kind = 'withdrawal' AND (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted)
    BEGIN INSERT INTO changed_withdrawal (fields) VALUES (OLD.fields), (NEW.fields); END;

    CREATE TRIGGER withdrawal_arrives AFTER INSERT ON record
    WHEN NEW.kind = 'withdrawal' AND json_extract(NEW.fields, '$.group') IS NOT NULL
    BEGIN INSERT INTO withdrawal_arrival VALUES (json_extract(NEW.fields, '$.group'),
      iif(NEW.ingest IS NULL, coalesce((SELECT max(id) FROM ingest), 0), 0)) ON CONFLICT DO NOTHING; END;

    -- A cache of withdrawals compares this value to find out whether it is still valid.
    INSERT INTO setting VALUES ('\(WithdrawalCache.stampName)', hex(randomblob(8)));
    CREATE TRIGGER withdrawal_is_stamped AFTER INSERT ON record WHEN NEW.kind = 'withdrawal'
    BEGIN UPDATE setting SET value = hex(randomblob(8)) WHERE name = '\(WithdrawalCache.stampName)'; END;
    CREATE TRIGGER withdrawal_is_stamped_again AFTER UPDATE ON record WHEN NEW.kind = 'withdrawal'
    BEGIN UPDATE setting SET value = hex(randomblob(8)) WHERE name = '\(WithdrawalCache.stampName)'; END;

    CREATE TRIGGER listed_record_is_new AFTER INSERT ON record
    WHEN EXISTS (SELECT 1 FROM listed_record WHERE guid = NEW.guid)
    BEGIN INSERT INTO changed_record VALUES (NEW.guid) ON CONFLICT DO NOTHING; END;

    -- What a record states of its time is content. A derived offset is not.
    CREATE TRIGGER listed_record_changes
    AFTER UPDATE OF fields, device_time, deleted, utc_offset, offset_source ON record
    WHEN (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted OR \(RecordSchema.statedTimeChanges))
      AND EXISTS (SELECT 1 FROM listed_record WHERE guid = NEW.guid)
    BEGIN INSERT INTO changed_record VALUES (NEW.guid) ON CONFLICT DO NOTHING; END;

    """
}
