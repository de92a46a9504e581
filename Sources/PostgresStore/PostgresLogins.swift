// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI

/// The logins in a database. Each look-up reads the database, so that a revoked token is refused by every
/// server at once.
///
/// Logins use separate connections, so that a look-up does not wait for the transactions of logbooks.
final class PostgresLogins: LoginDirectory {
  /// The time limit of a look-up. It is short, since the watchdog of a service manager uses a look-up to see
  /// whether the server responds.
  private static let requestTime = Duration.seconds(10)
  private let pool: ConnectionPool
  private let watch: DirectoryWatch?

  /// - Parameter watch: receives, for each look-up, a text that identifies the database which answered; nil
  ///   for commands.
  init(
    _ address: DatabaseAddress, _ limits: PoolLimits, _ faults: FaultLog = FaultLog { _ in },
    watch: DirectoryWatch? = nil
  ) {
    self.watch = watch
    var limits = limits
    limits.connections = min(limits.connections, PoolLimits.maxLoginConnections)
    limits.requestTime = min(limits.requestTime, Self.requestTime)
    pool = ConnectionPool(address, limits, faults)
  }

  /// The times of the SQL statements on these connections since the server started.
  var statements: StatementTimes { get async { await pool.queue.figures.statements } }

  func close() async { await pool.close() }

  /// Runs a transaction on the connections for logins.
  func inDirectory<Value: Sendable>(
    _ work: @escaping @Sendable (DatabaseTransaction) throws -> Value
  ) async throws(ServiceError) -> Value {
    try await pool.run(.directory, work)
  }

  /// Checks the version of the tables. They can be upgraded or restored while a server is running.
  func check() async throws(ServiceError) {
    let version = try await pool.run(.directory) { transaction in
      try transaction.rows(
        """
        SELECT coalesce(max(version), 0)::int8, (SELECT count(*) FROM glucoport.login WHERE token_hash = '')
        FROM glucoport.schema_version
        """
      ).integer(0, 0)
    }
    guard version == PostgresSchema.version else {
      throw .busy(
        "the database of the server has tables of another version; try again", retryAfterSeconds: 30)
    }
  }

  func login(tokenHash: [UInt8], at now: Int64) async throws(ServiceError) -> Login? {
    guard let found = try await find(tokenHash, at: now) else { return nil }
    guard let watch, await watch.repair(found.instance) else { return found.login }
    return try await find(tokenHash, at: now)?.login
  }

  /// The login of a token, with a text that identifies the database that answered; see `DirectoryWatch`.
  private func find(
    _ tokenHash: [UInt8], at now: Int64
  ) async throws(ServiceError) -> (login: Login, instance: String)? {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows(
        """
        WITH valid AS (
          SELECT name, logbook, role FROM glucoport.login WHERE token_hash = $1
          UNION ALL SELECT l.name, l.logbook, l.role FROM glucoport.replaced_token r
            JOIN glucoport.login l ON l.name = r.login WHERE r.token_hash = $1 AND r.until > $2
        )
        SELECT v.name, b.guid, v.role, c.address, b.moves, \(DirectoryWatch.instance)
          FROM valid v JOIN glucoport.logbook b ON b.id = v.logbook JOIN glucoport.cluster c ON c.name = b.cluster
        UNION ALL SELECT '', guid, '', '', 0, '' FROM glucoport.purged_token WHERE token_hash = $1
        """, .data(tokenHash), .integer(now))
      guard rows.count > 0 else { return nil }
      let role = try rows.text(0, 2)
      guard !role.isEmpty else { throw ServiceError.purged }
      var login = Login(name: try rows.text(0, 0), logbook: try rows.text(0, 1), role: try Self.role(role))
      login.place = LogbookPlace(address: try rows.text(0, 3), moves: try rows.integer(0, 4))
      return (login, try rows.text(0, 5))
    }
  }

  func add(
    name: String, role: LoginRole, logbook: String?, token: LoginToken, at now: Int64
  ) async throws {
    try LoginRules.check(name, logbook)
    let guid = UUID().uuidString.lowercased()
    try await withChangeTransaction { transaction in
      let rows = try transaction.rows(
        "SELECT name, guid FROM glucoport.logbook WHERE NOT is_guest ORDER BY name")
      let known = try (0..<rows.count).map { (name: try rows.text($0, 0), id: try rows.text($0, 1)) }
      let found = try LoginRules.logbookID(logbook, among: known)
      if found == nil, let logbook { try Self.create(logbook, guid, transaction) }
      do {
        try transaction.rows(
          """
          INSERT INTO glucoport.login (name, token_hash, role, logbook, created_at)
          SELECT $1, $2, $3, id, $5 FROM glucoport.logbook WHERE guid = $4
          """, .text(name), .data(token.hash), .text(role.rawValue), .text(found ?? guid), .integer(now))
      } catch let error as DatabaseError where error.isDuplicate {
        throw LoginRules.exists(name)
      }
    }
  }

  func list() async throws -> [ListedLogin] {
    try await withChangeTransaction { transaction in
      let rows = try transaction.rows(
        """
        SELECT l.name, l.role, b.name, l.created_at
        FROM glucoport.login l JOIN glucoport.logbook b ON b.id = l.logbook ORDER BY l.name
        """)
      return try (0..<rows.count).map { row in
        ListedLogin(
          name: try rows.text(row, 0), role: try Self.role(try rows.text(row, 1)),
          logbook: try rows.text(row, 2), createdAt: try rows.integer(row, 3))
      }
    }
  }

  func rotate(name: String, token: LoginToken, graceSeconds: Int, at now: Int64) async throws {
    let until = now + Int64(graceSeconds)
    try await withChangeTransaction { transaction in
      let old = try transaction.rows(
        "SELECT token_hash FROM glucoport.login WHERE name = $1 FOR UPDATE", .text(name))
      guard old.count == 1 else { throw LoginRules.unknown(name) }
      // If a token was leaked, a rotation without a grace period must also make earlier tokens invalid.
      try transaction.rows(
        "UPDATE glucoport.replaced_token SET until = least(until, $2) WHERE login = $1", .text(name),
        .integer(until))
      try transaction.rows(
        "INSERT INTO glucoport.replaced_token (token_hash, login, until) VALUES ($1, $2, $3)",
        .data(try old.data(0, 0)), .text(name), .integer(until))
      try transaction.rows("DELETE FROM glucoport.replaced_token WHERE until <= $1", .integer(now))
      try transaction.rows(
        "UPDATE glucoport.login SET token_hash = $2 WHERE name = $1", .text(name), .data(token.hash))
    }
  }

  func remove(name: String) async throws {
    try await withChangeTransaction { transaction in
      let rows = try transaction.rows(
        "DELETE FROM glucoport.login WHERE name = $1 RETURNING name", .text(name))
      guard rows.count == 1 else { throw LoginRules.unknown(name) }
    }
  }
}

extension PostgresLogins {
  /// Runs a transaction for a command.
  ///
  /// - Throws: `Failure` of `work`, or a failure for an error of the database.
  private func withChangeTransaction<Value: Sendable>(
    _ work: @escaping @Sendable (DatabaseTransaction) throws -> Value
  ) async throws -> Value {
    let outcome: Result<Value, Failure> = try await pool.run(.directory) { transaction in
      do {
        return .success(try work(transaction))
      } catch let failure as Failure {
        // The failure is returned as a value. If it were thrown, the pool would repeat the transaction or
        // report a failure of the storage.
        try transaction.run("ROLLBACK; BEGIN")
        return .failure(failure)
      } catch let error as DatabaseError where !error.isTransient && !error.endsConnection {
        try transaction.run("ROLLBACK; BEGIN")
        return .failure(error.failure)
      }
    }
    return try outcome.get()
  }

  private static func role(_ text: String) throws(DatabaseError) -> LoginRole {
    guard let role = LoginRole(rawValue: text) else { throw .unexpected("a login has an unknown role") }
    return role
  }

  private static func create(
    _ name: String, _ guid: String, _ transaction: DatabaseTransaction
  ) throws {
    let rows = try transaction.rows(
      "INSERT INTO glucoport.logbook (guid, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id",
      .text(guid), .text(name))
    guard rows.count == 1 else {
      throw Failure(
        .cannotCreate,
        "another database has the tokens of the logbook '\(name)', which was moved here; name that database")
    }
    let number = try rows.integer(0, 0)
    try transaction.run(
      """
      SET LOCAL glucoport.logbook = '\(number)';
      INSERT INTO glucoport.counter (logbook) VALUES (\(number));
      INSERT INTO glucoport.contents (logbook) VALUES (\(number));
      INSERT INTO glucoport.epoch (logbook, first_seq, tag) SELECT \(number), 0, \(PostgresEntry.currentTag(of: number))
      """)
  }
}

/// The links to report pages. They are stored in the database, since the next request may arrive at another
/// server.
extension PostgresLogins: PageLinkDirectory {
  /// The maximum difference between the clocks of two servers, in seconds.
  private static let maxClockDifference: Int64 = 60

  func add(_ link: PageLinkEntry, secretHash: [UInt8], maxPerLogin: Int) async throws(ServiceError) {
    try await inDirectory { transaction in
      try transaction.rows(
        """
        DELETE FROM glucoport.page_link WHERE login = $1 AND (expires_at <= $2 OR place NOT IN (
          SELECT place FROM glucoport.page_link WHERE login = $1 AND expires_at > $2 ORDER BY place DESC LIMIT $3))
        """, .text(link.login), .integer(link.madeAt), .integer(Int64(maxPerLogin - 1)))
      let added = try transaction.rows(
        """
        INSERT INTO glucoport.page_link (secret_hash, token_hash, login, logbook, made_at, expires_at)
        SELECT $1, $2, name, $4, $5, $6 FROM glucoport.login WHERE name = $3 RETURNING 1
        """, .data(secretHash), .data(link.tokenHash), .text(link.login), .text(link.logbook),
        .integer(link.madeAt), .integer(link.expiresAt))
      // No row was added: the login was removed after it was looked up for this request.
      guard added.count == 1 else {
        throw ServiceError.busy("the token was revoked meanwhile; try again", retryAfterSeconds: 1)
      }
    }
  }

  func link(secretHash: [UInt8], at now: Int64) async throws(ServiceError) -> PageLinkEntry? {
    try await inDirectory { transaction in
      let rows = try transaction.rows(
        """
        SELECT token_hash, login, logbook, made_at, expires_at FROM glucoport.page_link
        WHERE secret_hash = $1 AND expires_at > $2 AND made_at <= $2 + $3
        """, .data(secretHash), .integer(now), .integer(Self.maxClockDifference))
      guard rows.count == 1 else { return nil }
      return PageLinkEntry(
        tokenHash: try rows.data(0, 0), login: try rows.text(0, 1), logbook: try rows.text(0, 2),
        madeAt: try rows.integer(0, 3), expiresAt: try rows.integer(0, 4))
    }
  }
}
