// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
package import LogbookAPI
import SQLiteRows

/// The logins of a server and the names of its logbooks. May be opened while a server runs.
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
    for name in [name, logbook].compactMap({ $0 }) where !Self.canBeName(name) {
      throw Failure(.usage, "a name must have 1 to 64 characters and no control characters")
    }
    try file.writeNow { database in
      let sql = "SELECT EXISTS (SELECT 1 FROM login WHERE name = ?)"
      if try Bool.fetchOne(database, sql: sql, arguments: [name]) == true {
        throw Failure(
          .usage, "a token named '\(name)' exists already; revoke it first, or choose another name")
      }
      let id = try Self.logbookID(logbook, database)
      try database.execute(
        sql: "INSERT INTO login (name, token_hash, role, logbook, created_at) VALUES (?, ?, ?, ?, ?)",
        arguments: [name, Data(token.hash), role.rawValue, id, now])
    }
  }

  /// All logins by name.
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
      else { throw Self.unknown(name) }
      let until = now + Int64(graceSeconds)
      // If a token leaked, a rotation without grace must also end earlier tokens.
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
      guard database.changesCount == 1 else { throw Self.unknown(name) }
    }
  }

  package func close() throws { try file.close() }

  /// The login of the token with this SHA-256, or of a replaced token in its grace period; nil if there is none.
  package func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login? {
    try await file.read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT name, logbook, role FROM login WHERE token_hash = ?1
          UNION ALL SELECT l.name, l.logbook, l.role FROM replaced_token r JOIN login l ON l.name = r.login
          WHERE r.token_hash = ?1 AND r.until > ?2
          """)
      if let row = try Row.fetchOne(statement, arguments: [Data(tokenHash), now]) {
        // The error names the logbook: the login's name is personal, and errors are logged.
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
  private static func unknown(_ name: String) -> Failure {
    Failure(.missingInput, "no token is named '\(name)'; 'glucoport serve token list' shows the names")
  }

  private static func canBeName(_ name: String) -> Bool {
    (1...64).contains(name.unicodeScalars.count)
      && name.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
          false
        default: true
        }
      }
  }

  private static func logbookID(_ name: String?, _ database: Database) throws -> String {
    let known = try Row.fetchAll(database, sql: "SELECT name, id FROM logbook ORDER BY name").map { row in
      let stored = StoredRow(row, of: "logbook", key: 1..<2)
      return (name: try stored[0] as String, id: try stored[1] as String)
    }
    if let name, let found = known.first(where: { $0.name == name }) { return found.id }
    if name == nil, known.count == 1, let only = known.first { return only.id }
    guard let name else {
      let names = known.map(\.name)
      throw Failure(
        .usage,
        names.isEmpty
          ? "no logbook exists yet; name the one to create with --logbook"
          : "there are several logbooks (\(names.joined(separator: ", "))); choose one with --logbook")
    }
    let id = UUID().uuidString.lowercased()
    try database.execute(sql: "INSERT INTO logbook (id, name) VALUES (?, ?)", arguments: [id, name])
    return id
  }
}
