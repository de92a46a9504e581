// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Measurements of all databases of a server, in the text format of Prometheus. The lines are grouped by
/// family (the name of a measurement), each with the lines of all databases.
struct DatabaseMetrics {
  private static let prefix = "glucoport_database_"

  private var families: [(name: String, type: String, lines: [String])] = []

  var text: String {
    families.flatMap { ["# TYPE \($0.name) \($0.type)"] + $0.lines }.map { $0 + "\n" }.joined()
  }

  /// Adds the lines of one database.
  ///
  /// - Parameter cluster: the name of the database in the directory.
  mutating func add(_ figures: PoolFigures, _ state: DatabaseState?, of cluster: String) {
    func add(
      _ family: String, _ type: String, _ value: Any, _ label: (String, String)? = nil, suffix: String = ""
    ) {
      let labels = [("cluster", cluster), label].compactMap(\.self).map { "\($0)=\"\(Self.escaped($1))\"" }
      line(family, type, "\(suffix){\(labels.joined(separator: ","))} \(value)")
    }
    func addTotal(_ family: String, _ time: Duration, _ count: Int, _ label: (String, String)? = nil) {
      add(family, "summary", time / .seconds(1), label, suffix: "_sum")
      add(family, "summary", count, label, suffix: "_count")
    }
    add("up", "gauge", state == nil ? 0 : 1)
    add("connections", "gauge", figures.busy, ("state", "busy"))
    add("connections", "gauge", max(0, figures.connections - figures.busy), ("state", "idle"))
    add("waiting_requests", "gauge", figures.waiting)
    add("wait_timeouts_total", "counter", figures.timedOut)
    add("lock_timeouts_total", "counter", figures.lockTimeouts)
    add("retries_total", "counter", figures.retries)
    add("lost_connections_total", "counter", figures.lostConnections)
    addTotal("transaction_seconds", figures.time, figures.transactions)
    for (kind, total) in figures.statements.totals.sorted(by: { $0.key < $1.key }) {
      // The time for which SQL statements wait for a lock is a separate family, since it is not work.
      if kind.hasPrefix(StatementTimes.lock) {
        addTotal(
          "lock_seconds", total.time, total.count, ("row", String(kind.dropFirst(StatementTimes.lock.count))))
      } else {
        addTotal("statement_seconds", total.time, total.count, ("statement", kind))
      }
    }
    if let standbys = state?.standbys { add("standbys", "gauge", standbys) }
    if let seconds = state?.lagSeconds { add("replication_lag_seconds", "gauge", seconds) }
    if let bytes = state?.lagBytes { add("replication_lag_bytes", "gauge", bytes) }
  }

  private mutating func line(_ family: String, _ type: String, _ rest: String) {
    let name = Self.prefix + family
    let place = families.firstIndex { $0.name == name } ?? families.count
    if place == families.count { families.append((name, type, [])) }
    families[place].lines.append(name + rest)
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

/// What a database reports about its standbys.
struct DatabaseState: Sendable {
  /// The number of standbys; nil if the role may not see them, since it lacks `pg_monitor`.
  var standbys: Int64?
  /// The lag of the slowest standby when it last reported, in seconds. While a standby replays nothing, the
  /// value does not grow.
  var lagSeconds: Double?
  /// The number of bytes in the log that the slowest standby has not replayed.
  var lagBytes: Int64?
}

extension PostgresClusters {
  /// Measurements of all databases.
  ///
  /// - Parameter others: the times of SQL statements on the connections for logins.
  nonisolated func metrics(with others: StatementTimes) async -> String {
    let (databases, faults) = (await allCores(), faults)
    let states = await withTaskGroup(of: (Int, DatabaseState?).self) { group in
      for (place, database) in databases.enumerated() {
        group.addTask { (place, await database.core.state(faults)) }
      }
      return await group.reduce(into: [Int: DatabaseState]()) { $0[$1.0] = $1.1 }
    }
    var metrics = DatabaseMetrics()
    for (place, database) in databases.enumerated() {
      var figures = await database.core.pool.queue.figures
      if place == 0 { figures.statements.add(others) }
      metrics.add(figures, states[place], of: database.cluster)
    }
    return metrics.text
  }
}

extension PostgresCore {
  /// The state of the database; nil if it does not answer or is busy. If it refuses the query, the result has
  /// no figures, and the reason is in the log.
  fileprivate func state(_ faults: FaultLog) async -> DatabaseState? {
    do throws(ServiceError) {
      return try await pool.run(.directory) { transaction in
        let rows = try transaction.rows(
          """
          SELECT count(*), count(state), max(extract(epoch FROM coalesce(replay_lag, '0')))::float8,
            max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::int8
          FROM pg_stat_replication WHERE pid IS NOT NULL AND state IS DISTINCT FROM 'backup'
          """)
        var state = DatabaseState()
        let count = try rows.integer(0, 0)
        guard try rows.integer(0, 1) == count else { return state }
        state.standbys = count
        state.lagSeconds = try rows.number(0, 2)
        if !rows.isNull(0, 3) { state.lagBytes = try rows.integer(0, 3) }
        return state
      }
    } catch {
      guard case .serverFailure = error else { return nil }
      faults.log(error)
      return DatabaseState()
    }
  }
}
