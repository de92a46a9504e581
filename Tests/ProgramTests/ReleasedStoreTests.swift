// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Subprocess
import TestProgram
import Testing

/// Tests stores of earlier versions. A released program of each version wrote the files.
@Suite(.timeLimit(.minutes(10))) struct ReleasedStoreTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/stores").path

  /// The names of the files without their suffix, such as `13`.
  private static var names: [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return (files ?? []).filter { $0.hasSuffix(".db.gz") }.map { String($0.dropLast(6)) }.sorted()
  }

  /// Queries for the rows of the views, whose columns do not change between versions.
  private static let views = """
    SELECT kind, time, device_time, value, unit, marks, withdrawn, vendor, serial FROM readings ORDER BY 1, 2, 4;
    SELECT kind, time, subtype, fields, withdrawn, deleted FROM records ORDER BY 1, 2, 4
    """

  @Test func aSampleStoreExistsForEachReleasedVersion() { #expect(Self.names == ["13"]) }

  @Test(arguments: names)
  func aStoreOfAReleasedVersionIsUpgradedAndShowsTheSameData(_ name: String) async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/\(name).txt", encoding: .utf8)
    let outcome = try await program.shell(
      """
      gunzip -c '\(Self.folder)/\(name).db.gz' >logbook.db && chmod 600 logbook.db && export GLUCOPORT_STORE=$PWD/logbook.db
      glucoport status --json >/dev/null && sqlite3 logbook.db "\(Self.views)"
      """)
    #expect(outcome.status == 0 && outcome.output == expected, "\(outcome.errors)")
    let work = try await program.shell(
      """
      export GLUCOPORT_STORE=$PWD/logbook.db
      printf 'time,glucose (mg/dL)\n2026-09-01T08:00:00Z,100\n' | glucoport import - --kind smbg --quiet; echo $?
      glucoport add 45g --quiet; echo $?; glucoport undo --yes --quiet; echo $?; glucoport undo 1 --quiet; echo $?
      glucoport redo 1 --quiet; echo $?; glucoport doctor --deep >/dev/null; echo $?
      """)
    #expect(
      work.output.split(separator: "\n").prefix(5).joined(separator: " ") == "0 0 0 0 0",
      "\(work.output)\(work.errors)")
    let again = try await program.shell("sqlite3 logbook.db \"\(Self.views)\" | grep -c smbg")
    #expect(again.status == 0)
  }

  /// A shell command that unpacks the fixture to `old.db`.
  private static func unpacked(_ name: String) -> String {
    "gunzip -c '\(folder)/\(name).db.gz' >old.db && chmod 600 old.db && sha256sum old.db >sum"
  }

  @Test(arguments: names)
  func aBackupOfAReleasedVersionIsRestored(_ name: String) async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/\(name).txt", encoding: .utf8)
    let outcome = try await program.shell(
      """
      \(Self.unpacked(name)) && export GLUCOPORT_STORE=$PWD/logbook.db
      glucoport restore old.db --quiet && sqlite3 logbook.db "\(Self.views)" && sha256sum --check --quiet sum
      """)
    #expect(outcome.status == 0 && outcome.output == expected, "\(outcome.errors)")
    // If the present store has more items, the command reports that, and keeps the present store.
    let work = try await program.shell(
      """
      export GLUCOPORT_STORE=$PWD/logbook.db
      glucoport restore old.db --yes
      glucoport add 45g --quiet && glucoport restore old.db --yes 2>&1 >/dev/null
      sqlite3 logbook.db "\(Self.views)" >after
      sqlite3 logbook.db.before-restore "ATTACH 'logbook.db' AS l; SELECT (SELECT count(*) FROM main.record) - count(*) FROM l.record"
      glucoport doctor --deep | grep ^fail; sha256sum --check --quiet sum && ls old.db*
      """)
    #expect(
      work.output == """
        unchanged: \(program.folder.path)/logbook.db has all that the backup has, and nothing else
        1 reading or record of the present store is not in the backup
        1
        old.db

        """, "\(work.errors)")
    #expect(try await program.shell("cat after").output == expected)
  }

  @Test(arguments: names)
  func aStoreOfAReleasedVersionIsMerged(_ name: String) async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/\(name).txt", encoding: .utf8)
    let outcome = try await program.shell(
      """
      \(Self.unpacked(name)) && export GLUCOPORT_STORE=$PWD/logbook.db
      unset GLUCOPORT_TIMEZONE
      glucoport import old.db --quiet && glucoport import old.db --quiet && sqlite3 logbook.db "\(Self.views)"
      glucoport log | grep -c old.db >&2 && glucoport doctor --deep | grep ^fail >&2; sha256sum --check --quiet sum
      """)
    #expect(outcome.status == 0 && outcome.output == expected && outcome.errors == "2\n", "\(outcome.errors)")
  }

  /// An upgrade that is killed leaves the old store or the upgraded one.
  @Test func aKilledUpgradeOfAStoreIsCompleteOrHasNotBegun() async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/13.txt", encoding: .utf8)
    let seed: UInt64 = 20_261_127
    var random = SeededGenerator(seed: seed)
    var versions = Set<String>()
    for round in 0..<16 {
      let prepared = try await program.shell("\(Self.unpacked("13")); rm -f old.db.*")
      #expect(prepared.status == 0)
      let delay = Double.random(in: 0...0.3, using: &random)
      _ = try await program.run("status", "--store", program.path("old.db")) { process in
        try await Task.sleep(for: .seconds(delay))
        // The process may have ended already, so an error is ignored.
        try? process.send(signal: .kill)
      }
      let found = try await program.shell(
        "sqlite3 old.db 'PRAGMA user_version' >version; sqlite3 old.db \"\(Self.views)\"; cat version >&2")
      #expect(found.output == expected, "seed \(seed), round \(round)")
      versions.insert(found.errors)
      let again = try await program.shell(
        "glucoport status --store old.db >/dev/null && sqlite3 old.db 'PRAGMA user_version; PRAGMA integrity_check'"
      )
      #expect(again.output == "17\nok\n", "seed \(seed), round \(round): \(again.errors)")
      let kept = try await program.shell(
        "sqlite3 old.db.before-schema 'PRAGMA user_version' && sqlite3 old.db.before-schema \"\(Self.views)\""
      )
      #expect(kept.output == "13\n" + expected, "seed \(seed), round \(round)")
    }
    #expect(versions.isSubset(of: ["13\n", "17\n"]), "\(versions)")
  }

  /// Another program may have made the file, and its triggers would run during an upgrade.
  @Test func anOlderStoreWithForeignTriggersOrTablesIsRefused() async throws {
    let program = try Program()
    let attempts = [
      // A trigger that the steps of an upgrade would run.
      "CREATE TRIGGER t AFTER UPDATE ON transfer BEGIN DELETE FROM reading; END": 0,
      "DROP TABLE redo": 74,
      "CREATE UNIQUE INDEX i ON record(guid)": 65,
      "CREATE VIEW mine AS SELECT * FROM readings": 0,
    ]
    for (change, status) in attempts {
      for command in ["restore", "import"] {
        let outcome = try await program.shell(
          """
          unset GLUCOPORT_TIMEZONE; \(Self.unpacked("13")); rm -f logbook.db*; export GLUCOPORT_STORE=$PWD/logbook.db
          sqlite3 old.db "\(change)" && timeout 20 glucoport \(command) old.db --quiet; echo $?; ls logbook.db
          test -e logbook.db && sqlite3 logbook.db "SELECT name FROM sqlite_schema WHERE name IN ('t', 'i')"
          """)
        #expect(
          outcome.output == (status == 0 ? "0\nlogbook.db\n" : "\(status)\n"),
          "\(change) \(command) \(outcome.errors)")
      }
    }
  }

  /// Reading a view such as `endless` may never end, neither in a check of the file nor in an upgrade.
  @Test(arguments: ["ingest", "REMOTE", "redo"])
  func anOlderStoreWithAViewInsteadOfATableIsRefused(_ name: String) async throws {
    let program = try Program()
    let endless = """
      DROP TABLE \(name); CREATE VIEW \(name) AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT 1 FROM r)
      SELECT x AS id, x AS outcome, x AS finished_at, x AS url, x AS kind FROM r
      """
    let commands = [
      "restore old.db --store new.db", "import old.db --store new.db", "status --store old.db",
      "list --store old.db",
    ]
    for command in commands {
      let outcome = try await program.shell(
        """
        \(Self.unpacked("13")); sqlite3 old.db "\(endless)"
        timeout --signal KILL 20 glucoport \(command); echo $?; ls new.db; sqlite3 old.db 'PRAGMA user_version'
        """)
      #expect(outcome.output == "74\n13\n", "\(command) \(outcome.errors)")
      #expect(
        outcome.errors.contains("table \(name.lowercased()) is missing or changed"), "\(outcome.errors)")
    }
    let doctor = try await program.shell(
      "timeout --signal KILL 20 glucoport doctor --deep --store old.db; timeout --signal KILL 20 glucoport doctor --store old.db"
    )
    #expect(doctor.status == 74 && doctor.output.contains("table \(name.lowercased())"), "\(doctor)")
  }

  /// An upgrade step that leaves something out, or a released schema that was edited, would be noticed only
  /// when a command needs the missing part.
  @Test(arguments: names)
  func anUpgradedStoreHasTheSchemaOfANewStore(_ name: String) async throws {
    let program = try Program()
    let schema = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"
    let outcome = try await program.shell(
      """
      gunzip -c '\(Self.folder)/\(name).db.gz' >old.db && chmod 600 old.db
      sqlite3 old.db 'PRAGMA user_version'
      glucoport doctor --deep --store old.db | grep ^fail; glucoport status --store old.db >/dev/null && glucoport add 45g --quiet --store created.db
      sqlite3 old.db "\(schema)" >old && sqlite3 created.db "\(schema)" >created
      diff old created >&2 && wc -l <created
      """)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.hasPrefix("\(name)\n"))
  }
}
