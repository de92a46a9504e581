// SPDX-License-Identifier: Apache-2.0

/// What stays as it is with every program: `INSERT OR REPLACE` removes a row without a trigger for DELETE unless
/// recursive triggers are on, and REFERENCES hold only where foreign keys are on. Both are off in other programs.
enum LastingSchema {
  static let statements = notReplaced + readingIsNotReplaced + ";\n" + referredTo

  /// Refuses a second reading of one identity. An insert of ours never meets one: see `ReadingWriter`.
  ///
  /// It doubles the time of an insert, already where it looks up nothing: 0.7 s for a million. So `Roles.leaveReadings` leaves it
  /// out in the transaction of a batch that stores many readings.
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

    CREATE TRIGGER device_is_not_replaced BEFORE INSERT ON device
    WHEN EXISTS (SELECT 1 FROM device WHERE id = NEW.id)
      OR EXISTS (SELECT 1 FROM device WHERE serial <> '' AND vendor = NEW.vendor AND serial = NEW.serial)
      OR EXISTS (SELECT 1 FROM device WHERE serial = '' AND NEW.serial = '' AND format = NEW.format AND model = NEW.model)
    BEGIN SELECT RAISE(ABORT, 'devices are never replaced'); END;

    CREATE TRIGGER series_is_not_replaced BEFORE INSERT ON series
    WHEN EXISTS (SELECT 1 FROM series WHERE id = NEW.id)
      OR EXISTS (SELECT 1 FROM series
        WHERE device = NEW.device AND kind = NEW.kind AND position_kind = NEW.position_kind)
    BEGIN SELECT RAISE(ABORT, 'series are never replaced'); END;

    CREATE TRIGGER ingest_is_not_replaced BEFORE INSERT ON ingest
    WHEN EXISTS (SELECT 1 FROM ingest WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'imports are never replaced'); END;

    CREATE TRIGGER requeue_is_not_replaced BEFORE INSERT ON requeue
    WHEN EXISTS (SELECT 1 FROM requeue WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'the reasons of requeues are never replaced'); END;

    CREATE TRIGGER blob_is_not_replaced BEFORE INSERT ON blob
    WHEN EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest AND held = size)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    -- A row takes the number of another one only where the statement gives the number.
    CREATE TRIGGER blob_part_is_not_replaced BEFORE INSERT ON blob_part
    WHEN EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest AND held = size)
      OR EXISTS (SELECT 1 FROM blob_part WHERE rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    """

  /// What readings and records refer to. Not `UPDATE OF id`, which does not fire for the same column as `rowid`.
  private static let referredTo = """
    CREATE TRIGGER device_stays BEFORE DELETE ON device
    BEGIN SELECT RAISE(ABORT, 'devices are never deleted'); END;

    CREATE TRIGGER device_identity BEFORE UPDATE ON device
    WHEN NEW.id <> OLD.id OR NEW.vendor <> OLD.vendor OR NEW.serial <> OLD.serial OR NEW.format <> OLD.format
      OR NEW.identity <> OLD.identity OR (OLD.serial = '' AND NEW.model <> OLD.model)
    BEGIN SELECT RAISE(ABORT, 'what identifies a device never changes'); END;

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
