// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// Tables for two purposes. Some list the zone records that a transaction changed. The others list the items
/// for which a zone was stated with their import. Withdrawals have separate tables; see `WithdrawalSchema`.
enum StatementSchema {
  static let statements = changes + itemZones + itemChanges

  private static let changes = """
    -- Zone records that changed in this transaction, and the records that they list. Both are applied before the
    -- transaction ends, so the table is then empty.
    CREATE TABLE changed_statement (guid TEXT PRIMARY KEY, kind TEXT NOT NULL) STRICT, WITHOUT ROWID;
    -- The base zone and the periods. Each batch of readings needs them. They are few and small.
    CREATE INDEX record_statement ON record(kind, guid) WHERE kind = 'zone' AND json_extract(fields, '$.group') IS NULL;
    CREATE INDEX record_counting ON record(kind, guid) WHERE kind = 'count';

    CREATE TRIGGER statement_is_new AFTER INSERT ON record WHEN NEW.kind = 'zone'
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, NEW.kind) ON CONFLICT DO NOTHING; END;

    CREATE TRIGGER statement_is_changed AFTER UPDATE OF fields, deleted, device_time, utc_offset, offset_source ON record
    WHEN NEW.kind = 'zone' AND (NEW.fields IS NOT OLD.fields OR NEW.deleted <> OLD.deleted OR NEW.device_time <> OLD.device_time
      OR iif(NEW.offset_source = 0, NEW.utc_offset, 0) <> iif(OLD.offset_source = 0, OLD.utc_offset, 0))
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, NEW.kind) ON CONFLICT DO NOTHING; END;

    """

  /// These tables are derived from the zone records. They are stored, so that an import without a zone need
  /// not decode these records.
  private static let itemZones = """
    -- Statements of a zone for the items of an import, by the ids of the zone records. Withdrawn statements are
    -- not in the table.
    CREATE TABLE item_zone (
      guid TEXT PRIMARY KEY,
      zone TEXT NOT NULL,
      -- Whether this system knows the zone.
      is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),
      made_at INTEGER NOT NULL,
      import_group TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX item_zone_latest ON item_zone(made_at);
    CREATE INDEX item_zone_unknown ON item_zone(zone) WHERE is_known = 0;

    -- The series whose readings a statement lists, also those that the store does not have. Each row has the
    -- first and the last position in the list.
    CREATE TABLE item_zone_series (
      guid TEXT NOT NULL,
      device TEXT NOT NULL,
      kind INTEGER NOT NULL,
      position_kind INTEGER NOT NULL,
      first_position INTEGER NOT NULL,
      last_position INTEGER NOT NULL,
      PRIMARY KEY (guid, device, kind, position_kind)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX item_zone_by_series ON item_zone_series(device, kind, position_kind, last_position, first_position);

    -- The records that a statement lists, also those that the store does not have.
    CREATE TABLE item_zone_record (
      record TEXT NOT NULL,
      guid TEXT NOT NULL,
      PRIMARY KEY (record, guid)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX item_zone_record_by_guid ON item_zone_record(guid);

    -- The periods for all devices. Of a period and a statement about the import of a record, the later one wins.
    -- Both ends are stored as shown times and as instants. An open end is the least or the largest number.
    CREATE TABLE zone_period (
      guid TEXT PRIMARY KEY,
      first_time INTEGER NOT NULL,
      end_time INTEGER NOT NULL,
      first_instant INTEGER NOT NULL,
      end_instant INTEGER NOT NULL,
      made_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The zones to which the column `zone` of a reading refers.
    CREATE TABLE item_zone_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

    """

  private static let itemChanges = """
    -- New readings that a statement may list. The table is empty at the end of each transaction.
    CREATE TABLE changed_zone_series (
      id INTEGER PRIMARY KEY,
      series INTEGER NOT NULL REFERENCES series(id),
      first_position INTEGER NOT NULL,
      last_position INTEGER NOT NULL
    ) STRICT;

    -- Updates a statement when its import is undone or redone.
    CREATE TRIGGER statement_is_listed AFTER INSERT ON listed_record
    WHEN EXISTS (SELECT 1 FROM record WHERE guid = NEW.guid AND kind = 'zone')
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, 'zone') ON CONFLICT DO NOTHING; END;
    CREATE TRIGGER statement_is_listed_again AFTER UPDATE ON listed_record
    WHEN EXISTS (SELECT 1 FROM record WHERE guid = NEW.guid AND kind = 'zone')
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, 'zone') ON CONFLICT DO NOTHING; END;
    CREATE TRIGGER statement_is_unlisted AFTER DELETE ON listed_record
    WHEN EXISTS (SELECT 1 FROM record WHERE guid = OLD.guid AND kind = 'zone')
    BEGIN INSERT INTO changed_statement VALUES (OLD.guid, 'zone') ON CONFLICT DO NOTHING; END;

    -- A record that a statement lists is first placed by the periods and the base zone.
    CREATE TRIGGER placed_record_is_new AFTER INSERT ON record
    WHEN NEW.offset_source <> 0 AND EXISTS (SELECT 1 FROM item_zone_record WHERE record = NEW.guid)
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, 'zone') ON CONFLICT DO NOTHING; END;
    CREATE TRIGGER placed_record_is_changed AFTER UPDATE OF device_time, utc_offset, offset_source ON record
    WHEN NEW.offset_source <> 0 AND EXISTS (SELECT 1 FROM item_zone_record WHERE record = NEW.guid)
    BEGIN INSERT INTO changed_statement VALUES (NEW.guid, 'zone') ON CONFLICT DO NOTHING; END;

    """
}

/// Applies records that state something about other items, such as zone records. Whenever an edit, an import,
/// a pull or a merge changes such a record, the record is applied in the same transaction.
enum Statements {
  /// A function that applies records of one kind. `guids` are the records that changed.
  typealias Application = @Sendable (_ database: Database, _ guids: [String]) throws -> Void

  /// The functions for each kind, in the order in which they run.
  static let applications: [(kind: RecordKind, apply: Application)] = [
    (.zone, { database, guids in _ = try ZoneStatements.apply(guids, database) })
  ]

  /// Applies all changed records. Must be called at the end of every transaction that may write records or
  /// readings.
  ///
  /// - Parameter known: a cache of decoded withdrawals.
  static func applyChanges(_ database: Database, _ known: WithdrawalCache = WithdrawalCache()) throws {
    while try applyNextChanges(database) {}
    try WithdrawalChanges.apply(database, known)
    // A withdrawal of an import may also remove the zone that was stated for it, so changed records are
    // applied again.
    while try applyNextChanges(database) {}
  }

  /// Applies the changes that are noted so far. This may change further records that must be applied.
  ///
  /// - Returns: whether there were any changes.
  private static func applyNextChanges(_ database: Database) throws -> Bool {
    let changed = try Row.fetchAll(
      database.cachedStatement(sql: "SELECT kind, guid FROM changed_statement ORDER BY guid")
    ).map { row in
      let row = StoredRow(row, of: "changed_statement", key: 1..<2)
      return (kind: try row[0] as String, guid: try row[1] as String)
    }
    let hasListedReadings = try ZoneStatements.hasNewReadings(database)
    guard !changed.isEmpty || hasListedReadings else { return false }
    try database.executeCached(sql: "DELETE FROM changed_statement")
    for (kind, apply) in applications {
      let guids = changed.filter { $0.kind == kind.rawValue }.map(\.guid)
      if !guids.isEmpty || (kind == .zone && hasListedReadings) { try apply(database, guids) }
    }
    return true
  }
}

extension Database {
  /// Runs an SQL statement that the connection prepares only once. An import repeats the same few statements,
  /// and preparing them with all triggers takes longer than running them.
  func executeCached(sql: String, arguments: StatementArguments = StatementArguments()) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }

  /// Whether a table has a row; `table` may have an SQL condition after its name.
  func hasRow(in table: String) throws -> Bool {
    try Bool.fetchOne(cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table))")) ?? false
  }
}
