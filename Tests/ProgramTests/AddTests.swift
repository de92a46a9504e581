// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport add` as people type it.
@Suite(.timeLimit(.minutes(10)))
struct AddTests {
  private func add(_ program: Program, _ line: String) async throws -> Program.Outcome {
    let outcome = try await program.run(arguments: ["add"] + line.split(separator: " ").map(String.init))
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome
  }

  /// The lines of `list` without times and ids.
  private func list(_ program: Program, _ arguments: String...) async throws -> [String] {
    let outcome = try await program.run(arguments: ["list"] + arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map { line in
      line.dropFirst(21).split(separator: " ").filter { $0.count != 8 || $0.contains { !$0.isHexDigit } }
        .joined(separator: " ")
    }
  }

  private let whole = ["smbg 6.1 mmol/L manual", "food 45 g · soup", "insulin 4.5 U · rapid"]

  @Test func aTypedLineWithSeveralAmountsBecomesOneMeal() async throws {
    let program = try Program()
    let outcome = try await add(program, "6.1 45g 4.5U rapid soup --at 2026-05-06T18:30")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("added: 2026-05-06 18:30:00  ") })
    #expect(Set(try await list(program)) == Set(whole))
    let objects = try await program.run("list", "--format", "ndjson").objects()
    let food = try #require(objects.first { $0["kind"] as? String == "food" })
    #expect(
      objects.first { $0["kind"] as? String == "insulin" }?["entry_guid"] as? String == food["guid"]
        as? String)
    let reading = try #require(objects.first { $0["kind"] as? String == "smbg" })
    #expect(reading["model"] as? String == "typed" && reading["format"] as? String == "typed")
    #expect(reading["position_kind"] as? String == "tick" && reading["marks"] as? String == "manual")
    #expect(try #require(reading["position"] as? Int64) >= 1 << 58)

    let undo = try await program.run("undo", "--yes")
    #expect(
      undo.output.hasPrefix("undone: added smbg 6.1 mmol/L") && undo.output.contains("and 2 more items"),
      "\(undo.output)")
    #expect(try await list(program) == [])
    _ = try await program.run("redo", "--yes")
    #expect(Set(try await list(program)) == Set(whole))
    let log = try await program.run("log")
    #expect(log.output.contains("added smbg 6.1 mmol/L") && log.output.split(separator: "\n").count == 1)
  }

  @Test func theTextOfATypedLineIsAttachedToItsItems() async throws {
    let program = try Program()
    _ = try await add(program, "6.1 before breakfast --mark fasting --at 2026-05-06T07:00")
    _ = try await add(program, "felt bad --subtype health --at 2026-05-06T08:00")
    let objects = try await program.run("list", "--format", "ndjson").objects()
    #expect(objects.map { $0["kind"] as? String } == ["smbg", "annotation", "note"])
    #expect(objects[0]["marks"] as? String == "manual fasting")
    let fields = try #require(objects[1]["fields"] as? [String: any Sendable])
    #expect(fields["text"] as? String == "before breakfast")
    let tick = try #require(objects[0]["position"] as? Int64)
    #expect(fields["reading"] as? String == "model|typed|typed|smbg|tick|\(tick)|0|0")
    // After an edit of the reading, the text belongs to the reading that replaces it.
    _ = try await add(program, "--edit \(try #require(objects[1]["guid"] as? String)) 6.4mmol")
    let edited = try await program.run("list", "--format", "ndjson").objects()
    let other = try #require(edited[0]["position"] as? Int64)
    #expect(other != tick && edited[0]["value"] as? Double == 6.4)
    let moved = try #require(edited[1]["fields"] as? [String: any Sendable])
    #expect(moved["reading"] as? String == "model|typed|typed|smbg|tick|\(other)|0|0")
  }

  @Test func addWithEditLastCorrectsTheLastEntry() async throws {
    let program = try Program()
    _ = try await add(program, "6.1 45g soup --at 2026-05-06T18:30")
    _ = try await add(program, "--edit LAST 50g")
    #expect(Set(try await list(program)) == ["smbg 6.1 mmol/L manual", "food 50 g · soup"])
    _ = try await add(program, "--edit LAST 7.2 3U --at 2026-05-06T19:00")
    #expect(Set(try await list(program)) == ["smbg 7.2 mmol/L manual", "food 50 g · soup", "insulin 3 U"])
    let times = try await program.run("list").output.split(separator: "\n").map { $0.prefix(16) }
    #expect(Set(times) == ["2026-05-06 19:00"])
    _ = try await program.run("undo", "--yes")
    #expect(Set(try await list(program)) == ["smbg 6.1 mmol/L manual", "food 50 g · soup"])

    // An entry is found by any of its items, even if another entry is newer.
    _ = try await add(program, "30min --at 2026-05-06T20:00")
    let id = try #require(
      try await program.run("list", "--ids", "--kind", "smbg").output.split(separator: "\n").first?
        .split(separator: " ").last)
    _ = try await add(program, "--edit \(id) --mark after-meal")
    #expect(Set(try await list(program, "--kind", "smbg")) == ["smbg 6.1 mmol/L manual after-meal"])
  }

  @Test func addWithEditRefusesToCorrectAReadingOfAMeter() async throws {
    let program = try Program()
    let file = try program.write("time,glucose (mg/dL),device\n2026-05-06T08:00:00,110,X\n", to: "a.csv")
    #expect(try await program.run("import", "--kind", "smbg", "--timezone", "UTC", file).status == 0)
    let id = try #require(
      try await program.run("list", "--ids").output.split(separator: "\n").first?.split(separator: " ").last)
    #expect(id.hasPrefix("r") && id.count == 10)
    let refused = try await program.run("add", "--edit", String(id), "6.1")
    #expect(
      refused.status == 64 && refused.errors.contains("a device took this reading"), "\(refused.errors)")
    let nothing = try await program.run("add", "--edit", "LAST", "6.1")
    #expect(nothing.status == 66, "\(nothing.errors)")
    // The short id works in other commands.
    #expect(try await program.run("reading", "hide", String(id)).output == "hidden: \(id)\n")
    #expect(try await program.run("show", String(id)).status == 0)
  }

  @Test func aTypedFingerStickAlsoImportedFromTheMeterIsCountedOnce() async throws {
    let program = try Program()
    _ = try await add(program, "6.1 --at 2026-05-06T08:00:20+00:00")
    let file = try program.write(
      "Device,Serial,Timestamp,Glucose (mg/dL)\nContour,SN1,2026-05-06T08:00:00Z,110\n", to: "meter.csv")
    let outcome = try await program.run("import", "--kind", "smbg", "--timezone", "UTC", file)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try await list(program).count == 2)
    let leftOut = try await program.run("list", "--left-out")
    #expect(leftOut.output.split(separator: "\n").count == 1, "\(leftOut.output)")
    #expect(leftOut.output.contains("6.1 mmol/L"), "\(leftOut.output)")
  }

  @Test func refusedTypedLinesStoreNothingAndCreateNoStore() async throws {
    let program = try Program()
    for line in ["25", "45x", "--at 2099-01-01 45g", "--edit LAST 45g", "--strict 45g", "45g --json --quiet"]
    {
      let outcome = try await program.run(arguments: ["add"] + line.split(separator: " ").map(String.init))
      #expect([64, 66].contains(outcome.status), "\(line): \(outcome.status) \(outcome.errors)")
    }
    let ask = try await program.run("add", "45g", "--ask")
    #expect(ask.status == 64 && ask.errors.contains("no terminal"), "\(ask.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func eachLineOfAddHasItsOwnResultAndTheWorstStatusIsReturned() async throws {
    let program = try Program()
    let lines = """
      # breakfast
      6.1 45g 4.5U rapid soup with bread --at 2026-05-06T08:00

      25 --at 2026-05-06T09:00
      {"kind":"smbg","value":110,"unit":"mg/dL","device_time":"2026-05-06T10:00:00"}
      {"item":"record","kind":"food","fields":{"carbs":30},"device_time":"2026-05-06T11:00:00","utc_offset":"+02:00"}
      {"kind":"zone","fields":{"zone":"UTC"}}
      {"kind":"food","fields":{"carbs":40},"time":"2026-05-06T11:30:00Z"}
      {"kind":"food","fields":{"carbs":40},"device_time":"2099-05-06T11:30:00"}
      {"kind":"food","fields":{"carbs":40},"device_time":"2026-05-06T11:40:00","withdrawn":true}
      {"kind":"smbg","value":110
      7,2 --at 2026-05-06T12:00 --mark before-meal
      """
    let first = try await program.run("add", "-", input: lines)
    #expect(first.status == 3, "\(first.errors)")
    let answers = first.output.split(separator: "\n").map(String.init)
    #expect(
      answers.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
        "line 2: added", "line 4: refused:", "line 5: added", "line 6: added", "line 7: refused:",
        "line 8: added", "line 9: refused:", "line 10: refused:", "line 11: refused:", "line 12: added",
      ])
    #expect(answers[0].split(separator: " ").count == 6)
    #expect(answers[1].contains("can be glucose in mmol/L and in mg/dL"))
    #expect(try await list(program).count == 7)
    // If the same lines are read again, nothing is added.
    let second = try await program.run("add", "-", "--json", input: lines)
    #expect(second.status == 3)
    #expect(
      try second.objects().map { $0["outcome"] as? String } == [
        "known", "refused", "known", "known", "refused", "known", "refused", "refused", "refused", "known",
      ])
    #expect(try await list(program).count == 7)
    #expect(try await program.run("log").output.split(separator: "\n").count == 5)
  }

  @Test func aJSONLineWithAnUnknownMemberIsRefused() async throws {
    let program = try Program()
    for member in [#""note":"x""#, #""carbz":30"#] {
      let line = #"{"kind":"food","fields":{"carbs":30},\#(member)}"# + "\n"
      let outcome = try await program.run("add", "-", input: line)
      #expect(outcome.status == 3 && outcome.output.contains("is not a member"), "\(outcome.output)")
    }
    // Members that only `show` prints are ignored in a new item.
    let line = #"{"kind":"food","fields":{"carbs":30},"version":1,"state":"queued"}"# + "\n"
    #expect(try await program.run("add", "-", input: line).status == 0)
  }

  @Test func aFieldThatTheRecordKindDoesNotHaveIsRefused() async throws {
    let program = try Program()
    for (field, advice) in [
      ("carbohydrates", "did you mean 'carbs'?"), ("protien", "did you mean 'protein'?"),
      ("xyz", "it has carbs, servings, fat, protein, energy, text."),
    ] {
      let line = #"{"kind":"food","fields":{"\#(field)":12}}"# + "\n"
      let outcome = try await program.run("add", "-", input: line)
      #expect(
        outcome.status == 3 && outcome.output.contains("food has no field '\(field)'; \(advice)"),
        "\(outcome)")
    }
    // An import keeps an unknown field, since a newer version or another program may have written the export.
    _ = try await add(program, "30g --at 2026-05-06T11:00:00+00:00")
    let exported = try await program.run("export", "--format", "ndjson").output
    let other = try Program()
    let imported = try await other.run(
      "import", "-", input: exported.replacing(#""carbs":30"#, with: #""carbs":30,"fibre":4"#))
    #expect(imported.status == 0, "\(imported)")
    #expect(try await other.run("list", "--format", "ndjson").output.contains(#""carbs":30,"fibre":4"#))
  }

  @Test func addingAKnownRecordWithOtherContentIsReported() async throws {
    let program = try Program()
    let line = #"{"kind":"food","guid":"8120c4e8-0b5e-4f0c-8a55-5f0e3ac9b0a1","fields":{"carbs":30}}"# + "\n"
    let words = ["added", "known", "known, differs"]
    for (word, text) in zip(words, [line, line, line.replacing("30", with: "40")]) {
      let outcome = try await program.run("add", "-", input: text)
      #expect(outcome.status == 0 && outcome.output.hasPrefix("line 1: \(word) 8120"), "\(outcome)")
    }
    let object = try await program.run("add", "-", "--json", input: line.replacing("30", with: "40"))
      .objects()
      .first
    #expect(object?["outcome"] as? String == "known" && object?["differs"] as? Bool == true)
    #expect(try await list(program) == ["food 30 g"])
    // A line that was added and then corrected is known when it is read again, and the correction stays.
    let typed = "30g --at 2026-05-06T08:00\n"
    #expect(try await program.run("add", "-", "--quiet", input: typed).status == 0)
    _ = try await add(program, "--edit LAST 35g")
    #expect(try await program.run("add", "-", input: typed).output.hasPrefix("line 1: known, differs "))
  }

  @Test func aLineReadByAddCanCorrectAnEarlierEntry() async throws {
    let program = try Program()
    let none = try await program.run("add", "-", input: "--edit LAST 45g\n")
    #expect(none.status == 3 && none.output.contains("no entry to correct"), "\(none)")
    let first = try await program.run("add", "-", "--json", input: "6.1 45g soup --at 2026-05-06T08:00\n")
      .objects()
    let ids = try #require(first.first?["ids"] as? [String])
    _ = try await add(program, "30min --at 2026-05-06T09:00")
    let lines = "50g 3U --edit \(ids[1])\n--edit LAST 50g\n--edit 00000000 50g\n--edit \(ids[0])\n"
    let answers = try await program.run("add", "-", input: lines)
    #expect(answers.status == 3, "\(answers)")
    #expect(
      answers.output.split(separator: "\n").map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
        == [
          "line 1: edited", "line 2: known", "line 3: refused:", "line 4: refused:",
        ], "\(answers.output)")
    let whole: Set = ["smbg 6.1 mmol/L manual", "food 50 g · soup", "insulin 3 U", "exercise 30 min"]
    #expect(try await Set(list(program)) == whole)
    // A line that changes nothing is not a change that 'undo' could reverse.
    let again = try await program.run("add", "-", "--json", input: lines).objects()
    #expect(again.map { $0["outcome"] as? String } == ["known", "known", "refused", "refused"])
    _ = try await program.run("undo", "--yes")
    let before: Set = ["smbg 6.1 mmol/L manual", "food 45 g · soup", "exercise 30 min"]
    #expect(try await Set(list(program)) == before)
    let strict = try await program.run("add", "-", "--strict", input: "45g\n--edit \(ids[0]) 7.1\n")
    #expect(strict.status == 65 && strict.output.contains("in a run without it"), "\(strict)")
    #expect(try await Set(list(program)) == before)
  }

  @Test func anEntryAddedAgainAfterItsUndoStaysHidden() async throws {
    let program = try Program()
    let line = "6.1 45g --at 2026-05-06T08:00\n"
    #expect(try await program.run("add", "-", "--quiet", input: line).status == 0)
    _ = try await program.run("undo", "--yes", "--quiet")
    let again = try await program.run("add", "-", input: line)
    #expect(again.output.hasPrefix("line 1: known, hidden "), "\(again.output)")
    let object = try await program.run("add", "-", "--json", input: line).objects().first
    #expect(object?["outcome"] as? String == "known" && object?["withdrawn"] as? Bool == true)
    #expect(try await list(program) == [])
  }

  @Test func hidingATypedReadingNamesItByItsValue() async throws {
    let program = try Program()
    let added = try await add(program, "6.1 before breakfast --at 2026-05-06T08:00")
    #expect(added.output.contains("annotation") && !added.output.contains("model|"), "\(added.output)")
    let reading = try #require(added.output.split(separator: "\n").first { $0.contains("smbg") })
    let id = String(try #require(reading.split(separator: " ").last))
    #expect(try await program.run("reading", "hide", id).status == 0)
    let undone = try await program.run("undo", "--yes")
    #expect(
      undone.output == "undone: hidden smbg 6.1 mmol/L 2026-05-06 08:00:00  \(id)\n", "\(undone.output)")
  }

  @Test func theOutputOfListCanBeAddedUnchangedToAnotherStore() async throws {
    let (program, other) = (try Program(), try Program())
    _ = try await add(program, "6.1 45g 4U 30min soup --at 2026-05-06T18:30:00+02:00")
    let file = try program.write("time,glucose (mg/dL)\n2026-05-06T08:00:00Z,110\n", to: "a.csv")
    #expect(try await program.run("import", "--kind", "cbg", "--timezone", "UTC", file).status == 0)
    let lines = try await program.run("list", "--format", "ndjson").output
    for word in ["added", "known"] {
      let outcome = try await other.run("add", "-", input: lines)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(
        outcome.output.split(separator: "\n").allSatisfy { $0.contains(": \(word) ") }, "\(outcome.output)")
    }
    let copy = try await other.run("list", "--format", "ndjson").output
    #expect(Set(copy.split(separator: "\n")) == Set(lines.split(separator: "\n")))
    let changed = try await other.run(
      "add", "-", input: lines.replacing("\"value\":110", with: "\"value\":111"))
    #expect(changed.status == 3 && changed.output.contains("with another value"), "\(changed.output)")
  }

  @Test func withStrictEitherAllOrNoLinesOfAddAreStored() async throws {
    let program = try Program()
    let refused = try await program.run("add", "-", "--strict", input: "45g\n25\n30min\n")
    #expect(refused.status == 65)
    #expect(refused.output.split(separator: "\n").map { $0.prefix(16) } == ["line 2: refused:"])
    #expect(!FileManager.default.fileExists(atPath: program.store))
    let added = try await program.run("add", "-", "--strict", "--quiet", input: "45g\n30min\n")
    #expect(
      added.status == 0 && added.output.isEmpty && added.errors.isEmpty, "\(added.errors)")
    #expect(try await list(program).count == 2)
    // `add` understands the words, but the store refuses the text. So the store is not created.
    let none = program.path("none.db")
    let first = try await program.run("add", "-", "--strict", "--store", none, input: "60g --note 'a\0b'\n")
    #expect(first.status == 65 && first.output.hasPrefix("line 1: refused:"), "\(first)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: program.path(".")).allSatisfy {
        !$0.hasPrefix("none")
      })
    let whole = try await program.run("add", "-", "--strict", "--store", none, input: "50g\n60g --note a\n")
    #expect(whole.status == 0 && whole.output.contains("line 2: added"), "\(whole)")
    let late = try await program.run("add", "-", "--strict", input: "50g\n60g --note 'a\0b'\n70g\n")
    #expect(late.status == 65 && late.output.hasPrefix("line 2: refused:"), "\(late)")
    #expect(late.output.contains("U+0000") && late.errors.contains("nothing was added"), "\(late)")
    #expect(try await list(program).count == 2)
  }

  @Test func anInvalidLineOfAddIsRefusedAndTheNextOneIsRead() async throws {
    let program = try Program()
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: 700_000)
    let input = long + [0x0A, 0xFF, 0x0A] + Array("45g".utf8)
    let outcome = try await program.run(arguments: ["add", "-"], input: input)
    #expect(outcome.status == 3)
    let answers = outcome.output.split(separator: "\n").map { $0.split(separator: " ")[2] }
    #expect(answers == ["refused:", "refused:", "added"], "\(outcome.output)")
  }

  @Test func twoSimultaneousAddProcessesLoseNothing() async throws {
    let program = try Program()
    _ = try await add(program, "45g")
    let lines = (0..<40).map { "6.\($0 % 10) \($0 + 1)g --at 2026-05-06T0\($0 % 10):0\($0 / 10):00\n" }
    async let one = program.run(
      arguments: ["add", "-", "--quiet"], input: Array(lines.prefix(20).joined().utf8))
    async let two = program.run(
      arguments: ["add", "-", "--quiet"], input: Array(lines.suffix(20).joined().utf8))
    let statuses = try await [one.status, two.status]
    #expect(statuses == [0, 0])
    #expect(try await program.run("list", "--format", "ndjson").output.split(separator: "\n").count == 81)
  }

  /// The typed items are stored, and the exit status shows that the results could not be printed.
  @Test func linesOfAddAreStoredEvenIfTheOutputIsClosed() async throws {
    let program = try Program()
    let lines = "printf '45g --at 2026-05-06T0%d:00\\n' 1 2 3"
    let full = try await program.shell("\(lines) | glucoport add - >/dev/full")
    #expect(full.status == 74 && !full.errors.isEmpty)
    #expect(try await list(program).count == 3)
    let other = "printf '30min --at 2026-05-06T0%d:00\\n' 1 2 3"
    let left = try await program.shell("\(other) | glucoport add - | true; exit ${PIPESTATUS[1]}")
    #expect(left.status == 0, "\(left.errors)")
    #expect(try await list(program).count == 6)
  }

  @Test func spacesAndAByteOrderMarkInATypedLineAreNotReadAsText() async throws {
    let program = try Program()
    let input = "\u{FEFF}6.1 --at 2026-05-06T01:00\n\" 45g\" --at 2026-05-06T01:00\n"
    let outcome = try await program.run("add", "-", input: input)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try await Set(list(program)) == ["smbg 6.1 mmol/L manual", "food 45 g"])
    // An empty word, or a number in a notation that is not read, is not stored as text either.
    for word in ["", " ", "\u{2212}5.5", "+5.5", "\u{0665}.5"] {
      let refused = try await program.run(arguments: ["add", word])
      #expect(refused.status == 64, "'\(word)': \(refused.output)")
    }
    let array = try await program.run("add", "-", input: "[1]\n")
    #expect(array.status == 3 && array.output.contains("line 1: refused"), "\(array.output)")
    #expect(try await list(program).count == 2)
  }

  @Test func anEditCannotChangeGlucoseToKetones() async throws {
    let program = try Program()
    _ = try await add(program, "7.1 20g --at 2026-05-06T18:30")
    _ = try await add(program, "--edit LAST 0.5 --kind ketone")
    let all: Set = ["smbg 7.1 mmol/L manual", "ketone 0.5 mmol/L manual", "food 20 g"]
    #expect(try await Set(list(program)) == all)
    _ = try await program.run("undo", "--yes")
    let refused = try await program.run("add", "--edit", "LAST", "--kind", "ketone")
    #expect(refused.status == 64, "\(refused.output)")
    #expect(try await list(program).count == 2)
  }
}
