// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import ServiceConformance
import TestPostgres
import Testing

@testable import PostgresStore

/// Tests which rows requests read before the tables of a logbook have statistics. Without statistics the
/// planner assumes that the tables are empty.
@Suite(.timeLimit(.minutes(10))) struct PostgresPlanTests {
  @Test func noRequestScansAWholeLogbookWithOutdatedPlannerStatistics() async throws {
    try await TestDatabases.shared.get().with { copies in
      let database = try copies.copy()
      let storages = StorageBench { _, _ in
        let storage = try PostgresStorage(DatabaseAddress(copies.server.address(database)))
        return OpenStorage(storage, stop: storage.close)
      }
      let stand = try await StoragePlace(bench: storages, folder: ScratchFolder()).start()
      for number in 0..<100 {
        try await Client(stand, as: stand.stranger).push(
          Sample.change(Client.uuid(), 1, on: nil, Sample.note("other \(number)")))
      }
      try await Client(stand, as: stand.stranger).push(Sample.history(2000))
      try copies.server.run("ANALYZE", in: database)
      let (client, reader) = (Client(stand), Client(stand, as: stand.reader))
      let changes = (0..<300).map { _ in Sample.change(Client.uuid(), 1, on: nil, Sample.note("own")) }
      try await client.push(Sample.history(3000))
      for first in stride(from: 0, to: 300, by: 100) {
        _ = try await client.service.apply(Array(changes[first..<first + 100]), client.run)
      }
      try await stand.stop()

      let requests = CountedRequests(copies: copies, database: database, login: stand.writer)
      let known = try await requests.rowsRead("reading") {
        try await $0.store(Sample.history(20, from: 1500), client.run).known
      }
      #expect(known.value == 20)
      #expect(known.rows < 100)
      let page = try await requests.rowsRead("reading") {
        try await $0.changes(after: nil, limit: 20, reader.run)?.readings.readings.count
      }
      #expect(page.value == 20)
      #expect(page.rows < 100)
      let digests = try await requests.rowsRead("record") {
        try await $0.neededDigests.records(in: [0, 1], after: nil, reader.run).records.count
      }
      #expect(digests.rows < 1000, "\(digests.value) records in chunks, each once")
      let part = try await requests.rowsRead("record") {
        try await $0.neededParts.changes(of: .records, after: nil, limit: 10, reader.run).records.count
      }
      #expect(part.value == 10)
      #expect(part.rows < 350, "as many as a page can have")
      for table in ["record", "accepted"] {
        let sent = try await requests.rowsRead(table) {
          try await $0.apply(Array(changes[100..<110]), client.run).verdicts.count
        }
        #expect(sent.value == 10)
        #expect(sent.rows < 50)
      }
    }
  }
}

/// Counts the rows that requests of a login read.
private struct CountedRequests {
  let copies: DatabaseCopies
  let database: String
  let login: Login

  private func number(_ query: String) throws -> Int64 { try copies.server.number(query, in: database) }

  /// The number of rows of a table that `work` reads, and the value that it returns.
  func rowsRead<Value>(
    _ table: String, _ work: (any LogbookService) async throws -> Value
  ) async throws -> (rows: Int64, value: Value) {
    let rows = """
      SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int8 FROM pg_stat_user_tables WHERE relname LIKE '\(table)%'
      """
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)'"
    let (before, open) = (try number(rows), try number(connections))
    let storage = try PostgresStorage(DatabaseAddress(copies.server.address(database)))
    let value = try await work(storage.logbook(for: login))
    try await storage.close()
    // A connection reports its counts at the latest when it ends, so this waits until it has ended.
    while try number(connections) > open {}
    return (try number(rows) - before, value)
  }
}
