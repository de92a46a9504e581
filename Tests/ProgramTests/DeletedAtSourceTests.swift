// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests exports that state items as deleted, on the command line.
@Suite(.timeLimit(.minutes(10)))
struct DeletedAtSourceTests {
  /// Three doses of AAPS; the first one may be deleted on the site.
  private static func doses(isValid: Bool) -> String {
    func dose(_ number: Int, _ units: Int, at clock: String, _ isValid: Bool = true) -> String {
      #"{"identifier":"id\#(number)","eventType":"Meal Bolus","insulin":\#(units),"app":"AAPS","#
        + #""created_at":"2026-03-14T\#(clock)Z","isValid":\#(isValid)}"#
    }
    return "["
      + [
        dose(1, 5, at: "07:00:11", isValid), dose(4, 3, at: "07:00:11"), dose(2, 6, at: "12:00:12"),
      ].joined(separator: ",") + "]"
  }

  /// The events of an account of Dexcom.
  private static func events(isValid: Bool) -> String {
    func event(_ number: Int, _ units: Int, _ status: String) -> String {
      #"{"recordId":"r\#(number)","systemTime":"2026-03-14T08:0\#(number):00","displayTime":"2026-03-14T09:0\#(number):00","#
        + #""eventStatus":"\#(status)","eventType":"insulin","eventSubType":"fastActing","value":"\#(units)"}"#
    }
    let events = [event(1, 5, isValid ? "created" : "deleted"), event(2, 9, "created")]
    return #"{"recordType":"event","records":["# + events.joined(separator: ",") + "]}"
  }

  private func units(_ program: Program) async throws -> Double {
    try await program.run("list", "--format", "ndjson").objects().reduce(0) { sum, item in
      sum + (((item["fields"] as? [String: any Sendable])?["units"] as? NSNumber)?.doubleValue ?? 0)
    }
  }

  /// The lines of the hidden items.
  private func hidden(_ program: Program) async throws -> [Substring] {
    try await program.run("list", "--hidden").output.split(separator: "\n")
      .filter { $0.hasSuffix("(hidden)") }
  }

  private func bring(_ program: Program, _ name: String, _ options: String...) async throws -> Program.Outcome
  {
    let outcome = try await program.run(
      arguments: ["import", "--timezone", "Europe/Berlin"] + options + [program.path(name)])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome
  }

  @Test func aDoseThatItsSourceDeletedDoesNotCountInEitherOrderOfImports() async throws {
    for export in [Self.doses, Self.events] {
      for order in [["old.json", "new.json", "new.json"], ["new.json", "old.json", "new.json"]] {
        let program = try Program()
        try program.write(export(true), to: "old.json")
        try program.write(export(false), to: "new.json")
        for name in order { _ = try await bring(program, name) }
        #expect(try await units(program) == 9, "\(order)")
        let lines = try await hidden(program)
        #expect(lines.count == 1 && lines.first?.contains("insulin  5 U") == true, "\(lines)")
      }
    }
  }

  @Test func theImportReportsItemsThatTheSourceDeleted() async throws {
    let program = try Program()
    try program.write(Self.doses(isValid: true), to: "old.json")
    try program.write(Self.doses(isValid: false), to: "new.json")
    _ = try await bring(program, "old.json")
    #expect(try await units(program) == 14)
    let preview = try await bring(program, "new.json", "--dry-run")
    #expect(preview.output.contains("deleted at the source 1"), "\(preview.output)")
    #expect(try await units(program) == 14)
    let imported = try await bring(program, "new.json")
    #expect(
      imported.output.contains("records: new 0 · known 3 · deleted at the source 1"), "\(imported.output)")
    #expect(!imported.output.contains("not imported"))
    #expect(try await units(program) == 9)
    let log = try await program.run("log", "2")
    #expect(log.output.contains("deleted at the source 1"), "\(log.output)\(log.errors)")
    let again = try await bring(program, "new.json", "--json")
    let records = try again.objects().first?["records"] as? [String: any Sendable]
    let numbers = ["deleted", "known"].map { (records?[$0] as? NSNumber)?.intValue }
    #expect(numbers == [0, 3], "\(again.output)")
    let undone = try await program.run("undo", "2")
    #expect(!undone.output.contains("its source had deleted"), "\(undone.output)")
    #expect(try await units(program) == 9, "the next import states the deletion, too")
    let last = try await program.run("undo", "3")
    #expect(last.output.contains("1 record that its source had deleted shown again"), "\(last.output)")
    #expect(try await units(program) == 14)
    let redone = try await program.run("redo", "3", "--json")
    #expect((try redone.objects().first?["opposite_records"] as? NSNumber)?.intValue == 1, "\(redone.output)")
    #expect(try await units(program) == 9)
  }

  @Test func aPersonCanShowADoseThatItsSourceDeleted() async throws {
    let program = try Program()
    try program.write(Self.doses(isValid: false), to: "new.json")
    _ = try await bring(program, "new.json")
    let line = try #require(try await hidden(program).first)
    let id = try #require(line.matches(of: /[0-9a-f]{8}/).last).output
    let shown = try await program.run("record", "restore", String(id))
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(try await units(program) == 14)
    _ = try await bring(program, "new.json")
    #expect(try await units(program) == 14)
  }
}
