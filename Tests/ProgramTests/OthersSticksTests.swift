// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests inputs that state little about their person or zone: finger sticks of two persons, titles, and
/// columns that contradict the given zone.
@Suite(.timeLimit(.minutes(10)))
struct OthersSticksTests {
  /// Four finger sticks a day for two weeks. All persons measure at about the same minutes, with different
  /// values.
  private static func sticks(
    _ person: Int, days: Int = 14, from start: Int = 0, hours: [Int] = [7, 12, 18, 22], title: String = ""
  )
    -> String
  {
    var text = title + "Date,Time,Glucose (mg/dL)\n"
    for day in 0..<days {
      for (index, hour) in hours.enumerated() {
        let minute = (day * 7 + index * 13) % 50 + (person == 0 ? 0 : (day + index) % 9)
        let value = 90 + (day * 37 + index * 53 + person * 71) % 120
        let date = "2026-03-\(day + start + 1 < 10 ? "0" : "")\(day + start + 1)"
        text += "\(date),\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute),\(value)\n"
      }
    }
    return text
  }

  private func outcome(_ first: (String, String), _ second: (String, String), _ options: String...)
    async throws
    -> Program.Outcome
  {
    let program = try Program()
    try program.write(first.1, to: first.0)
    try program.write(second.1, to: second.0)
    let before = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Berlin", program.path(first.0))
    #expect(before.status == 0 && before.errors.isEmpty, "\(before.errors)")
    return try await program.run(arguments: ["import", "--quiet"] + options + [program.path(second.0)])
  }

  @Test func fingerSticksThatContradictOthersWithinMinutesCauseAWarning() async throws {
    let found = try await outcome(("log1.csv", Self.sticks(0)), ("log2.csv", Self.sticks(1)))
    #expect(
      found.status == 0 && found.errors.contains("differ within minutes in those of import 1"),
      "\(found.errors)")
    #expect(
      found.errors.contains("log1.csv") && found.errors.contains("'glucoport undo 2'"), "\(found.errors)")
    for option in ["--yes", "--device=Contour"] {
      #expect(
        try await outcome(("log1.csv", Self.sticks(0)), ("log2.csv", Self.sticks(1)), option).errors.isEmpty)
    }
  }

  @Test func fingerSticksOfFilesNamedForTwoPersonsCauseAWarning() async throws {
    let (one, other) = (Self.sticks(0), Self.sticks(1, hours: [6, 10, 15, 20]))
    let found = try await outcome(("anna.csv", one), ("bob.csv", other))
    #expect(
      found.status == 0 && found.errors.contains("have no value in common with those of import 1"),
      "\(found.errors)")
    // There is no warning about two meters of one person, about finger sticks of other days, or about
    // copies.
    #expect(try await outcome(("contour.csv", one), ("onetouch.csv", other)).errors.isEmpty)
    #expect(try await outcome(("home.csv", one), ("work.csv", other)).errors.isEmpty)
    #expect(try await outcome(("sugar1.csv", one), ("sugar2.csv", other)).errors.isEmpty)
    #expect(
      try await outcome(("anna.csv", one), ("bob.csv", Self.sticks(1, days: 10, from: 15))).errors.isEmpty)
    let copy = one.split(separator: "\n").enumerated().map { $0 % 3 == 1 ? "" : $1 + "\n" }.joined()
    #expect(try await outcome(("anna.csv", one), ("bob.csv", copy)).errors.isEmpty)
  }

  @Test func aTitleThatNamesAnotherPersonIsRefused() async throws {
    let (one, other) = (
      Self.sticks(0, title: "Blood glucose log of Anna Muster\n"),
      Self.sticks(1, title: "Patient;Bob Muster\n")
    )
    let found = try await outcome(("log1.csv", one), ("log2.csv", other))
    #expect(
      found.status == 65 && found.errors.contains("states another person than import 1"), "\(found.errors)")
    let same = Self.sticks(1, hours: [9], title: "Patient;MUSTER, anna\n")
    #expect(try await outcome(("log1.csv", one), ("log2.csv", same)).status == 0)
  }

  @Test func aColumnThatContradictsTheGivenZoneCausesAWarningInJobs() async throws {
    let program = try Program()
    let rows = Self.sticks(0).split(separator: "\n").enumerated().map {
      $1 + ($0 == 0 ? ",timezone" : ",America/New_York") + "\n"
    }
    try program.write(rows.joined(), to: "log.csv")
    let arguments = ["import", "--quiet", "--timezone", "Europe/Berlin", program.path("log.csv")]
    let found = try await program.run(arguments: arguments)
    #expect(
      found.status == 0 && found.errors.contains("'timezone' has 'America/New_York' in 56 rows"),
      "\(found.errors)")
    // A second import of the file stores nothing new and prints no warning, so that a job is silent.
    #expect(try await program.run(arguments: arguments).errors.isEmpty)
  }
}
