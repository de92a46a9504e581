// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests several people on one computer.
@Suite(.timeLimit(.minutes(10)))
struct PersonTests {
  private func run(_ program: Program, _ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  /// Two people with one reading each.
  private func two() async throws -> Program {
    let program = try Program()
    for (name, glucose) in [("anna", "6.1mmol"), ("ben", "110mg/dL")] {
      _ = try await run(program, "person add \(name) --quiet")
      _ = try await run(program, "add \(glucose) --quiet --person \(name) --at 2026-05-06T08:00")
    }
    return program
  }

  @Test func eachPersonHasASeparateStore() async throws {
    let program = try await two()
    #expect(try await run(program, "list --person anna").output.contains("6.1 mmol/L"))
    let byName = try await program.run("list", environment: ["GLUCOPORT_PERSON": "ben"])
    #expect(byName.output.contains("110 mg/dL") && !byName.output.contains("6.1"), "\(byName.output)")
    // The command line takes precedence over the environment. In the environment, a store takes precedence
    // over a person.
    let ben = program.path("data/glucoport/persons/ben.db")
    let both = try await program.run("list", "--person", "anna", "--store", ben)
    #expect(both.status == 64 && both.output == "", "\(both)")
    #expect(both.errors.hasPrefix("Error: --store and --person both choose the store"), "\(both.errors)")
    let variables = try await program.run(
      "list", environment: ["GLUCOPORT_STORE": ben, "GLUCOPORT_PERSON": "anna"])
    #expect(variables.output.contains("110 mg/dL"), "\(variables)")
    let flag = try await program.run("list", "--person", "anna", environment: ["GLUCOPORT_STORE": ben])
    #expect(flag.output.contains("6.1 mmol/L"))
    for path in ["persons.json", "persons/anna.db"] {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: program.path("data/glucoport/" + path))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func withSeveralPersonsACommandNeedsThePersonOption() async throws {
    let program = try await two()
    for line in ["list", "add 45g", "stats", "doctor --deep --against x", "upload --dry-run --store none.db"]
    {
      let status: Int32 = line.contains("none") ? 66 : 64
      let outcome = try await program.run(arguments: line.split(separator: " ").map(String.init))
      #expect(outcome.status == status, "\(line): \(outcome.status) \(outcome.errors)")
    }
    let refused = try await run(program, "list", status: 64)
    #expect(refused.errors.contains("choose anna or ben"), "\(refused.errors)")
    let unknown = try await run(program, "list --person ana", status: 66)
    #expect(unknown.errors.contains("did you mean 'anna'?"), "\(unknown.errors)")
  }

  @Test func aClosedOutputPipeIsNotAFailureWithOnePerson() async throws {
    let program = try Program()
    _ = try await run(program, "person add anna --quiet")
    _ = try await run(program, "add 6.1mmol --quiet --at 2026-05-06T08:00")
    // Under a service manager, SIGPIPE is ignored, so writing to a closed pipe returns an error.
    let closed = try await program.shell(
      """
      trap '' PIPE
      for person in "" "--person anna"; do
        { glucoport backup - --quiet $person; echo $? >status; } | head -c 1 >/dev/null; cat status
      done
      """)
    #expect(closed.output == "0\n0\n" && closed.errors == "", "\(closed)")
  }

  @Test func doctorChecksTheStoreOfEachPerson() async throws {
    let program = try await two()
    let text = try await program.run("doctor").output.split(separator: "\n").map { String($0) }
    #expect(text.filter { $0.hasSuffix(":") } == ["anna:", "ben:"], "\(text)")
    #expect(text.filter { $0.contains("  program: ") }.count == 1)
    #expect(text.filter { $0.hasPrefix("ok    store: a quick check finds no damage") }.count == 2)
    let json = try await program.shell(
      "glucoport doctor --json | jq -r 'select(.check == \"store\").person'; glucoport doctor --json --person ben | jq .person | sort -u"
    )
    #expect(json.output == "anna\nben\nnull\n", "\(json)")
  }

  @Test func namesOfPersonsThatDifferOnlyInCaseAreEqual() async throws {
    let program = try await two()
    let refused = try await run(program, "person add Anna", status: 64)
    #expect(refused.errors.contains("Anna: there is a person of this name"), "\(refused.errors)")
    _ = try await run(program, "person rename ben ANNA", status: 64)
    _ = try await run(program, "person rename anna Anna")
  }

  @Test func withOneOrNoPersonCommandsUseTheDefaultStore() async throws {
    let program = try Program()
    _ = try await run(program, "add 45g --quiet")
    #expect(FileManager.default.fileExists(atPath: program.store))
    #expect(try await run(program, "person list").output.hasPrefix("no persons"))
    let added = try await program.run("person", "add", "anna", "--store", program.store)
    #expect(added.status == 0 && added.errors.isEmpty, "\(added.errors)")
    #expect(try await run(program, "list").output.contains("45 g"))
    #expect(try await run(program, "status").output.hasPrefix(program.store))
  }

  /// Without a person, no command would use the existing store any more, and its jobs would end without a
  /// message.
  @Test func anExistingStoreMustGetAPersonBeforeOtherPersonsAreAdded() async throws {
    let program = try Program()
    _ = try await run(program, "add 45g --quiet")
    let refused = try await run(program, "person add ben", status: 64)
    #expect(refused.errors.contains("is the store of no person yet"), "\(refused.errors)")
    #expect(try await run(program, "person list").output.hasPrefix("no persons"))
    _ = try await run(program, "person add anna --store \(program.store)")
    _ = try await run(program, "person add ben")
  }

  @Test func statusAndBackupIncludeAllPersons() async throws {
    let program = try await two()
    _ = try await run(program, "person add carla --quiet")
    let status = try await run(program, "status")
    let headings = status.output.split(separator: "\n").filter { $0.hasSuffix(":") }
    #expect(headings == ["anna:", "ben:"], "\(status.output)")
    #expect(status.errors == "glucoport: carla: no store yet\n", "\(status.errors)")
    let check = try await run(program, "status --check --quiet --max-backup-age 1d", status: 3)
    #expect(
      check.errors.split(separator: "\n").map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
        == ["glucoport: anna: backup:", "glucoport: ben: backup:"], "\(check.errors)")
    #expect(try await run(program, "backup x.db", status: 64).errors.contains("need a folder"))
    #expect(try await run(program, "status --check --format nagios", status: 64).errors.contains("--person"))
    let folder = program.path("backup")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try await run(program, "backup \(folder) --keep 1 --quiet")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(names.count == 2 && names[0].hasPrefix("anna-") && names[1].hasPrefix("ben-"), "\(names)")
    #expect(try await run(program, "status --check --quiet --max-backup-age 1d").errors.isEmpty)
  }

  /// After a failure for one person, the command runs for the others.
  @Test func aCommandForAllPersonsReturnsTheWorstStatus() async throws {
    let program = try await two()
    try program.write("no database, but far more than nothing", to: "data/glucoport/persons/anna.db")
    for suffix in ["-wal", "-shm"] { unlink(program.path("data/glucoport/persons/anna.db" + suffix)) }
    let status = try await run(program, "status", status: 65)
    #expect(status.errors.hasPrefix("glucoport: anna: "), "\(status.errors)")
    #expect(status.output.contains("ben:") && status.output.contains("1 reading"), "\(status.output)")
    let list = try await run(program, "person list --json").objects()
    #expect(list.map { $0["problem"] is NSNull } == [false, true])
    #expect(list[1]["newest_reading"] as? String == "2026-05-06T08:00:00Z")
  }

  @Test func uploadSkipsPersonsWithoutARemote() async throws {
    let program = try await two()
    let upload = try await run(program, "upload")
    #expect(
      upload.errors.split(separator: "\n").count == 2 && upload.errors.contains("ben: no remote"),
      "\(upload.errors)")
    #expect(try await run(program, "upload --person ben", status: 78).errors.contains("remote"))
  }

  @Test func personsAreAddedRenamedAndRemovedWithValidNames() async throws {
    let program = try await two()
    for name in ["a/b", ".x", "", "anna", "x\u{7}", String(repeating: "x", count: 65)] {
      let outcome = try await program.run("person", "add", name)
      #expect(outcome.status == 64, "\(name): \(outcome.errors)")
    }
    #expect(try await program.run("person", "add", "Änne B.", "--quiet").status == 0)
    _ = try await run(program, "person rename ben benjamin --quiet")
    #expect(try await run(program, "list --person benjamin").output.contains("110 mg/dL"))
    _ = try await run(program, "person rename ben x", status: 66)
    _ = try await run(program, "person rename benjamin anna", status: 64)
    let names = try await run(program, "person list --json").objects().map { $0["name"] as? String }
    #expect(names == ["anna", "benjamin", "Änne B."])
    let removed = try await run(program, "person remove benjamin")
    #expect(removed.output.contains("the store stays at"))
    #expect(FileManager.default.fileExists(atPath: program.path("data/glucoport/persons/ben.db")))
    _ = try await run(program, "person remove benjamin", status: 66)
    // A new person does not get the readings of an earlier person with the same name.
    let again = try await run(program, "person add ben", status: 78)
    let store = program.path("data/glucoport/persons/ben.db")
    #expect(again.errors.contains("person add ben --store \(store)"), "\(again.errors)")
    _ = try await run(program, "person add ben --store \(store) --quiet")
    #expect(try await run(program, "list --person ben").output.contains("110 mg/dL"))
  }

  @Test func simultaneousChangesOfThePersonListAreAllKept() async throws {
    let program = try Program()
    try await withThrowingTaskGroup(of: Int32.self) { group in
      for number in 0..<8 {
        group.addTask { try await program.run("person", "add", "p\(number)", "--quiet").status }
      }
      for try await status in group { #expect(status == 0) }
    }
    #expect(try await run(program, "person list --json").objects().count == 8)
  }

  @Test func aTokenThatIsAFolderOrALinkIsNamedAndNotRemoved() async throws {
    for make in ["mkdir token", "touch real; ln -s real token"] {
      let program = try Program()
      _ = try await run(program, "add 45g --quiet")
      _ = try await program.shell(make)
      try StoreFile(program.store).execute(
        "INSERT INTO remote (id, kind, url, token_file, logbook, logbook_name, node) VALUES "
          + "(1, 'nightscout', 'https://site.invalid', '\(program.path("token"))', 'l', 'n', 'x')")
      let erased = try await run(program, "store erase --confirm logbook.db")
      #expect(erased.output.contains("not reached: \(program.path("token"))"), "\(erased.output)")
      #expect(FileManager.default.fileExists(atPath: program.path("token")))
    }
  }

  @Test func aFolderAssignedToAPersonCannotBeAssignedToAnother() async throws {
    let program = try await two()
    let folder = program.path("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try await run(program, "person assign \(folder) anna --quiet")
    let refused = try await run(program, "person add carla --folder \(folder)", status: 64)
    #expect(refused.errors.contains("a folder of anna"), "\(refused.errors)")
    let list = try await run(program, "person list --json").objects()
    #expect(list.map { ($0["folders"] as? [String])?.count } == [1, 0])
  }

  @Test func aDamagedPersonListIsRefused() async throws {
    let program = try await two()
    for text in ["{", "[]", #"{"persons":[{"name":"x"}]}"#, #"{"persons":[{"name":"x","store":"y"}]}"#] {
      try program.write(text, to: "data/glucoport/persons.json")
      let outcome = try await program.run("person", "list")
      #expect(outcome.status == 65, "\(text): \(outcome.errors)")
    }
  }

  @Test func erasingAPersonLeavesNoData() async throws {
    let program = try await two()
    let marker = "unmistakable-text-of-anna"
    _ = try await program.run("add", "45g", "--note", marker, "--person", "anna", "--quiet")
    let folder = program.path("backup")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try await run(program, "backup \(folder) --quiet")
    _ = try await run(program, "backup \(program.path("changed.db")) --person anna --quiet")
    _ = try await program.shell("printf x >>changed.db")
    // The hard links in `blocks` show whether the content of the erased files was overwritten.
    _ = try await program.shell(
      "mkdir blocks; for f in data/glucoport/persons/anna.db* backup/anna-*; do ln $f blocks/$(basename $f); done"
    )
    #expect(try await !program.shell("grep -rl \(marker) blocks").output.isEmpty)
    _ = try await run(program, "person remove anna --erase", status: 64)
    _ = try await run(program, "person remove anna --erase --confirm ben", status: 64)
    let erased = try await run(program, "person remove anna --erase --confirm anna")
    #expect(erased.output.contains("not reached: \(program.path("changed.db"))"), "\(erased.output)")
    let found = try await program.shell("grep -rl \(marker) . | sort")
    #expect(found.output == "./changed.db\n", "\(found.output)")
    #expect(try await run(program, "person list --json").objects().map { $0["name"] as? String } == ["ben"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { $0.hasPrefix("ben-") })
    let names = try FileManager.default.contentsOfDirectory(atPath: program.path("data/glucoport/persons"))
    #expect(names.allSatisfy { !$0.hasPrefix("anna") }, "\(names)")
    #expect(try await run(program, "list").output.contains("110 mg/dL"))
    let wrong = try await run(program, "store erase --confirm x", status: 64)
    #expect(wrong.errors.hasSuffix(" is expected; nothing was changed here\n"), "\(wrong.errors)")
    _ = try await run(program, "store erase --confirm ben.db")
    #expect(try await run(program, "list", status: 66).errors.contains("ben.db"))
  }

  @Test func anInterruptedErasureOfAPersonCanBeRepeated() async throws {
    let program = try await two()
    let backup = program.path("anna-1.db")
    _ = try await run(program, "backup \(backup) --person anna --quiet")
    // A killed run leaves an overwritten store and the notes of its backups.
    let overwriting = try await program.shell(
      "store=data/glucoport/persons/anna.db; size=$(stat -c %s $store); head -c $size /dev/zero >$store")
    #expect(overwriting.status == 0, "\(overwriting.errors)")
    let erased = try await run(program, "person remove anna --erase --confirm anna")
    #expect(erased.output.contains("removed: \(backup)"), "\(erased.output)")
    #expect(erased.output.contains("the store cannot be read"), "\(erased.output)")
    let names = try FileManager.default.contentsOfDirectory(atPath: program.path("data/glucoport/persons"))
    #expect(names.allSatisfy { !$0.hasPrefix("anna") }, "\(names)")
  }

  @Test func erasingAPersonNamesABackupThatCannotBeRemoved() async throws {
    let program = try await two()
    for name in ["one.db", "two.db", "away.db"] {
      _ = try await run(program, "backup \(program.path(name)) --person anna --quiet")
    }
    _ = try await program.shell("mv one.db moved.db; ln -s moved.db one.db; mv away.db elsewhere.db")
    let erased = try await run(program, "person remove anna --erase --confirm anna")
    #expect(erased.output.contains("not reached: \(program.path("one.db"))"), "\(erased.output)")
    #expect(erased.output.contains("removed: \(program.path("two.db"))"), "\(erased.output)")
    #expect(
      erased.output.contains("not reached: \(program.path("away.db")): no longer there"), "\(erased.output)")
    #expect(!FileManager.default.fileExists(atPath: program.path("data/glucoport/persons/anna.db")))
  }

  @Test func oneStoreBelongsToOnePersonWhateverItsPath() async throws {
    let program = try await two()
    let store = program.path("data/glucoport/persons/anna.db")
    let folder = program.path("data/glucoport/persons")
    _ = try await program.shell("ln -s '\(store)' link.db; ln '\(store)' hard.db")
    for path in [
      "\(folder)//anna.db", "\(folder)/../persons/anna.db", program.path("link.db"), program.path("hard.db"),
    ] {
      let outcome = try await run(program, "person add carl --store \(path)", status: 64)
      #expect(outcome.errors.contains("the store of anna"), "\(outcome.errors)")
    }
  }
}
