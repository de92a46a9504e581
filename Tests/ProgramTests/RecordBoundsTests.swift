// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests that `glucoport record` and an import refuse the same amounts as typing errors.
@Suite(.timeLimit(.minutes(10)))
struct RecordBoundsTests {
  private func add(_ program: Program, _ arguments: [String]) async throws -> Program.Outcome {
    try await program.run(arguments: ["record", "add"] + arguments)
  }

  @Test(arguments: [
    ["insulin", "4500"], ["insulin", "500.5", "U"], ["insulin", "101", "U/h"], ["food", "2001", "g"],
    ["food", "201", "servings"], ["food", "20001", "kcal"], ["exercise", "1700", "h"],
    ["insulin", "4", "--set", "extended=501"], ["note", "x", "--at", "2035-01-01"],
    ["note", "x", "--at", "1989-12-31T23:59:59Z"], ["insulin", "4", "--at", "3d", "--set", "minutes=100001"],
  ])
  func implausibleTypedAmountsAreRefusedWithoutForce(_ words: [String]) async throws {
    let program = try Program()
    let refused = try await add(program, words)
    #expect(refused.status == 64 && refused.output == "")
    #expect(refused.errors.contains("--force"), "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))

    let forced = try await add(program, words + ["--force"])
    #expect(forced.status == 0, "\(forced.errors)")
    #expect(try StoreFile(program.store).count("record") == 1)
  }

  @Test(arguments: [
    ["insulin", "500"], ["insulin", "35", "U/h"], ["food", "2000"], ["food", "200", "servings"],
    ["exercise", "100000", "min"], ["exercise", "1000000", "steps"],
    ["note", "x", "--at", "1990-01-01T00:00:00Z"],
    ["food", "0", "g"],
  ])
  func typedAmountsAtTheLimitAreAccepted(_ words: [String]) async throws {
    let outcome = try await add(try Program(), words)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func aTypedRecordMayBeAtMostFiveMinutesInTheFuture() async throws {
    let (program, now) = (try Program(), Int64(Date().timeIntervalSince1970))
    let at = { (minutes: Int64) in ["--at", DeviceTime(seconds: now + minutes * 60).text + "Z"] }
    let added = try await add(program, ["note", "x", "--json"] + at(4))
    let guid = try #require(try added.objects().first?["guid"] as? String)
    #expect(try await add(program, ["note", "x"] + at(10)).status == 64)
    #expect(try await program.run(arguments: ["record", "edit", guid] + at(10)).status == 64)
    #expect(try await add(program, ["note", "planned", "--force"] + at(1500)).status == 0)
  }

  @Test func anEditOfARecordIsCheckedOnlyForChangedFields() async throws {
    let program = try Program()
    let added = try await add(program, ["insulin", "4500", "--force", "--json"]).objects()
    let guid = try #require(added.first?["guid"] as? String)
    for change in [["4501"], ["--set", "rate=101"], ["--at", "2035-01-01T00:00:00Z"]] {
      let edit = try await program.run(arguments: ["record", "edit", guid] + change)
      #expect(edit.status == 64, "\(edit.output)")
    }
    let unchanged = try await program.run("show", guid, "--json").objects()
    #expect(unchanged.first?["version"] as? Int == 1)
    // Unchanged fields may keep any value.
    #expect(try await program.run("record", "edit", guid, "--note", "pump filled").status == 0)
    #expect(try await program.run("record", "edit", guid, "4501", "--force").status == 0)
    #expect(try await program.run("record", "edit", guid, "4.5").status == 0)
  }

  /// Amounts in Nightscout treatments, each with the words of a command that types the same amount.
  @Test(arguments: [
    (#""eventType":"Meal Bolus","insulin":500"#, ["insulin", "500"]),
    (#""eventType":"Meal Bolus","insulin":500.5"#, ["insulin", "500.5"]),
    (#""eventType":"Meal Bolus","carbs":2000"#, ["food", "2000"]),
    (#""eventType":"Meal Bolus","carbs":2000.5"#, ["food", "2000.5"]),
    (#""eventType":"Exercise","duration":100000"#, ["exercise", "100000"]),
    (#""eventType":"Exercise","duration":100000.5"#, ["exercise", "100000.5"]),
  ])
  func anImportAcceptsTheSameAmountsAsTyping(_ member: String, _ words: [String]) async throws {
    let treatment = #"[{"_id":"a1","created_at":"2026-03-01T08:00:00.000Z","enteredBy":"x",\#(member)}]"#
    let program = try Program()
    let options = ["--format", "nightscout", "--timezone", "UTC", "--json"]
    let imported = try await program.run(
      arguments: ["import", program.write(treatment, to: "a.json")] + options)
    let counts = try #require(try imported.objects().first)
    let isTaken = (counts["rejected"] as? Int) == 0
    #expect(isTaken == !member.hasSuffix(".5"), "\(imported.errors)")
    #expect((try await add(program, words).status == 0) == isTaken)
  }
}
