// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import TestProgram
import Testing

/// Tests the options and commands with which people state the time zones of a logbook.
@Suite struct ZoneTests {
  private static let rows = """
    time,glucose (mg/dL),device
    2026-05-01T08:00:00,100,A
    2026-05-04T08:00:00,110,A
    2026-05-08T08:00:00,120,A

    """

  private func times(_ program: Program) async throws -> [String] {
    try await program.run("list", "--format", "ndjson").objects().compactMap { $0["time"] as? String }
  }

  private func filled() async throws -> Program {
    let program = try Program()
    let outcome = try await program.run("import", "-", "--timezone", "Europe/Madrid", input: Self.rows)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return program
  }

  @Test func aTimeZoneForAJourneyIsSetListedAndRemoved() async throws {
    let program = try await filled()
    let set = try await program.run(
      "config", "timezone", "Asia/Tokyo", "--from", "2026-05-03", "--until", "2026-05-06")
    #expect(
      set.output
        == "Asia/Tokyo from 2026-05-03T00:00:00 until 2026-05-06T00:00:00: recalculated 1 reading and 0 records\n",
      "\(set)")
    #expect(
      try await times(program) == ["2026-05-01T06:00:00Z", "2026-05-03T23:00:00Z", "2026-05-08T06:00:00Z"])
    let list = try await program.run("config", "timezone")
    #expect(
      list.output == """
        timezone Europe/Madrid: 2 readings, 0 records
          1  Asia/Tokyo from 2026-05-03T00:00:00 until 2026-05-06T00:00:00: 1 reading, 0 records

        """, "\(list)")
    #expect(try await program.run("config", "timezone", "--remove", "2").status == 66)
    #expect(try await program.run("config", "timezone", "--remove", "1").status == 0)
    #expect(
      try await times(program) == ["2026-05-01T06:00:00Z", "2026-05-04T06:00:00Z", "2026-05-08T06:00:00Z"])
    #expect(try await program.run("config", "timezone").output == "timezone Europe/Madrid\n")
  }

  /// On a kiosk, for example, a person may set the zone of the computer only after the first import was
  /// refused.
  @Test func aTimeZoneThatIsSetAfterARefusedImportIsUsed() async throws {
    let program = try Program()
    try FileManager.default.createDirectory(
      atPath: program.path("data/glucoport"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    _ = try Store.openOrCreate(
      path: program.store, role: .importer, zone: LogbookZone(name: "UTC"), isGiven: false)
    let input = Array(Self.rows.utf8)
    let known = ["GLUCOPORT_TIMEZONE": "Europe/Madrid"]
    let trial = try await program.run("import", "-", "--dry-run", input: input, environment: known)
    #expect(trial.status == 0, "\(trial.errors)")
    #expect(try await program.run("config", "timezone").output == "timezone UTC\n")
    let outcome = try await program.run("import", "-", input: input, environment: known)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try await program.run("config", "timezone").output == "timezone Europe/Madrid\n")
    #expect(
      try await times(program) == ["2026-05-01T06:00:00Z", "2026-05-04T06:00:00Z", "2026-05-08T06:00:00Z"])
  }

  @Test func aTimeZoneThatIsAlreadySetIsReported() async throws {
    let program = try await filled()
    let again = try await program.run("config", "timezone", "Europe/Madrid")
    #expect(again.output == "timezone Europe/Madrid: this holds already; nothing changed\n", "\(again)")
  }

  @Test func aTimeZoneThatCreatesTheStoreIsReportedWithTheStore() async throws {
    let program = try Program()
    let first = try await program.run("config", "timezone", "Asia/Tokyo")
    let expected = "timezone Asia/Tokyo: created the empty store \(program.store)\n"
    #expect(first.status == 0 && first.output == expected, "\(first)")
    #expect(try await program.run("config", "timezone").output == "timezone Asia/Tokyo\n")
    let moved = try await program.run("config", "timezone", "UTC")
    #expect(moved.output == "timezone UTC: recalculated 0 readings and 0 records\n", "\(moved)")
  }

  @Test func importingAFileAgainWithAnotherTimeZoneUsesTheLatestZone() async throws {
    let program = try await filled()
    for (zone, first) in [("Asia/Tokyo", "2026-04-30T23:00:00Z"), ("UTC", "2026-05-01T08:00:00Z")] {
      let outcome = try await program.run("import", "-", "--timezone", zone, input: Self.rows)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try await times(program).first == first)
    }
  }

  /// Follows two examples in the README. If `isStated` is true, the zone of the logbook was set before the
  /// import, so the items keep their given zone.
  @Test(arguments: [false, true]) func aLaterZoneChangeMovesAllItemsOfAFileOrNoneIfItsZoneWasGiven(
    _ isStated: Bool
  ) async throws {
    let program = try Program()
    let file = Samples.path("mysugr/mysugr-mgdl-de.csv")
    if isStated { _ = try await program.run("config", "timezone", "Europe/Madrid") }
    let outcome = try await program.run("import", "--timezone", "Europe/Madrid", file)
    #expect(outcome.status == 0, "\(outcome.errors)")
    func items() async throws -> [String: [String]] {
      let objects = try await program.run("export", "--format", "ndjson").objects()
        .filter { $0["kind"] as? String != "zone" }
      let pairs = objects.compactMap { object in
        (object["item"] as? String).flatMap { item in (object["time"] as? String).map { (item, $0) } }
      }
      return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
    }
    let before = try await items()
    #expect(before.keys.sorted() == ["reading", "record"])
    #expect(try await program.run("config", "timezone", "America/New_York").status == 0)
    let after = try await items()
    for (item, times) in before {
      let moved = zip(times, after[item] ?? []).filter { $0 != $1 }.count
      #expect(moved == (isStated ? 0 : times.count), "\(item)")
    }
    let list = try await program.run("config", "timezone").output
    #expect(list.contains("  given for imports: Europe/Madrid: ") == isStated, "\(list)")
    // The undo of the import also removes the zone that was given for it.
    #expect(try await program.run("undo", "--yes").status == 0)
    #expect(try await program.run("config", "timezone").output == "timezone America/New_York\n")
  }

  @Test func aTypedInstantIsKeptWhenTheTimeZoneChanges() async throws {
    let program = try await filled()
    _ = try await program.run("record", "add", "note", "walk", "--at", "2h")
    _ = try await program.run("record", "add", "note", "run", "--at", "2026-05-04T18:30:00+02:00")
    let before = try await times(program).filter {
      $0 > "2026-05-04T16:00" && $0 < "2026-05-04T17" || $0 > "2026-06"
    }
    _ = try await program.run("config", "timezone", "America/New_York")
    let after = try await times(program)
    #expect(before.count == 2 && before.allSatisfy(after.contains))
  }

  @Test func invalidTimeZoneOptionsAreRefused() async throws {
    let program = try await filled()
    let wrong = [
      ["config", "unit", "mg/dL", "--from", "2026-05-01"], ["config", "timezone", "--from", "2026-05-01"],
      ["config", "timezone", "UTC", "--remove", "1"], ["config", "--remove", "1"],
      ["config", "timezone", "UTC", "--from", "2026-05-02", "--until", "2026-05-01"],
    ]
    for arguments in wrong {
      #expect(try await program.run(arguments: arguments).status == 64, "\(arguments)")
    }
    let device = try await program.run("config", "timezone", "UTC", "--device", "nobody")
    #expect(device.status == 66, "\(device)")
    #expect(try await program.run("config", "timezone", "Mars/Olympus").status == 78)
  }

  @Test func aNewLogbookHasTheGivenTimeZoneOrThatOfTheSystem() async throws {
    let program = try Program()
    _ = try await program.run("record", "add", "note", "a", environment: ["GLUCOPORT_TIMEZONE": "Asia/Tokyo"])
    #expect(try await program.run("config", "timezone").output == "timezone Asia/Tokyo\n")
    let other = try Program()
    let set = try await other.run("config", "timezone", "Asia/Kolkata")
    #expect(set.status == 0, "\(set)")
    #expect(try await other.run("config", "timezone").output == "timezone Asia/Kolkata\n")
  }

  @Test func anUnknownTimeZoneIsReported() async throws {
    let program = try await filled()
    #expect(try await !program.run("status").output.contains("tzdata"))
    let state =
      #"{"item":"record","kind":"zone","time":"2026-05-01T00:00:00Z","device_time":"2026-05-01T00:00:00","utc_offset":"Z","offset_source":"stated","#
      + #""guid":"7941c4b1-0bf1-411f-8f81-578c16b1ee93","entry_guid":null,"#
      + #""fields":{"from":"2026-05-03T00:00:00","zone":"Mars/Olympus"},"deleted":false}"#
    let outcome = try await program.run("import", "-", input: state + "\n")
    #expect(outcome.status == 0, "\(outcome)")
    let line =
      "  this system does not know the time zone Mars/Olympus of the logbook and uses Europe/Madrid; update its time zone data (tzdata)\n"
    for arguments in [["status"], ["config", "timezone"]] {
      #expect(try await program.run(arguments: arguments).output.contains(line), "\(arguments)")
    }
    let object = try #require(try await program.run("status", "--json").objects().first)
    #expect(object["unknown_timezones"] as? [String] == ["Mars/Olympus"])
    #expect(try await times(program).first == "2026-05-01T06:00:00Z")
  }

  @Test func timeZoneRecordsAreNotListedAsEntries() async throws {
    let program = try await filled()
    _ = try await program.run("config", "timezone", "Asia/Tokyo", "--from", "2026-05-03")
    #expect(try await program.run("record", "list").output == "")
    let exported = try await program.run("export", "--format", "ndjson").objects()
    let zones = exported.filter { $0["kind"] as? String == "zone" }.compactMap { $0["guid"] as? String }
    // The command has stored two zone records: one for the journey, and one for the base zone of the logbook.
    #expect(zones.count == 2)
    for guid in zones {
      let deletion = try await program.run("record", "delete", guid)
      #expect(deletion.status == 64 && deletion.errors.contains("config timezone"), "\(deletion)")
    }
    #expect(try await program.run("record", "delete", "7941ffff").status == 66)
  }
}
