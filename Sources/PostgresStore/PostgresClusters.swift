// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// The databases with the logbooks of a server: the one with the logins, and the clusters.
///
/// The address of a logbook's cluster comes with each login. Connections to a cluster are opened when its
/// first logbook is used, with the same role as in the directory.
actor PostgresClusters {
  /// The database with the logins, which is also the directory.
  nonisolated let home: PostgresCore

  private let limits: PoolLimits
  private let quota: LogbookQuota
  let faults: FaultLog
  private var cores: [String: PostgresCore] = [:]
  private var checked: Set<String> = []
  /// The databases that were measured last, with their names in the directory.
  private var measured: [(cluster: String, core: PostgresCore)]

  init(_ address: DatabaseAddress, _ limits: PoolLimits, _ quota: LogbookQuota, _ faults: FaultLog) {
    home = PostgresCore(pool: ConnectionPool(address, limits, faults), quota: quota, missing: .purged)
    measured = [(PostgresSchema.home, home)]
    self.limits = limits
    self.quota = quota
    self.faults = faults
  }

  /// The database with this address, which is checked before it is first used. An empty address means the
  /// directory.
  ///
  /// - Throws: `ServiceError`: `busy` without a connection, `serverFailure` if the role must not serve this
  ///   database.
  func core(at address: String) async throws(ServiceError) -> PostgresCore {
    if address.isEmpty { return home }
    if let known = cores[address], checked.contains(address) { return known }
    let role = try await home.role()
    let core = try cachedCore(at: address, role)
    try await core.check()
    checked.insert(address)
    return core
  }

  /// Erases the rows of purged logbooks in all databases. If a database is not available, the next start of
  /// the server erases them.
  ///
  /// - Parameter purged: the ids of the logbooks; nil for all that were purged.
  func erase(_ purged: [String]? = nil) async throws(ServiceError) {
    try await home.erase()
    var fault: ServiceError?
    for (_, address) in try await home.namedClusters() {
      do throws(ServiceError) {
        let core = try await core(at: address)
        for logbook in try await home.purged(among: core.guests(purged)) { _ = try await core.purge(logbook) }
        try await core.erase()
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
  }

  /// All databases in the directory, even those that no request has used. If the directory is not available,
  /// the result is that of the last call.
  func allCores() async -> [(cluster: String, core: PostgresCore)] {
    do throws(ServiceError) {
      let clusters = try await home.namedClusters()
      guard !clusters.isEmpty else { return measured }
      let role = try await home.role()
      var found = [(cluster: PostgresSchema.home, core: home)]
      for cluster in clusters { found.append((cluster.name, try cachedCore(at: cluster.address, role))) }
      measured = found
    } catch {
      // The error is ignored, since the measurements show that the directory is not available.
    }
    return measured
  }

  func close() async {
    for core in [home] + cores.values { await core.pool.close() }
  }

  private func cachedCore(at address: String, _ role: String) throws(ServiceError) -> PostgresCore {
    if let known = cores[address] { return known }
    let target: DatabaseAddress
    do throws(Failure) {
      target = try DatabaseAddress(address).with(role: role)
    } catch {
      throw .serverFailure("the server's storage failed; see the server's log", log: error.message)
    }
    let core = PostgresCore(
      pool: ConnectionPool(target, limits, faults), quota: quota, missing: CopyState.busy)
    cores[address] = core
    return core
  }
}

extension PostgresCore {
  /// The role of the connection. It must be the same in all databases of a server.
  func role() async throws(ServiceError) -> String {
    try await pool.run(.directory) { try $0.rows("SELECT session_user::text").text(0, 0) }
  }

  /// The clusters in this directory, without the directory itself.
  func namedClusters() async throws(ServiceError) -> [(name: String, address: String)] {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows(
        "SELECT name, address FROM glucoport.cluster WHERE address <> '' ORDER BY name")
      return try (0..<rows.count).map { (try rows.text($0, 0), try rows.text($0, 1)) }
    }
  }

  /// Stores in this directory that the logbook of a login was moved to a cluster. It can be called again.
  func recordMove(of login: Login, to cluster: String) async throws(ServiceError) {
    try await pool.run(.directory) { transaction in
      _ = try transaction.rows(
        "SELECT glucoport.follow($1, $2, $3)", .text(login.logbook), .integer(login.place.moves),
        .text(cluster))
    }
  }

  /// The logbooks of this cluster whose logins are in another database.
  func guests(_ among: [String]?) async throws(ServiceError) -> [String] {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows(
        "SELECT guid FROM glucoport.logbook WHERE is_guest AND ($1 = 0 OR guid = ANY($2))",
        .integer(among == nil ? 0 : 1), .texts(among ?? []))
      return try (0..<rows.count).map { try rows.text($0, 0) }
    }
  }

  /// The logbooks of this list that were purged.
  func purged(among logbooks: [String]) async throws(ServiceError) -> [String] {
    try await pool.run(.directory) { transaction in
      let rows = try transaction.rows(
        "SELECT guid FROM glucoport.purged WHERE guid = ANY($1)", .texts(logbooks))
      return try (0..<rows.count).map { try rows.text($0, 0) }
    }
  }

  /// Removes the logins and the name of a logbook. Returns false if another request has done it.
  func purge(_ logbook: String) async throws(ServiceError) -> Bool {
    let number = try await number(of: logbook)
    return try await pool.run(.changing(logbook: number)) { transaction in
      try transaction.rows("SELECT glucoport.purge($1)", .text(logbook)).integer(0, 0) == 1
    }
  }

  /// Checks a cluster in the same way as a server checks its directory when it starts.
  func check() async throws(ServiceError) {
    try await pool.run(.directory) { transaction in
      let version = try transaction.rows(
        "SELECT coalesce(max(version), 0)::int8 FROM glucoport.schema_version"
      ).integer(0, 0)
      guard version == PostgresSchema.version else {
        throw ServiceError.busy(
          "a database of the server has tables of another version; try again", retryAfterSeconds: 30)
      }
      do {
        try ServingRole.check { query throws(DatabaseError) in try transaction.rows(query) }
      } catch let failure as Failure {
        throw ServiceError.serverFailure(
          "the server's storage failed; see the server's log", log: failure.message)
      }
    }
  }
}
