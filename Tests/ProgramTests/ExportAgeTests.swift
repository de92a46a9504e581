// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests exports of a part of the items, and doses that were corrected at the source, on the command line.
@Suite(.timeLimit(.minutes(10)))
struct ExportAgeTests {
  /// Doses of a Nightscout site, by their days in March.
  private func doses(_ units: [Int: Double]) -> String {
    let documents = units.sorted { $0.key < $1.key }.map { day, units in
      #"{"_id":"65f1c0de00000000000000\#(day)","eventType":"Correction Bolus","insulin":\#(units),"#
        + #""created_at":"2026-03-\#(day)T07:00:11Z"}"#
    }
    return "[" + documents.joined(separator: ",") + "]"
  }

  private func write(_ text: String, to name: String, _ program: Program, modified: String) throws {
    let date = try #require(ISO8601DateFormatter().date(from: modified))
    try FileManager.default.setAttributes(
      [.modificationDate: date], ofItemAtPath: program.write(text, to: name))
  }

  private func units(_ program: Program) async throws -> Double {
    try await program.run("list", "--format", "ndjson").objects().reduce(0) { sum, item in
      sum + (((item["fields"] as? [String: any Sendable])?["units"] as? NSNumber)?.doubleValue ?? 0)
    }
  }

  private func bring(_ program: Program, _ options: String...) async throws -> Program.Outcome {
    let outcome = try await program.run(arguments: ["import", "--timezone", "Europe/Berlin"] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome
  }

  private func program() throws -> Program {
    let program = try Program()
    try write(doses([11: 5, 12: 6, 20: 7]), to: "all.json", program, modified: "2026-03-21T10:00:00Z")
    try write(doses([11: 5, 12: 9]), to: "part.json", program, modified: "2026-03-31T10:00:00Z")
    return program
  }

  @Test func thePrintedCommandFollowsAPartialExportInEitherOrder() async throws {
    for names in [["all.json", "part.json"], ["part.json", "all.json"]] {
      let program = try program()
      _ = try await bring(program, program.path(names[0]))
      let second = try await bring(program, program.path(names[1]), "--quiet")
      let command =
        "glucoport import --exported 2026-03-31T10:00:00Z --timezone Europe/Berlin \(program.path("part.json"))"
      #expect(second.errors.contains("'\(command)'"), "\(second.errors)")
      #expect(try await units(program) == 18)
      let followed = try await program.run(
        arguments: command.split(separator: " ").dropFirst().map(String.init))
      #expect(followed.status == 0 && followed.output.contains("updated 1"), "\(followed.output)")
      #expect(!followed.output.contains("warning"), "\(followed.output)")
      #expect(followed.output.contains("exported 2026-03-31T10:00:00Z (given)"), "\(followed.output)")
      #expect(try await units(program) == 21)
      let again = try await bring(program, program.path("all.json"), "--quiet")
      #expect(again.errors.isEmpty, "\(again.errors)")
      #expect(try await units(program) == 21)
    }
  }

  /// Doses of one app in an export of Apple Health, by their days in March.
  private func health(_ units: [Int: Double], exported: String) -> String {
    let records = units.sorted { $0.key < $1.key }.map { day, units in
      let time = "2026-03-\(day) 08:01:17 +0100"
      return
        "<Record type=\"HKQuantityTypeIdentifierInsulinDelivery\" sourceName=\"mySugr\" unit=\"IU\" startDate=\"\(time)\" "
        + "endDate=\"\(time)\" value=\"\(units)\"><MetadataEntry key=\"HKInsulinDeliveryReason\" value=\"2\"/></Record>"
    }
    return "<HealthData><ExportDate value=\"\(exported)\"/>\(records.joined())</HealthData>"
  }

  /// The dose of 12 March was corrected. The newest dose of both exports is the same, and the file of the
  /// earlier export was copied later.
  @Test func aCorrectedDoseOfAppleHealthCountsOnceInEachOrderAndFromAFolder() async throws {
    for names in [["old.xml", "new.xml"], ["new.xml", "old.xml"], [""]] {
      let program = try Program()
      try FileManager.default.createDirectory(atPath: program.path("all"), withIntermediateDirectories: true)
      try write(
        health([11: 5, 12: 2.5, 13: 7], exported: "2026-03-14 20:00:00 +0100"), to: "all/old.xml", program,
        modified: "2026-03-31T10:00:00Z")
      try write(
        health([11: 5, 12: 9.5, 13: 7], exported: "2026-03-15 20:00:00 +0100"), to: "all/new.xml", program,
        modified: "2026-03-30T10:00:00Z")
      for name in names {
        let outcome = try await bring(program, "--quiet", program.path("all/" + name))
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
      }
      #expect(try await units(program) == 21.5)
    }
  }

  @Test func theTimeOfAnExportHasPassedAndIsOnlyForFiles() async throws {
    let program = try program()
    let future = try await program.run("import", "--exported", "2999-01-01", program.path("all.json"))
    #expect(future.status == 64 && future.errors.contains("--exported is a time that has passed"))
    let meter = try await program.run("import", "--exported", "2026-01-01", "--meter")
    #expect(meter.status == 64 && meter.errors.contains("--exported is only for files"))
    // A time before the newest item makes no export older.
    _ = try await bring(program, "--exported", "2026-01-01", program.path("all.json"))
    _ = try await bring(program, program.path("part.json"))
    #expect(try await units(program) == 18)
  }

  @Test func anEqualDoseThatALaterExportAddsHasAWarning() async throws {
    let program = try Program()
    func table(_ rows: String...) -> String {
      let header = "day,clock,rapid insulin\n"
      return header + rows.map { "2026-04-\($0)\n" }.joined()
    }
    let map = "date=day,clock=clock,insulin=rapid insulin"
    try program.write(table("01,20:00,3", "02,20:00,6"), to: "doses.csv")
    let first = try await bring(program, "--map", map, program.path("doses.csv"))
    #expect(!first.output.contains("equal an earlier row"), "\(first.output)")
    try program.write(table("01,20:00,3", "01,20:00,3", "02,20:00,6", "03,20:00,5"), to: "doses.csv")
    let second = try await bring(program, "--map", map, program.path("doses.csv"), "--quiet")
    #expect(second.errors.contains("1 row of new doses or meals equal an earlier row"), "\(second.errors)")
    let third = try await bring(program, "--map", map, program.path("doses.csv"), "--quiet")
    #expect(third.errors.isEmpty, "\(third.errors)")
    let last = try await bring(program, "--map", map, program.path("doses.csv"), "--json")
    let equal = try last.objects().first?["equal_rows"] as? [String: any Sendable]
    #expect(equal?.count == 1, "\(last.output)")
  }

  @Test func aDoseWhoseInsulinWasCorrectedCountsOnce() async throws {
    let program = try Program()
    func table(_ insulin: String) -> String {
      let rows = (10...21).map { "2026-04-\($0),07:30,\($0 - 5),Novorapid\n" }
      return "Date,Time,Insulin,Insulin name\n2026-04-09,07:30,8,\(insulin)\n" + rows.joined()
    }
    let map = "date=Date,clock=Time,insulin=Insulin"
    try program.write(table("Novorapid"), to: "diary.csv")
    _ = try await bring(program, "--map", map, program.path("diary.csv"))
    let before = try await units(program)
    try program.write(table("Lantus"), to: "diary.csv")
    let second = try await bring(program, "--map", map, program.path("diary.csv"))
    #expect(second.output.contains("records: new 0 · known 12 · updated 1"), "\(second.output)")
    #expect(try await units(program) == before)
  }
}
