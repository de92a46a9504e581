// SPDX-License-Identifier: Apache-2.0

/// What people did to records in this store, for `undo`. It is never sent.
enum ActionSchema {
  static let statements = """
    -- In order; an import is a row of `ingest` and comes before the actions that name it as the latest.
    CREATE TABLE action (
      id INTEGER PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'delete', 'hide', 'restore')),
      made_at INTEGER NOT NULL,
      latest_ingest INTEGER NOT NULL,
      is_undone INTEGER NOT NULL DEFAULT 0 CHECK (is_undone IN (0, 1))
    ) STRICT;

    -- The records of an action before and after it; a record that it added has only the second row.
    CREATE TABLE action_state (
      action INTEGER NOT NULL REFERENCES action(id) ON DELETE CASCADE,
      guid TEXT NOT NULL,
      is_after INTEGER NOT NULL CHECK (is_after IN (0, 1)),
      kind TEXT NOT NULL,
      entry_guid TEXT,
      device_time INTEGER NOT NULL,
      utc_offset INTEGER NOT NULL,
      offset_source INTEGER NOT NULL,
      fields TEXT NOT NULL CHECK (json_valid(fields)),
      deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
      PRIMARY KEY (action, guid, is_after)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX action_state_by_record ON action_state(guid);

    -- What `redo` does again, the last row first. A new action or import leaves nothing.
    CREATE TABLE redo (
      id INTEGER PRIMARY KEY,
      ingest INTEGER UNIQUE REFERENCES ingest(id),
      action INTEGER UNIQUE REFERENCES action(id) ON DELETE CASCADE,
      CHECK ((ingest IS NULL) <> (action IS NULL))
    ) STRICT;

    """
}
