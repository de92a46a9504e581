// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import SeededRandom
import ServiceConformance
import Synchronization
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests a PostgreSQL server whose processes are killed while clients write.
@Suite(.timeLimit(.minutes(10))) struct PostgresCrashTests {
  private static let batchSize = 40

  /// The number of items that the server acknowledged to a client, and the number of items that the client
  /// sent.
  private struct Progress {
    var acknowledged = 0
    var sent = 0
  }

  @Test func acknowledgedChangesSurviveKilledDatabaseProcesses() async throws {
    var generator = SeededGenerator(seed: 1)
    let server = try PostgresServer()
    try await TestDatabases(server).with { copies in
      let name = try copies.copy()
      let bench = StorageBench { _, _ in
        let storage = try PostgresStorage(DatabaseAddress(server.address(name)))
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: bench, folder: ScratchFolder()).start()
      var reader = Client(stand, as: stand.reader)
      let writer = Client(stand)
      var (progress, read) = (Progress(), 0)
      for _ in 0..<6 {
        let milliseconds = Int.random(in: 1...250, using: &generator)
        let isRunningAgain = Mutex(false)
        async let restart: Void = Self.restart(server, after: .milliseconds(milliseconds), isRunningAgain)
        try await Self.write(&progress, writer) { isRunningAgain.withLock(\.self) }
        try await restart
        let held = try await Self.pulled(&reader)
        read += held
        #expect((progress.acknowledged...progress.sent).contains(read), "each is read once, in any page")
      }
      // The storage recovers without help, and the client sends again what was not acknowledged.
      let answer = try await Self.persistently { try await writer.push(Sample.history(progress.sent)) }
      #expect(answer.stored + answer.known == progress.sent && answer.differing.isEmpty)
      read += try await Self.pulled(&reader)
      #expect(read == progress.sent)
      let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
      #expect(log.components(separatedBy: "database system was not properly shut down").count == 7)
      try await stand.stop()
    }
  }

  /// Writes until a request fails. The error must ask for another attempt. If the crash comes between two
  /// requests, no request fails.
  private static func write(
    _ progress: inout Progress, _ writer: Client, until isOver: () -> Bool
  ) async throws {
    while !isOver() {
      let count = progress.acknowledged + batchSize
      progress.sent = max(progress.sent, count)
      do {
        let batch = Sample.history(batchSize, from: progress.acknowledged)
        let answer = try await writer.push(batch)
        #expect(answer.stored + answer.known == batchSize)
        progress.acknowledged = count
      } catch ServiceError.busy, ServiceError.unavailable {
        return
      }
    }
  }

  private static func restart(
    _ server: PostgresServer, after duration: Duration, _ isRunningAgain: borrowing Mutex<Bool>
  ) async throws {
    defer { isRunningAgain.withLock { $0 = true } }
    try await Task.sleep(for: duration)
    try server.crash()
    try server.start()
  }

  /// Downloads all changes. Returns the number of readings that were not read before.
  private static func pulled(_ reader: inout Client) async throws -> Int {
    var client = reader
    let pages = try await persistently { try await client.pullAll() }
    reader = client
    return pages.reduce(0) { $0 + $1.readings.readings.count }
  }

  /// Repeats the body if it fails, since connections to the killed processes must first be replaced.
  private static func persistently<Value>(_ body: () async throws -> Value) async throws -> Value {
    for _ in 0..<20 {
      do { return try await body() } catch ServiceError.busy, ServiceError.unavailable {}
    }
    return try await body()
  }
}
