// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests inputs whose readings are already in the store of another person on this computer.
@Suite(.timeLimit(.minutes(10)))
struct OthersStoresTests {
  private let program: Program

  init() throws { program = try Program() }

  @discardableResult
  private func run(_ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  private func addPersons() async throws {
    for name in ["anna", "ben"] { try await run("person add \(name) --quiet") }
  }

  private func readings(_ person: String) async throws -> Int {
    try #require(try await run("status --json --person \(person)").objects().first?["readings"] as? Int)
  }

  /// Sensor values, one each five minutes. Without a serial number, the table names no device.
  ///
  /// - Parameter value: the value for the number of a row.
  private func table(
    _ name: String, _ numbers: Range<Int>, serial: String = "", _ value: (Int) -> Int = { 80 + $0 * 7 % 90 }
  ) throws -> String {
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let rows = numbers.map { number in
      "2026-03-\(two(1 + number / 288))T\(two(number / 12 % 24)):\(two(number % 12 * 5 + 3)):00Z,\(value(number)),cbg"
        + (serial.isEmpty ? "\n" : ",\(serial)\n")
    }
    let header = "time,glucose (mg/dL),kind" + (serial.isEmpty ? "\n" : ",serial\n")
    return try program.write(header + rows.joined(), to: name)
  }

  @Test func aFileWithTheSensorOfAnotherPersonsStoreIsRefused() async throws {
    try await addPersons()
    let first = try table("first.csv", 0..<5, serial: "SENSOR-B2")
    let later = try table("later.csv", 5..<9, serial: "SENSOR-B2")
    let own = try table("own.csv", 0..<9, serial: "SENSOR-A1")
    try await run("import --person ben --timezone UTC --quiet \(first)")
    for file in [first, later] {
      let refused = try await run("import --person anna --timezone UTC \(file)", status: 65)
      #expect(
        refused.errors.contains(
          "readings of the same meter or sensor are in the store of ben, so nothing is imported")
          && refused.errors.contains("'glucoport import --person ben \(file)'")
          && refused.errors.contains("--yes here") && !refused.errors.contains("SENSOR-B2"),
        "\(refused.errors)")
    }
    try await run("import --person anna --timezone UTC --dry-run \(first)", status: 65)
    // Nothing was imported, so there is no store either.
    try await run("status --person anna", status: 66)
    try await run("import --person anna --timezone UTC --quiet \(own)")
    try await run("import --person ben --quiet \(later)")
    #expect(try await [readings("anna"), readings("ben")] == [9, 9])
    // After a person has accepted the sensor, the store has it, and later files need no option.
    try await run("import --person anna --yes --quiet \(first)")
    try await run("import --person anna --quiet \(later)")
    #expect(try await readings("anna") == 18)
  }

  @Test func theOwnMeterIsAcceptedAlthoughAnotherPersonUsedItBefore() async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<20, serial: "SENSOR-B2")
    try await run("import --person ben --timezone UTC --quiet \(file)")
    try await run("person assign sensor-b2 anna --quiet")
    try await run("import --person anna --timezone UTC --quiet \(file)")
    #expect(try await readings("anna") == 20)
  }

  @Test func aTableWithTheReadingsOfAnotherPersonsStoreIsRefused() async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<700)
    try await run("import --person ben --timezone UTC --quiet \(file)")
    let refused = try await run("import --person anna --timezone UTC \(file)", status: 65)
    #expect(
      refused.errors.contains("the same readings are in the store of ben, so nothing is imported"),
      "\(refused.errors)")
    // A part of the table and a longer table are refused, too.
    for numbers in [100..<112, 0..<720] {
      let other = try table("other.csv", numbers)
      try await run("import --person anna --timezone UTC \(other)", status: 65)
    }
    try await run("status --person anna", status: 66)
    try await run("import --person anna --timezone UTC --yes --quiet \(file)")
    try await run("import --person anna --quiet \(file)")
    #expect(try await readings("anna") == 700)
  }

  /// The tables have few readings in common with the store (`few`), or some among many others (`some`). Or
  /// they have readings of other days (`later`), or other values at the same times (`other`).
  @Test(arguments: ["few", "some", "later", "other"]) func aTableWithOtherReadingsThanAnotherStoreIsAccepted(
    _ name: String
  ) async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<300)
    try await run("import --person ben --timezone UTC --quiet \(file)")
    let other =
      switch name {
      case "few": try table("other.csv", 0..<11)
      case "some": try table("other.csv", 0..<100) { $0 % 5 == 0 ? 80 + $0 * 7 % 90 : 200 + $0 % 9 }
      case "later": try table("other.csv", 301..<400)
      default: try table("other.csv", 0..<300) { 180 + $0 % 40 }
      }
    try await run("import --person anna --timezone UTC --quiet \(other)")
    #expect(try await readings("anna") > 10)
  }

  /// Glooko and other programs write serial numbers such as `0000002` for a device that they do not know.
  @Test func aPlaceholderForASerialNumberIsNotTheMeterOfAnotherPerson() async throws {
    try await addPersons()
    let first = try table("first.csv", 0..<20, serial: "0000002")
    let other = try table("other.csv", 0..<20, serial: "0000002") { 150 + $0 }
    try await run("import --person ben --timezone UTC --quiet \(first)")
    try await run("import --person anna --timezone UTC \(first)", status: 65)
    try await run("import --person anna --timezone UTC --quiet \(other)")
    #expect(try await readings("anna") == 20)
  }

  @Test func anUndoneImportOfAnotherPersonDoesNotPreventTheImport() async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<20, serial: "SENSOR-A1")
    let nameless = try table("nameless.csv", 0..<20)
    for file in [file, nameless] { try await run("import --person ben --timezone UTC --quiet \(file)") }
    for number in [1, 2] { try await run("undo \(number) --person ben --quiet") }
    for file in [file, nameless] { try await run("import --person anna --timezone UTC --quiet \(file)") }
    #expect(try await readings("anna") == 40)
  }

  @Test func aStoreOfNoPersonAndAnUnreadableStorePreventNoImport() async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<20, serial: "SENSOR-B2")
    try await run("import --person ben --timezone UTC --quiet \(file)")
    try await run("import --store \(program.path("trial.db")) --timezone UTC --quiet \(file)")
    try await run("import --person anna --timezone UTC \(file)", status: 65)
    try program.write("no database, but far more than nothing", to: "data/glucoport/persons/ben.db")
    for suffix in ["-wal", "-shm"] { unlink(program.path("data/glucoport/persons/ben.db" + suffix)) }
    try await run("import --person anna --timezone UTC --quiet \(file)")
  }

  @Test func aFileInTheFolderOfTheWrongPersonIsRefusedAndTheOthersAreImported() async throws {
    for name in ["anna", "ben"] {
      let folder = program.path("in/" + name)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try await run("person add \(name) --folder \(folder) --quiet")
    }
    _ = try table("in/anna/a.csv", 0..<20, serial: "SENSOR-A1")
    _ = try table("in/ben/b.csv", 0..<20, serial: "SENSOR-B2")
    try await run("import --timezone UTC --quiet \(program.path("in/anna")) \(program.path("in/ben"))")
    _ = try table("in/anna/wrong.csv", 0..<20, serial: "SENSOR-B2")
    _ = try table("in/anna/a2.csv", 20..<30, serial: "SENSOR-A1")
    let mixed = try await run("import --quiet \(program.path("in/anna"))", status: 65)
    #expect(mixed.errors.contains("in the store of ben"), "\(mixed.errors)")
    #expect(try await [readings("anna"), readings("ben")] == [30, 20])
  }

  @Test func aFetchedAnswerOrAStoreWithReadingsOfAnotherPersonsStoreIsRefused() async throws {
    try await addPersons()
    let file = try table("file.csv", 0..<20, serial: "SENSOR-B2")
    try await run("import --person ben --timezone UTC --quiet \(file)")
    try await run("import --store \(program.path("other.db")) --timezone UTC --quiet \(file)")
    let merged = try await run("import --person anna \(program.path("other.db"))", status: 65)
    #expect(merged.errors.contains("in the store of ben"), "\(merged.errors)")
    try await run("source set mine --type command --yes --person anna -- cat \(file)")
    let fetched = try await run("fetch mine --person anna --now", status: 65)
    #expect(fetched.errors.contains("set it again with --accept-person"), "\(fetched.errors)")
    #expect(try await readings("anna") == 0)
    try await run("source set mine --type command --yes --accept-person --person anna -- cat \(file)")
    try await run("fetch mine --person anna --now")
    #expect(try await readings("anna") == 20)
  }
}
