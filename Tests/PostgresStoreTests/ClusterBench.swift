// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import Synchronization
import TestPostgres
import Testing

@testable import PostgresStore

/// Two databases for logbooks: `home`, which also contains the logins, and `south`, a second cluster.
struct ClusterBench {
  let server: PostgresServer
  let home: String
  let south: String
  let stand: RunningStorage
  private let copies: DatabaseCopies

  static func with(_ body: (ClusterBench) async throws -> Void) async throws {
    try await TestDatabases.shared.get().with { copies in
      let (home, south) = (try copies.copy(), try copies.copy())
      let storages = StorageBench { _, maxContentBytes in
        var quota = LogbookQuota()
        quota.contentBytes = maxContentBytes
        let storage = try PostgresStorage(DatabaseAddress(copies.server.address(home)), quota: quota)
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: storages, folder: ScratchFolder()).start(maxContentBytes: 10)
      let bench = ClusterBench(
        server: copies.server, home: home, south: south, stand: stand, copies: copies)
      try bench.addCluster("south", south)
      try await body(bench)
      try await stand.stop()
    }
  }

  /// The directory of logbooks, opened for commands of the database's owner.
  var directory: PostgresDirectory {
    get throws { try PostgresDirectory(DatabaseAddress(server.address(home, as: PostgresServer.owner))) }
  }

  /// Adds a cluster with this database, or with a new one.
  func addCluster(_ name: String, _ database: String? = nil) throws {
    try directory.addCluster(name, at: "host=\(server.folder) dbname=\(database ?? copies.copy())")
  }

  /// Copies a database. Its connections are ended first, since PostgreSQL copies no database with
  /// connections.
  func backUp(_ database: String) throws -> String {
    try endConnections(of: database)
    return try copies.copy(of: database)
  }

  func endConnections(of database: String) throws {
    let own = "pg_stat_activity WHERE datname = '\(database)'"
    while try server.number("SELECT count(*) FROM \(own)") > 0 {
      try server.run("SELECT pg_terminate_backend(pid) FROM \(own)")
    }
  }

  /// Replaces a database by an earlier copy, which gets the name and the address of the database.
  func restore(_ database: String, _ copy: String) throws { try copies.replace(database, with: copy) }

  /// Looks up the login of a token in the directory.
  func login(_ token: String = "gp_writer", _ storage: (any ServerStorage)? = nil) async throws -> Login {
    try #require(
      try await (storage ?? stand.storage).logins.login(tokenHash: LoginToken(token).hash, at: 100))
  }

  /// Sends a request as a client does: its login is looked up each time, and it is repeated while the server
  /// is busy.
  func send<Value>(
    _ request: (any LogbookService) async throws -> Value
  ) async throws -> (value: Value, attempts: Int) {
    let end = ContinuousClock.now + .seconds(60)
    var attempts = 1
    while true {
      do {
        return (try await request(stand.logbook(login())), attempts)
      } catch ServiceError.busy where ContinuousClock.now < end {
        attempts += 1
      }
    }
  }

  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws -> ReadingAnswer {
    try await send { try await $0.store(batch, run) }.value
  }

  @discardableResult
  func move(_ logbook: String = "first", to cluster: String) throws -> LogbookMove.MoveResult {
    try LogbookMove.run(logbook, to: cluster, in: directory)
  }

  /// The number of rows of a table in a database, over all logbooks.
  func count(_ table: String, in database: String) throws -> Int64 {
    try server.number("SELECT count(*) FROM glucoport.\(table)", in: database)
  }
}

/// A point at which a thread waits until a test releases it.
final class HoldPoint: Sendable {
  private let (reached, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private static let limit = DispatchTimeInterval.seconds(60)

  /// The thread of a command calls this to wait for the test.
  func hold() {
    reached.signal()
    _ = released.wait(timeout: .now() + Self.limit)
  }

  /// Waits until the command has called `hold`; false if it does not within the limit.
  func waitUntilReached() async -> Bool {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [reached] in
        continuation.resume(returning: reached.wait(timeout: .now() + Self.limit) == .success)
      }
    }
  }

  func release() { released.signal() }
}

/// Runs a command on a separate thread, and returns its result.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
