// SPDX-License-Identifier: Apache-2.0

/// The parts of the schema that a client's store and the file of a server's logbook have in common.
package enum SharedSchema {
  /// The SQL statements that create the table of devices.
  ///
  /// - Parameter columns: additional columns, each preceded by a comma.
  package static func devices(_ columns: String = "") -> String {
    """
    CREATE TABLE device (
      id INTEGER PRIMARY KEY,
      vendor TEXT NOT NULL,
      model TEXT NOT NULL,
      serial TEXT NOT NULL,
      format TEXT NOT NULL\(columns)
    ) STRICT;
    CREATE UNIQUE INDEX device_by_serial ON device(vendor, serial) WHERE serial <> '';
    CREATE UNIQUE INDEX device_by_model ON device(format, model) WHERE serial = '';

    """
  }

  /// The columns of a series: the readings of one device and one kind, whose positions are either all ticks
  /// or all shown times (`PositionKind`).
  package static let seriesColumns = """
    id INTEGER PRIMARY KEY,
      device INTEGER NOT NULL REFERENCES device(id),
      kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),
      position_kind INTEGER NOT NULL CHECK (position_kind BETWEEN 0 AND 1)
    """

  /// The columns of a reading that follow those of its primary key. `readingCheck` is their constraint.
  ///
  /// - Parameter offset: the columns for the UTC offset.
  package static func readingColumns(offset: String) -> String {
    """
    device_time INTEGER NOT NULL,
      \(offset),
      offset_source INTEGER NOT NULL,
      value REAL,
      unit INTEGER NOT NULL,
      range_flag INTEGER NOT NULL,
      threshold REAL,
      marks INTEGER NOT NULL
    """
  }

  /// The constraint that every reading must meet. A single check with plain comparisons takes 2 % of the time
  /// of an insert. One check for each column, with IN and functions, took more than 33 %.
  ///
  /// SQLite skips the remaining terms of a condition only if AND and OR join them at the top level. For a
  /// CASE, or a comparison of two conditions, it computes every term in every row.
  ///
  /// - Parameter offset: the constraint for the columns of the UTC offset and `offset_source`.
  package static func readingCheck(offset: String) -> String {
    """
    occurrence >= 0 AND \(offset)
        AND unit >= 0 AND unit <= 1
        AND (range_flag > 0 OR value IS NOT NULL)
        AND (range_flag = 0 OR (range_flag > 0 AND range_flag <= 2 AND value IS NULL))
    """
  }

  /// Triggers that refuse to delete a reading.
  package static let readingStays = """
    CREATE TRIGGER reading_stays BEFORE DELETE ON reading
    BEGIN SELECT RAISE(ABORT, 'readings are never deleted'); END;

    """

  /// Triggers that refuse to delete a record. A deleted record stays as a tombstone.
  package static let recordStays = """
    CREATE TRIGGER record_stays BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'records are never removed; a deleted record is a tombstone'); END;

    CREATE TRIGGER record_identity BEFORE UPDATE OF guid, kind ON record
    WHEN NEW.guid <> OLD.guid OR NEW.kind <> OLD.kind
    BEGIN SELECT RAISE(ABORT, 'guid and kind of a record never change'); END;

    """

  /// The tables for the contents of attachments. A content is stored once for each SHA-256, in parts.
  ///
  /// - Parameter columns: additional columns and checks of a content, each preceded by a comma.
  package static func contents(_ columns: String = "") -> String {
    """
    -- A content is complete if `held` equals `size`. This is written only after the digest was verified.
    CREATE TABLE blob (
      digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
      size INTEGER NOT NULL CHECK (size >= 0),
      held INTEGER NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND size)\(columns)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blob_part (
      digest TEXT NOT NULL REFERENCES blob(digest),
      start INTEGER NOT NULL CHECK (start >= 0),
      bytes BLOB NOT NULL,
      UNIQUE (digest, start)
    ) STRICT;

    -- The parts of a complete content are never deleted. Parts of a content with a wrong digest are.
    CREATE TRIGGER blob_part_stays BEFORE DELETE ON blob_part
    WHEN (SELECT held = size FROM blob WHERE digest = OLD.digest)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is never deleted'); END;

    CREATE TRIGGER blob_part_is_immutable BEFORE UPDATE ON blob_part
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    """
  }
}

/// Rules for tables of a client's store and of a server's logbook. They must hold for every program that
/// writes the file. Other programs usually have recursive triggers and foreign keys off. Then
/// `INSERT OR REPLACE` deletes a row without running its DELETE trigger, and REFERENCES are not checked.
package enum PermanentDataRules {
  /// Triggers that refuse to replace devices, series and complete contents by another row.
  package static let notReplaced = """
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

    CREATE TRIGGER blob_is_not_replaced BEFORE INSERT ON blob
    WHEN EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest AND held = size)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    -- An insert replaces a row only if it states that row's number.
    CREATE TRIGGER blob_part_is_not_replaced BEFORE INSERT ON blob_part
    WHEN EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest AND held = size)
      OR EXISTS (SELECT 1 FROM blob_part WHERE rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    """

  /// Triggers that refuse to delete series, since readings refer to them.
  package static let seriesStays = """
    CREATE TRIGGER series_stays BEFORE DELETE ON series
    BEGIN SELECT RAISE(ABORT, 'series are never deleted'); END;

    """

  /// Triggers that refuse to delete devices or to change what identifies them. They are not `UPDATE OF id`,
  /// which does not fire if an SQL statement writes the column as `rowid`.
  ///
  /// - Parameter columns: columns that identify a device in this file, in addition to the shared ones.
  package static func devicesStay(identifiedBy columns: [String] = []) -> String {
    let changes = columns.map { " OR NEW.\($0) <> OLD.\($0)" }.joined()
    return """
      CREATE TRIGGER device_stays BEFORE DELETE ON device
      BEGIN SELECT RAISE(ABORT, 'devices are never deleted'); END;

      CREATE TRIGGER device_identity BEFORE UPDATE ON device
      WHEN NEW.id <> OLD.id OR NEW.vendor <> OLD.vendor OR NEW.serial <> OLD.serial OR NEW.format <> OLD.format
        OR (OLD.serial = '' AND NEW.model <> OLD.model)\(changes)
      BEGIN SELECT RAISE(ABORT, 'what identifies a device never changes'); END;

      """
  }
}
