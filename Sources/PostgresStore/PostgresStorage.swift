// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// The storage of `glucoport serve --database`: a PostgreSQL database, which other servers can use at the
/// same time. This type, `PostgresDatabase`, `PostgresDirectory`, `LogbookMove`, `PostgresTransfer` and
/// `DatabaseAddress` are the interface of the module.
package final class PostgresStorage: ServerStorage {
  /// The logins of the storage.
  package var logins: any LoginDirectory { directory }

  /// The links to report pages, which all servers that use the database share.
  package var links: (any PageLinkDirectory)? { directory }

  /// The number of clusters in the directory when the server started, without the directory itself.
  package let clusterCount: Int

  private let clusters: PostgresClusters
  private let directory: PostgresLogins

  /// Checks the database. The pool's connections are opened later, by requests.
  ///
  /// - Parameters:
  ///   - quota: the limits of one logbook.
  ///   - warn: receives the errors that an administrator must repair, for the log.
  /// - Throws: `Failure`, as `PostgresDatabase.check` does.
  package init(
    _ address: DatabaseAddress, quota: LogbookQuota = LogbookQuota(), limits: PoolLimits = PoolLimits(),
    warn: @escaping @Sendable (_ warning: String) -> Void = { _ in }
  ) throws(Failure) {
    let database = PostgresDatabase(address)
    try database.check()
    clusterCount = Int(try database.number("SELECT count(*) - 1 FROM glucoport.cluster"))
    let faults = FaultLog(warn)
    let clusters = PostgresClusters(address, limits, quota, faults)
    self.clusters = clusters
    directory = PostgresLogins(
      address, limits, faults, watch: DirectoryWatch { await clusters.repairDirectory() })
  }

  /// The logins of a database, for commands.
  ///
  /// - Throws: `Failure`, as `PostgresDatabase.check` does.
  package static func logins(_ address: DatabaseAddress) throws(Failure) -> any LoginDirectory {
    try PostgresDatabase(address).check()
    var limits = PoolLimits()
    limits.connections = 1
    return PostgresLogins(address, limits)
  }

  /// The logbook with the permissions of a login.
  package func logbook(for login: Login) -> any LogbookService {
    PostgresLogbook(login: login, clusters: clusters)
  }

  /// Checks whether the database answers, and has the tables of this program.
  package func check() async throws(ServiceError) { try await directory.check() }

  /// Measurements of the connections, in the text format of Prometheus.
  package func metrics() async -> String { await clusters.metrics(with: directory.statements) }

  /// Deletes the remaining rows of purged logbooks that an interrupted process left.
  package func finishEarlierWork() async throws(ServiceError) { try await clusters.erase() }

  /// Closes all connections. It must be called after the last request.
  package func close() async throws {
    await clusters.close()
    await directory.close()
  }
}

/// What the logbooks of one database share: the connections, the quota, and the cache of comparisons.
final class PostgresCore: Sendable {
  let pool: ConnectionPool
  let quota: LogbookQuota
  let compared = ComparedLogbook()

  private let numbers = LogbookNumbers()
  private let missing: ServiceError

  /// - Parameter missing: the error to throw for a logbook that the database does not have.
  init(pool: ConnectionPool, quota: LogbookQuota, missing: ServiceError) {
    self.pool = pool
    self.quota = quota
    self.missing = missing
  }

  /// The number of a logbook in this database.
  ///
  /// - Throws: `ServiceError`; the error `missing` if the database does not have the logbook.
  func number(of guid: String) async throws(ServiceError) -> Int64 {
    if let known = await numbers.number(of: guid) { return known }
    let found: Int64? = try await pool.run(.directory) { transaction in
      let rows = try transaction.rows("SELECT id FROM glucoport.logbook WHERE guid = $1", .text(guid))
      return rows.count == 1 ? try rows.integer(0, 0) : nil
    }
    guard let found else { throw missing }
    await numbers.cache(found, of: guid)
    return found
  }

  /// Deletes the rows of purged logbooks, in several transactions.
  func erase() async throws(ServiceError) {
    while !Task.isCancelled,
      try await pool.run(.directory, { try $0.rows("SELECT glucoport.erase()").integer(0, 0) == 1 })
    {}
  }
}

/// Caches the numbers of logbooks, by their ids. This is safe, since a number never changes and is never used
/// again.
private actor LogbookNumbers {
  private static let maxCount = 100_000
  private var numbers: [String: Int64] = [:]

  func number(of guid: String) -> Int64? { numbers[guid] }

  func cache(_ number: Int64, of guid: String) {
    if numbers.count >= Self.maxCount { numbers = [:] }
    numbers[guid] = number
  }
}
