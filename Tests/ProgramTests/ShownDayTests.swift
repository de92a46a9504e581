// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests days of a journey, whose items have another offset than the logbook's clock. In every command, an
/// item belongs to the day that its own clock showed.
@Suite struct ShownDayTests {
  /// Two days in Madrid, then two in Tokyo. 05:00 in Tokyo is 22:00 of the day before in Madrid.
  private static let rows = """
    time,glucose (mg/dL)
    2026-05-04T08:00:00+02:00,101
    2026-05-05T08:00:00+02:00,102
    2026-05-05T23:30:00+02:00,103
    2026-05-07T05:00:00+09:00,104
    2026-05-07T12:00:00+09:00,105
    2026-05-08T01:00:00+09:00,106
    2026-05-08T23:00:00+09:00,107

    """
  private static let days: [(date: String, next: String, values: [Int])] = [
    ("2026-05-04", "2026-05-05", [101]), ("2026-05-05", "2026-05-06", [102, 103]),
    ("2026-05-06", "2026-05-07", []), ("2026-05-07", "2026-05-08", [104, 105]),
    ("2026-05-08", "2026-05-09", [106, 107]),
  ]

  private func filled() async throws -> Program {
    let program = try Program()
    let outcome = try await program.run(
      "import", "-", "--kind", "smbg", "--timezone", "Europe/Madrid", input: Self.rows)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return program
  }

  private func values(_ outcome: Program.Outcome) throws -> [Int] {
    try outcome.objects().filter { $0["item"] as? String == "reading" }.compactMap { $0["value"] as? Int }
  }

  @Test func listsAndExportsUseTheDaysThatTheClocksShowed() async throws {
    let program = try await filled()
    for (date, next, expected) in Self.days {
      for command in ["list", "export"] {
        let outcome = try await program.run(
          command, "--format", "ndjson", "--since", date, "--until", next)
        #expect(try values(outcome) == expected, "\(command) \(date)")
      }
    }
    let newest = try await program.run(
      "list", "--format", "ndjson", "--until", "2026-05-07", "--limit", "1")
    #expect(try values(newest) == [103])
    let days = try await program.run("list", "--days", "--format", "ndjson", "--since", "2026-05-07")
      .objects()
    #expect(days.compactMap { $0["readings"] as? Int } == [2, 2])
  }

  @Test func statisticsOfADayAgreeWithTheListOfDays() async throws {
    let program = try await filled()
    func readings(_ arguments: String...) async throws -> [String: Int] {
      let table = try await program.run(arguments: ["stats", "--format", "csv"] + arguments).output
      let lines = table.split(whereSeparator: \.isNewline).map {
        $0.split(separator: ",", omittingEmptySubsequences: false)
      }
      let header = try #require(lines.first)
      let column = try #require(header.firstIndex { $0 == "finger_readings" })
      return lines.dropFirst().reduce(into: [:]) { $0[String($1[0])] = Int($1[column]) }
    }
    let rows = try await readings("--by", "day", "--since", "2026-05-04", "--until", "2026-05-09")
    for (date, next, expected) in Self.days {
      let own = try await readings("--by", "day", "--since", date, "--until", next)
      #expect(
        own[date] ?? 0 == expected.count && rows[date] ?? 0 == expected.count, "\(date): \(own) \(rows)")
      #expect(own["total"] ?? 0 == expected.count, "\(date): \(own)")
    }
    let last = try await readings("--by", "day", "--last", "2d")
    #expect(last["2026-05-07"] == 2 && last["2026-05-08"] == 2 && last["2026-05-05"] == nil, "\(last)")
  }

  @Test func theDayCommandShowsTimesAsItsClocksShowedThem() async throws {
    let program = try await filled()
    for (date, _, expected) in Self.days {
      let day = try await program.run("day", date, "--plain", "--unit", "mg/dL").output
      for value in 101...107 {
        #expect(
          day.contains("finger stick \(value).") == expected.contains(value), "\(date) \(value): \(day)")
      }
    }
    let newest = try await program.run("day", "--plain").output
    #expect(newest.contains("2026-05-08") && newest.contains("107"), "\(newest)")
  }

  @Test func theLastDayOfAReportIsThatOfTheNewestReading() async throws {
    let program = try await filled()
    let page = program.path("page.html")
    let outcome = try await program.run(
      "report", "--since", "2026-05-08", "--until", "2026-05-09", "--output", page)
    #expect(outcome.status == 0 && outcome.errors.contains("2 readings"), "\(outcome.errors)")
    let all = try await program.run("report", "--last", "3d", "--pages", "all", "--force", "--output", page)
    #expect(all.errors.contains("4 readings"), "\(all.errors)")
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("2026-05-08") && html.contains("2026-05-07"))
  }

  @Test func aTimeWithAnOffsetSelectsItemsByInstant() async throws {
    let program = try await filled()
    // 2026-05-06T20:00Z is 05:00 of the next day in Tokyo.
    let from = try await program.run(
      "list", "--format", "ndjson", "--since", "2026-05-06T22:00:00+02:00")
    #expect(try values(from) == [104, 105, 106, 107])
    let after = try await program.run("list", "--format", "ndjson", "--since", "2026-05-06T22:00:01+02:00")
    #expect(try values(after) == [105, 106, 107])
  }

  /// In Madrid, the newest reading in Tokyo shows the next day, and the one in San Francisco the day before.
  /// The newest sensor value is less than 5 minutes before midnight.
  @Test(arguments: [
    ("smbg", "2026-05-08T05:00:00+09:00", "2026-05-07T22:00:01Z"),
    ("smbg", "2026-05-07T22:00:00-07:00", "2026-05-07T22:00:00Z"),
    ("cbg", "2026-05-07T23:57:00+02:00", "2026-05-07T21:57:01Z"),
  ])
  func aPeriodWithoutAnEndEndsOnTheDayThatItsNewestItemShows(kind: String, newest: String, until: String)
    async throws
  {
    let program = try Program()
    let rows = Self.rows.split(separator: "\n").prefix(4) + ["\(newest),108\n"]
    let outcome = try await program.run(
      "import", "-", "--kind", kind, "--timezone", "Europe/Madrid", input: rows.joined(separator: "\n"))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let figures = try await program.run("stats", "--since", "2026-05-04", "--json").objects()
    #expect(figures.first?["until"] as? String == until)
  }

  /// The day in Tokyo is later than the day of the newest reading, which is in San Francisco.
  @Test func aPeriodWithoutAnEndHasTheItemsOfALaterShownDay() async throws {
    let program = try Program()
    let rows = "time,glucose (mg/dL)\n2026-05-08T08:00:00+09:00,104\n2026-05-07T19:00:00-07:00,106\n"
    _ = try await program.run("import", "-", "--kind", "smbg", "--timezone", "Europe/Madrid", input: rows)
    let table = try await program.run("stats", "--since", "2026-05-04", "--by", "day", "--format", "csv")
      .output
    #expect(table.contains("2026-05-08") && table.contains("2026-05-07"), "\(table)")
  }
}
