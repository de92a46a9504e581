// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom
import Subprocess
import TestProgram
import Testing

/// Tests the import of another store: `glucoport import other.db`.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct StoreImportTests {
  private func run(_ program: Program, _ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  private func readings(_ program: Program, _ store: String) async throws -> Int {
    try #require(
      try await run(program, "status --json --store \(store)").objects().first?["readings"] as? Int)
  }

  private func expectSound(_ program: Program, _ store: String) async throws {
    let doctor = try await program.run("doctor", "--deep", "--store", store, "--json")
    let found = try doctor.objects().first { $0["check"] as? String == "store" }
    #expect(["ok", "note"].contains(found?["state"] as? String), "\(doctor.output)")
  }

  @Test func anImportedStoreIsMergedAndThePreviousOneKept() async throws {
    let program = try Program()
    let (one, two) = (program.path("one.db"), program.path("two.db"))
    for (store, time) in [(one, "08:00"), (two, "09:00")] {
      _ = try await run(program, "add 6.1mmol 45g --at 2026-05-06T\(time) --store \(store) --quiet")
    }
    try program.write("hello", to: "hello.txt")
    let note = try await run(program, "record add note x --store \(two) --at 2026-05-06T09:00 --json")
      .objects()
    let guid = try #require(note.first?["guid"] as? String)
    _ = try await run(program, "record attach \(guid) \(program.path("hello.txt")) --store \(two) --quiet")
    let dry = try await run(program, "import \(two) --dry-run --store \(one)")
    #expect(dry.output.contains("nothing was stored"), "\(dry.output)")
    #expect(try await readings(program, one) == 1)
    let merged = try await run(program, "import \(two) --store \(one)")
    #expect(
      merged.output.contains("new 1") && merged.errors.contains(one + ".before-merge"),
      "\(merged.output)\(merged.errors)")
    #expect(try await readings(program, one) == 2)
    #expect(try await readings(program, two) == 1)
    let saved = try await run(program, "record attachments \(guid) --store \(one) --json")
    #expect(saved.output.contains("\"size\":5"), "\(saved.output)")
    let again = try await run(program, "import \(two) --store \(one) --json").objects()
    #expect(again.first?["new"] as? Int == 0 && again.first?["known"] as? Int == 1)
    try await expectSound(program, one)
    _ = try await run(program, "undo 2 --store \(one)", status: 64)
    let last = try await run(program, "undo --yes --store \(one)", status: 64)
    #expect(last.errors.contains(one + ".before-merge…"), "\(last.errors)")
    #expect(try await readings(program, one) == 2)
    _ = try await run(program, "import \(one) --store \(one)", status: 64)
    _ = try await run(program, "import \(two) --format clarity --store \(one)", status: 64)
    // The merge that changed nothing kept no copy.
    #expect(!FileManager.default.fileExists(atPath: one + ".before-merge-2"))
    _ = try await run(program, "restore \(one).before-merge --yes --store \(one) --quiet")
    #expect(try await readings(program, one) == 1)
  }

  /// On a read-only connection, the quick check of SQLite does not check the constraints of tables.
  @Test func anImportedStoreWithInvalidRowsIsRefused() async throws {
    let program = try Program()
    let (mine, other) = (program.path("mine.db"), program.path("other.db"))
    _ = try await run(program, "add 45g --store \(mine) --quiet")
    try program.write("time,glucose (mg/dL)\n2026-05-01T08:00:00,100\n", to: "rows.csv")
    _ = try await run(program, "import \(program.path("rows.csv")) --store \(other) --timezone UTC --quiet")
    try StoreFile(other).execute(
      "PRAGMA ignore_check_constraints = ON; UPDATE ingest SET started_at = -9223372036854775808")
    for command in ["import \(other)", "restore \(other) --yes"] {
      let refused = try await run(program, "\(command) --store \(mine)", status: 74)
      #expect(refused.errors.contains("damaged: rows have values that the store never writes: ingest (1)"))
    }
    #expect(!FileManager.default.fileExists(atPath: mine + ".before-restore"))
    try StoreFile(other).execute("UPDATE ingest SET started_at = 1777615200")
    for command in ["import \(other)", "restore \(other) --yes"] {
      _ = try await run(program, "\(command) --store \(mine)")
    }
  }

  /// A foreign trigger would run with every later entry, and reading a foreign view may never end.
  @Test func anImportedStoreWithAForeignTriggerOrViewIsRefused() async throws {
    let program = try Program()
    let (mine, other) = (program.path("mine.db"), program.path("other.db"))
    for store in [mine, other] { _ = try await run(program, "add 45g --store \(store) --quiet") }
    try StoreFile(other).execute(
      "CREATE TRIGGER extra AFTER INSERT ON record BEGIN DELETE FROM rejection; END")
    for command in ["import \(other)", "restore \(other) --yes"] {
      let refused = try await run(program, "\(command) --store \(mine)", status: 65)
      #expect(
        refused.errors.contains("did not make") && refused.errors.contains("trigger extra"), "\(refused)")
    }
    let doctor = try await program.run("doctor", "--store", other)
    #expect(doctor.output.contains("trigger extra"), "\(doctor)")
    try StoreFile(other).execute(
      """
      DROP TRIGGER extra; PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW setting AS SELECT (WITH RECURSIVE
        n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) AS name, 1 AS value' WHERE name = 'setting'
      """)
    for command in ["import \(other)", "restore \(other) --yes"] {
      let refused = try await run(program, "\(command) --store \(mine)", status: 74)
      #expect(refused.errors.contains("table setting is missing or changed"), "\(refused)")
    }
    #expect(!FileManager.default.fileExists(atPath: mine + ".before-merge"))
    try await expectSound(program, mine)
  }

  @Test func anImportedStoreOfAnotherPersonIsRefused() async throws {
    let program = try Program()
    for (name, value) in [("anna", "6.1mmol"), ("ben", "110mg/dL")] {
      _ = try await run(program, "person add \(name) --quiet")
      _ = try await run(program, "add \(value) --quiet --person \(name) --at 2026-05-06T08:00")
    }
    let ben = program.path("data/glucoport/persons/ben.db")
    let refused = try await run(program, "import \(ben) --person anna", status: 65)
    #expect(
      refused.errors.contains("the store of ben") && refused.errors.contains("--yes"), "\(refused.errors)")
    _ = try await run(program, "backup \(program.path("backup.db")) --person ben --quiet")
    let backup = try await run(program, "import \(program.path("backup.db")) --person anna", status: 65)
    #expect(backup.errors.contains("a backup of ben"), "\(backup.errors)")
    let restored = try await run(
      program, "restore \(program.path("backup.db")) --yes --person anna", status: 65)
    #expect(
      restored.errors.contains("a backup of ben") && restored.errors.contains("--other-person"),
      "\(restored.errors)")
    try FileManager.default.copyItem(atPath: program.path("backup.db"), toPath: program.path("copy.db"))
    // The names in the settings first differ, and then agree.
    _ = try await program.run("config", "name", "Anna Sample", "--person", "anna")
    _ = try await program.run("config", "name", "Ben Other", "--store", program.path("copy.db"))
    _ = try await run(program, "import \(program.path("copy.db")) --person anna", status: 65)
    _ = try await program.run("config", "name", "anna", "--store", program.path("copy.db"))
    _ = try await run(program, "import \(program.path("copy.db")) --person anna --quiet")
    _ = try await run(program, "import \(ben) --person anna --yes --quiet")
  }

  /// Each store has another salt for the digests of names, so the digests of two stores cannot be compared.
  @Test func anImportedStoreWhosePersonCannotBeComparedIsRefused() async throws {
    let program = try Program()
    let (one, two) = (program.path("one.db"), program.path("two.db"))
    for (store, name, hour) in [(one, "Anna Sample", 8), (two, "Ben Other", 10)] {
      try program.write(
        "Name:\(name),Date Range:3/1/2026 - 3/31/2026\n"
          + "Timestamp,Glucose Value (mg/dl),Manual Reading,Serial Number\n3/25/2026 \(hour):05,112.0,,0000002\n",
        to: "export.csv")
      _ = try await run(
        program, "import --timezone UTC --quiet \(program.path("export.csv")) --store \(store)")
    }
    for line in ["import \(one) --store \(two)", "restore \(one) --yes --store \(two)"] {
      let refused = try await run(program, line, status: 65)
      #expect(refused.errors.contains("cannot be compared"), "\(refused.errors)")
    }
    #expect(try await readings(program, two) == 1)
    // After `--yes`, the store has the digests of both persons, so the next import needs no option.
    _ = try await run(program, "import \(one) --yes --quiet --store \(two)")
    _ = try await run(program, "import \(one) --quiet --store \(two)")
    #expect(try await readings(program, two) == 2)
  }

  /// If one person's folder is inside another's, the files of the inner folder are not imported for the owner
  /// of the outer one.
  @Test func anImportForAPersonSkipsTheFolderOfAnotherPerson() async throws {
    let program = try Program()
    for (name, folder, value) in [("anna", "in", 100), ("ben", "in/ben", 200)] {
      try FileManager.default.createDirectory(
        atPath: program.path(folder), withIntermediateDirectories: true)
      _ = try await run(program, "person add \(name) --folder \(program.path(folder)) --quiet")
      try program.write(
        "time,glucose (mg/dL),device\n2026-05-06T08:00:00,\(value),X\n", to: folder + "/a.csv")
    }
    let options = "--kind smbg --timezone UTC"
    let outcome = try await run(program, "import \(program.path("in")) \(options)")
    #expect(outcome.errors.contains("in/ben is left out: it is a folder of ben"), "\(outcome.errors)")
    let anna = try await run(program, "list --person anna --format ndjson")
    #expect(anna.output.contains("100") && !anna.output.contains("200"), "\(anna.output)")
    _ = try await run(program, "import \(program.path("in/ben")) \(options)")
    let ben = try await run(program, "list --person ben --format ndjson")
    #expect(ben.output.contains("200") && !ben.output.contains("100"), "\(ben.output)")
  }

  @Test func anImportOfAFolderForAPersonIncludesThatPersonsFolderInIt() async throws {
    let program = try Program()
    for (name, value) in [("anna", 100), ("ben", 200)] {
      let folder = "in/" + name
      try FileManager.default.createDirectory(
        atPath: program.path(folder), withIntermediateDirectories: true)
      _ = try await run(program, "person add \(name) --folder \(program.path(folder)) --quiet")
      try program.write(
        "time,glucose (mg/dL),device\n2026-05-06T08:00:00,\(value),X\n", to: folder + "/a.csv")
    }
    let outcome = try await run(
      program, "import \(program.path("in")) --person anna --kind smbg --timezone UTC")
    #expect(outcome.errors.contains("in/ben is left out: it is a folder of ben"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("in/anna is left out"), "\(outcome.errors)")
    let anna = try await run(program, "list --person anna --format ndjson")
    #expect(anna.output.contains("100") && !anna.output.contains("200"), "\(anna.output)")
  }

  /// A store in a folder is not an export: a backup among downloads is not merged without a request.
  @Test func anImportOfAFolderSkipsAGlucoportStore() async throws {
    let program = try Program()
    try FileManager.default.createDirectory(atPath: program.path("in"), withIntermediateDirectories: true)
    _ = try await run(program, "add 6.1mmol --at 2026-05-06T08:00 --store \(program.path("in/x.db")) --quiet")
    _ = try await program.run("import", program.path("in"))
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  /// The items of a store already have the zone of their logbook, so the option would have no clear meaning.
  @Test func importingAStoreRefusesTheTimeZoneOption() async throws {
    let program = try Program()
    let (one, two) = (program.path("one.db"), program.path("two.db"))
    try program.write("time,glucose (mg/dL),kind\n2026-03-01T08:00:00Z,100,smbg\n", to: "export.csv")
    _ = try await run(program, "import --quiet \(program.path("export.csv")) --store \(two)")
    let refused = try await run(
      program, "import --timezone Europe/Madrid \(two) --store \(one)", status: 64)
    #expect(
      refused.errors.contains("leave out --timezone; 'glucoport config timezone' sets"), "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: one))
    _ = try await run(program, "import --quiet \(two) --store \(one)")
    #expect(try await readings(program, one) == 1)
    // If people stated different zones, the message names a command, and after this command the import
    // succeeds.
    for (store, zone) in [(one, "Europe/Madrid"), (two, "Asia/Tokyo")] {
      _ = try await run(program, "config timezone \(zone) --store \(store)")
    }
    let differing = try await run(program, "import \(two) --store \(one)", status: 78)
    #expect(differing.errors.contains("'glucoport config timezone'"), "\(differing.errors)")
    _ = try await run(program, "config timezone Asia/Tokyo --store \(one)")
    _ = try await run(program, "import --quiet \(two) --store \(one)")
  }

  @Test func aKilledImportOfAStoreLeavesTheOldOrTheMergedStore() async throws {
    let program = try Program()
    let (one, two, kept) = (program.path("one.db"), program.path("two.db"), program.path("kept.db"))
    for (store, rows) in [(one, 1000), (two, 25_000)] {
      let outcome = try await program.run(
        "import", "-", "--quiet", "--store", store, "--timezone", "UTC",
        input: GeneratedExport.csv(rows: rows))
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    _ = try await run(program, "backup \(kept) --store \(one) --quiet")
    let whole = try await run(program, "import \(two) --store \(one) --quiet")
    #expect(try await readings(program, one) == 25_000)
    let seed: UInt64 = 20_261_128
    var random = SeededGenerator(seed: seed)
    for round in 0..<8 {
      _ = try await run(program, "restore \(kept) --yes --quiet --store \(one)")
      let delay = Double.random(in: 0...whole.seconds * 1.2, using: &random)
      _ = try await program.run("import", two, "--store", one, "--quiet") { process in
        try await Task.sleep(for: .seconds(delay))
        // The process may have ended already, so an error is ignored.
        try? process.send(signal: .kill)
      }
      #expect(try await [1000, 25_000].contains(readings(program, one)), "seed \(seed), round \(round)")
      try await expectSound(program, one)
    }
  }
}
