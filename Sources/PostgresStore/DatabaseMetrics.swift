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

/// The number and the duration of SQL statements, by kind. Parameters of statements are not contained.
struct StatementTimes: Sendable {
  /// The number of SQL statements of one kind, and their total time, which includes the network.
  struct Total: Hashable, Sendable {
    var time = Duration.zero
    var count = 0
  }

  /// The totals by kind, such as `insert reading`.
  private(set) var totals: [String: Total] = [:]

  /// Adds the time of one SQL statement. Failed statements are counted, too.
  mutating func add(_ time: Duration, _ kind: String) {
    totals[kind, default: Total()].time += time
    totals[kind, default: Total()].count += 1
  }

  mutating func add(_ other: StatementTimes) {
    for (kind, total) in other.totals {
      totals[kind, default: Total()].time += total.time
      totals[kind, default: Total()].count += total.count
    }
  }
}

extension StatementTimes {
  /// The prefix of the kind of SQL statements that begin a transaction and lock a row.
  static let lock = "lock "

  private static let schema = "glucoport."

  /// The kind of an SQL statement: a verb and a table. If the statement has several verbs, the first one that
  /// changes a table is used, with this table. If none changes a table, the table is the first one outside of
  /// subqueries.
  static func kind(of statement: String) -> String {
    var (depth, words) = (0, ["", ""])
    var read: (table: String, depth: Int)?
    for word in Words(statement) {
      if word == "(" || word == ")" {
        depth += word == "(" ? 1 : -1
      } else if word.hasPrefix(schema) {
        let table = String(word.dropFirst(schema.count))
        if words[1] == "INTO" { return "insert \(table)" }
        if words[1] == "UPDATE" { return "update \(table)" }
        if words == ["DELETE", "FROM"] { return "delete \(table)" }
        if depth < read?.depth ?? .max { read = (table, depth) }
      }
      words = [words[1], word]
    }
    return read.map { "select \($0.table)" } ?? "select"
  }

  /// Iterates over the words and parentheses of an SQL statement.
  private struct Words: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    mutating func next() -> String? {
      rest = rest.drop { !Self.isLetter($0) && !Self.isParenthesis($0) }
      guard let first = rest.first else { return nil }
      let word = Self.isParenthesis(first) ? rest.prefix(1) : rest.prefix(while: Self.isLetter)
      rest = rest[word.endIndex...]
      return String(Substring(word))
    }

    private static func isParenthesis(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
