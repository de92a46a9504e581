// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests stores with values that glucoport never writes, left by another program or by the disk. Every
/// command that reads such a row fails with an error that names the row.
@Suite struct DamagedRowTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  /// Stores a reading and a record, then runs an SQL statement that damages them. While this statement runs,
  /// the rules of the schema are switched off.
  private func damage(_ sql: String) throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    try scratch.ingest(Make.batch([Make.record(["text": .text("a")], kind: .note, sourceID: "1")]))
    try scratch.damage(sql)
  }

  private func message(_ work: () throws -> Void) throws -> String? {
    do {
      try work()
      return nil
    } catch let failure as Failure {
      #expect(failure.category == .inputOutput)
      return failure.message
    }
  }

  private func expect(_ reason: String, _ work: () throws -> Void) throws {
    let message = try message(work)
    #expect(message == "the store \(scratch.path) is damaged: \(reason); \(Store.recovery)")
  }

  private static let reading = "reading (series 1, position \(Make.noon), value_bucket 56, occurrence 0)"

  @Test(arguments: [
    ("UPDATE series SET kind = 9", "series (series 1): unknown kind 9"),
    ("UPDATE series SET position_kind = 7", "series (series 1): unknown position_kind 7"),
    ("UPDATE reading SET offset_source = 200", "\(reading): unknown offset_source 200"),
    ("UPDATE reading SET offset_source = 1000", "\(reading): unknown offset_source 1000"),
    ("UPDATE reading SET unit = 5", "\(reading): unknown unit 5"),
    ("UPDATE reading SET range_flag = 3", "\(reading): unknown range_flag 3"),
    ("UPDATE reading SET value = NULL", "\(reading): value is NULL"),
    ("UPDATE reading SET marks = 70000", "\(reading): unknown marks 70000"),
    ("UPDATE reading SET value = 9e18", "\(reading): unknown value"),
    ("UPDATE reading SET device_time = -9223372036854775808", "\(reading): unknown device_time"),
    (
      "UPDATE series SET last_time = 9223372036854775807",
      "series (series 1): unknown last_time 9223372036854775807"
    ),
  ])
  func aListReportsTheDamagedReading(_ sql: String, _ reason: String) throws {
    try damage(sql)
    let filter = Self.everyReading
    try expect(reason) { try scratch.open(.reader).forEachItem(filter) { _ in } }
  }

  @Test func aListReportsARecordWithADamagedDeletionFlag() throws {
    try damage("UPDATE record SET deleted = 9007199254740993, guid = 'x' WHERE kind = 'note'")
    try expect("record (guid \"x\"): unknown deleted 9007199254740993") {
      try scratch.open(.reader).forEachItem(ItemFilter()) { _ in }
    }
  }

  @Test(
    arguments: [
      ("device_time = NULL", "device_time is NULL"),
      ("stated_offset = NULL, derived_offset = NULL", "utc_offset is NULL"),
    ], [nil, 9])
  func aListReportsAReadingWhoseInstantIsDamaged(_ damage: (change: String, reason: String), _ newest: Int?)
    throws
  {
    try scratch.ingest(Make.batch((1...9).map { Make.tick($0, 100, at: Make.noon + 300 * $0) }))
    try scratch.damage("UPDATE reading SET \(damage.change) WHERE position = 5")
    var filter = Self.everyReading
    (filter.since, filter.newest) = (Make.noon - 86_400, newest)
    try expect("reading (series 1, position 5, value_bucket 0, occurrence 0): \(damage.reason)") {
      try scratch.open(.reader).forEachItem(filter) { _ in }
    }
  }

  /// A filter that matches all visible readings and also deleted records.
  private static var everyReading: ItemFilter {
    var filter = ItemFilter()
    filter.includesDeleted = true
    return filter
  }

  @Test(arguments: [
    ("UPDATE reading SET unit = 5", "\(reading): unknown unit 5"),
    ("UPDATE reading SET offset_source = 9", "\(reading): unknown offset_source 9"),
    ("UPDATE reading SET derived_offset = 5000000000", "\(reading): unknown utc_offset 5000000000"),
    ("UPDATE reading SET marks = -1", "\(reading): unknown marks -1"),
    ("UPDATE series SET kind = 9", "series (id 1): unknown kind 9"),
  ])
  func itemsOfADamagedStoreAreNotSent(_ sql: String, _ reason: String) throws {
    try damage(sql)
    try expect(reason) {
      try scratch.open(.sync).sync { _ = try $0.pendingReadings(after: nil, limit: 10) }
    }
  }

  @Test func anOverviewReportsADamagedSeries() throws {
    try damage("UPDATE series SET kind = 9")
    try expect("series (device 1, kind 9): unknown kind 9") {
      _ = try scratch.open(.reader).overview(ingests: 0)
    }
  }

  @Test func anUnexpectedNullIsReportedAndDoesNotCrashTheProgram() throws {
    try damage("UPDATE reading SET device_time = NULL")
    try expect("\(Self.reading): device_time is NULL") {
      _ = try scratch.open(.reader).reading(at: "r1.smbg.time\(Make.noon).56.0")
    }
    try scratch.damage("UPDATE ingest SET source = NULL")
    try expect("ingest (id 2): source is NULL") { _ = try scratch.open(.reader).ingests(limit: 1) }
  }

  @Test(arguments: [
    ("started_at", Int64.min), ("finished_at", .max), ("clock_difference", .min), ("started_at", 1 << 40),
  ])
  func anImpossibleStoredTimeOfAnImportIsReported(_ column: String, _ seconds: Int64) throws {
    try damage("UPDATE ingest SET clock_meter = 1, clock_host = 1, clock_difference = 1")
    try scratch.damage("UPDATE ingest SET \(column) = \(seconds) WHERE id = 2")
    try expect("ingest (id 2): unknown \(column) \(seconds)") {
      _ = try scratch.open(.reader).overview(ingests: 5)
    }
  }

  /// Without a check, the program would compute the zone's clock changes for all years up to `last_time`.
  /// This would take 21 GB of memory.
  @Test(arguments: [
    (
      "UPDATE series SET last_time = 9223372036854775807",
      "series (id 1): unknown last_time 9223372036854775807"
    ),
    (
      "UPDATE record SET device_time = 1 << 62, guid = 'x'",
      "record (guid \"x\"): unknown device_time 4611686018427387904"
    ),
    ("UPDATE reading SET device_time = 9e17", "reading (series 1, position \(Make.noon)): year is NULL"),
  ])
  func aTimeZoneChangeDoesNotProcessAllYearsUpToAnImpossibleTime(_ sql: String, _ reason: String) throws {
    try damage(sql)
    if sql.contains("reading") { try scratch.damage("UPDATE series SET first_time = -20000000000") }
    try expect(reason) {
      _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 1)
    }
  }

  /// The database refuses a value that no glucoport command stores, whichever program writes it.
  @Test(arguments: [
    "UPDATE ingest SET started_at = -9223372036854775808", "UPDATE ingest SET finished_at = 1 << 40",
    "UPDATE series SET last_time = 1 << 60", "UPDATE series SET first_time = last_time + 1",
    "UPDATE series SET readings = 1 << 60", "UPDATE record SET device_time = 1 << 60, version = version + 1",
    "UPDATE record SET edited_at = -1 << 60, version = version + 1",
  ])
  func theDatabaseRefusesImpossibleNumbers(_ sql: String) throws {
    try damage("SELECT 1")
    let message = try scratch.refusal(.editor, sql)
    #expect(message?.hasPrefix("CHECK constraint failed") == true, "\(message ?? "taken")")
  }

  @Test func anInvalidUTCOffsetOfARecordIsReported() throws {
    try damage("UPDATE record SET offset_source = 9, guid = 'x'")
    try expect("record (guid \"x\"): unknown offset_source 9") {
      try scratch.open(.reader).forEachItem(ItemFilter()) { _ in }
    }
  }

  @Test(arguments: [
    ("offset_source = 9", "unknown offset_source 9"), ("kind = 'X9'", "unknown kind"),
  ])
  func anUploadDoesNotGuessAnUnknownKindOfRecord(_ change: String, _ reason: String) throws {
    try damage("UPDATE record SET \(change), guid = 'x'")
    try expect("record (guid \"x\"): \(reason)") {
      try scratch.open(.sync).sync { _ = try $0.record("x") }
    }
  }

  @Test(arguments: [
    ("priority = 9", "unknown priority 9"), ("kind = 'x'", "unknown subject"),
    ("kind = 'readings', subject = 'x'", "unknown subject"),
  ])
  func anUnknownKindOfDownloadIsReported(_ change: String, _ reason: String) throws {
    try damage("INSERT INTO download (id, kind, priority, queued_at) VALUES (4, 'changes', 1, 1)")
    try scratch.damage("UPDATE download SET \(change)")
    try expect("download (id 4): \(reason)") { _ = try scratch.open(.reader).downloads() }
  }

  @Test func anInvalidStoredSettingIsReported() throws {
    try damage("INSERT INTO setting VALUES ('unit', 'stone'), ('attachment-limit', 'large')")
    try expect("setting (name unit): unknown value") { _ = try scratch.open(.reader).displayUnit() }
    try expect("setting (name attachment-limit): unknown value") {
      _ = try scratch.open(.reader).attachmentLimit()
    }
    try scratch.damage("DELETE FROM setting WHERE name = 'timezone'")
    try expect("setting (name timezone): missing") { _ = try scratch.open(.reader).timezone() }
  }

  @Test func anImportDecisionWithAnUnknownReasonIsReported() throws {
    let decision = #"[{"subject":"unit","value":"mg/dL","basis":"dreamt"}]"#
    try damage("UPDATE ingest SET decisions = '\(decision)'")
    let entry = try #require(try scratch.open(.reader).ingests(limit: 1).first)
    #expect { try entry.readDecisions() } throws: { error in
      guard let failure = error as? Failure else { return false }
      return failure.category == .inputOutput
        && failure.message.contains("ingest (id \(entry.id)): unknown basis")
    }
  }

  @Test func aRemoteWithoutItsTokenIsReported() throws {
    try damage(
      """
      INSERT INTO remote (id, kind, url, token_file, token_command, logbook, logbook_name, node)
      VALUES (1, 'glucoport', 'https://example.org', NULL, NULL, 'l', 'n', 'x')
      """)
    try expect("remote (id 1): token_file and token_command are NULL") {
      _ = try scratch.open(.reader).remote()
    }
  }
}
