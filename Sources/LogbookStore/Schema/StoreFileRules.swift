// SPDX-License-Identifier: Apache-2.0

import SQLiteRows

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
