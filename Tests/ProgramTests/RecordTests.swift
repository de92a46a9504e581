// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport record` as people type it.
@Suite(.timeLimit(.minutes(10)))
struct RecordTests {
  private static let export =
    "time,glucose (mg/dL)\n2026-03-01T08:00:00,110\n2026-03-01T08:05:00,112\n"

  private func add(_ program: Program, _ arguments: String...) async throws -> [String: any Sendable] {
    let outcome = try await program.run(arguments: ["record", "add"] + arguments + ["--json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try #require(try outcome.objects().first)
  }

  private func guid(_ object: [String: any Sendable]) throws -> String {
    try #require(object["guid"] as? String)
  }

  private func show(_ program: Program, _ id: String) async throws -> [String: any Sendable] {
    let outcome = try await program.run("record", "show", id, "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try #require(try outcome.objects().first)
  }

  private func list(_ program: Program, _ arguments: String...) async throws -> [[String: any Sendable]] {
    let outcome = try await program.run(arguments: ["record", "list", "--format", "ndjson"] + arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try outcome.objects()
  }

  @Test func aRecordIsAddedEditedAndDeleted() async throws {
    let program = try Program()
    let added = try await add(
      program, "insulin", "4.5", "U", "--subtype", "rapid", "--note", "dinner", "--at",
      "2026-05-06T18:30:00+02:00")
    let id = try guid(added)
    #expect(added["fields"] as? NSDictionary == ["units": 4.5, "subtype": "rapid", "text": "dinner"])
    #expect(added["time"] as? String == "2026-05-06T16:30:00Z")
    #expect(added["offset_source"] as? String == "stated")
    #expect(added["version"] as? Int == 1)
    #expect(added["version_synced"] as? Int == 0)
    #expect(added["ingest"] is NSNull)

    let edit = try await program.run(
      "record", "edit", id, "5", "--set", "text=", "--at", "2026-05-06T19:00:00Z")
    #expect(edit.output == "edited: 2026-05-06 19:00:00  insulin  5 U · rapid  \(id.prefix(8))\n")
    let edited = try await show(program, id)
    #expect(edited["fields"] as? NSDictionary == ["units": 5, "subtype": "rapid"])
    #expect(edited["version"] as? Int == 2)

    let same = try await program.run("record", "edit", id, "5", "U")
    #expect(same.output.hasPrefix("unchanged: "))
    #expect(try await show(program, id)["version"] as? Int == 2)

    let delete = try await program.run("record", "delete", id, "--quiet")
    #expect(delete.output + delete.errors == "" && delete.status == 0)
    #expect(try await list(program).isEmpty)
    let tombstone = try #require(try await list(program, "--deleted").first)
    #expect(tombstone["fields"] as? NSDictionary == [:])
    #expect(tombstone["time"] as? String == "2026-05-06T19:00:00Z")
    let again = try await program.run("record", "delete", id)
    #expect(again.status == 0 && again.output.hasPrefix("unchanged: "))
    #expect(try await show(program, id)["version"] as? Int == 3)
    let revived = try await program.run("record", "edit", id, "5")
    #expect(revived.status == 66)
    #expect(revived.errors.contains("deleted"), "\(revived.errors)")
  }

  @Test func theFirstRecordCreatesAPrivateStore() async throws {
    let program = try Program()
    let outcome = try await program.run("record", "add", "note", "after", "swimming")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("note     after swimming"))
    #expect(try mode(of: program.store) == 0o600)
    #expect(try mode(of: program.path("data/glucoport")) == 0o700)
    #expect(try await program.run("config", "timezone").status == 0)
  }

  @Test func everyRecordKindIsAddedWithItsAmounts() async throws {
    let program = try Program()
    let adds = [
      ("insulin 12 --subtype long", "12 U · long"), ("food 45 g 300 kcal", "45 g · energy 300"),
      ("food 2.5 servings", "2.5 servings"), ("food 1 servings", "1 serving"),
      ("exercise 1.5 h --set intensity=light", "90 min · intensity light"),
      ("note early --set tags=b,a", "early · a, b"),
    ]
    for (day, (line, expected)) in adds.enumerated() {
      let outcome = try await program.run(
        arguments: ["record", "add", "--at", "2026-05-0\(day + 1)T08:00:00Z"]
          + line.split(separator: " ").map(String.init))
      #expect(outcome.output.contains(expected), "\(outcome.output) \(outcome.errors)")
    }
    #expect(try await list(program).count == 6)
    #expect(try await list(program, "--kind", "food,note").count == 4)
    let table = try await program.run("record", "list", "--limit", "1")
    #expect(table.output.contains("early"))
  }

  @Test func aRecordOfAnEntryIsDeletedWithTheEntry() async throws {
    let program = try Program()
    let entry = try guid(try await add(program, "food", "45"))
    let child = try await add(program, "note", "felt sick", "--entry", String(entry.prefix(6)))
    #expect(child["entry_guid"] as? String == entry)
    let other = try guid(try await add(program, "note", "stays"))
    let nested = try await program.run("record", "add", "note", "x", "--entry", try guid(child))
    #expect(nested.status == 64, "\(nested.errors)")
    let moved = try await program.run("record", "edit", other, "--entry", entry, "--quiet")
    #expect(moved.status == 0, "\(moved.errors)")
    let freed = try await program.run("record", "edit", other, "--entry", "none", "--quiet")
    #expect(freed.status == 0, "\(freed.errors)")

    let delete = try await program.run("record", "delete", entry)
    #expect(delete.output.contains("and 1 that belong to it"), "\(delete.output)")
    #expect(try await list(program).map { $0["guid"] as? String } == [other])
    #expect(try await show(program, try guid(child))["version"] as? Int == 2)
    #expect(try await show(program, entry)["version"] as? Int == 2)
    let late = try await program.run("record", "add", "note", "late", "--entry", entry)
    #expect(late.status == 66)
    #expect(late.errors.contains("deleted"), "\(late.errors)")
  }

  @Test func anAnnotationAddsATextToItsReading() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: Self.export)
    let table = try await program.run("list", "--long").output
    let address = try #require(table.split { $0 == " " || $0.isNewline }.first { $0.hasPrefix("r1.") })
    let added = try await add(program, "annotation", String(address), "--note", "dirty finger")
    let fields = try #require(added["fields"] as? [String: any Sendable])
    #expect((fields["reading"] as? String)?.contains("|smbg|time|") == true, "\(fields)")
    #expect(try await program.run("list", "--kind", "smbg").output.contains(" mg/dL"))
  }

  @Test(arguments: [
    ["add"], ["add", "insulin"], ["add", "insulin", "4,5"], ["add", "insulin", "4", "mg"],
    ["add", "insulin", "4", "--subtype", "fast"], ["add", "soup", "4"], ["add", "attachment", "x"],
    ["add", "note"], ["add", "note", "a", "--note", "b"], ["add", "note", "a", "--at", "soon"],
    ["add", "note", "a", "--exclude"], ["add", "note", "a", "--json", "--quiet"], ["add", "annotation"],
    ["add", "annotation", "r1.smbg.time1.1.0"], ["add", "food", "4", "--set", "units=3"],
    ["edit", "1234"], ["edit"], ["delete"], ["show"], ["list", "--kind", "smbg"],
    ["list", "--format", "nightscout"],
    ["hide"], ["restore"], ["hide", "12345678", "--exclude"],
  ])
  func invalidRecordArgumentsEndWithStatus64AndCreateNothing(arguments: [String]) async throws {
    let program = try Program()
    let outcome = try await program.run(arguments: ["record"] + arguments)
    #expect(outcome.status == 64, "\(outcome.errors)")
    #expect(outcome.output == "" && !outcome.errors.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test(arguments: [
    ["edit", "12345678", "4"], ["delete", "12345678"], ["show", "12345678"], ["list"],
    ["add", "note", "x", "--entry", "12345678"], ["add", "annotation", "r1.smbg.time1.1.0", "--note", "x"],
    ["hide", "12345678"], ["restore", "12345678"],
  ])
  func missingRecordFilesAndItemsEndWithStatus66(arguments: [String]) async throws {
    let program = try Program()
    let missing = try await program.run(arguments: ["record"] + arguments)
    #expect(missing.status == 66, "\(missing.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
    if arguments == ["list"] { return }
    _ = try await add(program, "note", "x")
    let outcome = try await program.run(arguments: ["record"] + arguments)
    #expect(outcome.status == 66, "\(outcome.errors)")
    #expect(try await list(program).count == 1)
  }

  @Test func anEditThatRemovesAllFieldsOfARecordIsRefused() async throws {
    let program = try Program()
    let id = try guid(try await add(program, "note", "x"))
    let outcome = try await program.run("record", "edit", id, "--note", "")
    #expect(outcome.status == 64)
    #expect(try await show(program, id)["version"] as? Int == 1)
  }

  @Test func anAmbiguousRecordIDIsRefused() async throws {
    let program = try Program()
    _ = try await add(program, "note", "x")
    let insert = """
      INSERT INTO record (guid, kind, device_time, utc_offset, offset_source, fields)
      VALUES ('abcd1', 'note', 0, 0, 1, '{}'), ('abcd2', 'note', 0, 0, 1, '{}')
      """
    try StoreFile(program.store).execute(insert)
    for command in [["edit", "abcd", "y"], ["delete", "abcd"], ["show", "abcd"]] {
      #expect(try await program.run(arguments: ["record"] + command).status == 64)
    }
    #expect(try await program.run("record", "delete", "abcd1").status == 0)
    #expect(try await program.run("record", "show", "abc").status == 66)
  }

  @Test func aNoteIsShownWithoutControlCharacters() async throws {
    let program = try Program()
    let text = "a\u{1B}[31m \u{202E}b \"c\" \\ 😀"
    let id = try guid(try await add(program, "note", text))
    #expect(try await show(program, id)["fields"] as? NSDictionary == ["text": text])
    let table = try await program.run("record", "list")
    #expect(!table.output.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
  }

  @Test func aRecordIsUnchangedAfterExportAndImport() async throws {
    let program = try Program()
    let id = try guid(
      try await add(program, "insulin", "4.5", "--note", "x", "--at", "2026-05-06T18:30:00+02:00"))
    let export = try await program.run("export", "--format", "ndjson")
    let other = try Program()
    let imported = try await other.run("import", "-", input: export.output)
    #expect(imported.status == 0, "\(imported.errors)")
    let there = try await show(other, id)
    #expect(there["fields"] as? NSDictionary == ["units": 4.5, "text": "x"])
    #expect(there["time"] as? String == "2026-05-06T16:30:00Z")
  }
}

/// Tests failures while records are changed.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct RecordDurabilityTests {
  @Test func aReportedRecordIsStoredEvenIfTheCommandIsKilled() async throws {
    let program = try Program()
    for round in 1...10 {
      let outcome = try await program.shell(
        """
        rm -f told; glucoport record add note 'round \(round)' >told &
        until [ -s told ]; do :; done; kill -9 $! 2>/dev/null; wait $! 2>/dev/null
        glucoport record list
        """)
      #expect(outcome.output.contains("round \(round)"), "\(outcome.errors)")
      #expect(try StoreFile(program.store).count("record") == round)
      #expect(try StoreFile(program.store).integrity() == "ok")
    }
  }

  @Test func aReportedEditIsStoredAndPendingEvenIfTheCommandIsKilled() async throws {
    let program = try Program()
    let added = try await program.run("record", "add", "note", "round 0", "--json").objects()
    let id = try #require(added.first?["guid"] as? String)
    for round in 1...10 {
      // This sets the state after an upload, so that only the edit makes the record pending.
      try StoreFile(program.store).execute("UPDATE record SET version_synced = version")
      #expect(try StoreFile(program.store).count("queued") == 0)
      let outcome = try await program.shell(
        """
        rm -f told; glucoport record edit \(id) --note 'round \(round)' >told &
        until [ -s told ]; do :; done; kill -9 $! 2>/dev/null; wait $! 2>/dev/null
        glucoport record show \(id)
        """)
      #expect(outcome.output.contains("round \(round)"), "\(outcome.errors)")
      let store = try StoreFile(program.store)
      #expect(try store.count("record WHERE version = \(round + 1) AND version_synced = \(round)") == 1)
      #expect(try store.count("queued WHERE record = '\(id)' AND aspect = 'record'") == 1)
    }
  }

  @Test func anEditKilledAtAnyMomentIsCompleteOrMissing() async throws {
    let program = try Program()
    let added = try await program.run("record", "add", "food", "1", "--note", "1", "--json").objects()
    let id = try #require(added.first?["guid"] as? String)
    // Each edit sets both fields to its number. In each round the edit runs a little longer after it opens
    // the store, and in every fourth round it is not killed.
    let script = """
      for round in $(seq 2 33); do
        glucoport record edit \(id) $round --note $round --quiet & pid=$!
        if [ $((round % 4)) != 0 ]; then
          until [ -e data/glucoport/logbook.db-wal ] || ! kill -0 $pid; do :; done
          for ((step = 0; step < round * 40; step++)); do :; done
          kill -9 $pid
        fi
        wait $pid; glucoport record show \(id) --json
      done 2>/dev/null
      """
    let shown = try await program.shell(script).objects()
    #expect(shown.count == 32)
    var (last, content) = (1, 1)
    for (index, object) in shown.enumerated() {
      let fields = try #require(object["fields"] as? [String: any Sendable])
      let version = try #require(object["version"] as? Int)
      if version == last + 1 { (last, content) = (version, index + 2) }
      #expect(version == last)
      #expect(fields as NSDictionary == ["carbs": content, "text": "\(content)"])
    }
    #expect(last > 8, "nobody killed every fourth edit")
  }

  @Test func twoProcessesEditingOneRecordLoseNothing() async throws {
    let program = try Program()
    let added = try await program.run("record", "add", "food", "1", "--json").objects()
    let id = try #require(added.first?["guid"] as? String)
    let outcome = try await program.shell(
      """
      edit() { for number in $(seq 1 40); do glucoport record edit \(id) --quiet --set $1=$2$number || exit; done; }
      edit fat "" & one=$!; edit text "t" & two=$!
      wait $one && wait $two
      """)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let shown = try #require(try await program.run("record", "show", id, "--json").objects().first)
    #expect(shown["version"] as? Int == 81)
    #expect(shown["fields"] as? NSDictionary == ["carbs": 1, "fat": 40, "text": "t40"])
  }

  @Test func simultaneousEditsAndImportsAllSucceed() async throws {
    let program = try Program()
    let export = try program.write(GeneratedExport.csv(rows: 60_000), to: "all.csv")
    let added = try await program.run("record", "add", "food", "1", "--json").objects()
    let id = try #require(added.first?["guid"] as? String)
    async let imported = program.run("import", export)
    for number in 2...20 {
      let edit = try await program.run("record", "edit", id, "\(number)", "--quiet")
      #expect(edit.status == 0, "\(edit.errors)")
    }
    #expect(try await imported.status == 0)
    let shown = try #require(try await program.run("record", "show", id, "--json").objects().first)
    #expect(shown["version"] as? Int == 20)
    #expect(try StoreFile(program.store).count("reading") == 60_000)
  }

  /// The commands run in a network namespace without interfaces, if the system permits this.
  @Test func everyCommandOnRecordsWorksWithoutANetwork() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      if unshare -rn true 2>/dev/null; then offline="unshare -rn"; fi
      run() { $offline glucoport "$@" || { echo "failed: $*" >&2; exit 1; }; }
      run record add food 45 --json >added
      id=$(grep -o '"guid":"[^"]*' added | cut -d'"' -f4)
      run record edit $id 50; run record show $id; run record list; run record add note x --entry $id
      run list; run show $id; run export >/dev/null; run status; run log; run config; run formats
      run record delete $id
      """)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors == "")
  }

  @Test func addingARecordToAReadOnlyStoreFailsAndChangesNothing() async throws {
    let program = try Program()
    _ = try await program.run("record", "add", "note", "x")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o555], ofItemAtPath: program.path("data/glucoport"))
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: program.store)
    let outcome = try await program.runUnprivileged("record", "add", "note", "y")
    #expect(outcome.status == 77 || outcome.status == 73, "\(outcome.errors)")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: program.path("data/glucoport"))
    #expect(try StoreFile(program.store).count("record") == 1)
  }
}
