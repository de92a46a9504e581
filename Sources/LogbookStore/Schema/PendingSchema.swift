// SPDX-License-Identifier: Apache-2.0

/// The ranges of readings that the remote lacks. With them, the cost of a search for pending readings does
/// not depend on the number of uploaded readings.
///
/// The column `uploaded` of each reading decides whether it is pending; a range only limits the search. A
/// partial index on `uploaded` would have the same effect. But such an index needs a second row for each
/// reading, which takes a quarter of the time of an import.
enum PendingSchema {
  static let statements = """
    -- Positions of a partition between which readings are pending, in ranges that do not overlap. Each pending
    -- reading is in a range. A range may also have uploaded readings, if a later import added their neighbours.
    CREATE TABLE pending_range (
      partition INTEGER NOT NULL,
      first_position INTEGER NOT NULL,
      last_position INTEGER NOT NULL CHECK (last_position >= first_position),
      PRIMARY KEY (partition, first_position, last_position)
    ) STRICT, WITHOUT ROWID;

    \(readingIsInRange);

    \(readingIsInRangeAgain);

    CREATE TRIGGER pending_range_keeps_partition BEFORE UPDATE OF partition ON pending_range
    WHEN NEW.partition <> OLD.partition
    BEGIN SELECT RAISE(ABORT, 'a range of pending readings stays in its partition'); END;

    CREATE TRIGGER pending_range_keeps_first BEFORE UPDATE OF first_position ON pending_range
    WHEN NEW.first_position > OLD.first_position
      AND \(losesReading(upTo: "min(OLD.last_position, NEW.first_position - 1)"))
    BEGIN SELECT RAISE(ABORT, '\(refusal)'); END;

    CREATE TRIGGER pending_range_keeps_last BEFORE UPDATE OF last_position ON pending_range
    WHEN NEW.last_position < OLD.last_position
      AND \(losesReading(from: "max(OLD.first_position, NEW.last_position + 1)", upTo: "OLD.last_position"))
    BEGIN SELECT RAISE(ABORT, '\(refusal)'); END;

    CREATE TRIGGER pending_range_stays BEFORE DELETE ON pending_range
    WHEN \(losesReading(upTo: "OLD.last_position"))
    BEGIN SELECT RAISE(ABORT, '\(refusal)'); END;

    """

  /// A trigger that adds a new reading to a range. An import of many readings drops it and adds their ranges
  /// itself; see `Roles.dropReadingTriggers`.
  static let readingIsInRange = """
    CREATE TRIGGER reading_is_in_range AFTER INSERT ON reading
    WHEN NEW.uploaded = 0 AND NOT \(isInRange("NEW"))
    BEGIN INSERT INTO pending_range VALUES (NEW.partition, NEW.position, NEW.position); END
    """

  /// A trigger that adds a reading to a range if it becomes pending again. Code that marks many readings as
  /// uploaded drops it; see `Roles.withoutUploadTriggers`.
  static let readingIsInRangeAgain = """
    CREATE TRIGGER reading_is_in_range_again AFTER UPDATE OF uploaded ON reading
    WHEN NEW.uploaded = 0 AND NOT \(isInRange("NEW"))
    BEGIN INSERT INTO pending_range VALUES (NEW.partition, NEW.position, NEW.position); END
    """

  /// The SQL condition that a pending reading `r` is in no range, so that an upload would never find it.
  static let isInNoRange = isInNoRange()

  private static let refusal = "a pending reading stays in its range"

  /// The SQL condition that a reading is in the nearest range that begins at or before it. As ranges do not
  /// overlap, one look-up is enough.
  private static func isInRange(_ reading: String, _ condition: String = "TRUE") -> String {
    """
    coalesce((SELECT p.last_position FROM pending_range AS p
        WHERE p.partition = \(reading).partition AND p.first_position <= \(reading).position AND \(condition)
        ORDER BY p.first_position DESC, p.last_position DESC LIMIT 1) >= \(reading).position, FALSE)
    """
  }

  /// The SQL condition that a reading is in no range. Another program may have written overlapping ranges, so
  /// all ranges are searched if the nearest one does not contain the reading.
  private static func isInNoRange(_ condition: String = "TRUE") -> String {
    """
    NOT \(isInRange("r", condition)) AND NOT EXISTS (SELECT 1 FROM pending_range AS p
          WHERE p.partition = r.partition AND p.first_position <= r.position AND p.last_position >= r.position
            AND \(condition))
    """
  }

  /// The SQL condition that, after a change of a range, a pending reading is in no range. The search starts
  /// after a range with the same first position, which `PendingRanges` inserts before it splits a range.
  private static func losesReading(from first: String? = nil, upTo last: String) -> String {
    let others = "NOT (p.first_position = OLD.first_position AND p.last_position = OLD.last_position)"
    let start =
      first ?? """
        coalesce((SELECT max(p.last_position) + 1 FROM pending_range AS p
            WHERE p.partition = OLD.partition AND p.first_position = OLD.first_position AND \(others)),
          OLD.first_position)
        """
    return """
      EXISTS (SELECT 1 FROM reading AS r
        WHERE r.partition = OLD.partition AND r.position >= \(start) AND r.position <= \(last)
          AND r.uploaded = 0 AND \(isInNoRange(others)))
      """
  }
}
