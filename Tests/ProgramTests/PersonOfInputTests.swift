// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests inputs of another person, and the folders of several people.
@Suite(.timeLimit(.minutes(10)))
struct PersonOfInputTests {
  private func run(_ program: Program, _ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  /// An export of Glooko, which states the name above one reading.
  private static func glooko(_ name: String, hour: Int = 8) -> String {
    "Name:\(name),Date Range:3/1/2026 - 3/31/2026\nTimestamp,Glucose Value (mg/dl),Manual Reading,Serial Number\n"
      + "3/25/2026 \(hour):05,112.0,,0000002\n"
  }

  private func program() async throws -> Program {
    let program = try Program()
    try program.write(Self.glooko("Anna Sample"), to: "anna.csv")
    try program.write(Self.glooko("SAMPLE, Anna", hour: 9), to: "again.csv")
    try program.write(Self.glooko("Ben Other", hour: 10), to: "ben.csv")
    try program.write(
      "time,glucose (mg/dL),kind\n2026-03-01T08:00:00Z,100,smbg\n", to: "nameless.csv")
    return program
  }

  private func readings(_ program: Program, _ person: String = "") async throws -> Int {
    let line = "status --json" + (person.isEmpty ? "" : " --person \(person)")
    return try #require(try await run(program, line).objects().first?["readings"] as? Int)
  }

  @Test func anExportOfAnotherPersonIsRefusedAndNothingIsStored() async throws {
    let program = try await program()
    _ = try await run(program, "import --timezone UTC --quiet \(program.path("anna.csv"))")
    _ = try await run(program, "import --quiet \(program.path("again.csv")) \(program.path("nameless.csv"))")
    let refused = try await run(program, "import \(program.path("ben.csv"))", status: 65)
    #expect(
      refused.errors.contains("states another person than import 1 (Glooko, ")
        && refused.errors.contains("nothing was imported") && refused.errors.contains("add --yes"),
      "\(refused.errors)")
    #expect(!refused.errors.contains("Ben") && !refused.errors.contains("Anna"))
    _ = try await run(program, "import --dry-run \(program.path("ben.csv"))", status: 65)
    #expect(try await readings(program) == 3)
    #expect(try await run(program, "log --json").objects().count == 3)
    // Neither names nor their unsalted digests are in the store.
    let found = try await program.shell(
      "for w in anna sample ben other; do s=$(printf %s $w | sha256sum | cut -c 1-32); "
        + "grep -aciE \"$s\" data/glucoport/logbook.db*; done | paste -sd+ | sed 's/.*:0//; s/[0+]//g'")
    #expect(found.output.trimmingCharacters(in: .whitespacesAndNewlines) == "", "\(found.output)")
    // After `--yes`, the store has both names, so later imports with either name need no option.
    _ = try await run(program, "import --yes --quiet \(program.path("ben.csv"))")
    try program.write(Self.glooko("Ben Other", hour: 11), to: "later.csv")
    _ = try await run(program, "import --quiet \(program.path("later.csv")) \(program.path("anna.csv"))")
    #expect(try await readings(program) == 5)
  }

  @Test func anUndoneImportIsIgnoredWhenThePersonOfAnInputIsChecked() async throws {
    let program = try await program()
    _ = try await run(program, "import --timezone UTC --quiet \(program.path("ben.csv"))")
    _ = try await run(program, "import --quiet \(program.path("anna.csv"))", status: 65)
    _ = try await run(program, "undo 1 --quiet")
    _ = try await run(program, "import --quiet \(program.path("anna.csv"))")
    _ = try await run(program, "import --quiet \(program.path("ben.csv"))", status: 65)
    // The digests of the names are not exported.
    #expect(try await !run(program, "export --format ndjson").output.contains("person"))
  }

  @Test func theRefusalOfAnInputNamesThePersonToWhomItBelongs() async throws {
    let program = try await program()
    for name in ["anna", "ben"] {
      _ = try await run(program, "person add \(name) --quiet")
      _ = try await run(
        program, "import --timezone UTC --quiet --person \(name) \(program.path(name + ".csv"))")
    }
    let refused = try await run(program, "import --person anna \(program.path("ben.csv"))", status: 65)
    #expect(refused.errors.contains("'glucoport import --person ben "), "\(refused.errors)")
    // No import has stated a name for the store of a third person so far.
    _ = try await run(program, "person add carla --quiet")
    let third = try await run(program, "import --person carla \(program.path("ben.csv"))", status: 65)
    #expect(third.errors.contains("states the person of ben"), "\(third.errors)")
    _ = try await run(program, "import --timezone UTC --person carla --quiet \(program.path("nameless.csv"))")
    // A store of another person that cannot be read does not prevent an import.
    try program.write("no database, but far more than nothing", to: "data/glucoport/persons/ben.db")
    for suffix in ["-wal", "-shm"] { unlink(program.path("data/glucoport/persons/ben.db" + suffix)) }
    _ = try await run(program, "import --person carla --quiet \(program.path("ben.csv"))")
  }

  /// A sensor brings a new serial number every ten days.
  @Test func aNewSensorSerialNumberIsNotTakenForAnotherPerson() async throws {
    let program = try Program()
    for serial in 1...3 {
      let time = "2026-03-0\(serial)T08:00:00Z"
      try program.write(
        "time,glucose (mg/dL),kind,serial\n\(time),100,cbg,SENSOR\(serial)\n", to: "\(serial).csv")
      let outcome = try await run(program, "import --timezone UTC --quiet \(program.path("\(serial).csv"))")
      #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    }
    #expect(try await readings(program) == 3)
  }

  @Test func aFileWithTheMeterOfAnotherPersonIsRefused() async throws {
    let program = try Program()
    for name in ["anna", "ben"] { _ = try await run(program, "person add \(name) --quiet") }
    _ = try await run(program, "person assign sn-ben ben --quiet")
    func rows(_ serial: String, _ hours: Range<Int>) -> String {
      hours.map { "2026-03-01T\($0 + 10):00:00Z,10\($0),smbg,\(serial)\n" }.joined()
    }
    let head = "time,glucose (mg/dL),kind,serial\n"
    try program.write(head + rows("SN-BEN", 0..<2), to: "ben.csv")
    try program.write(head + rows("SN-ANNA", 2..<4), to: "anna.csv")
    // The rows of Ben's meter come far after the first batch of rows.
    try program.write(
      head
        + (0..<70_000).map { number in
          let (day, minute) = (number / 1440 + 1, number % 1440)
          let date = "2025-0\(day / 28 + 1)-\(day % 28 < 9 ? "0" : "")\(day % 28 + 1)"
          let time =
            "\(minute / 60 < 10 ? "0" : "")\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z"
          return "\(date)T\(time),\(80 + number % 100),smbg,SN-ANNA\n"
        }.joined() + rows("sn-BEN", 4..<5), to: "both.csv")
    // Nothing was imported, so there is no store either.
    let first = try await run(
      program, "import --person anna --timezone UTC \(program.path("ben.csv"))", status: 65)
    #expect(
      first.errors.contains("it has readings of a meter of ben")
        && first.errors.contains("'glucoport import --person ben ")
        && !first.errors.contains("SN-BEN"), "\(first.errors)")
    _ = try await run(program, "status --person anna", status: 66)
    _ = try await run(program, "import --person anna --timezone UTC --quiet \(program.path("anna.csv"))")
    _ = try await run(program, "import --person anna \(program.path("both.csv"))", status: 65)
    let piped = try await program.shell("cat ben.csv | glucoport import --person anna -")
    #expect(piped.status == 65, "\(piped)")
    #expect(try await readings(program, "anna") == 2)
    // These imports are accepted: into the owner's store, and with `--yes`.
    _ = try await run(program, "import --person ben --timezone UTC --quiet \(program.path("ben.csv"))")
    _ = try await run(program, "import --person ben --yes --quiet \(program.path("anna.csv"))")
    #expect(try await readings(program, "ben") == 4)
    _ = try await run(program, "import --person anna --yes --quiet \(program.path("both.csv"))")
    #expect(try await readings(program, "anna") == 70_003)
  }

  @Test func aStoreOrFetchedAnswerWithTheMeterOfAnotherPersonIsRefused() async throws {
    let program = try Program()
    for name in ["anna", "ben"] { _ = try await run(program, "person add \(name) --quiet") }
    _ = try await run(program, "person assign sn-ben ben --quiet")
    for serial in ["sn-ben", "sn-anna"] {
      try program.write(
        "time,glucose (mg/dL),kind,serial\n2026-03-01T10:00:00Z,100,smbg,\(serial)\n", to: "\(serial).csv")
      let file = program.path("\(serial).csv")
      _ = try await run(program, "import --yes --quiet --store \(program.path("\(serial).db")) \(file)")
      _ = try await run(program, "source set \(serial) --type command --yes --person anna -- cat \(file)")
    }
    let merged = try await run(program, "import --person anna \(program.path("sn-ben.db"))", status: 65)
    #expect(merged.errors.contains("it has readings of a meter of ben"), "\(merged.errors)")
    let fetched = try await run(program, "fetch sn-ben --person anna --now", status: 65)
    #expect(fetched.errors.contains("'glucoport person assign'"), "\(fetched.errors)")
    #expect(try await readings(program, "anna") == 0)
    _ = try await run(program, "fetch sn-anna --person anna --now")
    _ = try await run(program, "import --person anna --quiet \(program.path("sn-anna.db"))")
    #expect(try await readings(program, "anna") == 1)
    _ = try await run(program, "import --person anna --yes --quiet \(program.path("sn-ben.db"))")
    #expect(try await readings(program, "anna") == 2)
  }

  @Test func aFolderAssignedToAPersonIsImportedIntoTheStoreOfThatPerson() async throws {
    let program = try await program()
    for name in ["anna", "ben"] {
      let folder = program.path("in/" + name)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      _ = try await run(program, "person add \(name) --folder \(folder) --quiet")
      try program.write(Self.glooko(name == "anna" ? "Anna Sample" : "Ben Other"), to: "in/\(name)/x.csv")
    }
    let both = try await run(
      program, "import --timezone UTC \(program.path("in/anna")) \(program.path("in/ben"))")
    #expect(both.output.contains("anna:") && both.output.contains("ben:"), "\(both.output)")
    #expect(try await [readings(program, "anna"), readings(program, "ben")] == [1, 1])
    // A failure for one person does not stop the import for the other person.
    try program.write(Self.glooko("Ben Other", hour: 11), to: "in/anna/wrong.csv")
    try program.write(Self.glooko("Ben Other", hour: 12), to: "in/ben/y.csv")
    let one = try await run(
      program, "import --quiet \(program.path("in/anna")) \(program.path("in/ben"))", status: 65)
    #expect(
      one.errors.contains("glucoport: anna: ") && !one.errors.contains("glucoport: ben: "), "\(one.errors)")
    #expect(try await [readings(program, "anna"), readings(program, "ben")] == [1, 2])
    // A file outside all assigned folders needs the option `--person`. So does a folder whose path only
    // begins like that of an assigned folder.
    _ = try await run(program, "import \(program.path("anna.csv"))", status: 64)
    try FileManager.default.createDirectory(
      atPath: program.path("in/anna2"), withIntermediateDirectories: true)
    _ = try await run(program, "import \(program.path("in/anna2"))", status: 64)
    _ = try await run(program, "person assign \(program.path("in/anna2")) anna --quiet")
    let list = try await run(program, "person list --json").objects()
    #expect((list[0]["folders"] as? [String])?.count == 2 && (list[1]["folders"] as? [String])?.count == 1)
    _ = try await run(program, "person assign \(program.path("none/x")) anna", status: 66)
  }

  @Test func theReportOfEachPersonShowsTheirName() async throws {
    let program = try await program()
    for name in ["anna", "ben"] {
      _ = try await run(program, "person add \(name) --quiet")
      _ = try await run(
        program, "import --timezone UTC --quiet --person \(name) \(program.path(name + ".csv"))")
    }
    _ = try await program.run("config", "name", "Anna <Sample>", "--person", "anna")
    _ = try await run(program, "config born 1980-05-06 --person anna")
    for value in ["1980-02-30", "2999-01-01", "6.5.1980", "x"] {
      _ = try await run(program, "config born \(value) --person anna", status: 64)
    }
    let folder = program.path("reports")
    _ = try await run(program, "report --all \(folder)", status: 66)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try await run(program, "report --all \(folder) --quiet")
    let pages = try ["anna", "ben"].map {
      try String(contentsOfFile: folder + "/\($0).html", encoding: .utf8)
    }
    #expect(
      pages[0].contains("<title>Anna &lt;Sample&gt; · Glucose report · ")
        && pages[0].contains("1980-05-06"))
    #expect(pages[1].contains("<title>ben · Glucose report · ") && !pages[1].contains("Anna"))
    _ = try await run(program, "report --all \(folder)", status: 73)
    _ = try await run(program, "report --all \(folder) --force --anonymise --quiet")
    let anonymous = try String(contentsOfFile: folder + "/anna.html", encoding: .utf8)
    #expect(!anonymous.contains("Anna") && !anonymous.contains("1980"))
    _ = try await run(program, "report", status: 64)
    _ = try await run(program, "report -o x.html", status: 64)
    // A setting of this computer is in no export.
    #expect(try await !run(program, "export --person anna --format ndjson").output.contains("1980-05-06"))
    _ = try await run(program, "config name none --person anna")
    #expect(try await run(program, "config name --person anna").output == "name none\n")
  }
}
