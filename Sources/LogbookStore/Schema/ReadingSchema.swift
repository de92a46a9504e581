// SPDX-License-Identifier: Apache-2.0

import SQLiteRows

/// The tables of readings, and the rules that forbid changes of them.
enum ReadingSchema {
  static let statements = tables + rules

  private static let tables = """
    -- One device's readings of one kind and position_kind, with the numbers of all and of pending readings. The
    -- insert adds to these numbers. The role that writes `uploaded` updates them after uploads.
    CREATE TABLE series (
      \(SharedSchema.seriesColumns),
      is_instant INTEGER NOT NULL DEFAULT 0 CHECK (is_instant IN (0, 1)),
      -- Ticks that are instants are stored together like shown times, so that an import whose devices take turns
      -- appends; a count that each device begins again is stored separately.
      partition INTEGER NOT NULL GENERATED ALWAYS AS (
        CASE WHEN position_kind = 0 THEN kind WHEN is_instant THEN -kind ELSE 4 + id END) VIRTUAL,
      readings INTEGER NOT NULL DEFAULT 0 CHECK (\(StoredBounds.check("readings", StoredBounds.count))),
      pending INTEGER NOT NULL DEFAULT 0 CHECK (pending BETWEEN 0 AND readings),
      first_position INTEGER,
      last_position INTEGER,
      first_time INTEGER CHECK (\(StoredBounds.check("first_time", StoredBounds.seconds))),
      last_time INTEGER CHECK (\(StoredBounds.check("last_time", StoredBounds.seconds))),
      -- Whether an instant lies a day or more from the time that its reading shows: what a listing then may not rely on.
      has_strays INTEGER NOT NULL DEFAULT 0 CHECK (has_strays IN (0, 1)),
      -- Whether the zones of the logbook show readings of which the source states only the instant.
      has_instants INTEGER NOT NULL DEFAULT 0 CHECK (has_instants IN (0, 1)),
      CHECK (first_position <= last_position AND first_time <= last_time),
      UNIQUE (device, kind, position_kind)
    ) STRICT;

    -- Readings for which the source later stated another value. The first value is kept.
    CREATE TABLE revision (
      ingest INTEGER NOT NULL REFERENCES ingest(id),
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      value REAL,
      unit INTEGER NOT NULL,
      range_flag INTEGER NOT NULL,
      PRIMARY KEY (series, position, value_bucket, occurrence, ingest)
    ) STRICT, WITHOUT ROWID;

    -- Series, position, value_bucket and occurrence are the identity. The partition precedes them, so that an
    -- import appends even if devices take turns. All readings of a kind that a shown time places are in one
    -- partition, sorted by time. This makes inserts twice as fast. For ticks, see `series`.
    CREATE TABLE reading (
      partition INTEGER NOT NULL,
      position INTEGER NOT NULL,
      series INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      \(SharedSchema.readingColumns(offset: offset)),
      ingest INTEGER NOT NULL,
      uploaded INTEGER NOT NULL DEFAULT 0,
      -- What a statement about imports says of the derived offset: an id of item_zone_name.
      zone INTEGER,
      CHECK (uploaded >= 0 AND uploaded <= 1 AND \(SharedSchema.readingCheck(offset: offsetCheck))),
      PRIMARY KEY (partition, position, series, value_bucket, occurrence)
    ) STRICT, WITHOUT ROWID;
    -- Readings in a shown hour that a clock repeats. They are few, and placed again when further ticks of the
    -- device arrive.
    CREATE INDEX reading_repeated ON reading(series, position) WHERE offset_source >= 3 AND offset_source <= 4;

    -- Readings that the remote refuses permanently, with its message. They stay pending, and are not sent.
    CREATE TABLE refusal (
      series INTEGER NOT NULL REFERENCES series(id),
      position INTEGER NOT NULL,
      value_bucket INTEGER NOT NULL,
      occurrence INTEGER NOT NULL,
      reason TEXT NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (series, position, value_bucket, occurrence)
    ) STRICT, WITHOUT ROWID;

    -- Why a reading that was on the remote must be sent again.
    CREATE TABLE requeue (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      reason TEXT NOT NULL,
      is_open INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1))
    ) STRICT;

    """

  /// The column of the stated offset and the column of the offset derived from the zones; one of them is
  /// NULL. So a trigger can forbid any change of a stated offset, and a derived offset can be rewritten. If
  /// both offsets shared one column, this trigger would run for each derived offset that a change of zone
  /// rewrites. It would look up each row again, and there can be a million. Only a change of zones may
  /// rewrite a shown time, and only together with its offset, so that the instant stays.
  private static let offset = "stated_offset INTEGER,\n      derived_offset INTEGER"
  private static let offsetCheck = """
    (stated_offset IS NULL OR (derived_offset IS NULL AND offset_source = 0
          AND stated_offset > -86400 AND stated_offset < 86400))
        AND (stated_offset IS NOT NULL OR (derived_offset IS NOT NULL AND offset_source > 0 AND offset_source <= 5
          AND derived_offset > -86400 AND derived_offset < 86400))
    """

  /// The rules that refuse changes of readings by any program.
  private static let rules = """
    \(SharedSchema.readingStays)
    CREATE TRIGGER reading_is_immutable
    BEFORE UPDATE OF partition, position, series, value_bucket, occurrence, stated_offset, value, unit, range_flag,
      threshold, marks, ingest ON reading
    BEGIN SELECT RAISE(ABORT, 'readings are immutable'); END;

    -- The stated part of a time never changes: the shown time, or the instant that the zones show.
    CREATE TRIGGER reading_keeps_its_time AFTER UPDATE OF device_time, derived_offset, offset_source ON reading
    WHEN (OLD.offset_source = 5) <> (NEW.offset_source = 5)
      OR iif(OLD.offset_source = 5, OLD.device_time - OLD.derived_offset, OLD.device_time)
        <> iif(NEW.offset_source = 5, NEW.device_time - NEW.derived_offset, NEW.device_time)
    BEGIN SELECT RAISE(ABORT, 'readings are immutable'); END;

    \(PermanentDataRules.seriesStays)
    CREATE TRIGGER series_identity BEFORE UPDATE OF id, device, kind, position_kind, is_instant ON series
    BEGIN SELECT RAISE(ABORT, 'device, kind and position_kind of a series never change'); END;

    CREATE TRIGGER requeue_stays BEFORE DELETE ON requeue
    BEGIN SELECT RAISE(ABORT, 'the reasons of requeues are never deleted'); END;

    """
}
