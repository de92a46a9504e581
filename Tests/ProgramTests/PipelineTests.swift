// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import TestProgram
import Testing

/// Tests the program between other programs in a pipeline.
@Suite(.timeLimit(.minutes(10)))
struct PipelineTests {
  @Test func rowsOfALivePipeAreStoredWhileItIsOpen() async throws {
    let program = try Program()
    let (outcome, wereShown) = try await program.run("import", "-", "--kind", "cbg") { process in
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

  /// A writer that never pauses for a second, such as a sensor or `tail -f`.
  @Test(arguments: [("0.3", false), ("0.1", false), ("0.3", true)])
  func rowsOfABusyPipeAreStoredWhileTheyArrive(_ gap: String, _ isJSON: Bool) async throws {
    let program = try Program()
    let row =
      isJSON
      ? #"{"type":"sgv","date":%s000,"sgv":120,"device":"d"}\n' $((1767225600 + i * 300))"#
      : #"2026-01-01T%02d:%02d,120\n' $((i / 60)) $((i % 60))"#
    let outcome = try await program.shell(
      """
      rows() {
        \(isJSON ? "" : "echo 'time,glucose (mg/dL)'")
        for i in $(seq 400); do [ -e stop ] && break; printf '\(row); sleep \(gap); done
      }
      rows | glucoport import - --timezone UTC --kind cbg >report &
      for _ in $(seq 200); do
        [ -e data/glucoport/logbook.db ] && [ "$(glucoport list --format ndjson 2>/dev/null | wc -l)" -ge 5 ] && break
        sleep 0.1
      done
      glucoport list --format ndjson | wc -l; jobs -r | wc -l; touch stop; wait; cat report
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    try #require(lines.count > 2, "\(outcome)")
    let shown = try #require(Int(lines[0]))
    #expect((5..<300).contains(shown) && lines[1] == "1", "\(outcome)")
  }

  @Test func aBusyPipeWithAmbiguousFirstDatesIsRefused() async throws {
    let outcome = try await Program().shell(
      """
      rows() {
        echo 'time,glucose (mg/dL)'
        for i in $(seq 400); do printf '03/04/2026 10:%02d,100\\n' $((i % 60)) || break; sleep 0.1; done
      }
      rows 2>/dev/null | glucoport import -
      """)
    #expect(outcome.status == 65 && outcome.errors.contains("--date-order"), "\(outcome)")
    #expect(outcome.seconds < 30)
  }

  private static func shows(_ count: Int, _ program: Program) async throws -> Bool {
    try await eventually(within: .seconds(20)) {
      let list = try await program.run("list", "--format", "ndjson")
      return try list.status == 0 && list.objects().count == count
    }
  }

  @Test func aLivePipeWithAmbiguousFirstDatesIsRefused() async throws {
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

  /// All rows of a file together may show that they are sensor values. If the first rows of a pipe were
  /// stored as finger sticks, a later import from a file would store them again.
  @Test func aLivePipeWhoseFirstRowsDoNotShowTheKindIsRefused() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      mkfifo live && exec 3<>live
      printf 'time,glucose (mg/dL)\\n2026-05-01 10:00,100\\n2026-05-01 10:05,101\\n' >&3
      glucoport import - <live
      """)
    #expect(outcome.status == 65 && outcome.errors.contains("--kind"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func aTruncatedInputFromAPipeKeepsItsCompleteRows() async throws {
    let program = try Program()
    let rows = GeneratedExport.csv(rows: 100)
    let outcome = try await program.run("import", "-", input: rows + Array("2024-01-01T10:2".utf8))
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("-:102: the last line has no line end"), "\(outcome.errors)")
    #expect(outcome.errors.contains("--last-line complete"), "\(outcome.errors)")
    #expect(try StoreFile(program.store).count("reading") == 100)
  }

  /// The shell may leave SIGPIPE active, or ignore it as some services do.
  @Test(arguments: ["", "trap '' PIPE; "])
  func aClosedOutputPipeEndsListWithoutAMessage(trap: String) async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 20_000))
    let outcome = try await program.shell("\(trap)glucoport list --format csv | head -n 1")
    #expect(outcome.output.hasPrefix("item,kind,time,"))
    #expect(outcome.output.split(separator: "\r\n").count == 1)
    #expect(outcome.errors == "")
  }

  /// If SIGPIPE is ignored, as by systemd, the program also stops the export and prints no message.
  @Test(arguments: ["csv", "ndjson", "nightscout"], ["", "trap '' PIPE; "])
  func aClosedOutputPipeEndsExportWithoutAMessage(_ form: String, trap: String) async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 20_000))
    _ = try await program.run("record", "add", "note", "this is no entry of Nightscout")
    let outcome = try await program.shell(
      "\(trap)glucoport export --format \(form) | head -n 1 >first; echo ${PIPESTATUS[0]}; wc -l <first")
    #expect(outcome.output == (trap.isEmpty ? "141" : "0") + "\n1\n", "\(outcome)")
    #expect(outcome.errors == "")
  }

  @Test func anImportWithAClosedOutputPipeStoresEverything() async throws {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 9), to: "rows.csv")
    let outcome = try await program.shell(
      "glucoport import rows.csv | true; test ${PIPESTATUS[0]} = 0 -o ${PIPESTATUS[0]} = 141")
    #expect(outcome.errors == "")
    #expect(try StoreFile(program.store).count("reading") == 9)
  }

  @Test func writingToAFullOrClosedStandardOutputIsAnError() async throws {
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

  /// Commands that print a result if the store has readings, also in other output formats.
  private static let printing = [
    "list", "list --format csv", "log", "log --json", "show $id", "show $id --json", "day 2026-01-01",
    "latest",
    "latest --json", "stats", "stats --json", "formats", "formats --json", "export", "export --format csv",
    "config", "status", "status --json", "count list", "person list", "meter drivers", "meter udev-rules",
    "backup -",
  ]

  @Test func everyCommandReportsAFullDiskInPlaceOfItsResult() async throws {
    let program = try Program()
    _ = try await program.run("import", "-", input: GeneratedExport.csv(rows: 9))
    for (target, status) in [("null", 0), ("full", 74)] {
      let runs = Self.printing.map { "glucoport \($0) >/dev/\(target); echo \"\($0) $?\"" }
      let outcome = try await program.shell(
        "id=$(glucoport list --ids | grep -o -m 1 'r1[^ ]*'); " + runs.joined(separator: "; "))
      let statuses = outcome.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
      #expect(statuses == Self.printing.map { _ in "\(status)" }, "\(outcome.output)")
    }
  }

  private static let sources = [
    "glucoport/everything.csv", "clarity/clarity-mgdl-en.csv", "clarity/clarity-dst-fallback.csv",
    "mysugr/mysugr-mmol-da.csv", "libreview/libreview-mgdl-en-us-12h.csv", "generic/kinds.csv",
    "nightscout/nightscout-treatments-v1.json", "nightscout/nightscout-entries-v1.json",
    "tidepool/tidepool.json", "libre-desktop/libre-desktop-mmol-en.tsv",
  ]

  @Test(arguments: [["csv"], ["ndjson"], ["csv", "--both-units"], ["ndjson", "--both-units"]])
  func anExportChangesNothingInItsStoreAndFillsANewStoreWithTheSameContent(form: [String]) async throws {
    let program = try Program()
    for source in Self.sources {
      let outcome = try await program.run(
        "import", Samples.path(source), "--timezone", "Europe/Madrid", "--date-order",
        source.hasPrefix("mysugr") ? "dmy" : "mdy")
      #expect([0, 3].contains(outcome.status), "\(source): \(outcome.errors)")
    }
    let list = try await program.run("list", "--long", "--kind", "smbg", "--limit", "1")
    let id = try #require(list.output.split(whereSeparator: \.isWhitespace).first { $0.contains(".smbg.") })
    #expect(try await program.run("reading", "hide", String(id)).status == 0)
    let command = ["export", "--deleted", "--hidden", "--format"] + form
    let export = try await program.run(arguments: command)
    #expect(export.status == 0)
    #expect(export.output.split(whereSeparator: \.isNewline).count > 100)
    #expect(try StoreFile(program.store).count("readings WHERE withdrawn") == 1)

    let again = try await program.run("import", "-", "--json", input: export.output)
    #expect(again.status == 0, "\(again.errors)")
    try Self.expectNothingNew(again)
    let second = try await program.run(arguments: command)
    #expect(second.output == export.output)

    let other = try Program()
    let copy = try await other.run("import", "-", "--timezone", "Europe/Madrid", input: export.output)
    #expect(copy.status == 0, "\(copy.errors)")
    let third = try await other.run(arguments: command)
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
