// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport undo` and `redo` on the command line.
@Suite(.timeLimit(.minutes(10)))
struct UndoCommandTests {
  private static let rows = "time,glucose\n2026-03-01T08:00:00,12.4\n2026-03-01T08:05:00,15.6\n"

  /// Makes a store with two imports. The second import read its values in the wrong unit.
  private func program() async throws -> Program {
    let program = try Program()
    try program.write(Self.rows, to: "rows.csv")
    let other = "time,glucose (mg/dL)\n2026-02-01T08:00:00,110\n"
    for arguments in [
      ["-", "--timezone", "Europe/Madrid"],
      [program.path("rows.csv"), "--unit", "mg/dL", "--kind", "smbg", "--force"],
    ] {
      let imported = try await program.run(arguments: ["import"] + arguments, input: Array(other.utf8))
      #expect(imported.status == 0, "\(imported.errors)")
    }
    return program
  }

  private func values(_ program: Program) async throws -> [Double] {
    try await program.run("list", "--format", "ndjson").objects().compactMap {
      ($0["value"] as? NSNumber)?.doubleValue
    }
  }

  @Test func anImportWithAWrongUnitIsCorrectedByUndoAndImport() async throws {
    let program = try await program()
    #expect(try await values(program) == [110, 12.4, 15.6])
    let preview = try await program.run("undo", "--dry-run")
    #expect(
      preview.output
        == "import 2: would be undone\n  2 readings would be hidden, 0 of them uploaded\n  preview: nothing was changed\n",
      "\(preview.errors)")
    #expect(try await values(program) == [110, 12.4, 15.6])
    let undone = try await program.run("undo", "2")
    #expect(
      undone.status == 0
        && undone.output == "import 2: undone\n  2 readings hidden, 0 of them uploaded\n")
    #expect(try await values(program) == [110])
    #expect(try await program.run("log").output.contains("rejected 0 · undone\n"))
    #expect(try await program.run("status").output.contains("hidden: 2 readings and 0 records\n"))

    let right = try await program.run(
      "import", program.path("rows.csv"), "--unit", "mmol/L", "--kind", "smbg")
    #expect(right.status == 0 && right.output.contains("new 2"), "\(right.output)")
    #expect(try await program.run("list").output.matches(of: /mmol\/L/).count == 2)
  }

  /// A table that a person wrote, with columns for meals and doses.
  private static let diary = """
    Date,Time,BG,Insulin,Carbs
    2026-03-01,08:00,110,4,45
    2026-03-01,12:30,142,6,60
    2026-03-02,08:05,98,4,40

    """

  @Test(arguments: [
    ("carbs=Insulin", "carbs=Carbs", 145.0), ("carbs=Carbs", "carbs=Carbs,insulin=Insulin", 145),
  ])
  func aTableImportedWithOtherColumnsAfterAnUndoIsShown(
    _ wrong: String, _ right: String, _ grams: Double
  ) async throws {
    let program = try Program()
    try program.write(Self.diary, to: "diary.csv")
    func bring(_ columns: String) async throws -> Program.Outcome {
      try await program.run(
        "import", program.path("diary.csv"), "--quiet", "--timezone", "Europe/Madrid", "--map",
        "date=Date,clock=Time,value=BG," + columns)
    }
    #expect(try await bring(wrong).status == 0)
    #expect(try await program.run("undo", "--yes").status == 0)
    // The same import is repeated, as a nightly job may do. This import shows none of the undone readings
    // again.
    #expect(try await bring(wrong).status == 0)
    #expect(try await values(program) == [])
    let outcome = try await bring(right)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try await values(program) == [110, 142, 98])
    let meals = try await program.run("list", "--kind", "food", "--format", "ndjson").objects()
    let carbs = meals.compactMap { (($0["fields"] as? [String: Any])?["carbs"] as? NSNumber)?.doubleValue }
    #expect(carbs.reduce(0, +) == grams && carbs.count == 3, "\(carbs)")
  }

  @Test func aTableImportedForAnotherDeviceAfterAnUndoIsShown() async throws {
    let program = try Program()
    try program.write(Self.diary, to: "diary.csv")
    let columns = "date=Date,clock=Time,value=BG,insulin=Insulin,carbs=Carbs"
    for device in ["Anna", "Contour"] {
      let outcome = try await program.run(
        "import", program.path("diary.csv"), "--quiet", "--timezone", "Europe/Madrid", "--map", columns,
        "--device", device)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try await program.run("list", "--format", "ndjson").objects().count == 9, "\(device)")
      if device == "Anna" { #expect(try await program.run("undo", "--yes").status == 0) }
    }
  }

  @Test func undoAsksForConfirmation() async throws {
    let program = try await program()
    let asked = try await program.shell("echo n | script -qec 'glucoport undo' /dev/null")
    #expect(asked.output.contains("import 2: would be undone"), "\(asked)")
    #expect(asked.output.contains("2 readings would be hidden"))
    #expect(!asked.output.contains("preview") && asked.output.contains("nothing was undone"))
    #expect(try await values(program) == [110, 12.4, 15.6])
  }

  @Test func undoOfAnImportWhoseReadingsStayVisibleIsReported() async throws {
    let program = try await program()
    try program.write(Self.rows + "\n", to: "copy.csv")
    let copy = ["import", program.path("copy.csv"), "--unit", "mg/dL", "--kind", "smbg", "--force"]
    #expect(try await program.run(arguments: copy).output.contains("new 0 · known 2"))
    let undone = try await program.run("undo", "3")
    #expect(
      undone.status == 0
        && undone.output.hasSuffix("  other imports brought the same, or it is hidden already\n"), "\(undone)"
    )
    try program.write("time,glucose (mg/dL)\nno time,no value\n", to: "nothing.csv")
    _ = try await program.run("import", program.path("nothing.csv"), "--kind", "smbg")
    let nothing = try await program.run("undo", "4")
    #expect(nothing.status == 0, "\(nothing)")
    #expect(nothing.output == "import 4: it brought nothing, so there is nothing to undo\n")
    #expect(try await values(program) == [110, 12.4, 15.6])
  }

  @Test func statusNamesPendingTimeZonesAndUndos() async throws {
    let program = try await program()
    #expect(try await program.run("undo", "2", "--quiet").status == 0)
    let status = try await program.run("status").output
    #expect(status.contains("0 records, 0 pending\n"), "\(status)")
    #expect(status.contains("changes of what is hidden: 1 pending\n"), "\(status)")
    #expect(try await program.run("record", "add", "note", "x", "--quiet").status == 0)
    #expect(try await program.run("status").output.contains("1 record, 1 pending\n"))
  }

  @Test func anUndoThatLeavesOutTooLargeChangesEndsWithStatus3() async throws {
    let program = try Program()
    let long = String(repeating: "x", count: 120_000)
    func diary(_ carbs: Int) -> String {
      """
      {"item":"record","guid":"00000000-0000-4000-8000-000000000001","kind":"food","device_time":"2026-03-01T08:00:00",\
      "utc_offset":"+01:00","offset_source":"stated","entry_guid":null,"deleted":false,"edited_at":null,"fields":{"carbs":\(carbs),"text":"\(long)"}}

      """
    }
    try program.write(diary(10), to: "one.ndjson")
    try program.write(diary(20), to: "two.ndjson")
    let outcome = try await program.shell(
      """
      touch -d 2026-03-02 one.ndjson; touch -d 2026-03-03 two.ndjson
      glucoport import one.ndjson --timezone Europe/Madrid --quiet || exit; glucoport import two.ndjson --quiet || exit
      glucoport undo 2 --dry-run; echo $?; glucoport undo 2 --json | jq -c '[.large_records, .changed_records]'
      """)
    #expect(outcome.output.contains("1 record keeps the content of the import"), "\(outcome)")
    #expect(outcome.output.contains("00000000-0000-4000-8000-000000000001"))
    #expect(outcome.output.contains("\n3\n"))
    #expect(outcome.output.hasSuffix("[[\"00000000-0000-4000-8000-000000000001\"],0]\n"))
  }

  @Test func anUndoneFileImportedWithoutTheAgainOptionStaysHidden() async throws {
    let program = try await program()
    _ = try await program.run("undo", "2", "--quiet")
    let arguments = ["import", program.path("rows.csv"), "--unit", "mg/dL", "--kind", "smbg", "--force"]
    let same = try await program.run(arguments: arguments)
    #expect(same.output.contains("new 0 · known 2 · hidden 2"), "\(same.output)")
    #expect(same.output.contains("--again"))
    #expect(try await values(program) == [110])
    let again = try await program.run(arguments: arguments + ["--again", "--json"]).objects().first
    #expect(again?["withdrawn"] as? Int == 0 && again?["restored"] as? Int == 2)
    #expect(try await values(program) == [110, 12.4, 15.6])
    #expect(try await program.run("log", "--json").objects().allSatisfy { $0["undone"] as? Bool == false })
  }

  @Test func theRecordsOfAnUndoneFileThatStayHiddenAreCounted() async throws {
    let program = try Program()
    try program.write(Self.diary, to: "diary.csv")
    let arguments = [
      "import", program.path("diary.csv"), "--timezone", "Europe/Madrid", "--map",
      "date=Date,clock=Time,carbs=Carbs",
    ]
    #expect(try await program.run(arguments: arguments).status == 0)
    #expect(try await program.run("undo", "1").status == 0)
    let undone = try await program.run(arguments: arguments)
    #expect(undone.output.contains("records: new 0 · known 3 · hidden 3"), "\(undone.output)")
    #expect(
      undone.output.contains("hidden items stay hidden; to show those of an undone import again: --again"))
    let shown = try await program.run(arguments: arguments + ["--again"])
    #expect(shown.output.contains("known 3") && !shown.output.contains("hidden"), "\(shown.output)")
  }

  @Test func aRepeatedUndoChangesNothingAndRedoRestores() async throws {
    let program = try await program()
    let first = try await program.run("undo", "2", "--json").objects().first
    #expect(first?["undone"] as? Bool == true && first?["readings"] as? Int == 2)
    let second = try await program.run("undo", "2")
    #expect(second.status == 0)
    #expect(second.output == "import 2: it is undone already; 'glucoport redo 2' shows it again\n")
    #expect(try await values(program) == [110])
    let redone = try await program.run("redo", "2")
    #expect(
      redone.status == 0
        && redone.output == "import 2: redone\n  2 readings shown again, 0 of them uploaded\n")
    #expect(try await values(program) == [110, 12.4, 15.6])
    let again = try await program.run("redo", "2", "--json").objects().first
    #expect(again?["undone"] as? Bool == false && again?["already"] as? Bool == true)
    #expect(try await program.run("redo", "2").output.contains("it is not undone"))
  }

  @Test func withoutANumberUndoGoesBackAndRedoGoesForward() async throws {
    let program = try await program()
    let added = try await program.run("record", "add", "food", "45", "g", "--note", "soup", "--json")
      .objects()
    let guid = try #require(added.first?["guid"] as? String)
    func food() async throws -> [Double] {
      try await program.run("record", "list", "--format", "ndjson").objects().compactMap {
        (($0["fields"] as? [String: Any])?["carbs"] as? NSNumber)?.doubleValue
      }
    }
    #expect(try await program.run("record", "edit", guid, "50", "g", "--quiet").status == 0)
    #expect(try await program.run("record", "delete", guid, "--yes", "--quiet").status == 0)
    #expect(try await food() == [])
    let listed = try await program.run("log").output.split(separator: "\n").map(String.init)
    #expect(listed.count == 5 && listed[0].contains("deleted food 50 g · soup"), "\(listed)")
    #expect(listed[1].contains("edited food") && listed[2].contains("added food 45 g · soup"))
    let undone = try await program.run("undo", "--yes")
    #expect(undone.output == "undone: deleted food 50 g · soup  \(guid.prefix(8))\n", "\(undone.errors)")
    #expect(try await food() == [50])
    #expect(try await program.run("undo", "--yes", "--quiet").status == 0)
    #expect(try await food() == [45])
    #expect(try await program.run("undo", "--yes").output.hasPrefix("undone: added food 45 g"))
    #expect(try await food() == [])
    #expect(try await program.run("undo", "--yes").output.hasPrefix("import 2: undone"))
    #expect(try await program.run("redo", "--yes").output.hasPrefix("import 2: redone"))
    #expect(try await program.run("redo", "--yes").output.hasPrefix("redone: added food 45 g"))
    let edited = try await program.run("redo", "--yes", "--json").objects().first
    #expect(edited?["action"] as? String == "edit" && edited?["records"] as? [String] == [guid])
    #expect(try await food() == [50])
    #expect(try await program.run("record", "add", "note", "new", "--quiet").status == 0)
    #expect(try await program.run("redo", "--yes").status == 66)
  }

  @Test func withoutATerminalUndoRequiresANumberOrAnOption() async throws {
    let program = try await program()
    let refused = try await program.run("undo")
    #expect(refused.status == 64 && refused.output == "" && refused.errors.contains("--yes"))
    #expect(try await values(program).count == 3)
    #expect(try await program.run("undo", "--yes").status == 0)
    #expect(try await values(program) == [110])
    #expect(try await program.run("undo", "--yes").status == 0)
    #expect(try await values(program) == [])
    let none = try await program.run("undo", "--yes")
    #expect(none.status == 66, "\(none.errors)")
    #expect(try await program.run("undo", "9").status == 66)
  }

  @Test func importingAnExportDoesNotRestoreHiddenReadings() async throws {
    let program = try await program()
    _ = try await program.run("undo", "2", "--quiet")
    for form in ["csv", "ndjson"] {
      for options in [[], ["--hidden"]] {
        let export = try await program.run(arguments: ["export", "--format", form] + options)
        let other = try Program()
        let copy = try await other.run("import", "-", "--timezone", "Europe/Madrid", input: export.output)
        #expect(copy.status == 0, "\(copy.errors)")
        #expect(try await values(other) == [110])
        #expect(try StoreFile(other.store).count("reading") == (options.isEmpty ? 1 : 3))
      }
    }
  }

  @Test func readingsOfADeviceAreHiddenAndShownAgain() async throws {
    let program = try await program()
    let devices = try await program.run("list", "--format", "ndjson").objects()
    let model = try #require(devices.last?["model"] as? String)
    let hidden = try await program.run("reading", "hide", "--device", model, "--since", "2026-03-01T08:05")
    #expect(hidden.status == 0 && hidden.output.hasPrefix("hidden: 1 reading of "), "\(hidden.errors)")
    #expect(try await values(program) == [110, 12.4])
    #expect(try await program.run("list", "--hidden").output.contains("hidden"))
    let stats = try await program.run("stats").output
    #expect(stats.contains("\nLeft out: hidden 1\n"), "\(stats)")
    let restored = try await program.run("reading", "restore", "--device", model)
    #expect(restored.output.hasPrefix("restored: 1 reading of "), "\(restored.errors)")
    #expect(try await program.run("stats").output.contains("hidden") == false)
    #expect(try await program.run("reading", "restore", "--device", model).status == 66)
    #expect(try await program.run("reading", "hide", "--device", "nobody's").status == 66)
  }

  @Test(arguments: [
    ["hide"], ["hide", "r1.smbg.time1.1.0", "--device", "x"], ["hide", "r1.smbg.time1.1.0", "--since", "1d"],
    ["restore"], ["hide", "--device", "x", "--since", "soon"],
  ])
  func invalidUndoArgumentsAreUsageErrors(_ arguments: [String]) async throws {
    let program = try Program()
    #expect(try await program.run(arguments: ["reading"] + arguments).status == 64)
  }

  @Test func aRecordIsHiddenAndShownAgain() async throws {
    let program = try await program()
    let added = try await program.run("record", "add", "note", "typed twice", "--json").objects().first
    let guid = try #require(added?["guid"] as? String)
    #expect(try await program.run("record", "hide", guid).output == "hidden: \(guid)\n")
    #expect(try await program.run("record", "list").output == "")
    #expect(try await program.run("record", "list", "--hidden").output.contains("(hidden)"))
    #expect(try await program.run("show", guid, "--json").objects().first?["withdrawn"] as? Bool == true)
    #expect(try await program.run("record", "hide", guid).output.hasPrefix("unchanged"))
    #expect(try await program.run("record", "restore", guid).output == "restored: \(guid)\n")
    #expect(try await program.run("record", "list").output.contains("typed twice"))
  }

  @Test func anUndoRecordCannotBeEditedByHand() async throws {
    let program = try await program()
    _ = try await program.run("undo", "2", "--quiet")
    let all = try await program.run("export", "--format", "ndjson").objects()
    let guid = try #require(all.first { $0["kind"] as? String == "withdrawal" }?["guid"] as? String)
    for arguments in [["delete", guid, "--yes"], ["edit", guid, "--note", "x"], ["hide", guid]] {
      #expect(try await program.run(arguments: ["record"] + arguments).status == 64, "\(arguments)")
    }
    #expect(try await program.run("record", "list").output == "")
    #expect(try await values(program) == [110])
  }

  /// A table whose dates are valid in both orders of day and month, and whose values are valid in both units.
  private static let ambiguous =
    "time,glucose,other\n03/04/2026 08:00:00,12.4,5.5\n05/04/2026 09:00:00,15.6,7.5\n"

  @Test(arguments: [
    (["--unit", "mmol/L", "--date-order", "dmy"], [12.4, 15.6]),
    (["--unit", "mg/dL", "--date-order", "mdy"], [12.4, 15.6]),
    (["--unit", "mg/dL", "--date-order", "dmy", "--kind", "cbg"], [12.4, 15.6]),
    (["--unit", "mmol/L", "--date-order", "dmy", "--map", "time=time,value=other"], [5.5, 7.5]),
  ])
  func anUndoneFileCanBeImportedWithOtherOptions(
    _ options: [String], _ expected: [Double]
  ) async throws {
    let program = try Program()
    try program.write(Self.ambiguous, to: "diary.csv")
    let start = ["import", program.path("diary.csv"), "--timezone", "Europe/Madrid", "--force"]
    func imported(_ options: [String]) async throws -> String {
      let kind = options.contains("--kind") ? [] : ["--kind", "smbg"]
      let outcome = try await program.run(arguments: start + kind + options)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    #expect(try await imported(["--unit", "mg/dL", "--date-order", "dmy"]).contains("new 2 "))
    #expect(try await program.run("undo", "1", "--quiet").status == 0)
    #expect(try await values(program) == [])
    #expect(try await imported(options).contains("new 2 · known 0 "))
    #expect(try await values(program) == expected)
    #expect(try await imported(options).contains("new 0 · known 2 "))
    #expect(try await values(program) == expected)
    #expect(try StoreFile(program.store).count("readings WHERE withdrawn") == 2)
  }

  @Test func theCommandsInTheManualPermanentlyRemoveDataOfAnotherPerson() async throws {
    let page = try String(contentsOfFile: Samples.path("../man/glucoport-undo.1"), encoding: .utf8)
    let example = try #require(
      page.components(separatedBy: ".Bd -literal -offset indent\n").first { $0.contains("remote purge") })
    let commands = example.components(separatedBy: "\n.Ed")[0].split(separator: "\n").map { $0.dropFirst(2) }
    #expect(commands.count == 6)
    let program = try Program()
    let moved = try await program.shell(
      ServerScript.clients + """
        serve
        connect a; connect b; row a 07:10 123; row b 08:00 99; of b record add note hers --quiet
        upload a --quiet; upload b --quiet; upload a --quiet
        of b undo 1 --quiet; of b upload --quiet
        export GLUCOPORT_STORE=a.db
        \(commands.joined(separator: " || exit\n")) || exit
        ls served/logbooks; stop >/dev/null
        """)
    #expect(moved.status == 0, "\(moved)")
    #expect(moved.output.contains("the logbook and this store were removed\n"), "\(moved)")
    #expect(try StoreFile(program.path("a.db")).count("reading") == 1)
    #expect(try StoreFile(program.path("a.db")).count("reading WHERE value = 123") == 1)
    #expect(try StoreFile(program.path("a.db")).count("record WHERE kind = 'withdrawal'") == 0)
    #expect(try StoreFile(program.path("a.db")).count("record WHERE kind = 'note'") == 1)
    #expect(!FileManager.default.fileExists(atPath: program.path("all.ndjson")))
  }
}
