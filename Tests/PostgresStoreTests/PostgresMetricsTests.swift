// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import Synchronization
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests what a storage reports about its statements, and about a database that only its administrator can
/// repair.
@Suite(.timeLimit(.minutes(10))) struct PostgresMetricsTests {
  /// A storage on a separate database, with a separate role, whose rights a test can revoke.
  private static func with(
    warn: @escaping @Sendable (String) -> Void = { _ in },
    _ body: (_ stand: RunningStorage, _ copies: DatabaseCopies, _ database: String, _ role: String)
      async throws ->
      Void
  ) async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let role = "role_of_\(name)"
      try copies.server.run("CREATE ROLE \(role) LOGIN")
      let owner = try DatabaseAddress(copies.server.address(name, as: PostgresServer.owner))
      _ = try PostgresDatabase(owner).prepare(role: role, isPreview: false)
      let bench = StorageBench { _, _ in
        let storage = try PostgresStorage(
          DatabaseAddress(copies.server.address(name, as: role)), warn: warn)
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: bench, folder: ScratchFolder()).start()
      try await body(stand, copies, name, role)
      try await stand.stop()
    }
  }

  /// The value of the metric with this name for a database; nil if the metrics have no such line. The name
  /// may include labels in braces.
  private static func figure(
    _ name: String, _ stand: RunningStorage, of cluster: String = "default"
  ) async throws -> Double? {
    let label = "{cluster=\"\(cluster)\""
    let name = name.contains("{") ? name.replacing("{", with: label + ",") : name + label + "}"
    let lines = await stand.storage.metrics().split(separator: "\n")
    let line = lines.first { $0.hasPrefix(name + " ") }
    return line.flatMap { Double($0.dropFirst(name.count + 1)) }
  }

  @Test func databaseStatementsAreCountedByKindWithTheirTime() async throws {
    try await Self.with { stand, _, _, _ in
      let insert = "glucoport_database_statement_seconds_count{statement=\"insert reading\"}"
      #expect(try await Self.figure(insert, stand) == nil)
      let client = Client(stand)
      for count in 1...3 { try await client.push(Sample.history(count)) }
      #expect(try await Self.figure(insert, stand) == 3)
      for kind in ["insert reading", "commit", "begin", "select counter", "select login", "update counter"] {
        let name = "glucoport_database_statement_seconds_sum{statement=\"\(kind)\"}"
        #expect(try #require(await Self.figure(name, stand), "\(kind) is missing") > 0)
      }
      #expect(try await Self.figure("glucoport_database_lock_seconds_count{row=\"counter\"}", stand) == 3)
      #expect(try await Self.figure("glucoport_database_lock_seconds_count{row=\"contents\"}", stand) == nil)
      let text = await stand.storage.metrics()
      let families = text.matches(of: /# TYPE (\S+)/).map { String($0.output.1) }
      #expect(Set(families).count == families.count, "each family is typed once")
    }
  }

  @Test func metricsReportEachClusterAlsoAnUnreachableOne() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(1))
      let insert = "glucoport_database_statement_seconds_count{statement=\"insert reading\"}"
      #expect(try await Self.figure("glucoport_database_up", bench.stand, of: "south") == 1)
      #expect(try await Self.figure(insert, bench.stand, of: "south") == nil)
      try bench.move(to: "south")
      for count in [2, 3] { _ = try await bench.push(Sample.history(count), client.run) }
      #expect(try await Self.figure(insert, bench.stand) == 1)
      #expect(try await Self.figure(insert, bench.stand, of: "south") == 2)
      let text = await bench.stand.storage.metrics()
      let families = text.matches(of: /# TYPE (\S+)/).map { String($0.output.1) }
      #expect(Set(families).count == families.count, "each family is typed once")

      try bench.server.run("ALTER DATABASE \(bench.south) ALLOW_CONNECTIONS false")
      try bench.endConnections(of: bench.south)
      #expect(try await Self.figure("glucoport_database_up", bench.stand, of: "south") == 0)
      #expect(try await Self.figure("glucoport_database_up", bench.stand) == 1)
      try await bench.stand.storage.check()
      let stranger = Client(bench.stand, as: bench.stand.stranger)
      #expect(try await stranger.push(Sample.history(2)).stored == 2, "others are served")
      try bench.server.run("ALTER DATABASE \(bench.south) ALLOW_CONNECTIONS true")
      #expect(try await Self.figure("glucoport_database_up", bench.stand, of: "south") == 1)
    }
  }

  @Test func labelsOfDatabaseMetricsAreEscaped() {
    var metrics = DatabaseMetrics()
    metrics.add(PoolFigures(), nil, of: "a\"b\\c\nd")
    #expect(metrics.text.hasPrefix("# TYPE glucoport_database_up gauge\n"))
    #expect(metrics.text.contains(#"glucoport_database_up{cluster="a\"b\\c\nd"} 0"#))
  }

  @Test func metricsCountTheTimeThatARequestWaitsForTheLockOfItsLogbook() async throws {
    try await Self.with { stand, copies, database, _ in
      let client = Client(stand)
      try await client.push(Sample.history(1))
      let before = try #require(
        await Self.figure("glucoport_database_lock_seconds_sum{row=\"counter\"}", stand))
      let connection = try DatabaseConnection(DatabaseAddress(copies.server.address(database)))
      try connection.run(
        """
        BEGIN; SELECT set_config('glucoport.logbook', id::text, true) FROM glucoport.logbook WHERE name = 'first';
        SELECT 1 FROM glucoport.counter FOR UPDATE
        """, by: .now + .seconds(60))
      async let waiting = client.push(Sample.history(2))
      let query =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND wait_event_type = 'Lock'"
      while try copies.server.number(query) == 0 {}
      let start = ContinuousClock.now
      for _ in 0..<20 { #expect(try copies.server.number(query) == 1) }
      let waited = (ContinuousClock.now - start) / .seconds(1)
      try connection.run("ROLLBACK", by: .now + .seconds(60))
      #expect(try await waiting.stored == 1)
      let after = try #require(
        await Self.figure("glucoport_database_lock_seconds_sum{row=\"counter\"}", stand))
      #expect(after - before >= waited)
      #expect(try await Self.figure("glucoport_database_lock_timeouts_total", stand) == 0)
    }
  }

  @Test(arguments: [
    ("SELECT 1", "select"), ("SELECT glucoport.erase()", "select erase"),
    ("SELECT id FROM glucoport.login WHERE name = $1 FOR UPDATE", "select login"),
    (
      "SELECT (SELECT tag FROM glucoport.epoch), c.last_seq FROM glucoport.counter c LEFT JOIN glucoport.node n",
      "select counter"
    ),
    (
      "SELECT (SELECT count(*) FROM glucoport.reading) + (SELECT count(*) FROM glucoport.record)",
      "select reading"
    ),
    (
      "INSERT INTO glucoport.record AS r SELECT * FROM glucoport.node ON CONFLICT DO UPDATE SET a = 1",
      "insert record"
    ),
    ("WITH a AS (UPDATE glucoport.counter SET x = 1) UPDATE glucoport.node SET x = 2", "update counter"),
    ("DELETE FROM glucoport.blob_part\nWHERE true", "delete blob_part"), ("", "select"),
  ])
  func eachDatabaseStatementIsCountedUnderItsKind(_ statement: String, _ kind: String) {
    #expect(StatementTimes.kind(of: statement) == kind)
  }
}

extension PostgresMetricsTests {
  private static let lacksRight = ServiceError.busy(
    "the server lacks a right in its database, which its administrator must repair; try again",
    retryAfterSeconds: 30)

  /// If a missing permission were reported as a failure of the server, clients would quarantine every item.
  @Test func withoutADatabasePermissionClientsMustRetryAndOneWarningIsLogged() async throws {
    let warnings = Warnings()
    try await Self.with(warn: warnings.add) {
      stand, copies, database, role in
      let client = Client(stand)
      try await client.push(Sample.history(1))
      #expect(warnings.all.count == 0)
      try copies.server.run("REVOKE INSERT ON glucoport.reading FROM \(role)", in: database)
      for _ in 0..<3 {
        await #expect(throws: Self.lacksRight) { try await client.push(Sample.history(2)) }
      }
      #expect(
        warnings.all == [
          "the database role of the server lacks a right (SQLSTATE 42501); run 'glucoport serve database check' with the address of the server"
        ])
      // Requests that do not need the permission still work. All work again when it is restored.
      #expect(try await client.service.logbook().name == "first")
      try copies.server.run("GRANT INSERT ON glucoport.reading TO \(role)", in: database)
      #expect(try await client.push(Sample.history(2)).stored == 1)

      try copies.server.run("REVOKE SELECT ON glucoport.login FROM \(role)", in: database)
      await #expect(throws: Self.lacksRight) { try await stand.storage.check() }
    }
  }

  @Test func aDatabaseThatRefusesTheRoleIsNamedInTheLog() async throws {
    let warnings = Warnings()
    try await Self.with(warn: warnings.add) {
      stand, copies, database, role in
      try copies.server.run("ALTER ROLE \(role) NOLOGIN")
      try copies.server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)'")
      await #expect(throws: ServiceError.busy(DatabaseError.away, retryAfterSeconds: 2)) {
        try await Client(stand).push(Sample.history(1))
      }
      let line = try #require(warnings.all.first)
      #expect(line.hasPrefix("the database cannot be reached: ") && line.contains("not permitted to log in"))
      try copies.server.run("ALTER ROLE \(role) LOGIN")
    }
  }

  /// For each SQLSTATE: the seconds after which clients retry (nil for a server failure), and whether the log
  /// names the cause.
  private static let outcomes: [(state: String, retrySeconds: Int?, isLogged: Bool)] = [
    ("40001", 1, false), ("40P01", 1, false), ("55P03", 1, false), ("57014", 1, false), ("57P01", 1, false),
    ("08006", 1, false), ("25006", 1, true), ("53100", 1, true), ("53300", 1, true), ("42501", 30, true),
    ("42P01", 30, true), ("3F000", 30, true), ("42703", 30, true), ("42883", 30, true), ("22003", nil, false),
    ("23514", nil, false), ("XX001", nil, false),
  ]

  @Test(arguments: outcomes.indices) func aDatabaseErrorIsAnsweredAsBusyUnlessTheRequestCausedIt(_ index: Int)
  {
    let (state, seconds, isLogged) = Self.outcomes[index]
    let error = DatabaseError.refused(state: state, object: "reading")
    #expect((error.warning != nil) == isLogged)
    #expect(error.warning?.contains(state) != false)
    switch error.serviceError {
    case .busy(let sentence, let retryAfterSeconds):
      #expect(retryAfterSeconds == seconds)
      #expect(sentence.hasSuffix("; try again"))
    case .serverFailure(_, let log):
      #expect(seconds == nil)
      #expect(log.contains(state))
    default: Issue.record("\(error)")
    }
  }

  @Test func aFailureOfTheStorageIsLoggedWithItsReason() {
    let written = Warnings()
    let log = FaultLog(written.add)
    let errors: [ServiceError] = [
      .busy("the storage is busy", retryAfterSeconds: 1),
      .serverFailure("see the log", log: "column 0 is a text"),
      .serverFailure("see the log"), .purged,
    ]
    for error in errors { log.log(error) }
    #expect(written.all == ["column 0 is a text"])
  }

  @Test func aDatabaseWarningIsLoggedAgainOnlyAfterAnInterval() {
    let written = Warnings()
    let log = FaultLog(written.add)
    let start = ContinuousClock.now
    let (right, table) = (
      DatabaseError.refused(state: "42501", object: ""), DatabaseError.refused(state: "42P01", object: "")
    )
    for error in [right, right, table, right, .lost, .unexpected("x")] { log.log(error, at: start) }
    #expect(written.all == [right.warning, table.warning])
    log.log(right, at: start + FaultLog.silence - .nanoseconds(1))
    #expect(written.all.count == 2)
    log.log(right, at: start + FaultLog.silence)
    #expect(written.all.last == right.warning)
    #expect(written.all.count == 3)
  }
}

/// The lines that a storage wrote to its log.
private final class Warnings: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock(\.self) }

  @Sendable func add(_ line: String) { lines.withLock { $0.append(line) } }
}
