// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the warning about an export that has all times of a diary in another time zone than earlier exports,
/// and the commands in it.
@Suite(.timeLimit(.minutes(10)))
struct OtherZoneDiaryTests {
  private static let berlin = ["--timezone", "Europe/Berlin"]
  private static let newYork = ["--timezone", "America/New_York"]

  /// A table of doses in April, one on each of these days at this time. The units are those of the day.
  private static func table(
    _ clock: String, _ units: [Int], on days: [Int]? = nil, _ column: String = "Insulin"
  ) -> String {
    "Date,Time,\(column)\n"
      + zip(days ?? Array(1...units.count), units).map { day, units in
        "2026-04-\(String(format: "%02d", day)),\(clock):00,\(units)\n"
      }.joined()
  }

  private static func add(
    _ table: String, _ name: String, _ program: Program, _ options: [String] = []
  ) async throws -> String {
    try program.write(table, to: name)
    let map =
      table.contains("Insulin")
      ? "date=Date,clock=Time,insulin=Insulin" : "date=Date,clock=Time,value=Glucose"
    let unit = table.contains("Insulin") ? [] : ["--unit", "mg/dL", "--kind", "smbg"]
    let outcome = try await program.run(
      arguments: ["import", "--quiet", "--map", map] + unit + options + [program.path(name)])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.errors
  }

  private static func units(_ program: Program) async throws -> Double? {
    let outcome = try await program.run(
      "stats", "--json", "--since", "2026-03-30", "--until", "2026-05-03")
    let total = try outcome.objects().first?["total"] as? [String: any Sendable]
    let insulin = total?["insulin"] as? [String: any Sendable]
    return (insulin?["all"] as? [String: any Sendable])?["total"] as? Double
  }

  /// Runs the commands between quotation marks in a warning. `zone` replaces ZONE.
  private static func follow(_ warning: String, zone: String = "", _ program: Program) async throws
    -> [String]
  {
    let commands = warning.split(separator: "'").filter { $0.hasPrefix("glucoport ") }.map(String.init)
    for command in commands {
      let words = command.split(separator: " ").dropFirst().map { $0 == "ZONE" ? zone : String($0) }
      let outcome = try await program.run(arguments: words)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
    }
    return commands
  }

  @Test func aDiaryInTheTimeZoneOfAJourneyHasAWarningWithTheCommandsThatCountItOnce() async throws {
    let program = try Program()
    let units = Array(1...12)
    #expect(try await Self.add(Self.table("14:00", units), "home.csv", program, Self.berlin).isEmpty)
    let away = try await Self.add(Self.table("08:00", units + [20]), "away.csv", program, Self.newYork)
    #expect(
      away.contains("12 doses and meals of this input are at the instants of those of import 1"), "\(away)")
    #expect(away.contains("which shows them 6 hours later"), "\(away)")
    #expect(try await Self.units(program) == 78 + 78 + 20)
    let commands = try await Self.follow(away, program)
    let map = "--map clock=Time,date=Date,insulin=Insulin"
    #expect(
      commands == [
        "glucoport undo 1",
        "glucoport import --again --timezone America/New_York \(map) \(program.path("away.csv"))",
      ], "\(away)")
    #expect(try await Self.units(program) == 78 + 20)
  }

  /// The first warning demands that the second export is imported again. So two imports have its items.
  @Test func theCommandsOfTheWarningCountADiaryOnceAfterTheJourneyAsWell() async throws {
    let program = try Program()
    _ = try await Self.add(Self.table("14:00", Array(1...12)), "1.csv", program, Self.berlin)
    let away = try await Self.add(Self.table("08:00", Array(1...24)), "2.csv", program, Self.newYork)
    _ = try await Self.follow(away, program)
    let home = try await Self.add(Self.table("14:00", Array(1...26)), "3.csv", program)
    #expect(home.contains("of imports 2 and 3, which show them 6 hours earlier"), "\(home)")
    let commands = try await Self.follow(home, program)
    #expect(commands.prefix(2) == ["glucoport undo 2", "glucoport undo 3"], "\(home)")
    #expect(commands.last?.contains("--again --timezone Europe/Berlin") == true, "\(home)")
    #expect(try await Self.units(program) == 351)
  }

  @Test func aDiaryInTheTimeZoneOfAJourneyHasAWarningIfNoZoneWasGiven() async throws {
    let program = try Program()
    let units = Array(1...12)
    _ = try await Self.add(Self.table("14:00", units), "home.csv", program, Self.berlin)
    let away = try await Self.add(Self.table("08:00", units + [20]), "away.csv", program)
    #expect(
      away.contains("12 doses and meals of this input are also in import 1, which shows them 6 hours later"),
      "\(away)")
    #expect(
      away.contains("'glucoport undo 1'") && away.contains("where ZONE is the zone of the phone"), "\(away)")
    _ = try await Self.follow(away, zone: "America/New_York", program)
    #expect(try await Self.units(program) == 98)
    #expect(try await Self.add(Self.table("08:00", units + [20]), "away.csv", program).isEmpty)
  }

  @Test func theWarningNamesEveryEarlierImportOfAGrowingExport() async throws {
    let program = try Program()
    for count in [8, 12, 16, 20] {
      let errors = try await Self.add(
        Self.table("14:00", Array(1...count)), "\(count).csv", program, Self.berlin)
      #expect(errors.isEmpty, "\(errors)")
    }
    let away = try await Self.add(Self.table("08:00", Array(1...22)), "away.csv", program)
    #expect(away.contains("20 doses and meals of this input are also in 4 earlier imports"), "\(away)")
    #expect(away.contains("'for n in 1 2 3 4; do glucoport undo $n; done'"), "\(away)")
  }

  @Test func fingerSticksInTheTimeZoneOfAJourneyHaveAWarning() async throws {
    let program = try Program()
    let values = Array(101...112)
    _ = try await Self.add(Self.table("14:00", values, "Glucose"), "home.csv", program, Self.berlin)
    let away = try await Self.add(Self.table("08:00", values, "Glucose"), "away.csv", program)
    #expect(away.contains("12 finger sticks of this input are also in import 1"), "\(away)")
    #expect(away.contains("--unit mg/dL"), "\(away)")
    let other = try await Self.add(
      Self.table("03:00", values.map { $0 + 50 }, "Glucose"), "other.csv", program)
    #expect(!other.contains("also in import"), "\(other)")
  }

  /// Such a table counts once; see `OwnCopies`.
  @Test func aTableWhoseTimesHaveAnotherFormHasNoWarningAboutAnotherZone() async throws {
    let program = try Program()
    let units = Array(1...12)
    let rows = units.map { "2026-04-\(String(format: "%02d", $0))T14:00:00+04:00,\($0)\n" }.joined()
    let options = ["import", "--quiet", "--map", "time=Time,insulin=Insulin"] + Self.berlin
    try program.write("Time,Insulin\n" + rows, to: "offset.csv")
    try program.write("Time,Insulin\n" + rows.replacing("14:00:00+04:00", with: "12:00:00"), to: "local.csv")
    for name in ["local.csv", "offset.csv"] {
      let outcome = try await program.run(arguments: options + [program.path(name)])
      #expect(outcome.status == 0 && !outcome.errors.contains("at the instants"), "\(outcome.errors)")
    }
    #expect(try await Self.units(program) == 78)
  }

  /// Two tables. The second one states none of the first one's doses at other times.
  private struct Regular: CustomTestStringConvertible {
    let testDescription: String
    let first: String
    let second: String

    init(_ description: String, _ first: String, _ second: String) {
      (testDescription, self.first, self.second) = (description, first, second)
    }
  }

  private static let regular: [Regular] = {
    let twelve = Array(1...12)
    let (odd, even) = (twelve.map { 2 * $0 - 1 }, twelve.map { 2 * $0 })
    let titrated = twelve.map { 10 + $0 / 5 * 2 }
    return [
      Regular("few", table("14:00", twelve), table("08:00", Array(1...9))),
      Regular("other amounts", table("14:00", twelve), table("08:00", Array(21...32))),
      Regular(
        "two amounts", table("14:00", twelve.map { $0 % 2 + 4 }), table("08:00", twelve.map { $0 % 2 + 4 })),
      Regular("no quarter of an hour", table("14:00", twelve), table("08:10", twelve)),
      Regular("52 hours", table("14:00", twelve), table("18:00", twelve, on: twelve.map { $0 + 2 })),
      // A basal dose each day.
      Regular(
        "18 units a day", table("22:00", twelve.map { _ in 18 }), table("22:00", (1...24).map { _ in 18 })),
      Regular(
        "each amount on two days", table("22:00", twelve, on: odd), table("22:00", twelve, on: even)),
      // The same dose in the morning and in the evening, which changes every few days.
      Regular("morning and evening", table("08:00", titrated), table("20:00", titrated)),
      // The second export has the doses of the first one, and an equal dose each morning.
      Regular(
        "an equal dose before each", table("14:00", twelve),
        table("14:00", twelve) + table("08:00", twelve).replacing("Date,Time,Insulin\n", with: "")),
      // Between the doses that are six hours later in the first export, there are as many others.
      Regular(
        "others between", table("14:00", twelve),
        table("08:00", twelve) + table("11:00", Array(31...42)).replacing("Date,Time,Insulin\n", with: "")),
    ]
  }()

  @Test(arguments: regular) private func dosesAtRegularTimesHaveNoWarningAboutAnotherZone(_ regular: Regular)
    async throws
  {
    let program = try Program()
    _ = try await Self.add(regular.first, "first.csv", program, Self.berlin)
    let second = try await Self.add(regular.second, "second.csv", program)
    #expect(!second.contains("also in import") && !second.contains("at the instants"), "\(second)")
  }
}
