// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import PostgresStore
import ServiceConformance
import TestPostgres
import Testing

/// Tests a dump that is restored into the database of running servers, with clients that have later changes.
@Suite(.timeLimit(.minutes(10))) struct PostgresRestoreTests {
  /// How the earlier tables are removed, and how the dump is restored.
  private static let ways: [(removal: String, options: [String])] = [
    ("DROP SCHEMA glucoport CASCADE", []),
    (
      """
      DO $$ DECLARE names text; BEGIN
        SELECT string_agg('glucoport.' || relname, ', ') INTO names FROM pg_class
          WHERE relnamespace = 'glucoport'::regnamespace AND relkind IN ('r', 'p');
        EXECUTE 'TRUNCATE ' || names;
      END $$
      """, ["--data-only", "--disable-triggers"]
    ),
  ]

  @Test(arguments: ways.indices) func aClientAheadOfARestoredDatabaseDumpIsInformed(_ index: Int) async throws
  {
    let way = Self.ways[index]
    try await TestDatabases.shared.get().with { copies in
      let name = try copies.copy()
      let bench = StorageBench { _, _ in
        let storage = try PostgresStorage(DatabaseAddress(copies.server.address(name)))
        return OpenStorage(storage, stop: storage.close)
      }
      let folder = try ScratchFolder()
      let stand = try await StoragePlace(bench: bench, folder: folder).start()
      var ahead = Client(stand)
      try await ahead.push(Sample.history(3))
      let dump = folder.path + "/dump"
      try copies.server.runTool("pg_dump", ["--format", "custom", "--file", dump, name])
      ahead.run.lastSeenPosition = try await ahead.push(Sample.history(2, from: 3)).position

      try copies.server.run(way.removal, in: name)
      try copies.server.runTool("pg_restore", ["--dbname", name] + way.options + [dump])
      // The changes of another client get the sequence numbers of the lost changes.
      #expect(try await Client(stand).push(Sample.history(2, device: Sample.meter)).stored == 2)
      await #expect(throws: ServiceError.positionUnknown) { try await ahead.push(Sample.history(1, from: 5)) }
      ahead.run.lastSeenPosition = nil
      #expect(try await ahead.push(Sample.history(5)).stored == 2, "what was lost is stored again")
      try await stand.stop()
    }
  }
}
