// SPDX-License-Identifier: Apache-2.0

/// Rules for tables in both the store of a client and the file of a server's logbook. They apply to every program.
/// Without recursive triggers, `INSERT OR REPLACE` removes a row without its trigger for DELETE, and REFERENCES only
/// apply if foreign keys are on. Both are off in other programs.
package enum LastingRules {
  /// Devices, series and whole contents are never replaced by another row.
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

    -- A row takes the number of another one only where the statement gives the number.
    CREATE TRIGGER blob_part_is_not_replaced BEFORE INSERT ON blob_part
    WHEN EXISTS (SELECT 1 FROM blob WHERE digest = NEW.digest AND held = size)
      OR EXISTS (SELECT 1 FROM blob_part WHERE rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'the content of attachments is immutable'); END;

    """

  /// Series are permanent, since readings refer to them.
  package static let seriesStays = """
    CREATE TRIGGER series_stays BEFORE DELETE ON series
    BEGIN SELECT RAISE(ABORT, 'series are never deleted'); END;

    """

  /// Devices and their identities are permanent. It is not `UPDATE OF id`, which does not fire for the same column as
  /// `rowid`.
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
