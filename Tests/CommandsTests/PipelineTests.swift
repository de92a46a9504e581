// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import Testing

/// The binary between other programs.
@Suite(.timeLimit(.minutes(10)))
struct PipelineTests {
  @Test func rowsOfALivePipeShowInTheStoreWhileItStaysOpen() async throws {
    let program = try Program()
    let (outcome, wereShown) = try await program.run("import", "-") { process in
      let writer = process.standardInputWriter
      _ = try await writer.write(GeneratedExport.csv(rows: 2))
      guard try await Self.shows(2, program) else { return 0 }
      for row in 2..<4 {
        _ = try await writer.write(Array("\(GeneratedExport.time(row)),12\(row)\n".utf8))
        guard try await Self.shows(row + 1, program) else { return row }
      }
      try await writer.finish()
      return 4
    }
    #expect(wereShown == 4)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("new 4"))
  }

  private static func shows(_ count: Int, _ program: Program) async throws -> Bool {
    try await eventually(within: .seconds(20)) {
      let list = try await program.run("list", "--format", "ndjson")
      return try list.status == 0 && list.objects().count == count
    }
  }

  @Test func aLivePipeIsRefusedWhenOnlyAllOfItWouldSettleItsDates() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      mkfifo live && exec 3<>live
      printf 'time,glucose (mg/dL)\\n03/04/2026 10:00,100\\n' >&3
      glucoport import - <live
      """)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("--date-order"), "\(outcome.errors)")
  }

  @Test func aCutPipeIsReportedAndItsWholeRowsStay() async throws {
    let program = try Program()
    let rows = GeneratedExport.csv(rows: 100)
    let outcome = try await program.run("import", "-", input: rows + Array("2024-01-01T10:2".utf8))
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("-:102: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("cut off"), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 100)
  }

  /// Whether the shell left the signal for closed pipes as it was, or switched it off as some services do.
  @Test(arguments: ["", "trap '' PIPE; "])
  func aReaderThatLeavesEndsTheListQuietly(trap: String) async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 20_000))
    let outcome = try await program.shell("\(trap)glucoport list --format csv | head -n 1")
    #expect(outcome.output.hasPrefix("item,kind,time,"))
    #expect(outcome.output.split(separator: "\r\n").count == 1)
    #expect(outcome.errors == "")
  }

  /// Also where the signal for closed pipes is switched off, as systemd does it, nothing more is read or said.
  @Test(arguments: ["csv", "ndjson", "nightscout"], ["", "trap '' PIPE; "])
  func aReaderThatLeavesEndsTheExportQuietly(_ form: String, trap: String) async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 20_000))
    _ = try await program.run("record", "add", "note", "this is no entry of Nightscout")
    let outcome = try await program.shell(
      "\(trap)glucoport export --format \(form) | head -n 1 >first; echo ${PIPESTATUS[0]}; wc -l <first")
    #expect(outcome.output == (trap.isEmpty ? "141" : "0") + "\n1\n", "\(outcome)")
    #expect(outcome.errors == "")
  }

  @Test func anImportWhoseReaderLeftStillStoresEverything() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 9), to: "rows.csv")
    let outcome = try await program.shell(
      "glucoport import rows.csv | true; test ${PIPESTATUS[0]} = 0 -o ${PIPESTATUS[0]} = 141")
    #expect(outcome.errors == "")
    #expect(try StoreFile(program.store).count("reading") == 9)
  }

  @Test func aStandardOutputThatIsFullOrClosedIsAnError() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 9))
    let full = try await program.shell("glucoport list > /dev/full")
    #expect(full.status == 74)
    #expect(full.errors.hasPrefix("glucoport: cannot write to standard output: "))
    let closed = try await program.shell("glucoport list >&-")
    #expect(closed.status == 74)
    #expect(closed.errors.hasPrefix("glucoport: cannot write to standard output: "))
    #expect(try StoreFile(program.store).integrity() == "ok")
  }

  private static let sources = [
    "glucoport/everything.csv", "clarity/clarity-mgdl-en.csv", "clarity/clarity-dst-fallback.csv",
    "mysugr/mysugr-mmol-da.csv", "libreview/libreview-mgdl-en-us-12h.csv", "generic/kinds.csv",
    "nightscout/nightscout-treatments-v1.json", "nightscout/nightscout-entries-v1.json",
    "tidepool/tidepool.json", "libre-desktop/libre-desktop-mmol-en.tsv",
  ]

  @Test(arguments: ["csv", "ndjson"])
  func importingAnExportChangesNothingHereAndGivesTheSameElsewhere(form: String) async throws {
    let program = try Program()
    for source in Self.sources {
      let outcome = try await program.run(
        "import", Samples.path(source), "--timezone", "Europe/Madrid", "--date-order", "mdy")
      #expect([0, 3].contains(outcome.status), "\(source): \(outcome.errors)")
    }
    let export = try await program.run("export", "--format", form, "--deleted")
    #expect(export.status == 0)
    #expect(export.output.split(whereSeparator: \.isNewline).count > 100)

    let again = try await program.run("import", "-", "--json", input: export.output)
    #expect(again.status == 0, "\(again.errors)")
    try Self.expectNothingNew(again)
    let second = try await program.run("export", "--format", form, "--deleted")
    #expect(second.output == export.output)

    let other = try Program()
    let copy = try await other.run("import", "-", "--timezone", "Asia/Tokyo", input: export.output)
    #expect(copy.status == 0, "\(copy.errors)")
    let third = try await other.run("export", "--format", form, "--deleted")
    #expect(
      third.output.split(whereSeparator: \.isNewline) == export.output.split(whereSeparator: \.isNewline))
  }

  private static func expectNothingNew(_ outcome: Program.Outcome) throws {
    let counts = try #require(try outcome.objects().first)
    for name in ["new", "changed", "rejected", "repeated"] { #expect(counts[name] as? Int == 0, "\(name)") }
    let records = try #require(counts["records"] as? [String: Int])
    for name in ["new", "updated", "kept", "repeated"] { #expect(records[name] == 0, "records \(name)") }
    #expect(counts["known"] as? Int ?? 0 > 50)
    #expect(records["known"] ?? 0 > 5)
  }
}
