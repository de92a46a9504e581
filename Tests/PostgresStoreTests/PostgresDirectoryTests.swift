// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import ServiceConformance
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests the commands for logbooks and clusters, and the rows of logbook copies.
@Suite(.timeLimit(.minutes(10))) struct PostgresDirectoryTests {
  private static var soon: ContinuousClock.Instant { .now + .seconds(60) }

  private static func category(_ error: any Error) -> FailureCategory? { (error as? Failure)?.category }

  @Test func theLogbookListCountsTheContentsOnEveryCluster() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(30))
      try await client.push(Sample.change(Client.uuid(), 1, on: nil, Sample.note("one")))
      let content = AttachmentContent(
        digest: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", size: 1)
      _ = try await client.service.neededAttachments.append(Array("a".utf8), to: content, at: 0, client.run)
      func expectList(_ cluster: String, _ directory: PostgresDirectory) throws {
        #expect(
          try directory.list() == [
            ListedLogbook(name: "first", cluster: cluster, readings: 30, records: 1, contentBytes: 1),
            ListedLogbook(name: "second", cluster: "default", readings: 0, records: 0, contentBytes: 0),
          ])
      }
      try expectList("default", bench.directory)
      #expect(try bench.move(to: "south").source == "default")
      #expect(try bench.move(to: "south").source == nil, "it is there already")
      try expectList("south", bench.directory)
      // The role of the server may also list the logbooks.
      try expectList("south", PostgresDirectory(DatabaseAddress(bench.server.address(bench.home))))
    }
  }

  @Test func cleaningRemovesOnlyLogbookCopiesLeftByMoves() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      let content = AttachmentContent(
        digest: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", size: 1)
      _ = try await client.service.neededAttachments.append(Array("a".utf8), to: content, at: 0, client.run)
      let stale = try await bench.login()
      #expect(try bench.directory.clean("first") == [])
      try bench.move(to: "south")
      #expect(try bench.count("reading", in: bench.home) == 3)
      #expect(try bench.directory.clean("first") == ["default"])
      #expect(try bench.directory.clean("first") == [])
      for table in ["reading", "node", "blob", "blob_part"] {
        #expect(try bench.count(table, in: bench.home) == 0, "\(table)")
        #expect(try bench.count(table, in: bench.south) == 1 + (table == "reading" ? 2 : 0), "\(table)")
      }
      // A request with an outdated login is answered as busy, not as if the logbook had been deleted.
      await #expect { _ = try await bench.stand.logbook(stale).logbook() } throws: { error in
        if case ServiceError.busy = error { true } else { false }
      }
      #expect(try await bench.push(Sample.history(4), client.run).stored == 1)
      try bench.move(to: "default")
      #expect(try bench.directory.clean("first") == ["south"])
      #expect(try await bench.push(Sample.history(5), client.run).stored == 1)
    }
  }

  @Test func anImpossibleMoveOfALogbookIsRefusedBeforeClientsAreAffected() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      #expect { try bench.move("missing", to: "south") } throws: { Self.category($0) == .missingInput }
      #expect { try bench.move(to: "north") } throws: { Self.category($0) == .missingInput }
      let served = try PostgresDirectory(DatabaseAddress(bench.server.address(bench.home)))
      #expect { try LogbookMove.run("first", to: "south", in: served) } throws: {
        Self.category($0) == .permission
      }
      #expect { try served.clean("first") } throws: { Self.category($0) == .permission }
      // The cluster has another logbook with this name.
      let other = try PostgresStorage(DatabaseAddress(bench.server.address(bench.south)))
      try await other.logins.add(name: "a", role: .write, logbook: "first", token: LoginToken("gp_a"), at: 1)
      #expect { try bench.move(to: "south") } throws: { Self.category($0) == .cannotCreate }
      // A cluster accepts no logins for a logbook that was moved to it.
      try bench.move("second", to: "south")
      await #expect {
        try await other.logins.add(
          name: "b", role: .write, logbook: "second", token: LoginToken("gp_b"), at: 1)
      } throws: { Self.category($0) == .cannotCreate }
      try await other.logins.add(name: "c", role: .write, logbook: nil, token: LoginToken("gp_c"), at: 1)
      try await other.close()
      // An export of the directory is refused, since it would lack the logbook that is in the cluster.
      let owner = try DatabaseAddress(bench.server.address(bench.home, as: PostgresServer.owner))
      #expect { try PostgresTransfer(owner).directory() } throws: { Self.category($0) == .usage }
      let guest = try DatabaseAddress(bench.server.address(bench.south, as: PostgresServer.owner))
      #expect(try PostgresTransfer(guest).directory().logbooks.values.sorted() == ["first"])
      #expect(try await client.push(Sample.history(4)).stored == 1)
    }
  }

  @Test func aDatabaseAddressThatCannotServeIsRefusedAsACluster() async throws {
    try await ClusterBench.with { bench in
      let folder = bench.server.folder
      let refusals: [(name: String, address: String, category: FailureCategory)] = [
        ("default", "host=\(folder) dbname=\(bench.south)", .usage),
        ("", "host=\(folder) dbname=\(bench.south)", .usage),
        ("north", "host=\(folder) dbname=\(bench.south) user=\(PostgresServer.owner)", .usage),
        ("north", "host=\(folder) dbname=\(bench.south) password=x", .usage),
        ("north", "host=\(folder) dbname=\(bench.home)", .usage),
        ("north", "host=\(folder) dbname=postgres", .configuration),
        ("north", "host=/nonexistent dbname=x", .unavailable),
      ]
      for refusal in refusals {
        #expect { try bench.directory.addCluster(refusal.name, at: refusal.address) } throws: {
          Self.category($0) == refusal.category
        }
      }
      #expect(try bench.directory.clusters().map(\.name) == ["default", "south"])
      // If a database had two names, a move from one name to the other would overwrite the logbook.
      try bench.directory.addCluster("again", at: "host=\(folder)  dbname=\(bench.south)")
      try await Client(bench.stand).push(Sample.history(3))
      try bench.move(to: "south")
      #expect { try bench.move(to: "again") } throws: { Self.category($0) == .usage }
      #expect(try bench.count("reading", in: bench.south) == 3)
    }
  }

  @Test func aClusterWithWrongPermissionsDoesNotServeLogbooks() async throws {
    try await ClusterBench.with { bench in
      let client = Client(bench.stand)
      try await client.push(Sample.history(3))
      try bench.move(to: "south")
      try bench.server.run("GRANT DELETE ON glucoport.reading TO \(PostgresServer.role)", in: bench.south)
      let service = bench.stand.logbook(try await bench.login())
      await #expect { _ = try await service.logbook() } throws: { error in
        if case ServiceError.serverFailure = error { true } else { false }
      }
      try bench.server.run("REVOKE DELETE ON glucoport.reading FROM \(PostgresServer.role)", in: bench.south)
      #expect(try await service.logbook().name == "first")
      // If the tables of a cluster are missing, the directory stays ready, and logbooks of other clusters are
      // served.
      try bench.server.run("DROP SCHEMA glucoport CASCADE", in: bench.south)
      await #expect { _ = try await service.logbook() } throws: { error in
        if case ServiceError.busy = error { true } else { false }
      }
      try await bench.stand.storage.check()
      #expect(try await Client(bench.stand, as: bench.stand.stranger).push(Sample.history(2)).stored == 2)
    }
  }

  @Test func theStateOfALogbookCopyIsVisibleOnlyInTransactionsOfItsLogbook() async throws {
    try await ClusterBench.with { bench in
      for name in ["first", "second"] { try bench.move(name, to: "south") }
      let connection = try DatabaseConnection(DatabaseAddress(bench.server.address(bench.south)))
      func count() throws -> Int64 {
        try connection.rows("SELECT count(*) FROM glucoport.residence", [], by: Self.soon).integer(0, 0)
      }
      #expect(try count() == 0)
      try connection.run("BEGIN; SET LOCAL glucoport.logbook = '1'", by: Self.soon)
      #expect(try count() == 1)
      try connection.run("COMMIT", by: Self.soon)
    }
  }
}
