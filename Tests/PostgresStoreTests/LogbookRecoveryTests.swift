// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServiceConformance
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests databases that were restored from a backup, or lost their last commits, around the moves of a
/// logbook.
@Suite(.timeLimit(.minutes(10))) struct LogbookRecoveryTests {
  private struct Crash: Error {}

  /// The number of copies that have a reading with this sequence number.
  private static func copiesThatAccept(_ bench: ClusterBench, _ seq: Int64) throws -> Int64 {
    try [bench.home, bench.south].reduce(0) {
      try $0 + bench.server.number("SELECT count(*) FROM glucoport.reading WHERE seq = \(seq)", in: $1)
    }
  }

  /// Sends all readings again, as a client does that lost its position. Returns the server's digests.
  private static func resend(_ bench: ClusterBench, _ count: Int) async throws -> IdentityDigests {
    let run = Client(bench.stand).run
    _ = try await bench.push(Sample.history(count), run)
    return try await bench.send { try await $0.readingDigests(run) }.value
  }

  private static func digests(_ count: Int) -> IdentityDigests {
    var expected = IdentityDigests()
    let batch = Sample.history(count)
    for reading in batch.readings { expected.insert(batch.identity(reading).key) }
    return expected
  }

  /// The whole database with the logins is restored. It contains an old copy of the logbook, which requests
  /// must not reach.
  @Test(arguments: [true, false]) func aDirectoryRestoredFromBeforeAMoveFindsTheCopyInUse(
    _ isComplete: Bool
  ) async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      let backup = try bench.backUp(bench.home)
      do {
        _ = try LogbookMove.run("first", to: "south", in: bench.directory) {
          if !isComplete, $0 == .recorded { throw Crash() }
        }
      } catch is Crash {
        // The interrupted move has not confirmed that the copy in its new cluster is in use. The first
        // request confirms this.
      }
      let position = try await bench.push(Sample.history(5), client.run).position
      try bench.restore(bench.home, backup)
      // No command is needed: the first look-up corrects the directory.
      var run = client.run
      run.lastSeenPosition = position
      #expect(try await bench.send { try await $0.store(Sample.history(6), run) }.value.stored == 1)
      #expect(try bench.count("reading", in: bench.home) == 3)
      #expect(try bench.count("reading", in: bench.south) == 6)
      #expect(try bench.directory.list().first?.cluster == "south")
      #expect(try LogbookRecovery.run(nil, in: bench.directory) == [])
      // The old copy is closed, and can be replaced and removed.
      #expect(try bench.directory.clean("first") == ["default"])
      #expect(try bench.move(to: "default").counts.readings == 6)
    }
  }

  /// The server does not run, so that nothing corrects the directory before a command of the administrator.
  @Test func noCommandReplacesACopyThatTheRestoredDirectoryDoesNotKnow() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      let backup = try bench.backUp(bench.home)
      try bench.move(to: "south")
      _ = try await bench.push(Sample.history(5), client.run)
      try bench.restore(bench.home, backup)
      #expect { try bench.move(to: "south") } throws: { "\($0)".contains("serve logbook recover") }
      #expect { try bench.directory.clean("first") } throws: { "\($0)".contains("serve logbook recover") }
      #expect(try bench.count("reading", in: bench.south) == 5)
      let found = try LogbookRecovery.run("first", in: bench.directory)
      #expect(
        found == [LogbookRecovery.CorrectedLogbook(name: "first", cluster: "south", isReactivated: false)])
      #expect(try await bench.push(Sample.history(6), client.run).stored == 1)
      #expect(try bench.count("reading", in: bench.south) == 6)
    }
  }

  /// Only the database with the directory of logbooks is restored. Since its backup, the logbook moved to
  /// another cluster and back. So it is in the cluster that the restored directory states.
  @Test func aDirectoryRestoredFromBeforeTwoMovesFindsTheCopyInUse() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      try bench.addCluster("north")
      try bench.move(to: "south")
      let backup = try bench.backUp(bench.home)
      try bench.move(to: "north")
      try bench.move(to: "south")
      _ = try await bench.push(Sample.history(5), client.run)
      try bench.restore(bench.home, backup)
      #expect(try await bench.push(Sample.history(6), client.run).stored == 1)
      #expect(try bench.count("reading", in: bench.south) == 6)
      #expect(try await Self.resend(bench, 6) == Self.digests(6))
      #expect(try bench.move(to: "north").counts.readings == 6)
    }
  }

  /// A logbook is moved back to a database, and this database is restored from before the move. So the last
  /// copy of the logbook is lost. The remaining copy is used, although its state is `left`.
  @Test(arguments: [false, true]) func aDirectoryRestoredFromBeforeTheMoveBackUsesTheRemainingCopy(
    _ isFromBeforeBoth: Bool
  ) async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      var backup = isFromBeforeBoth ? try bench.backUp(bench.home) : ""
      try bench.move(to: "south")
      _ = try await bench.push(Sample.history(5), client.run)
      if !isFromBeforeBoth { backup = try bench.backUp(bench.home) }
      try bench.move(to: "default")
      let lost = try await bench.push(Sample.history(9), client.run)
      try bench.restore(bench.home, backup)
      let found = try LogbookRecovery.run(nil, in: bench.directory)
      #expect(
        found == [LogbookRecovery.CorrectedLogbook(name: "first", cluster: "south", isReactivated: true)])
      #expect(try LogbookRecovery.run(nil, in: bench.directory) == [])
      #expect(try bench.directory.list().map(\.cluster) == ["south", "default"])
      // The client notices that its last position is lost, and sends again.
      var run = client.run
      run.lastSeenPosition = lost.position
      await #expect(throws: ServiceError.positionUnknown) {
        _ = try await bench.send { [run] in try await $0.store(Sample.history(9), run) }
      }
      #expect(try await Self.resend(bench, 9) == Self.digests(9))
      #expect(try bench.count("reading", in: bench.south) == 9)
      #expect(try bench.move(to: "default").counts.readings == 9)
      #expect(try await Self.resend(bench, 10) == Self.digests(10))
    }
  }

  @Test func aClusterRestoredFromBeforeAMoveUsesTheRemainingCopyOfTheLogbook() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      let backup = try bench.backUp(bench.south)
      try bench.move(to: "south")
      let lost = try await bench.push(Sample.history(5), client.run)
      let lastly = try bench.backUp(bench.south)
      try bench.restore(bench.south, backup)
      await #expect(throws: ServiceError.self) { _ = try await bench.stand.logbook(bench.login()).logbook() }
      #expect { try bench.directory.list() } throws: { "\($0)".contains("serve logbook recover") }
      let found = try LogbookRecovery.run("first", in: bench.directory)
      #expect(
        found == [LogbookRecovery.CorrectedLogbook(name: "first", cluster: "default", isReactivated: true)])
      #expect(try await Self.resend(bench, 6) == Self.digests(6))
      // If the lost copy comes back, it is not used, and no sequence number is assigned twice.
      try bench.restore(bench.south, lastly)
      #expect(try await bench.push(Sample.history(7), client.run).stored == 1)
      var run = client.run
      run.lastSeenPosition = lost.position
      await #expect(throws: ServiceError.positionUnknown) {
        _ = try await bench.send { [run] in try await $0.store(Sample.history(7), run) }
      }
      #expect(try LogbookRecovery.run(nil, in: bench.directory) == [])
      #expect(try bench.move(to: "south").counts.readings == 7)
    }
  }

  @Test func aCopyOfALogbookThatWasCleanedIsNotUsedAgain() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      let backup = try bench.backUp(bench.south)
      try bench.move(to: "south")
      #expect(try bench.directory.clean("first") == ["default"])
      try bench.restore(bench.south, backup)
      #expect { try LogbookRecovery.run("first", in: bench.directory) } throws: {
        "\($0)".contains("restore the database of the cluster 'south'")
      }
      #expect(throws: Failure.self) { try bench.directory.list() }
    }
  }

  /// During a move, a standby database that lags is promoted: its data are those of the step before, and the
  /// command loses its connections. No acknowledged data are lost, since clients changed nothing meanwhile.
  @Test(arguments: [LogbookMove.Step.copied, .left, .recorded], [true, false])
  func aFailoverDuringAMoveLeavesOneCopyOfTheLogbook(_ step: LogbookMove.Step, _ isHome: Bool) async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(30))
      let database = isHome ? bench.home : bench.south
      let steps = LogbookMove.Step.allCases
      let before = steps[(steps.firstIndex(of: step) ?? 1) - 1]
      func move(until last: LogbookMove.Step) throws {
        do {
          _ = try LogbookMove.run("first", to: "south", in: bench.directory) {
            if $0 == last { throw Crash() }
          }
        } catch is Crash {
          // The command loses its connections, and rolls nothing back.
        }
      }
      try move(until: before)
      let backup = try bench.backUp(database)
      try move(until: step)
      try bench.restore(database, backup)
      let found = try LogbookRecovery.run(nil, in: bench.directory)
      #expect(found.count <= 1)
      #expect(try await bench.push(Sample.history(1, from: 30), client.run).stored == 1)
      #expect(try Self.copiesThatAccept(bench, 31) == 1, "exactly one copy accepted it")
      _ = try bench.move(to: "south")
      #expect(try await Self.resend(bench, 32) == Self.digests(32))
      #expect(try bench.count("reading", in: bench.south) == 32)
      #expect(try bench.directory.list().map(\.cluster) == ["south", "default"])
    }
  }
}
