// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The schema of a database for `serve database prepare` and `serve database check`.
package struct PostgresDatabase: Sendable {
  let address: DatabaseAddress
  private let partitions: Int

  private static let requestSeconds = 600
  /// The key of the advisory lock. It can be any number that no other program uses.
  private static let lock: Int64 = 0x676C_7563_6F70_6F72
  private static let minServerVersion: Int64 = 140_000

  /// - Parameter partitions: the number of partitions of each large table in a new database; nil for the
  ///   default.
  package init(_ address: DatabaseAddress, partitions: Int? = nil) {
    self.address = address
    self.partitions = partitions ?? PostgresSchema.partitions
  }

  /// Creates or upgrades the schema, and grants a role the rights to serve. It can be repeated, and several
  /// processes can call it at once.
  ///
  /// - Parameters:
  ///   - role: the existing role for `serve`; nil to leave rights unchanged.
  ///   - isPreview: whether all changes are rolled back at the end.
  /// - Returns: the SQL statements that were run.
  /// - Throws: `Failure`: `configuration` for the schema of a newer or another program, an old PostgreSQL or
  ///   another encoding; `unavailable`. It is `permission` for a role that does not own the tables, and
  ///   `inputOutput` for a damaged schema.
  package func prepare(role: String?, isPreview: Bool) throws(Failure) -> [String] {
    do {
      let connection = try DatabaseConnection(address)
      let deadline = ContinuousClock.now + .seconds(Self.requestSeconds)
      try Self.checkServer(connection, deadline)
      try connection.run("BEGIN; SELECT pg_advisory_xact_lock(\(Self.lock))", by: deadline)
      let found = try Self.version(connection, deadline) ?? 0
      try Self.checkVersion(found)
      if found > 0 {
        try ServingRole.requireOwner(connection.rows(PostgresSchema.isOwned, [], by: deadline))
      }
      var statements: [String] = []
      for next in stride(from: found + 1, through: PostgresSchema.version, by: 1) {
        statements += PostgresSchema.step(to: next, partitions: partitions)
        statements.append("INSERT INTO glucoport.schema_version (version) VALUES (\(next))")
      }
      if let role { statements += PostgresSchema.grants(to: role) }
      for statement in statements { try connection.run(statement, by: deadline) }
      try connection.run(isPreview ? "ROLLBACK" : "COMMIT", by: deadline)
      return statements
    } catch let failure as Failure {
      throw failure
    } catch let error as DatabaseError {
      throw Self.failure(of: error, role)
    } catch {
      throw Failure(.inputOutput, "\(error)")
    }
  }

  /// Checks that the database has the schema of this program. Also checks that the role of the address has
  /// exactly the rights of a server.
  ///
  /// - Returns: the version of the schema.
  /// - Throws: `Failure`: `configuration`, `permission` for a role with missing or too many rights,
  ///   `unavailable`.
  @discardableResult
  package func check() throws(Failure) -> Int {
    try checked { connection, deadline in
      try ServingRole.check { query throws(DatabaseError) in try connection.rows(query, [], by: deadline) }
    }
  }

  /// Checks only that the database has the schema of this program. The role may own it.
  ///
  /// - Throws: `Failure`: `configuration`, `unavailable`.
  func checkVersion() throws(Failure) { _ = try checked { _, _ in } }

  private func checked(
    _ further: (DatabaseConnection, ContinuousClock.Instant) throws -> Void
  ) throws(Failure) -> Int {
    do {
      let connection = try DatabaseConnection(address)
      let deadline = ContinuousClock.now + .seconds(Self.requestSeconds)
      try Self.checkServer(connection, deadline)
      guard let version = try Self.version(connection, deadline) else { throw Self.unprepared }
      try Self.checkVersion(version)
      guard version == PostgresSchema.version else {
        throw Failure(
          .configuration,
          "the schema of the database has version \(version), and this program needs \(PostgresSchema.version); run 'glucoport serve database prepare' as its owner"
        )
      }
      try further(connection, deadline)
      return version
    } catch let failure as Failure {
      throw failure
    } catch let error as DatabaseError {
      throw Self.failure(of: error, nil)
    } catch {
      throw Failure(.inputOutput, "\(error)")
    }
  }
}

extension PostgresDatabase {
  private static var unprepared: Failure { DatabaseError.refused(state: "42P01", object: "").failure }

  private static func failure(of error: DatabaseError, _ role: String?) -> Failure {
    if case .refused(state: "42704", _) = error, let role {
      return Failure(.missingInput, "the database has no role '\(role)'; create it first (CREATE ROLE)")
    }
    if case .refused(state: "42P06", _) = error {
      return Failure(
        .configuration,
        "the database has a schema 'glucoport' without the tables of this program; drop it, or name another database"
      )
    }
    return error.failure
  }

  private static func version(
    _ connection: DatabaseConnection, _ deadline: ContinuousClock.Instant
  ) throws(DatabaseError) -> Int? {
    let found = try connection.rows(
      "SELECT to_regclass('glucoport.schema_version') IS NOT NULL", [], by: deadline)
    guard try found.integer(0, 0) == 1 else { return nil }
    let rows = try connection.rows(
      "SELECT coalesce(max(version), 0)::int8 FROM glucoport.schema_version", [], by: deadline)
    let version = Int(try rows.integer(0, 0))
    guard version > 0 else { throw .unexpected("the table glucoport.schema_version is empty") }
    return version
  }

  private static func checkVersion(_ version: Int) throws(Failure) {
    guard version <= PostgresSchema.version else {
      throw Failure(
        .configuration,
        "the schema of the database has version \(version), from a newer glucoport; this one knows up to \(PostgresSchema.version)"
      )
    }
  }

  private static func checkServer(
    _ connection: DatabaseConnection, _ deadline: ContinuousClock.Instant
  ) throws {
    let rows = try connection.rows(
      "SELECT current_setting('server_version_num')::int8, current_setting('server_encoding')", [],
      by: deadline)
    guard try rows.integer(0, 0) >= minServerVersion else {
      throw Failure(.configuration, "the database needs PostgreSQL 14 or later")
    }
    guard try rows.text(0, 1) == "UTF8" else {
      throw Failure(.configuration, "the database needs the encoding UTF8; create it with ENCODING 'UTF8'")
    }
  }
}

/// Runs SQL statements like an administrator, for tools and tests.
extension PostgresDatabase {
  private static let scriptSeconds = 60

  /// Runs SQL statements without parameters, separated by semicolons.
  ///
  /// - Throws: `Failure`: `unavailable` without a connection, otherwise with the SQLSTATE.
  package func run(_ script: String) throws(Failure) {
    do throws(DatabaseError) {
      try DatabaseConnection(address).run(script, by: .now + .seconds(Self.scriptSeconds))
    } catch {
      throw error.failure
    }
  }

  /// Runs an SQL query. Returns the whole number in its first row.
  ///
  /// - Throws: as `run`.
  package func number(_ query: String) throws(Failure) -> Int64 {
    do throws(DatabaseError) {
      return try DatabaseConnection(address).rows(query, [], by: .now + .seconds(Self.scriptSeconds))
        .integer(0, 0)
    } catch {
      throw error.failure
    }
  }
}
