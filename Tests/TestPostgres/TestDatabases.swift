// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import PostgresStore
import Synchronization

/// Databases for tests on one server. Each of them is a copy of a prepared database.
package final class TestDatabases: Sendable {
  /// The server for all suites of a process.
  package static let shared: Result<TestDatabases, any Error> = Result {
    // A static value is never deinitialised, so this handler removes the data when the process exits.
    atexit {
      if case .success(let databases) = TestDatabases.shared { databases.server.remove() }
    }
    return try TestDatabases(PostgresServer())
  }

  /// The number of tests with databases at the same time: each has several connections.
  private static let maxTests = 4
  private static let template = "glucoport_template"

  package let server: PostgresServer
  private let number = Mutex(0)
  private let gate = Gate(maxTests)
  /// The SQL option for copying a database. By default, PostgreSQL 15 and later also write each page to their
  /// log, which takes twice the time.
  private let strategy: String

  /// Prepares a database as the owner, with few partitions: copying their files takes most of a test's time.
  package init(_ server: PostgresServer) throws {
    self.server = server
    let version = try server.number("SELECT current_setting('server_version_num')::bigint")
    strategy = version < 150_000 ? "" : "STRATEGY FILE_COPY"
    try server.run("CREATE DATABASE \(Self.template) OWNER \(PostgresServer.owner)")
    let address = try DatabaseAddress(server.address(Self.template, as: PostgresServer.owner))
    _ = try PostgresDatabase(address, partitions: 2).prepare(role: PostgresServer.role, isPreview: false)
  }

  /// Copies a database, which must have no connections; `database` is nil for the prepared database.
  package func copy(of database: String? = nil) throws -> String {
    let name = number.withLock { number in
      number += 1
      return "test_\(number)"
    }
    try server.run("CREATE DATABASE \(name) TEMPLATE \(database ?? Self.template) \(strategy)")
    return name
  }

  /// Replaces a database by a copy of another one, after ending the connections to it.
  package func replace(_ name: String, with database: String) throws {
    try server.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    try server.run("CREATE DATABASE \(name) TEMPLATE \(database) \(strategy)")
  }

  /// Runs a test with copies, and drops them after it.
  package func with<Value>(
    _ body: (_ copies: DatabaseCopies) async throws -> Value
  ) async throws -> Value {
    await gate.enter()
    let copies = DatabaseCopies(self)
    do {
      let value = try await body(copies)
      try copies.drop()
      await gate.leave()
      return value
    } catch {
      await gate.leave()
      throw error
    }
  }
}

/// The databases of one test.
package final class DatabaseCopies: Sendable {
  private let databases: TestDatabases
  private let names = Mutex<[String]>([])

  package var server: PostgresServer { databases.server }

  fileprivate init(_ databases: TestDatabases) { self.databases = databases }

  /// Copies a database, which must have no connections; `database` is nil for the prepared database.
  package func copy(of database: String? = nil) throws -> String {
    let name = try databases.copy(of: database)
    names.withLock { $0.append(name) }
    return name
  }

  /// Replaces a database by a copy of another one, after ending the connections to it.
  package func replace(_ name: String, with database: String) throws {
    try databases.replace(name, with: database)
  }

  fileprivate func drop() throws {
    for name in names.withLock({ $0 }) {
      try databases.server.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }
  }
}

/// Admits a limited number of tasks at the same time, in the order of their arrival.
private actor Gate {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func enter() async {
    if free > 0 {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
