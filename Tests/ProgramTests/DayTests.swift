// SPDX-License-Identifier: Apache-2.0

import Logbook
import TestProgram
import Testing

/// Tests pictures in the terminal with the built program: `day`, `stats --plot` and `list --plot`.
@Suite(.timeLimit(.minutes(10)))
struct DayTests {
  /// A store with the sensor values of a day, a finger stick of the next day, and a dose of insulin.
  private func program() async throws -> Program {
    let program = try Program()
    var rows = ReadingRows()
    rows.addSamples(288, every: 5, from: "2026-03-02")
    rows.add(.smbg, "200", at: "2026-03-03T08:00")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let added = try await program.run(
      "record", "add", "insulin", "4", "--at", "2026-03-02T08:00", "--quiet")
    #expect(added.status == 0, "\(added.errors)")
    return program
  }

  @Test func theDayCommandShowsTheGivenDayOrThatOfTheNewestReading() async throws {
    let program = try await program()
    let newest = try await program.run("day")
    #expect(newest.status == 0 && newest.errors == "")
    #expect(newest.output.hasPrefix("Tuesday 2026-03-03 · 24 hours · zone UTC · mg/dL · target 70–180\n"))
    #expect(newest.output.contains("● finger stick") && !newest.output.contains("⠒ sensor"))
    let named = try await program.run("day", "2026-03-02", "--unit", "mmol/L")
    #expect(named.output.hasPrefix("Monday 2026-03-02 · 24 hours · zone UTC · mmol/L · target 3.9–10.0\n"))
    #expect(named.output.contains("\n   U │") && named.output.contains("Sensor: 288 readings"))
    let empty = try await program.run("day", "2026-03-05")
    #expect(empty.output.hasSuffix("\nno readings and no records\n"))
  }

  @Test func theDayCommandAcceptsADeviceAndTargets() async throws {
    let program = try await program()
    let other = try await program.run("day", "--device", "X")
    #expect(other.status == 66 && other.output == "")
    let targets = try await program.run("day", "--targets", "80-160")
    #expect(targets.output.contains("target 80–160"))
    let wrong = try await program.run("day", "--targets", "80")
    #expect(wrong.status == 64 && wrong.errors.contains("Unknown targets '80'"))
  }

  @Test func aDayPrintedToAPipeHasNoColoursAnd80Columns() async throws {
    let program = try await program()
    for arguments in [["day", "2026-03-02"], ["stats", "--plot"], ["list", "--plot", "--limit", "5"]] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 0 && !outcome.output.contains("\u{1B}"), "\(arguments)")
    }
    let lines = try await program.run("day", "2026-03-02").output.split(separator: "\n")
    #expect(lines.map(\.count).max() == 80)
  }

  @Test func aDayIsPrintedInASCIIOrInWordsOnRequest() async throws {
    let program = try await program()
    let ascii = try await program.run("day", "2026-03-02", "--ascii").output
    #expect(!ascii.contains { !$0.isASCII } && ascii.contains("* sensor"))
    let plain = try await program.run("day", "2026-03-02", "--plain").output
    #expect(plain.contains("\n08:00 insulin 4 U.\n") && plain.contains("\n00:00 to 03:00: from "))
    let both = try await program.run("day", "--ascii", "--plain")
    #expect(both.status == 64 && both.errors.contains("Use only one of --ascii and --plain."))
  }

  @Test func statsWithPlotAddARangeBarAndTheDailyProfile() async throws {
    let program = try await program()
    let figures = try await program.run("stats").output
    let picture = try await program.run("stats", "--plot").output
    #expect(
      picture.hasPrefix(figures) && picture.hasSuffix("\n24-hour profile — (1 of 7 days, 100 % of time)\n"))
    let words = try await program.run("stats", "--plot", "--plain").output
    #expect(words == figures + "\n24-hour profile: none (1 of 7 days, 100 % of time).\n")
    for arguments in [["--plot", "--json"], ["--plot", "--format", "csv"]] {
      let outcome = try await program.run(arguments: ["stats"] + arguments)
      #expect(outcome.status == 64 && outcome.errors.contains("--plot is only for tables."))
    }
    let alone = try await program.run("stats", "--ascii")
    #expect(alone.status == 64 && alone.errors.contains("--ascii and --plain need --plot."))
  }

  @Test func listWithPlotShowsABarForEachGlucoseValue() async throws {
    let program = try await program()
    let table = try await program.run("list", "--kind", "smbg", "--plot").output
    #expect(table == "2026-03-03 08:00:00  smbg        200 mg/dL   ██████▋    ↑\n")
    let ascii = try await program.run("list", "--kind", "smbg", "--plot", "--ascii").output
    #expect(ascii == "2026-03-03 08:00:00  smbg        200 mg/dL   =======    ^\n")
    let insulin = try await program.run("list", "--kind", "insulin", "--plot").output
    #expect(insulin.contains("4 U") && !insulin.contains("█"))
    for arguments in [["--plot", "--format", "csv"], ["--plot", "--days"], ["--ascii"]] {
      #expect(try await program.run(arguments: ["list"] + arguments).status == 64, "\(arguments)")
    }
  }

  @Test func theDayCommandFailsForAnEmptyStore() async throws {
    let program = try Program()
    let made = try await program.run("config", "timezone", "UTC")
    #expect(made.status == 0, "\(made.errors)")
    #expect(try await program.run("day").output == "no readings and no records\n")
    let outcome = try await program.run("day", "999999d")
    #expect(outcome.status == 64 && outcome.output == "" && outcome.errors.contains("at most 100 years"))
  }

  @Test func theDayCommandShowsTheDayOfANewerRecord() async throws {
    let program = try await program()
    let added = try await program.run(
      "record", "add", "note", "a walk", "--at", "2026-03-04T09:00", "--quiet")
    #expect(added.status == 0, "\(added.errors)")
    let newest = try await program.run("day").output
    #expect(newest.hasPrefix("Wednesday 2026-03-04 · ") && newest.contains("09:00 note a walk"), "\(newest)")
    #expect(newest.contains("\nno readings\n"))
    // With `--device`, the newer record does not determine the day, since a record has no device.
    #expect(try await program.run("day", "--device", "S").output.hasPrefix("Tuesday 2026-03-03 · "))
  }
}
