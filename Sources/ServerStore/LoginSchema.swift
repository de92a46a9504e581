// SPDX-License-Identifier: Apache-2.0

import SQLiteRows

/// The schema of the file with logins.
enum LoginSchema {
  static let schema = FileSchema(
    applicationID: 0x474C_5553, version: 4, name: "file of a server",
    statements: [tables, replacedTokens, purgedTables, rules])

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

  private static let replacedTokens = """
    -- Tokens that were replaced by others, and until when (UTC seconds) each is still accepted.
    CREATE TABLE replaced_token (
      token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
      login TEXT NOT NULL REFERENCES login(name) ON DELETE CASCADE,
      until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    """

  private static let purgedTables = """
    -- Logbooks that were removed permanently, and the hashes of their tokens, so that each gets this answer. No name is kept.
    CREATE TABLE purged (logbook TEXT PRIMARY KEY CHECK (length(logbook) = 36)) STRICT, WITHOUT ROWID;

    CREATE TABLE purged_token (
      token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
      logbook TEXT NOT NULL REFERENCES purged(logbook)
    ) STRICT, WITHOUT ROWID;

    CREATE TRIGGER purged_stays BEFORE DELETE ON purged
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;
    CREATE TRIGGER purged_token_stays BEFORE DELETE ON purged_token
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;

    """

  /// Rules for every program, even with foreign keys off. Tokens themselves may be added and removed.
  private static let rules = """
    CREATE TRIGGER purged_is_immutable BEFORE UPDATE ON purged
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;
    CREATE TRIGGER purged_token_is_immutable BEFORE UPDATE ON purged_token
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;
    CREATE TRIGGER purged_is_not_replaced BEFORE INSERT ON purged
    WHEN EXISTS (SELECT 1 FROM purged WHERE logbook = NEW.logbook)
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;
    CREATE TRIGGER purged_token_is_not_replaced BEFORE INSERT ON purged_token
    WHEN EXISTS (SELECT 1 FROM purged_token WHERE token_hash = NEW.token_hash)
    BEGIN SELECT RAISE(ABORT, 'what was purged stays purged'); END;

    CREATE TRIGGER logbook_stays BEFORE DELETE ON logbook
    WHEN EXISTS (SELECT 1 FROM login WHERE logbook = OLD.id)
    BEGIN SELECT RAISE(ABORT, 'a logbook with tokens is never deleted'); END;
    CREATE TRIGGER logbook_identity BEFORE UPDATE ON logbook WHEN NEW.id <> OLD.id
    BEGIN SELECT RAISE(ABORT, 'the id of a logbook never changes'); END;
    CREATE TRIGGER logbook_is_not_replaced BEFORE INSERT ON logbook
    WHEN EXISTS (SELECT 1 FROM logbook WHERE id = NEW.id OR name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'logbooks are never replaced'); END;
    """
}
