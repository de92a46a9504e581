// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests that a copy of another person's store or backup does not become the store of a person.
@Suite(.timeLimit(.minutes(10)))
struct OthersCopyTests {
  private let program: Program

  init() throws { program = try Program() }

  @discardableResult
  private func run(_ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  private func store(_ person: String) -> String { program.path("data/glucoport/persons/\(person).db") }

  private func copy(_ from: String, to name: String) throws -> String {
    try FileManager.default.copyItem(atPath: from, toPath: program.path(name))
    return program.path(name)
  }

  private func readings(_ person: String) async throws -> Int {
    try #require(try await run("status --json --person \(person)").objects().first?["readings"] as? Int)
  }

  /// Finger sticks of a number of days, four a day, without the name of a device.
  private func table(_ name: String, _ days: Int, _ first: Int) throws -> String {
    let rows = (0..<4 * days).map { number in
      "2026-03-\(10 + number / 4)T\(10 + number % 4 * 3):\(10 + number),\(first + number * 7 % 90),smbg\n"
    }
    return try program.write("time,glucose (mg/dL),kind\n" + rows.joined(), to: name)
  }

  /// Anna has 40 readings and Ben 20 others.
  private func addPersons() async throws {
    for (name, days, first) in [("anna", 10, 80), ("ben", 5, 160)] {
      try await run("person add \(name) --quiet")
      let file = try table("\(name).csv", days, first)
      try await run("import --person \(name) --timezone UTC --quiet \(file)")
    }
  }

  private func expectRefused(_ file: String, _ reason: String) async throws {
    let refused = try await run("restore --person ben --yes \(file)", status: 65)
    #expect(
      refused.errors.contains(reason) && refused.errors.contains("--other-person")
        && refused.errors.contains("restored"), "\(refused.errors)")
    #expect(try await readings("ben") == 20)
  }

  @Test func aCopyOfAnotherPersonsBackupIsNotRestored() async throws {
    try await addPersons()
    try await run("backup --person anna --quiet \(program.path("anna-backup.db"))")
    let file = try copy(program.path("anna-backup.db"), to: "stick.db")
    try await expectRefused(file, "this is a backup of anna")
    let merged = try await run("import --person ben \(file)", status: 65)
    #expect(merged.errors.contains("this is a backup of anna"), "\(merged.errors)")
    try await run("restore --person ben --yes --other-person --quiet \(file)")
    #expect(try await readings("ben") == 40)
  }

  @Test func aCopyOfAnotherPersonsStoreIsNotRestored() async throws {
    try await addPersons()
    let file = try copy(store("anna"), to: "live.db")
    try await expectRefused(file, "this is a copy of the store of anna, so nothing is restored")
    // The store of a person who has none yet is not created.
    try await run("person add carla --quiet")
    try await run("restore --person carla --yes \(file)", status: 65)
    try await run("status --person carla", status: 66)
  }

  /// A store on another computer has imported the same file, so no import is common.
  @Test func aStoreWithTheReadingsOfAnotherPersonIsNotRestoredOrMerged() async throws {
    try await addPersons()
    let other = program.path("other.db")
    try await run("import --store \(other) --timezone UTC --quiet \(program.path("anna.csv"))")
    try await expectRefused(other, "the same readings are in the store of anna, so nothing is restored")
    let merged = try await run("import --person ben \(other)", status: 65)
    #expect(merged.errors.contains("the same readings are in the store of anna"), "\(merged.errors)")
    try await run("import --person ben --yes --quiet \(other)")
    #expect(try await readings("ben") == 60)
  }

  @Test func theMeterOfAnotherPersonIsNotRestored() async throws {
    try await addPersons()
    let other = program.path("other.db")
    let rows = "time,glucose (mg/dL),kind,serial\n2026-02-01T08:00,100,smbg,METER-12345\n"
    let file = try program.write(rows, to: "meter.csv")
    try await run("import --store \(other) --timezone UTC --quiet \(file)")
    try await run("person assign METER-12345 anna --quiet")
    try await expectRefused(other, "readings of a meter of anna, so nothing is restored")
  }

  @Test func theOwnBackupIsRestoredAlthoughAnotherPersonHasItsReadings() async throws {
    try await addPersons()
    try await run("backup --person ben --quiet \(program.path("ben-backup.db"))")
    try await run("import --person anna --yes --quiet \(program.path("ben.csv"))")
    let copied = try copy(program.path("ben-backup.db"), to: "stick.db")
    try await run("import --person ben --quiet \(try table("later.csv", 7, 160))")
    try await run("restore --person ben --yes --quiet \(copied)")
    #expect(try await readings("ben") == 20)
    // A copy of the store itself shares its imports and readings with the store.
    let live = try copy(store("ben"), to: "live.db")
    try await run("import --person ben --quiet \(program.path("later.csv"))")
    try await run("restore --person ben --yes --quiet \(live)")
    #expect(try await readings("ben") == 20)
  }

  @Test func aBackupOfAPersonWhoseStoreIsLostIsRestored() async throws {
    try await addPersons()
    let live = try copy(store("ben"), to: "live.db")
    for suffix in ["", "-wal", "-shm"] { unlink(store("ben") + suffix) }
    try await run("restore --person ben --yes --quiet \(live)")
    #expect(try await readings("ben") == 20)
  }

  /// A second store of a person is in no list, and no store of another person is compared with it.
  @Test func aCopyOfTheLiveStoreIsRestoredIntoAnUnlistedStore() async throws {
    try await addPersons()
    let live = try copy(store("anna"), to: "live.db")
    try await run("restore --store \(program.path("second.db")) --yes --quiet \(live)")
  }
}
