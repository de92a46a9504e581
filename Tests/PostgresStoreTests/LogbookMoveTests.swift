// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import Synchronization
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests moving a logbook between databases while clients use it.
@Suite(.timeLimit(.minutes(10))) struct LogbookMoveTests {
  private static let content = AttachmentContent(
    digest: "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603", size: 2)
  private static let other = AttachmentContent(
    digest: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", size: 1)

  private struct Crash: Error {}

  private static func isBusy(_ error: any Error) -> Bool {
    if case ServiceError.busy = error { true } else { false }
  }

  private static func category(_ error: any Error) -> FailureCategory? { (error as? Failure)?.category }

  /// One client uploads and another one downloads, while the logbook is moved between two databases several
  /// times.
  @Test func clientsThatSyncDuringMovesOfTheirLogbookLoseAndRepeatNothing() async throws {
    try await ClusterBench.with { bench in
      let directory = try DatabaseAddress(bench.server.address(bench.home, as: PostgresServer.owner))
      let isMoved = Mutex(false)
      async let moves: Void = onThread {
        defer { isMoved.withLock { $0 = true } }
        for target in ["south", "default", "south"] {
          _ = try LogbookMove.run("first", to: target, in: PostgresDirectory(directory))
        }
      }
      let writer = Client(bench.stand)
      var reader = Client(bench.stand, as: bench.stand.reader)
      var (sent, received) = (0, 0)
      var expected = IdentityDigests()
      while !isMoved.withLock(\.self) || sent < 400 {
        let batch = Sample.history(20, from: sent)
        for reading in batch.readings { expected.insert(batch.identity(reading).key) }
        let answer = try await bench.push(batch, writer.run)
        #expect(answer.stored == 20)
        sent += 20
        let page = try await bench.send { [reader] in
          try await $0.changes(after: reader.cursor, limit: 15, reader.run)
        }.value
        reader.cursor = page?.cursor ?? reader.cursor
        received += page?.readings.readings.count ?? 0
      }
      try await moves
      let last = try await bench.send { [writer] in try await $0.readingDigests(writer.run) }.value
      #expect(last == expected)
      while let page = try await bench.send({ [reader] in
        try await $0.changes(after: reader.cursor, limit: 1000, reader.run)
      }).value {
        reader.cursor = page.cursor
        received += page.readings.readings.count
      }
      #expect(received == sent, "each reading is downloaded once")
      #expect(try bench.directory.list().first?.cluster == "south")
      #expect(try bench.count("reading", in: bench.south) == Int64(sent))
    }
  }

  @Test func aLogbookMovedToAnotherClusterAndBackKeepsItsCompleteState() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.everyShape)
      try await client.push(Sample.history(30))
      let change = Sample.change(
        Client.uuid(), 1, on: nil, Sample.note("one"), node: client.run.node)
      let revision = try await client.revision(change)
      let part = try await client.service.neededAttachments.append(
        Array("a".utf8), to: Self.content, at: 0, client.run)
      #expect(part == .holds(HeldContent(bytes: 1, size: 2)))
      _ = try await client.service.neededAttachments.append(
        Array("a".utf8), to: Self.other, at: 0, client.run)
      // Only the table of accepted changes still contains this change, since another node changed the record
      // after it.
      let later = Sample.change(change.guid, 1, on: revision, Sample.note("two"))
      _ = try await Client(bench.stand).revision(later)
      #expect(try await client.push(change) == [.accepted(revision: revision)])
      let before = try await client.service.logbook()
      let digests = try await client.service.readingDigests(client.run)
      var reader = Client(bench.stand, as: bench.stand.reader)
      _ = try await reader.pull(limit: 10)
      var stale = [try await bench.login()]

      for target in ["south", "default", "south"] {
        let moved = try bench.move(to: target)
        #expect(moved.counts.readings == 30 + Sample.everyShape.readings.count)
        #expect(moved.counts.records == 1 && moved.counts.contentBytes == 2)
        let login = try await bench.login()
        let service = bench.stand.logbook(login)
        #expect(try await service.logbook() == before)
        #expect(try await service.readingDigests(client.run) == digests)
        var run = client.run
        run.lastSeenPosition = before.position
        #expect(try await service.store(Sample.history(30), run).known == 30)
        #expect(try await service.apply([change], run).verdicts == [.accepted(revision: revision)])
        #expect(
          try await service.neededAttachments.heldContent(of: Self.content.digest, run)
            == HeldContent(bytes: 1, size: 2)
        )
        let whole = try await service.neededAttachments.part(of: Self.other.digest, from: 0, limit: 9, run)
        #expect(whole?.bytes == Array("a".utf8))
        let large = AttachmentContent(digest: String(repeating: "0", count: 64), size: 9)
        let refusal = try await service.neededAttachments.append(
          [UInt8](repeating: 1, count: 9), to: large, at: 0, run)
        #expect(refusal == .full("the attachments of this logbook may have 10 bytes together"))
        // A request whose login was looked up before the move changes nothing, whichever copy it reaches.
        for login in stale {
          await #expect { _ = try await bench.stand.logbook(login).store(Sample.history(40), run) } throws: {
            Self.isBusy($0)
          }
          await #expect { _ = try await bench.stand.logbook(login).logbook() } throws: { Self.isBusy($0) }
        }
        stale.append(login)
      }
      let pages = try await bench.send { [reader] in
        try await $0.changes(after: reader.cursor, limit: 1000, reader.run)
      }.value
      #expect(pages?.readings.readings.count == 20 + Sample.everyShape.readings.count)
      let end = try await bench.send { service in
        try await service.neededAttachments.append(Array("b".utf8), to: Self.content, at: 1, client.run)
      }.value
      #expect(end == .holds(HeldContent(bytes: 2, size: 2)))
      let next = try await bench.push(Sample.history(31), client.run)
      #expect(next.stored == 1)
      // The other logbook was not moved, and still accepts readings.
      #expect(try await Client(bench.stand, as: bench.stand.stranger).push(Sample.history(2)).stored == 2)
    }
  }

  /// In this simulated crash the command rolls nothing back: its connections just end.
  @Test(arguments: LogbookMove.Step.allCases)
  func aMoveOfALogbookThatCrashesAtAnyStepLeavesOneWritableCopy(_ step: LogbookMove.Step) async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(30))
      let stale = try await bench.login()
      #expect(throws: Crash.self) {
        try LogbookMove.run("first", to: "south", in: bench.directory) { if $0 == step { throw Crash() } }
      }
      let isMoved = [.left, .recorded].contains(step)
      let answer = try await bench.send { try await $0.store(Sample.history(1, from: 30), client.run) }
      #expect(answer.value.stored == 1)
      let rows = try [bench.home, bench.south].map {
        try bench.server.number("SELECT count(*) FROM glucoport.reading WHERE seq = 31", in: $0)
      }
      #expect(rows == (isMoved ? [0, 1] : [1, 0]), "exactly one copy accepted it")
      if isMoved {
        await #expect {
          _ = try await bench.stand.logbook(stale).store(Sample.history(40), client.run)
        } throws: {
          Self.isBusy($0)
        }
      }
      // The same command finishes the move, and replaces what the crash left.
      #expect(try bench.move(to: "south").source == (isMoved ? nil : "default"))
      #expect(try await bench.push(Sample.history(33), client.run).stored == 2)
      let digests = try await bench.send { try await $0.readingDigests(client.run) }.value
      var expected = IdentityDigests()
      let batch = Sample.history(33)
      for reading in batch.readings { expected.insert(batch.identity(reading).key) }
      #expect(digests == expected)
      #expect(try bench.count("reading", in: bench.south) == 33)
      #expect(try bench.directory.list().map(\.cluster) == ["south", "default"])
      await #expect {
        _ = try await bench.stand.logbook(stale).store(Sample.history(40), client.run)
      } throws: {
        Self.isBusy($0)
      }
      // When the move has finished, the logbook can be moved to another cluster.
      #expect(try bench.move(to: "default").source == "south")
      #expect(try await bench.push(Sample.history(34), client.run).stored == 1)
    }
  }

  @Test func duringAMoveOnlyChangesOfTheMovedLogbookWait() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      var reader = Client(bench.stand, as: bench.stand.reader)
      try await client.push(Sample.history(30))
      _ = try await reader.pull(limit: 10)
      let (open, closed) = (HoldPoint(), HoldPoint())
      let address = try DatabaseAddress(bench.server.address(bench.home, as: PostgresServer.owner))
      async let moved = onThread {
        try LogbookMove.run("first", to: "south", in: PostgresDirectory(address)) { step in
          if step == .copiedMost { open.hold() }
          if step == .closed { closed.hold() }
        }
      }
      #expect(await open.waitUntilReached())
      #expect(try await client.push(Sample.history(31)).stored == 1, "most rows are copied meanwhile")
      #expect { try bench.move(to: "south") } throws: { Self.category($0) == .temporary }
      #expect { try bench.directory.clean("first") } throws: { Self.category($0) == .temporary }
      open.release()
      #expect(await closed.waitUntilReached())
      let busy = ServiceError.busy(
        "the logbook is being moved to another database; try again", retryAfterSeconds: 1)
      await #expect(throws: busy) { try await client.push(Sample.history(32)) }
      await #expect(throws: busy) {
        try await client.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("one")))
      }
      await #expect(throws: busy) {
        _ = try await client.service.neededAttachments.append(
          Array("a".utf8), to: Self.other, at: 0, client.run)
      }
      #expect(try await reader.pullAll().flatMap(\.readings.readings).count == 21)
      #expect(try await Client(bench.stand, as: bench.stand.stranger).push(Sample.history(2)).stored == 2)
      closed.release()
      #expect(try await moved.counts.readings == 31)
      #expect(try await bench.push(Sample.history(32), client.run).stored == 1)
    }
  }

  /// Before the move, another server has looked up the login and the logbook's number in its cluster.
  @Test func aServerThatStillKnowsTheOldClusterOfALogbookWritesNothingThere() async throws {
    try await ClusterBench.with { bench in
      let second = try PostgresStorage(DatabaseAddress(bench.server.address(bench.home)))
      let client = Client(bench.stand)
      let before = try await bench.login("gp_writer", second)
      #expect(try await second.logbook(for: before).store(Sample.history(3), client.run).stored == 3)
      try bench.move(to: "south")
      for count in [4, 5] {
        await #expect {
          _ = try await second.logbook(for: before).store(Sample.history(count), client.run)
        } throws: { Self.isBusy($0) }
      }
      #expect(try bench.count("reading", in: bench.home) == 3)
      let after = try await bench.login("gp_writer", second)
      #expect(try await second.logbook(for: after).store(Sample.history(5), client.run).stored == 2)
      #expect(try bench.count("reading", in: bench.south) == 5)
      // A token that is revoked or replaced is refused by both servers.
      try await second.logins.rotate(name: "reader", token: LoginToken("gp_next"), graceSeconds: 0, at: 10)
      try await second.logins.remove(name: "writer")
      for storage in [bench.stand.storage, second] {
        for token in ["gp_writer", "gp_reader"] {
          #expect(try await storage.logins.login(tokenHash: LoginToken(token).hash, at: 11) == nil)
        }
        let next = try await bench.login("gp_next", storage)
        #expect(next.place.moves == 1 && !next.place.address.isEmpty)
      }
      try await second.close()
    }
  }

  /// A directory from a backup states the cluster in which the logbook was before the move.
  @Test func aDirectoryRestoredFromBeforeAMoveFindsTheMovedLogbook() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      try bench.move(to: "south")
      let reset = "UPDATE glucoport.logbook SET cluster = 'default', moves = 0 WHERE name = 'first'"
      try bench.server.run(reset, in: bench.home)
      let answer = try await bench.send { try await $0.store(Sample.history(4), client.run) }
      #expect(answer.value.stored == 1 && answer.attempts == 2)
      try bench.server.run(reset, in: bench.home)
      #expect(try bench.directory.list().map(\.cluster) == ["south", "default"])
    }
  }

  @Test func deletingALogbookErasesItsCopyOnEveryCluster() async throws {
    try await ClusterBench.with { bench in
      for login in [bench.stand.writer, bench.stand.stranger] {
        let client = Client(bench.stand, as: login)
        try await client.push(Sample.history(3))
        _ = try await client.service.neededAttachments.append(
          Array("a".utf8), to: Self.other, at: 0, client.run)
      }
      for name in ["first", "second"] { try bench.move(name, to: "south") }
      try await bench.stand.purge(bench.login())
      await #expect(throws: ServiceError.purged) { _ = try await bench.login() }
      // The server was killed after it removed the logins of the other logbook.
      try bench.server.run(
        """
        BEGIN; SELECT set_config('glucoport.logbook', id::text, true) FROM glucoport.logbook WHERE name = 'second';
        SELECT glucoport.purge(guid) FROM glucoport.logbook WHERE name = 'second'; COMMIT
        """, in: bench.home)
      for database in [bench.home, bench.south] { #expect(try bench.count("reading", in: database) == 3) }
      try await bench.stand.storage.finishEarlierWork()
      let tables = PostgresSchema.rowsOfCopy + ["counter", "contents", "residence", "logbook"]
      for database in [bench.home, bench.south] {
        for table in tables { #expect(try bench.count(table, in: database) == 0, "\(table) of \(database)") }
      }
    }
  }

  @Test func aLogbookDeletedDuringItsMoveLeavesNoCopy() async throws {
    for step in [LogbookMove.Step.copiedMost, .copied, .left] {
      try await ClusterBench.with { bench in
        try await Client(bench.stand).push(Sample.history(3))
        let login = try await bench.login()
        let hold = HoldPoint()
        let address = try DatabaseAddress(bench.server.address(bench.home, as: PostgresServer.owner))
        async let moved = onThread {
          try LogbookMove.run("first", to: "south", in: PostgresDirectory(address)) {
            if $0 == step { hold.hold() }
          }
        }
        #expect(await hold.waitUntilReached())
        let service = bench.stand.logbook(login)
        let logbook = RemoteLogbook(
          id: login.logbook, name: "first", isWritable: true, maxReadings: 1, maxRecords: 1, position: nil)
        if step == .left {
          await #expect { try await service.neededPurging.purge(logbook) } throws: { Self.isBusy($0) }
          try await bench.stand.purge(bench.login())
        } else {
          try await service.neededPurging.purge(logbook)
        }
        hold.release()
        do {
          _ = try await moved
          Issue.record("the move of a purged logbook ended well")
        } catch {
          #expect(Self.category(error) == .missingInput)
        }
        for database in [bench.home, bench.south] {
          #expect(try bench.count("reading", in: database) == 0, "\(database) after \(step)")
        }
        await #expect(throws: ServiceError.purged) { _ = try await bench.login() }
      }
    }
  }
}
