// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestArchives
import TestProgram
import Testing

/// Tests several tables of doses or meals: the sheets of a workbook, and the files of a folder.
@Suite(.timeLimit(.minutes(10)))
struct DoseTableTests {
  private static let map = ["--timezone", "UTC", "--map", "date=Date,clock=Time,insulin=Units"]

  /// Doses on six days at these hours.
  private static func doses(_ hours: [Int], from day: Int = 1, _ amount: (Int) -> Int) -> String {
    var text = "Date,Time,Units\n"
    for day in day..<(day + 6) {
      for hour in hours {
        text +=
          "2026-03-\(day < 10 ? "0" : "")\(day),\(hour < 10 ? "0" : "")\(hour):10,\(amount(day * 3 + hour))\n"
      }
    }
    return text
  }
  private static let anna = doses([7, 20]) { 4 + $0 % 5 }
  private static let ben = doses([9, 20]) { 20 + $0 % 3 }

  private func workbook(_ program: Program, _ sheets: [(String, String)]) throws -> String {
    let path = program.path("diary.xlsx")
    var writer = SpreadsheetWriter([])
    writer.sheets = sheets.flatMap { SpreadsheetWriter(csv: $0.1, sheet: $0.0).sheets }
    try Data(writer.xlsx()).write(to: URL(filePath: path))
    return path
  }

  private func insulin(_ program: Program) async throws -> [String] {
    let exported = try await program.run("export", "--format", "ndjson")
    return exported.output.split(separator: "\n").map(String.init).filter { $0.contains(#""insulin""#) }
  }

  @Test(arguments: [("Anna", "Ben"), ("Anna Bolus", "Ben Bolus"), ("Doses of Anna", "Doses of Ben")])
  func aWorkbookWithTheDosesOfTwoPersonsIsRefused(_ first: String, _ second: String) async throws {
    let program = try Program()
    let path = try workbook(program, [(first, Self.anna), (second, Self.ben)])
    let refused = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(
      refused.status == 65
        && refused.errors.contains("\(second): it has other doses or meals of the same days as ")
        && refused.errors.contains("\(first), and both may be named for persons"), "\(refused.errors)")
    #expect(try await insulin(program).count == 12)
    let named = try await program.run(
      arguments: ["import", "--quiet", "--device", "Pen"] + Self.map + [path + ":" + second])
    #expect(named.status == 0 && named.errors.isEmpty, "\(named.errors)")
    #expect(try await insulin(program).count == 24)
  }

  /// The names state insulins, uses, parts of a person's data, or periods.
  @Test(arguments: [
    ("Bolus", "Basal"), ("NovoRapid", "Lantus"), ("Anna Bolus", "Anna Basal"), ("Doses", "Corrections"),
    ("Meals", "Injections"), ("Week 1", "Week 2"), ("Pen", "Pump"), ("Anna", "Corrections"),
    ("Mahlzeiten", "Korrektur"), ("Bauch", "Oberschenkel"), ("March", "April"), ("Sheet1", "Anna"),
  ])
  func aWorkbookWithTwoTablesOfOnePersonIsImported(_ first: String, _ second: String) async throws {
    let program = try Program()
    let path = try workbook(program, [(first, Self.anna), (second, Self.ben)])
    let outcome = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(try await insulin(program).count >= 18)
  }

  @Test func sheetsOfTwoPersonsOnOtherDaysAndCopiesAreImported() async throws {
    let program = try Program()
    let path = try workbook(
      program,
      [
        ("Anna", Self.anna), ("Later", Self.doses([9, 20], from: 20) { 4 + $0 % 3 }), ("Copied", Self.anna),
        ("Rom", Self.doses([9, 20], from: 10) { 4 + $0 % 3 }),
      ])
    let outcome = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(try await insulin(program).count == 36)
  }

  @Test func theNameOfASheetStatesTheUseOfItsDoses() async throws {
    let program = try Program()
    let more = Self.doses([10, 21], from: 2) { 4 + $0 % 3 }
    let path = try workbook(program, [("Bolus", Self.anna), ("Basal", Self.ben), ("Mehr", more)])
    let outcome = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let lines = try await insulin(program)
    #expect(lines.count == 36)
    #expect(lines.count { $0.contains(#""rapid""#) } == 12 && lines.count { $0.contains(#""long""#) } == 12)
    // A later version of the workbook changes the doses.
    let later = Self.ben.replacing(",22\n", with: ",24\n")
    _ = try workbook(program, [("Bolus", Self.anna), ("Basal", later), ("Mehr", more)])
    let again = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(again.output.contains("updated") && !again.output.contains("kept"), "\(again.output)")
    #expect(try await insulin(program).count == 36)
  }

  /// The second file has the same doses at the same instants, with offsets in place of UTC.
  @Test func aTableWithAnotherFormOfItsTimesChangesNoAmounts() async throws {
    let program = try Program()
    let hours = 6..<18
    let rows = { (time: (Int) -> String) in
      "time,units\n" + hours.map { "\(time($0)),\($0)\n" }.joined()
    }
    let utc = try program.write(rows { "2026-03-01T\($0 < 10 ? "0" : "")\($0):10:05Z" }, to: "utc.csv")
    let offset = try program.write(
      rows { "2026-03-01T\($0 + 1 < 10 ? "0" : "")\($0 + 1):10:05+01:00" }, to: "offset.csv")
    let map = ["import", "--timezone", "Europe/Berlin", "--map", "time=time,insulin=units"]
    for path in [utc, offset] {
      let outcome = try await program.run(arguments: map + [path])
      #expect(outcome.status == 0 && !outcome.output.contains("not stored"), "\(outcome.output)")
      #expect(try await insulin(program).count == 12)
    }
  }

  /// The second sheet has the doses of the first one, but one of them has another amount.
  @Test func aSheetNeverChangesTheDosesOfAnotherSheet() async throws {
    let program = try Program()
    let other = Self.anna.replacing("2026-03-04,07:10,8", with: "2026-03-04,07:10,9")
    #expect(other != Self.anna)
    let path = try workbook(program, [("One", Self.anna), ("Two", other)])
    let outcome = try await program.run(arguments: ["import"] + Self.map + [path])
    #expect(
      outcome.status == 0 && outcome.output.contains("known 11 · kept 1")
        && outcome.output.contains("1 record not stored: import 1 of '\(path):One'"), "\(outcome.output)")
    #expect(try await !insulin(program).contains { $0.contains(#""units":9"#) && $0.contains("2026-03-04") })
    // A file with another name may be a later version of the table.
    let file = try program.write(other, to: "later.csv")
    let later = try await program.run(arguments: ["import"] + Self.map + [file])
    #expect(later.output.contains("updated 1"), "\(later.output)")
  }

  @Test func aFolderWithTheDosesOfTwoPersonsCausesWarnings() async throws {
    for (first, second, isWarned) in [("anna", "ben", true), ("bolus", "basal", false), ("a1", "a2", false)] {
      let program = try Program()
      let folder = program.path("in")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try program.write(Self.anna, to: "in/\(first).csv")
      try program.write(Self.ben, to: "in/\(second).csv")
      let outcome = try await program.run(arguments: ["import"] + Self.map + [folder])
      #expect(outcome.status == 0)
      let warning = "its doses or meals are of the same days as those of import 1 ("
      #expect(outcome.errors.contains(warning) == isWarned, "\(first): \(outcome.errors)")
      if isWarned {
        #expect(
          outcome.errors.contains("'glucoport undo 2', and import it with --person NAME"),
          "\(outcome.errors)")
      }
      #expect(outcome.errors.contains("6 records not stored: import "), "\(outcome.errors)")
      // A second import stores nothing new and does not repeat the warning about persons.
      let again = try await program.run(arguments: ["import", "--quiet"] + Self.map + [folder])
      #expect(again.errors.isEmpty, "\(again.errors)")
    }
  }

  @Test func fewDosesOfTwoPersonsCauseAWarningAlthoughSomeAreNotStored() async throws {
    let program = try Program()
    let rows = ["14,07:30,4", "14,20:10,7", "15,07:20,4", "15,20:10,6"].map { "2026-03-\($0)\n" }
    let files = [
      try program.write("Date,Time,Units\n" + rows.joined(), to: "anna.csv"),
      try program.write("Date,Time,Units\n2026-03-14,20:10,30\n2026-03-15,09:10,22\n", to: "ben.csv"),
    ]
    let outcome = try await program.run(arguments: ["import", "--quiet"] + Self.map + files)
    #expect(
      outcome.status == 0 && outcome.errors.contains("of the same days as those of import 1"),
      "\(outcome.errors)")
  }

  @Test(arguments: ["--yes", "--device=Pen"])
  func anOptionPreventsTheWarningAboutDosesOfAnotherPerson(_ option: String) async throws {
    let program = try Program()
    let files = [try program.write(Self.anna, to: "anna.csv"), try program.write(Self.ben, to: "ben.csv")]
    _ = try await program.run(arguments: ["import", "--quiet"] + Self.map + [files[0]])
    let outcome = try await program.run(arguments: ["import", "--quiet", option] + Self.map + [files[1]])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
  }
}
