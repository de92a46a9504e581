// SPDX-License-Identifier: Apache-2.0

import GRDB
import SQLiteRows

/// The rules of a logbook's file that hold for every program; see `LastingRules`.
enum LastingSchema {
  static let statements =
    LastingRules.notReplaced + LastingRules.seriesStays + LastingRules.devicesStay() + notReplaced
    + referredTo
    + readingIsNotReplaced + ";\n"

  /// Keeps the existing reading. IGNORE rather than ABORT: a repeated upload inserts known and new readings in one
  /// statement, and its conflict clause skips the known ones in the same way.
  ///
  /// It doubles the time of an insert, so `withoutLookUps` drops it while many readings are stored.
  private static let readingIsNotReplaced = """
    CREATE TRIGGER reading_is_not_replaced BEFORE INSERT ON reading
    WHEN EXISTS (SELECT 1 FROM reading WHERE seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM reading WHERE series = NEW.series AND position = NEW.position
        AND value_bucket = NEW.value_bucket AND occurrence = NEW.occurrence)
    BEGIN SELECT RAISE(IGNORE); END
    """

  /// Runs work without the trigger that looks up each reading, in a transaction that stores many readings.
  ///
  /// Other connections always see the trigger: a transaction's change of the schema becomes visible with its commit. If
  /// the transaction fails, the rollback restores the trigger.
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

  /// Rows to which readings, records and later requests refer.
  private static let referredTo = """
    CREATE TRIGGER series_is_immutable BEFORE UPDATE ON series
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;

    CREATE TRIGGER node_stays BEFORE DELETE ON node
    BEGIN SELECT RAISE(ABORT, 'nodes are never deleted'); END;

    CREATE TRIGGER accepted_stays BEFORE DELETE ON accepted
    BEGIN SELECT RAISE(ABORT, 'what was accepted is never deleted'); END;

    -- An equal version comes with a merge, which sends other content under the version that was sent before.
    CREATE TRIGGER accepted_rises BEFORE UPDATE ON accepted
    WHEN NEW.guid <> OLD.guid OR NEW.node <> OLD.node OR NEW.version < OLD.version
    BEGIN SELECT RAISE(ABORT, 'the accepted version of a node rises'); END;

    """
}
