// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests names of persons in columns: one name in all rows, and several spellings of one name.
@Suite struct GenericPersonNameTests {
  private static func table(_ column: String, others: String = "", _ name: (Int) -> String) -> String {
    let rows = (0..<24).map { row in
      "2026-05-\(10 + row / 4) \(["07", "12", "18", "22"][row % 4]):1\(row % 7),\(100 + row * 37 % 71),\"\(name(row))\""
        + (others.isEmpty ? "" : ",4") + "\n"
    }
    return "time,glucose (mg/dL),\(column)\(others.isEmpty ? "" : "," + others)\n" + rows.joined()
  }

  private static func persons(_ text: String) throws -> [StatedPerson] {
    let file = try ScratchFile(text)
    return try withExtendedLifetime(file) {
      try InputReader(path: file.url.path, options: Rendering.options()).statedPersons
    }
  }

  @Test(arguments: ["Anna Muster", "anna muster", "Muster, Anna", "ANNA MUSTER", "Ännä Muster"])
  func aNameInAllRowsIsStatedAsThePerson(_ name: String) throws {
    let stated = try #require(StatedPerson(name: "Anna Muster"))
    for column in ["Name", "name", "nom", "patient_name"] {
      #expect(try Self.persons(Self.table(column) { _ in name }) == [stated], "\(column)")
    }
    // If the table has other columns than glucose, a name in a few rows may be that of a meal. A name in many
    // rows is that of a person.
    #expect(try Self.persons(Self.table("Name", others: "carbs") { _ in name }) == [stated])
  }

  @Test(arguments: [
    "Glucose", "Blutzucker", "bloodGlucose", "Contour Next", "Accu-Chek Guide", "Dexcom G7", "iPhone",
    "Anna's iPhone",
    "Keto-Mojo", "Apple Health", "Sensor reading", "Fasting", "Running", "Metformin", "Pizza with protein",
    "Manual",
    "Reading 7", "home", "Left hand", "Zucker", "", "N/A",
  ])
  func theNameOfADeviceAMeasureAMealOrAnEventStatesNoPerson(_ name: String) throws {
    #expect(try Self.persons(Self.table("Name") { _ in name }).isEmpty)
  }

  @Test func aNameInOnlySomeRowsIsNotStatedAsThePerson() throws {
    #expect(try Self.persons(Self.table("Name") { $0 == 5 ? "Anna" : "" }).isEmpty)
    let two = Self.table("Name", others: "carbs") { _ in "Porridge" }.split(separator: "\n").prefix(6)
    #expect(try Self.persons(two.joined(separator: "\n") + "\n").isEmpty)
  }

  @Test(arguments: ["patient_name", "patient", "Name"])
  func severalSpellingsOfANameAreOnePerson(_ column: String) throws {
    let ways = ["Anna Muster", "anna muster", "Muster, Anna", "MUSTER Anna"]
    let file = try ScratchFile(Self.table(column) { ways[$0 % 4] })
    #expect(try file.readings().readings.count == 24)
    #expect(
      try ScratchFile(Self.table(column) { $0 % 4 == 3 ? "Bob Muster" : ways[$0 % 4] }).refusal() != nil)
  }

  @Test func selectingAPersonSelectsEverySpellingOfTheName() throws {
    let names = ["Anna Muster", "muster, anna", "Bob Muster", "BOB MUSTER"]
    let file = try ScratchFile(Self.table("patient") { names[$0 % 4] })
    let refusal = try #require(try file.refusal())
    #expect(
      refusal.contains("1 of 2") && refusal.contains("2 of 2") && !refusal.contains("of 4"), "\(refusal)")
    for (value, rest) in [("2 of 2", 1), ("bob muster", 1), ("1 of 2", 0), ("Anna Muster", 0)] {
      let picked = try file.readings { $0.rows = [RowFilter(column: "patient", value: value)] }
      #expect(
        picked.readings.map { $0.line % 4 / 2 } == [Int64](repeating: rest == 1 ? 0 : 1, count: 12),
        "\(value)")
    }
    // For other columns, a cell must equal the selected value in every letter.
    let other = try ScratchFile(Self.table("Arm") { ["Left Arm", "left arm"][$0 % 2] })
    #expect(
      try other.readings { $0.rows = [RowFilter(column: "Arm", value: "left arm")] }.readings.count == 12)
  }
}
