// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The schema of the file with logins.
enum LoginSchema {
  static let schema = FileSchema(applicationID: 0x474C_5553, version: 1) { database, _ in
    try database.execute(sql: tables)
  }

  private static let tables = """
    CREATE TABLE logbook (
      id TEXT PRIMARY KEY CHECK (length(id) = 36),
      name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64)
    ) STRICT, WITHOUT ROWID;

    -- A token is found by its hash, which is all that is kept of it.
    CREATE TABLE login (
      name TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
      token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
      role TEXT NOT NULL CHECK (role IN ('read', 'write')),
      logbook TEXT NOT NULL REFERENCES logbook(id),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}
