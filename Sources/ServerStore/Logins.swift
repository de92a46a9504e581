// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
package import LogbookAPI
import SQLiteRows

/// The logins of a server and the names of its logbooks. They can be opened while a server is running.
package final class Logins: LoginDirectory {
  let file: DatabaseFile

  /// Opens or creates the logins of a data folder.
  ///
  /// - Throws: `Failure`, as `EmbeddedStorage` does.
  package init(folder: String) throws {
    let path = try DataFolder(folder).serverFile
    file = try DatabaseFile(path: path, name: "server", schema: LoginSchema.schema)
  }

  package func add(
    name: String, role: LoginRole, logbook: String?, token: LoginToken, at now: Int64
  ) throws {
    try LoginRules.check(name, logbook)
    try file.writeNow { database in
      let sql = "SELECT EXISTS (SELECT 1 FROM login WHERE name = ?)"
      if try Bool.fetchOne(database, sql: sql, arguments: [name]) == true {
        throw LoginRules.exists(name)
      }
      let id = try Self.logbookID(logbook, database)
      try database.execute(
        sql: "INSERT INTO login (name, token_hash, role, logbook, created_at) VALUES (?, ?, ?, ?, ?)",
        arguments: [name, Data(token.hash), role.rawValue, id, now])
    }
  }

  /// All logins, ordered by name.
  package func list() throws -> [ListedLogin] {
    try file.readNow { database in
      let sql = """
        SELECT l.name, l.role, b.name, l.created_at FROM login l JOIN logbook b ON b.id = l.logbook ORDER BY l.name
        """
      do {
        return try Row.fetchAll(database, sql: sql).map { row in
          let login = StoredRow(row, of: "login")
          let name: String = try login[0]
          guard let role = LoginRole(rawValue: try login[1]) else {
            throw Failure(
              .inputOutput, "the file of logins is damaged: the token '\(name)' has an unknown role")
          }
          return ListedLogin(name: name, role: role, logbook: try login[2], createdAt: try login.seconds(3))
        }
      } catch let damage as DamagedRow {
        throw Failure(.inputOutput, "the file of logins is damaged: \(damage)")
      }
    }
  }

  /// Replaces the token of a login.
  package func rotate(name: String, token: LoginToken, graceSeconds: Int, at now: Int64) throws {
    try file.writeNow { database in
      guard
        let old = try Data.fetchOne(
          database, sql: "SELECT token_hash FROM login WHERE name = ?", arguments: [name])
      else { throw LoginRules.unknown(name) }
      let until = now + Int64(graceSeconds)
      // If a token was leaked, a rotation without a grace period must also make earlier tokens invalid.
      try database.execute(
        sql: "UPDATE replaced_token SET until = min(until, ?) WHERE login = ?", arguments: [until, name])
      try database.execute(
        sql: "INSERT INTO replaced_token (token_hash, login, until) VALUES (?, ?, ?)",
        arguments: [old, name, until])
      try database.execute(sql: "DELETE FROM replaced_token WHERE until <= ?", arguments: [now])
      try database.execute(
        sql: "UPDATE login SET token_hash = ? WHERE name = ?", arguments: [Data(token.hash), name])
    }
  }

  /// Removes a login. Its token is invalid from the next request on.
  package func remove(name: String) throws {
    try file.writeNow { database in
      try database.execute(sql: "DELETE FROM login WHERE name = ?", arguments: [name])
      guard database.changesCount == 1 else { throw LoginRules.unknown(name) }
    }
  }

  package func close() throws { try file.close() }

  /// The login of the token with this SHA-256; nil if there is none. A replaced token is accepted until its
  /// time ends.
  package func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login? {
    try await file.read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT name, logbook, role FROM login WHERE token_hash = ?1
          UNION ALL SELECT l.name, l.logbook, l.role FROM replaced_token r JOIN login l ON l.name = r.login
          WHERE r.token_hash = ?1 AND r.until > ?2
          """)
      if let row = try Row.fetchOne(statement, arguments: [Data(tokenHash), now]) {
        // The error names only the logbook: the login's name is personal, and errors are logged.
        let stored = StoredRow(row, of: "login", key: 1..<2)
        return Login(name: try stored[0], logbook: try stored[1], role: try stored.code(2))
      }
      let purged = try database.cachedStatement(
        sql: "SELECT EXISTS (SELECT 1 FROM purged_token WHERE token_hash = ?)")
      if try Bool.fetchOne(purged, arguments: [Data(tokenHash)]) == true { throw ServiceError.purged }
      return nil
    }
  }

  func logbookName(_ id: String) async throws(ServiceError) -> String {
    try await file.read { database in
      let statement = try database.cachedStatement(sql: "SELECT name FROM logbook WHERE id = ?")
      return try String.fetchOne(statement, arguments: [id]) ?? ""
    }
  }
}

extension Logins {
  private static func logbookID(_ name: String?, _ database: Database) throws -> String {
    let known = try Row.fetchAll(database, sql: "SELECT name, id FROM logbook ORDER BY name").map { row in
      let stored = StoredRow(row, of: "logbook", key: 1..<2)
      return (name: try stored[0] as String, id: try stored[1] as String)
    }
    if let id = try LoginRules.logbookID(name, among: known) { return id }
    let id = UUID().uuidString.lowercased()
    try database.execute(sql: "INSERT INTO logbook (id, name) VALUES (?, ?)", arguments: [id, name])
    return id
  }
}

extension Logins {
  /// Removes all logins of a logbook, and its name. Its id and the hashes of its tokens stay, so that clients
  /// with these tokens receive the error that the logbook was purged.
  func purge(_ id: String) async throws(ServiceError) {
    try await file.write { database in
      let id: StatementArguments = [id]
      // With this setting, SQLite overwrites the deleted names of people in the file. Otherwise it would only
      // mark their space as free.
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try database.execute(
        sql: "INSERT INTO purged (logbook) SELECT ?1 WHERE ?1 NOT IN (SELECT logbook FROM purged)",
        arguments: id)
      try database.execute(
        sql: """
          INSERT INTO purged_token (token_hash, logbook)
          SELECT token_hash, logbook FROM login WHERE logbook = ?1
          UNION SELECT r.token_hash, l.logbook FROM replaced_token r JOIN login l ON l.name = r.login WHERE l.logbook = ?1
          """, arguments: id)
      try database.execute(sql: "DELETE FROM login WHERE logbook = ?", arguments: id)
      try database.execute(sql: "DELETE FROM logbook WHERE id = ?", arguments: id)
    }
    try await file.flush()
  }

  /// The ids of all purged logbooks.
  func purgedLogbooks() throws -> [String] {
    try file.readNow { try String.fetchAll($0, sql: "SELECT logbook FROM purged") }
  }
}

/// The schema of the file with logins.
enum LoginSchema {
  static let schema = FileSchema(
    applicationID: 0x474C_5553, version: 4, name: "file of a server",
    statements: [tables, replacedTokens, purgedTables, rules], firstKept: 4)

  private static let tables = """
    CREATE TABLE logbook (
      id TEXT PRIMARY KEY CHECK (length(id) = 36),
      name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64)
    ) STRICT, WITHOUT ROWID;

    -- A token is looked up by its hash. Nothing else of it is stored.
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
    -- Logbooks that were removed permanently, and the hashes of their tokens, so that each token gets this answer.
    -- No name is kept.
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

  /// Rules that every program must obey, even if foreign keys are off. Tokens can be added and removed.
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
