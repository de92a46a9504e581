// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookAPI

/// The storage of `glucoport serve --database`: a PostgreSQL database, which other servers can use at the same time.
/// This type, `PostgresDatabase`, `PostgresDirectory`, `LogbookMove`, `PostgresTransfer` and `DatabaseAddress` are the room's
/// interface.
package final class PostgresStorage: ServerStorage {
  /// The logins of the storage.
  package var logins: any LoginDirectory { directory }

  /// The number of databases that the directory named at the start, besides itself.
  package let clusterCount: Int

  private let clusters: PostgresClusters
  private let directory: PostgresLogins

  /// Checks the database. Connections are made by requests.
  ///
  /// - Parameters:
  ///   - quota: the limits of one logbook.
  ///   - warn: gets what an administrator must repair, for the log.
  /// - Throws: `Failure`, as `PostgresDatabase.check` does.
  package init(
    _ address: DatabaseAddress, quota: LogbookQuota = LogbookQuota(), limits: PoolLimits = PoolLimits(),
    warn: @escaping @Sendable (_ warning: String) -> Void = { _ in }
  ) throws(Failure) {
    let database = PostgresDatabase(address)
    try database.check()
    clusterCount = Int(try database.number("SELECT count(*) - 1 FROM glucoport.cluster"))
    let faults = FaultLog(warn)
    clusters = PostgresClusters(address, limits, quota, faults)
    directory = PostgresLogins(address, limits, faults)
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

  /// Checks that the database answers, and that it has the tables of this program.
  package func check() async throws(ServiceError) { try await directory.check() }

  /// The figures of the connections, in the text format of Prometheus.
  package func metrics() async -> String { await clusters.home.metrics(with: directory.statements) }

  /// Deletes rows of purged logbooks that an interrupted process left.
  package func finishEarlierWork() async throws(ServiceError) { try await clusters.erase() }

  /// Closes every connection, after the last request.
  package func close() async throws {
    await clusters.close()
    await directory.close()
  }
}

/// What the logbooks of a storage share.
final class PostgresCore: Sendable {
  let pool: ConnectionPool
  let quota: LogbookQuota
  let compared = ComparedLogbook()

  private let numbers = LogbookNumbers()
  private let missing: ServiceError

  /// - Parameter missing: the error for a logbook that the database does not have.
  init(pool: ConnectionPool, quota: LogbookQuota, missing: ServiceError) {
    self.pool = pool
    self.quota = quota
    self.missing = missing
  }

  /// The number of a logbook.
  ///
  /// - Throws: `ServiceError`, as given, if it does not exist.
  func number(of guid: String) async throws(ServiceError) -> Int64 {
    if let known = await numbers.number(of: guid) { return known }
    let found: Int64? = try await pool.run(.directory) { transaction in
      let rows = try transaction.rows("SELECT id FROM glucoport.logbook WHERE guid = $1", .text(guid))
      return rows.count == 1 ? try rows.integer(0, 0) : nil
    }
    guard let found else { throw missing }
    await numbers.keep(found, of: guid)
    return found
  }

  /// Deletes the rows of purged logbooks, some in each transaction.
  func erase() async throws(ServiceError) {
    while !Task.isCancelled,
      try await pool.run(.directory, { try $0.rows("SELECT glucoport.erase()").integer(0, 0) == 1 })
    {}
  }

  /// - Parameter others: the statements of other connections.
  func metrics(with others: StatementTimes) async -> String {
    var figures = await pool.queue.figures
    figures.statements.add(others)
    let lines = [
      "# TYPE glucoport_database_connections gauge",
      "glucoport_database_connections{state=\"busy\"} \(figures.busy)",
      "glucoport_database_connections{state=\"idle\"} \(max(0, figures.connections - figures.busy))",
      "# TYPE glucoport_database_waiting_requests gauge",
      "glucoport_database_waiting_requests \(figures.waiting)",
      "# TYPE glucoport_database_wait_timeouts_total counter",
      "glucoport_database_wait_timeouts_total \(figures.timedOut)",
      "# TYPE glucoport_database_lock_timeouts_total counter",
      "glucoport_database_lock_timeouts_total \(figures.lockTimeouts)",
      "# TYPE glucoport_database_retries_total counter",
      "glucoport_database_retries_total \(figures.retries)",
      "# TYPE glucoport_database_lost_connections_total counter",
      "glucoport_database_lost_connections_total \(figures.lostConnections)",
      "# TYPE glucoport_database_transaction_seconds summary",
      "glucoport_database_transaction_seconds_sum \(figures.time / .seconds(1))",
      "glucoport_database_transaction_seconds_count \(figures.transactions)",
    ]
    return (lines + figures.statements.lines + (await replication())).map { $0 + "\n" }.joined()
  }

  /// The number of standbys, and the lag of the slowest one; nothing if the role may not see them (`pg_monitor`).
  ///
  /// The seconds are those of the last answer, so that they stay small while a standby replays nothing. Its bytes grow.
  private func replication() async -> [String] {
    do {
      return try await pool.run(.directory) { transaction in
        let rows = try transaction.rows(
          """
          SELECT count(*), count(state), max(extract(epoch FROM coalesce(replay_lag, '0')))::float8,
            max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::int8
          FROM pg_stat_replication WHERE pid IS NOT NULL AND state IS DISTINCT FROM 'backup'
          """)
        let count = try rows.integer(0, 0)
        guard try rows.integer(0, 1) == count else { return [] }
        var lines = ["# TYPE glucoport_database_standbys gauge", "glucoport_database_standbys \(count)"]
        if let lag = try rows.number(0, 2) {
          lines += [
            "# TYPE glucoport_database_replication_lag_seconds gauge",
            "glucoport_database_replication_lag_seconds \(lag)",
          ]
        }
        if !rows.isNull(0, 3) {
          lines += [
            "# TYPE glucoport_database_replication_lag_bytes gauge",
            "glucoport_database_replication_lag_bytes \(try rows.integer(0, 3))",
          ]
        }
        return lines
      }
    } catch {
      return []
    }
  }
}

/// The numbers of logbooks by their ids. A pair never changes, and the number of a purged logbook is not used again.
private actor LogbookNumbers {
  private static let maxCount = 100_000
  private var numbers: [String: Int64] = [:]

  func number(of guid: String) -> Int64? { numbers[guid] }

  func keep(_ number: Int64, of guid: String) {
    if numbers.count >= Self.maxCount { numbers = [:] }
    numbers[guid] = number
  }
}
