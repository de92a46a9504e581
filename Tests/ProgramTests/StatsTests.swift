// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests `stats` with the built program. Each case is compared with a file in `Stats/`.
/// `GLUCOPORT_REWRITE_GOLDEN=1` rewrites these files. Review and commit the changes.
@Suite(.timeLimit(.minutes(10)))
struct StatsTests {
  @Test(arguments: StatsCase.all)
  func eachStatisticsCasePrintsTheExpectedFigures(_ test: StatsCase) async throws {
    let program = try Program()
    try program.write(test.rows.csv, to: "rows.csv")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", test.zone, program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    for record in test.records {
      let added = try await program.run(arguments: ["record", "add"] + record + ["--quiet"])
      #expect(added.status == 0, "\(added.errors)")
    }
    var text = ""
    for arguments in test.commands {
      let outcome = try await program.run(arguments: ["stats"] + arguments)
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
      text += "$ glucoport stats \(arguments.joined(separator: " "))\n\(outcome.output)\n"
    }
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Stats/\(test.name).txt")
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(text == expected, "differs from Stats/\(test.name).txt")
  }

  @Test(arguments: [
    (["--last", "14d", "--since", "2026-03-01"], "Use --last, or --since and --until."),
    (["--json", "--format", "csv"], "Use only one of --json and --format csv."),
    (
      ["--targets", "tight"],
      "Unknown targets 'tight'; use standard, older or pregnancy, or a range such as 70-180."
    ),
    (["--targets", "70-"], "Unknown targets '70-'"), (["--last", "0d"], "--last"),
    (["--last", "14"], "--last"), (["--by", "year"], "--by"), (["--device", ""], "--device needs"),
    (["--targets", "40-180"], "--targets 40-180: a range in mg/dL is within 54-250; --unit sets the unit"),
    (["--targets", "70-180", "--unit", "mmol/L"], "a range in mmol/L is within 3-13.9"),
    (["--targets", "180-70"], "--targets 180-70: the lower value comes first: 70-180."),
    (["--targets", "10-3.9"], "--targets 10-3.9: the lower value comes first: 3.9-10."),
    (["--targets", "100-100"], "--targets 100-100: the two values must differ."),
    (["--last", "999999d"], "a span is at most 100 years"), (["--since", "999999d"], "at most 100 years"),
    (["--until", "10000-01-01"], "a time is written as"),
    (["--since", "2026-03-02", "--until", "2026-03-01"], "--until must be later than --since"),
    (["--since", "2026-03-02", "--until", "2026-03-02"], "--until must be later than --since"),
  ])
  func invalidStatsOptionsAreUsageErrors(_ arguments: [String], _ words: String) async throws {
    let outcome = try await ReadingRows.sticks().run(arguments: ["stats"] + arguments)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome.output)")
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
  }

  private func readings(_ outcome: Program.Outcome, _ section: String = "finger_sticks") throws -> Int? {
    let total = try #require(try outcome.objects().first?["total"] as? [String: any Sendable])
    return (total[section] as? [String: any Sendable])?["readings"] as? Int
  }

  @Test func statsSelectADeviceBySerialNumberOrPartOfItsName() async throws {
    let program = try await ReadingRows.sticks()
    #expect(try readings(try await program.run("stats", "--json")) == 2)
    #expect(try readings(try await program.run("stats", "--json", "--device", "B-2")) == 1)
    #expect(try readings(try await program.run("stats", "--json", "--device", "meter a")) == 1)
    #expect(try readings(try await program.run("stats", "--json", "--device", "Meter")) == 2)
    let unknown = try await program.run("stats", "--device", "C")
    #expect(unknown.status == 66 && unknown.output == "")
    #expect(unknown.errors.hasSuffix(": no device 'C'; 'glucoport status' lists the devices\n"))
  }

  @Test func statsOptionsDetermineThePeriod() async throws {
    let program = try await ReadingRows.sticks()
    #expect(try readings(try await program.run("stats", "--json", "--last", "1d")) == 1)
    #expect(try readings(try await program.run("stats", "--json", "--last", "24h")) == 2)
    #expect(try readings(try await program.run("stats", "--json", "--last", "1w")) == 2)
    #expect(try readings(try await program.run("stats", "--json", "--until", "2026-03-03")) == 1)
    let none = try await program.run("stats", "--since", "2026-04-01", "--until", "2026-04-02")
    #expect(none.output == "2026-04-01 … 2026-04-01 · 1 day · zone UTC · mg/dL · target 70–180\n")
  }

  @Test func anEmptyStoreHasNoStatisticsToPrint() async throws {
    let program = try Program()
    let made = try await program.run("record", "add", "note", "a text", "--quiet")
    #expect(made.status == 0, "\(made.errors)")
    let outcome = try await program.run("stats")
    #expect(outcome.status == 0 && outcome.output == "no readings\n", "\(outcome.errors)")
  }

  @Test func statsCountHiddenReadingsSeparately() async throws {
    let program = try await ReadingRows.sticks()
    let list = try await program.run("list", "--long").output
    let id = try #require(list.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("r1.") })
    let hidden = try await program.run("reading", "hide", String(id), "--quiet")
    #expect(hidden.status == 0, "\(hidden.errors)")
    let outcome = try await program.run("stats", "--json", "--since", "2026-03-01")
    #expect(try readings(outcome) == 1 && outcome.output.contains("\"withdrawn\":1"))
  }

  @Test func statsQuoteANameWithACommaInCSV() async throws {
    let program = try Program()
    var rows = ReadingRows()
    rows.add(.smbg, "100", at: "2026-03-02T08:00", serial: "\"A,1\"")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let table = try await program.run("stats", "--format", "csv", "--by", "device").output
    #expect(table.split(separator: "\r\n").count == 3 && table.contains("\r\n\"Vendor Meter A,1\",mg/dL,"))
  }
}

/// One case: the imported rows, and the commands to run.
struct StatsCase: Sendable, CustomTestStringConvertible {
  let name: String
  var zone = "UTC"
  let rows: ReadingRows
  var records: [[String]] = []
  let commands: [[String]]

  var testDescription: String { name }

  static let all = [
    dayWithoutData, oneReading, yearWithGaps, twoSensors, fingerSticks, millimoles, dayOf25Hours, allLow,
  ]

  private static func rows(_ add: (inout ReadingRows) -> Void) -> ReadingRows {
    var rows = ReadingRows()
    add(&rows)
    return rows
  }

  private static let dayWithoutData = StatsCase(
    name: "day-without-data",
    rows: rows {
      $0.addSamples(288, every: 5, from: "2026-03-02")
      $0.addSamples(288, every: 5, from: "2026-03-04", base: 60)
    }, commands: [["--by", "day"], ["--by", "day", "--format", "csv"]])

  private static let oneReading = StatsCase(
    name: "one-reading", rows: rows { $0.add(.cbg, "120", at: "2026-03-02T08:00") },
    commands: [[], ["--json"]])

  private static let yearWithGaps = StatsCase(
    name: "year-with-gaps",
    rows: rows {
      $0.addSamples(20 * 96, every: 15, from: "2025-01-05")
      $0.addSamples(30 * 96, every: 15, from: "2025-11-01", base: 150)
    }, commands: [["--since", "2025-01-01", "--until", "2026-01-01", "--by", "month"]])

  private static let twoSensors = StatsCase(
    name: "two-sensors",
    rows: rows {
      $0.addSamples(192, every: 15, from: "2026-03-02", serial: "libre")
      $0.addSamples(576, every: 5, from: "2026-03-03T00:02", serial: "dexcom", base: 150)
    }, commands: [["--by", "device"], ["--by", "hour", "--targets", "older"]])

  private static let fingerSticks = StatsCase(
    name: "finger-sticks",
    rows: rows { rows in
      for index in 0..<40 {
        rows.add(.smbg, "\(60 + index * 5)", at: "2026-03-02T07:00", plus: Int64(index) * 21600)
      }
      rows.add(.smbg, "", at: "2026-03-12T08:00", range: "low")
      rows.add(.smbg, "130", at: "2026-03-12T08:05", marks: "control-solution")
      rows.add(.ketone, "0.4", "mmol/L", at: "2026-03-12T08:10")
    }, commands: [["--by", "kind"], ["--by", "weekday"], ["--json"]])

  private static let millimoles = StatsCase(
    name: "mmol",
    rows: rows { rows in
      for index in 0..<Int64(14 * 288) {
        let tenths = 30 + index * 13 % 120
        rows.add(
          .cbg, "\(tenths / 10).\(tenths % 10)", "mmol/L", at: "2026-03-02", plus: index * 300)
      }
      rows.add(.scan, "22.0", "mmol/L", at: "2026-03-03T08:01")
    },
    records: [
      ["insulin", "4", "--subtype", "rapid", "--at", "2026-03-03T08:00"],
      ["insulin", "20", "--subtype", "long", "--at", "2026-03-03T22:00"],
      ["insulin", "6", "--subtype", "rapid", "--at", "2026-03-10T08:00"],
      ["food", "45", "g", "--at", "2026-03-10T08:00"],
    ],
    commands: [
      ["--by", "week"], ["--targets", "4.5-9"], ["--targets", "pregnancy", "--unit", "mg/dL"], ["--json"],
    ])

  private static let dayOf25Hours = StatsCase(
    name: "day-of-25-hours", zone: "Europe/Berlin",
    rows: rows { rows in
      rows.addSamples(36, every: 5, from: "2025-10-26", offset: 7200)
      for index in 0..<Int64(12) {
        rows.add(.cbg, "90", at: "2025-10-26T02:00", plus: index * 300, offset: 3600, occurrence: 1)
      }
      rows.addSamples(252 + 288, every: 5, from: "2025-10-26T03:00", offset: 3600)
    }, commands: [["--by", "day"], ["--by", "hour"]])

  private static let allLow = StatsCase(
    name: "all-low",
    rows: rows { rows in
      for index in 0..<Int64(14 * 288) {
        rows.add(.cbg, "", at: "2026-03-02", plus: index * 300, range: "low")
      }
    }, commands: [[], ["--json"]])
}
