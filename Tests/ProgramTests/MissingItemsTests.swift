// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestArchives
import TestProgram
import Testing

/// Tests the warning about items of an earlier export that a later export of the source lacks.
@Suite(.timeLimit(.minutes(10)))
struct MissingItemsTests {
  private static let header =
    #""Date","Time","Tags","Blood Glucose Measurement (mg/dL)","Insulin Injection Units (Pen)","Basal Injection Units","#
    + #""Insulin Injection Units (pump)","Insulin (Meal)","Insulin (Correction)","Temporary Basal Percentage","#
    + #""Temporary Basal Duration (Minutes)","Meal Carbohydrates (Grams, Factor 1)","Meal Descriptions","#
    + #""Activity Duration (Minutes)","Activity Intensity (1: Cosy, 2: Ordinary, 3: Demanding)","Activity Description","#
    + #""Steps","Note","Location","Blood pressure","Body weight (lbs)","HbA1c (Percent)","Ketones","Food type","Medication""#
    + "\n"

  /// A basal dose and a finger stick each evening.
  private static let evenings = (1...20).map { evening(day: $0, at: "10:\($0 + 20):33 PM") }

  private static func evening(day: Int, at clock: String) -> String {
    #""Mar \#(day), 2026","\#(clock)","","\#(100 + day)","","18""#
      + String(repeating: #","""#, count: 19) + "\n"
  }

  /// Imports the evenings, then a later export of these rows. Returns what the second import printed.
  private func second(_ program: Program, _ rows: [String], _ options: String...) async throws -> String {
    let first = try program.write(Self.header + Self.evenings.joined(), to: "first.csv")
    let later = try program.write(Self.header + rows.joined(), to: "later.csv")
    let one = try await program.run("import", "--timezone", "UTC", first)
    #expect(one.status == 0 && one.output.contains("new 20"), "\(one.output)\(one.errors)")
    let outcome = try await program.run(arguments: ["import"] + options + [later])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test func aRecordWhoseTimeWasCorrectedIsNamedWithTheCommandsThatHideIt() async throws {
    let program = try Program()
    var rows = Self.evenings
    rows[9] = Self.evening(day: 10, at: "11:59:00 PM")
    let output = try await second(program, rows)
    let warning = try #require(output.split(separator: "\n").first { $0.contains("not in this one") })
    #expect(
      warning.contains("2 items of an earlier import are not in this one")
        && warning.contains("insulin of 2026-03-10 22:30") && warning.contains("smbg of 2026-03-10 22:30"),
      "\(output)")
    let commands = warning.split(separator: "'").map(String.init).filter { $0.hasPrefix("glucoport ") }
    #expect(commands.count == 2)
    for command in commands {
      let outcome = try await program.shell(command)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let again = try await program.run("import", program.path("later.csv"))
    #expect(!again.output.contains("not in this one"), "\(again.output)")
    let listed = try await program.run("list", "--since", "2026-03-10", "--until", "2026-03-11")
    #expect(!listed.output.contains("22:30:33") && listed.output.contains("23:59:00"), "\(listed.output)")
  }

  @Test func aDeletedReadingIsNamedAndNothingIsHidden() async throws {
    let program = try Program()
    var rows = Self.evenings
    rows.remove(at: 9)
    let output = try await second(program, rows)
    #expect(output.contains("2 items of an earlier import are not in this one"), "\(output)")
    #expect(try StoreFile(program.store).count("withdrawn") == 0)
    #expect(try StoreFile(program.store).count("listed_record") == 0)
  }

  /// Exports of the latest days, of the first days, and of a few rows.
  @Test(arguments: [Array(10..<20), Array(0..<10), [0, 5, 19]])
  func anExportOfOtherDaysReportsNoMissingItems(kept: [Int]) async throws {
    let output = try await second(try Program(), kept.map { Self.evenings[$0] })
    #expect(!output.contains("not in this one"), "\(output)")
  }

  @Test func anExportWithoutAKindOfItemsReportsNoMissingItems() async throws {
    let rows = Self.evenings.map { $0.replacing(#","18","#, with: #","","#) }
    let output = try await second(try Program(), rows)
    #expect(output.contains("known 20") && !output.contains("not in this one"), "\(output)")
  }

  @Test func rowsThatTheWhereOptionLeavesOutAreNotReportedAsMissing() async throws {
    var rows = Self.evenings
    rows[9] = rows[9].replacing("Mar 10, 2026", with: "Mar 30, 2026")
    let output = try await second(try Program(), rows, "--where", "Date=Mar 1\\, 2026")
    #expect(!output.contains("not in this one"), "\(output)")
  }

  @Test func anOlderExportAfterANewerOneReportsNoMissingItems() async throws {
    let program = try Program()
    var rows = Self.evenings
    rows[9] = Self.evening(day: 10, at: "11:59:00 PM")
    let newer = try program.write(
      Self.header + (rows + [Self.evening(day: 25, at: "10:20:33 PM")]).joined(), to: "newer.csv")
    let older = try program.write(Self.header + Self.evenings.joined(), to: "older.csv")
    #expect(try await program.run("import", "--timezone", "UTC", newer).status == 0)
    let outcome = try await program.run("import", older)
    #expect(outcome.status == 0 && !outcome.output.contains("not in this one"), "\(outcome.output)")
  }

  @Test func aRecordThatWasEditedHereIsNotReportedAsMissing() async throws {
    let program = try Program()
    let first = try program.write(Self.header + Self.evenings.joined(), to: "first.csv")
    #expect(try await program.run("import", "--timezone", "UTC", first).status == 0)
    let listed = try await program.run("record", "list", "--kind", "insulin")
    let dose = try #require(
      listed.output.split { $0.isWhitespace }.first { $0.count == 8 && $0.allSatisfy(\.isHexDigit) })
    #expect(try await program.run("record", "edit", String(dose), "20", "U").status == 0)
    let outcome = try await program.run("import", first)
    #expect(outcome.status == 0 && !outcome.output.contains("not in this one"), "\(outcome.output)")
  }

  /// Tidepool's workbook has a sheet of boluses and one of basal rates. Both have insulin at the same times.
  @Test func aSheetReportsNoItemsOfAnotherSheetAsMissing() async throws {
    let program = try Program()
    let head = ["Zulu Time", "Tidepool Data Type", "Device Id", "Id"]
    func rows(_ type: String, _ column: String, count: Int) -> [[SpreadsheetWriter.Cell]] {
      [(head + [column]).map { .text($0) }]
        + (0..<count).map { row in
          let hour = row * 240 / count
          let time = "2026-05-\(10 + hour / 24)T\(10 + hour % 12):00:00Z"
          return [
            .text(time), .text(type), .text("Sample-1"), .text("\(type)\(row)"), .number("1.5"),
          ]
        }
    }
    var book = SpreadsheetWriter([
      .init("Basal", rows("basal", "Rate", count: 240)), .init("Bolus", rows("bolus", "Normal", count: 20)),
    ])
    try program.write(book.xlsx(), to: "first.xlsx")
    let first = try await program.run("import", program.path("first.xlsx"))
    #expect(first.status == 0 && !first.output.contains("not in this one"), "\(first.output)")
    book.sheets[1].rows.remove(at: 5)
    try program.write(book.xlsx(), to: "later.xlsx")
    let output = try await program.run("import", program.path("later.xlsx")).output
    let warnings = output.split(separator: "\n").filter { $0.contains("not in this one") }
    #expect(warnings.count == 1, "\(output)")
    #expect(warnings.first?.contains("1 item of an earlier import is not") == true, "\(output)")
  }
}
