// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests the order of changes, and the answers while transactions, servers and connections hinder each other.
@Suite(.timeLimit(.minutes(10))) struct PostgresOrderTests {
  /// A storage with three logins, on a separate database.
  private static func with(
    limits: PoolLimits = PoolLimits(),
    _ body: (_ stand: RunningStorage, _ copies: DatabaseCopies, _ database: String) async throws -> Void
  ) async throws {
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let bench = StorageBench { _, _ in
        let storage = try PostgresStorage(DatabaseAddress(copies.server.address(name)), limits: limits)
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: bench, folder: ScratchFolder()).start()
      try await body(stand, copies, name)
      try await stand.stop()
    }
  }

  private static func connection(_ copies: DatabaseCopies, _ database: String) throws -> DatabaseConnection {
    try DatabaseConnection(DatabaseAddress(copies.server.address(database)))
  }

  private static var soon: ContinuousClock.Instant { .now + .seconds(60) }

  /// The writer has assigned sequence numbers, but commits only after the request of the reader.
  @Test func aReaderSeesNoChangeThatFollowsChangesOfAnOpenTransaction() async throws {
    try await Self.with { stand, copies, database in
      let first = Client(stand)
      try await first.push(Sample.history(3))
      var reader = Client(stand, as: stand.reader)
      _ = try await reader.pullAll()
      let connection = try Self.connection(copies, database)
      try connection.run(
        """
        BEGIN; SELECT set_config('glucoport.logbook', id::text, true) FROM glucoport.logbook WHERE name = 'first';
        SELECT 1 FROM glucoport.counter FOR UPDATE;
        INSERT INTO glucoport.reading SELECT logbook, 4, position + 1, device_time + 1, value, threshold, series,
          value_bucket, occurrence, utc_offset, node, marks, offset_source, unit, range_flag
          FROM glucoport.reading WHERE seq = 3;
        UPDATE glucoport.counter SET last_seq = 4
        """, by: Self.soon)
      let other = Client(stand)
      async let later = other.push(Sample.history(1, device: Sample.meter))
      #expect(try await reader.pull() == nil, "the second writer waits, so nothing is visible")
      try connection.run("COMMIT", by: Self.soon)
      #expect(try await later.stored == 1)
      #expect(try await reader.pullAll().flatMap(\.readings.readings).count == 2)
      let last = try await stand.logbook(stand.writer).logbook().position
      #expect(last?.hasPrefix("5.") == true)
    }
  }

  @Test func aDatabaseLockThatIsHeldTooLongIsAnsweredAsBusy() async throws {
    var limits = PoolLimits()
    limits.lockMilliseconds = 50
    try await Self.with(limits: limits) { stand, copies, database in
      let client = Client(stand)
      try await client.push(Sample.history(1))
      let connection = try Self.connection(copies, database)
      try connection.run(
        """
        BEGIN; SELECT set_config('glucoport.logbook', id::text, true) FROM glucoport.logbook WHERE name = 'first';
        SELECT 1 FROM glucoport.counter FOR UPDATE
        """, by: Self.soon)
      await #expect(throws: ServiceError.busy("the storage is busy; try again", retryAfterSeconds: 1)) {
        try await client.push(Sample.history(2))
      }
      // `connection` holds the lock of one logbook. Requests for other logbooks do not wait for it.
      #expect(try await Client(stand, as: stand.stranger).push(Sample.history(2)).stored == 2)
      try connection.run("ROLLBACK", by: Self.soon)
      #expect(try await client.push(Sample.history(2)).stored == 1)
      #expect(
        await stand.storage.metrics().contains(
          "glucoport_database_lock_timeouts_total{cluster=\"default\"} 1\n"))
    }
  }

  @Test func aRequestThatGetsNoDatabaseConnectionInTimeIsAnsweredAsBusy() async throws {
    var limits = PoolLimits()
    limits.connections = 1
    limits.acquireTime = .milliseconds(20)
    try await Self.with(limits: limits) { stand, copies, database in
      let client = Client(stand)
      try await client.push(Sample.history(1))
      let connection = try Self.connection(copies, database)
      try connection.run(
        """
        BEGIN; SELECT set_config('glucoport.logbook', id::text, true) FROM glucoport.logbook WHERE name = 'first';
        SELECT 1 FROM glucoport.counter FOR UPDATE
        """, by: Self.soon)
      async let waiting = client.push(Sample.history(2))
      var isWaiting = false
      while !isWaiting {
        let query =
          "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND wait_event_type = 'Lock'"
        isWaiting = try copies.server.number(query) == 1
      }
      await #expect(throws: ServiceError.self) { _ = try await stand.logbook(stand.stranger).logbook() }
      try connection.run("ROLLBACK", by: Self.soon)
      #expect(try await waiting.stored == 1)
    }
  }

  @Test func withMissingTablesOrTablesOfAnotherVersionTheServerAnswersBusy() async throws {
    try await Self.with { stand, copies, database in
      func isBusy(_ error: any Error) -> Bool {
        if case ServiceError.busy = error { true } else { false }
      }
      try await stand.storage.check()
      try copies.server.run("INSERT INTO glucoport.schema_version VALUES (99)", in: database)
      await #expect { try await stand.storage.check() } throws: { isBusy($0) }
      try copies.server.run("DELETE FROM glucoport.schema_version WHERE version = 99", in: database)
      try await stand.storage.check()
      try copies.server.run("DROP SCHEMA glucoport CASCADE", in: database)
      await #expect { try await stand.storage.check() } throws: { isBusy($0) }
      await #expect { try await Client(stand).push(Sample.history(1)) } throws: { isBusy($0) }
    }
  }

  @Test func aLostDatabaseConnectionIsReplacedUnnoticedByClients() async throws {
    try await Self.with { stand, copies, database in
      let client = Client(stand)
      for count in 1...5 {
        try copies.server.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'")
        #expect(try await client.push(Sample.history(count)).stored == 1)
      }
    }
  }

  /// Two servers use one database. A client sends requests to both of them within one run.
  @Test func clientsThatAlternateBetweenServersNoticeNothing() async throws {
    try await Self.with { stand, copies, database in
      let second = try PostgresStorage(DatabaseAddress(copies.server.address(database)))
      let services = [stand.logbook(stand.writer), second.logbook(for: stand.writer)]
      let run = Client(stand).run
      var expected = IdentityDigests()
      for round in 0..<10 {
        let batch = Sample.history(20, from: round * 20)
        let answer = try await services[round % 2].store(batch, run)
        let seen = try await services[(round + 1) % 2].logbook().position
        #expect(answer.stored == 20 && answer.position == seen)
        for reading in batch.readings { expected.insert(batch.identity(reading).key) }
      }
      var (cursor, found, page) = (String?.none, 0, 0)
      let reader = Client(stand, as: stand.reader).run
      while let next = try await services[page % 2].changes(after: cursor, limit: 7, reader) {
        (cursor, found, page) = (next.cursor, found + next.readings.readings.count, page + 1)
      }
      #expect(found == 200)
      for service in services { #expect(try await service.readingDigests(run) == expected) }
      // A token that one server revokes is refused by the other one.
      try await second.logins.remove(name: "writer")
      #expect(try await stand.storage.logins.login(tokenHash: LoginToken("gp_writer").hash) == nil)
      try await second.close()
    }
  }

  @Test func aPageLinkIsKnownToEveryServerOfADatabase() async throws {
    try await Self.with { stand, copies, database in
      let second = try PostgresStorage(DatabaseAddress(copies.server.address(database)))
      let (links, others) = (try #require(stand.storage.links), try #require(second.links))
      func entry(_ login: String, at time: Int64) -> PageLinkEntry {
        PageLinkEntry(
          tokenHash: LoginToken("gp_\(login)").hash, login: login, logbook: stand.writer.logbook,
          madeAt: time,
          expiresAt: time + 900)
      }
      func add(_ number: UInt8, _ login: String, at time: Int64) async throws {
        try await links.add(
          entry(login, at: time), secretHash: [UInt8](repeating: number, count: 32), maxPerLogin: 2)
      }
      func found(at now: Int64) async throws -> [UInt8] {
        var numbers: [UInt8] = []
        for number in UInt8(1)...4 {
          let secretHash = [UInt8](repeating: number, count: 32)
          if let link = try await others.link(secretHash: secretHash, at: now) {
            numbers.append(number)
            let login = number == 4 ? "reader" : "writer"
            #expect(link == entry(login, at: 100 * Int64(number)))
          }
        }
        return numbers
      }
      for (number, login) in [(1, "writer"), (2, "writer"), (4, "reader")] {
        try await add(UInt8(number), login, at: 100 * Int64(number))
      }
      #expect(try await found(at: 400) == [1, 2, 4])
      #expect(try await found(at: 1000) == [2, 4], "a link ends")
      #expect(try await found(at: 340) == [1, 2, 4], "the other server's clock is a minute behind")
      #expect(try await found(at: 339) == [1, 2])
      try await add(3, "writer", at: 300)
      #expect(try await found(at: 400) == [2, 3, 4], "the oldest one of the login is replaced")
      try await stand.storage.logins.remove(name: "writer")
      #expect(try await found(at: 400) == [4], "a link ends with its login")
      await #expect(throws: ServiceError.self) { try await add(1, "writer", at: 100) }
      try await second.close()
    }
  }

  /// If the first readings of a large batch are known, all its readings are looked up before any are
  /// inserted.
  @Test func aLargeBatchOfMostlyKnownReadingsIsAnsweredLikeASmallOne() async throws {
    try await Self.with { stand, _, _ in
      let client = Client(stand)
      #expect(try await client.push(Sample.history(1200)).stored == 1200)
      var batch = Sample.history(1200)
      for place in [300, 1199] { batch.readings[place].measurement = .low(below: nil, .millimolesPerLitre) }
      let new = Sample.history(2, from: 5000).readings
      batch.readings.insert(contentsOf: new + [new[0]], at: 700)
      var answer = try await client.push(batch)
      #expect(answer.stored == 2 && answer.known == 1201 && answer.differing == [300, 1202])
      #expect(answer.position?.hasPrefix("1902.") == true, "the number is by the place in the batch")
      answer = try await client.push(batch)
      #expect(answer.stored == 0 && answer.known == 1203 && answer.differing == [300, 1202])
      var reader = Client(stand, as: stand.reader)
      #expect(try await reader.pullAll().reduce(0) { $0 + $1.readings.readings.count } == 1202)
    }
  }

  @Test func aTransactionWithASerialisationFailureIsRepeated() async throws {
    try await Self.with { _, copies, database in
      let pool = ConnectionPool(try DatabaseAddress(copies.server.address(database)), PoolLimits())
      let attempts = Counter()
      let value = try await pool.run(.directory) { _ in
        let count = attempts.next()
        if count < 3 { throw DatabaseError.refused(state: count == 1 ? "40001" : "40P01", object: "") }
        return count
      }
      #expect(value == 3)
      #expect(await pool.queue.figures.retries == 2)
      await #expect(throws: ServiceError.busy("the storage is busy; try again", retryAfterSeconds: 1)) {
        try await pool.run(.directory) { _ in throw DatabaseError.refused(state: "40001", object: "") }
      }
      await pool.close()
    }
  }
}

/// A counter for several threads, which starts with 1.
private final class Counter: @unchecked Sendable {
  // Safe: the lock guards the number.
  private let lock = NSLock()
  private var number = 0

  func next() -> Int {
    lock.withLock {
      number += 1
      return number
    }
  }
}
