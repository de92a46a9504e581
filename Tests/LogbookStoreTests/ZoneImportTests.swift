// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Logbook
import Testing

@testable import LogbookStore

/// Tests time zones that a person states for an import, and time zones that the system does not know.
@Suite struct ZoneImportTests {
  private static let day: Int64 = 86_400
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open()
  }

  private func importing(
    _ batch: IngestBatch, in name: String? = "Asia/Tokyo", zoneIsGiven: Bool = true,
    generatedAt: Int64? = nil,
    before finish: () throws -> Void = {}
  ) throws {
    let zone = try name.map {
      InputZone(try LogbookZone(name: $0), isGiven: zoneIsGiven, placesReadings: false)
    }
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [], zone: zone)
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try finish()
      try writer.finish(end: .whole, digest: "", generatedAt: generatedAt, finishedAt: 2000, decisions: [])
    }
  }

  /// Readings of one device at noon, the given numbers of days after the first of June.
  private func readings(_ days: [Int64]) -> IngestBatch {
    Make.batch(days.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * Self.day) })
  }

  private func offsets() throws -> [String] {
    try scratch.rows("SELECT \(StoredOffset.sql()) FROM reading ORDER BY device_time")
  }

  // MARK: Many imports

  @Test func anImportAboveTheLimitOfTimeZoneRecordsStoresNothing() throws {
    try scratch.open(.editor).write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(ItemZone.maxRecords))
          INSERT INTO item_zone SELECT 'g' || i, 'Asia/Tokyo', 1, 1, 'g' FROM n
          """)
    }
    let failure = #expect(throws: Failure.self) { try importing(readings([1])) }
    #expect(failure?.category == .configuration && failure?.message.contains("without --timezone") == true)
    #expect(try scratch.rows("SELECT count(*) FROM reading") == ["0"])
    #expect(try scratch.rows("SELECT count(*) FROM ingest") == ["0"])
    // An import in the zone of the logbook stores no zone record, so the limit of zone records does not
    // matter.
    try importing(readings([1]), in: nil)
    #expect(try offsets() == ["7200"])
  }

  // MARK: Cost

  /// The number of SQLite instructions, in hundreds, that the end of an import takes.
  private func stepsAtEnd(_ batch: IngestBatch) throws -> Int {
    let zone = InputZone(try LogbookZone(name: "Asia/Tokyo"), isGiven: true, placesReadings: false)
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [], zone: zone)
    let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counter.initialize(to: 0)
    defer { counter.deallocate() }
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      sqlite3_progress_handler(
        writer.connection.sqliteConnection, 100,
        { context in
          context?.assumingMemoryBound(to: Int.self).pointee += 1
          return 0
        }, counter)
      defer { sqlite3_progress_handler(writer.connection.sqliteConnection, 0, nil, nil) }
      try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: 2000, decisions: [])
    }
    return counter.pointee
  }

  @Test func storingATimeZoneForAnImportDoesNotScanTheStore() throws {
    func batch(_ numbers: [Int64]) -> IngestBatch {
      Make.batch(numbers.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) })
    }
    func cost(after numbers: ClosedRange<Int64>) throws -> Int {
      try importing(batch(Array(numbers)), in: nil)
      // The batch has the last stored reading and one after it.
      return try stepsAtEnd(batch([numbers.upperBound, numbers.upperBound + 1]))
    }
    let small = try cost(after: 1...400)
    let large = try cost(after: 1000...20_000)
    #expect(large <= small + small / 5 + 2, "\(small) → \(large)")
    // This batch has a reading before all stored ones and a reading after them. So the end of the import
    // reads all readings between the two.
    #expect(try stepsAtEnd(batch([1, 20_001])) > 8 * large)
    let number = "(device_time - \(Make.noon)) / 300"
    let stated = try scratch.rows("SELECT \(number) FROM reading WHERE zone IS NOT NULL ORDER BY device_time")
    #expect(stated == ["1", "400", "401", "20000", "20001"])
  }

  // MARK: Zones that change meanwhile

  @Test func aRecordStoredAtTheEndOfAnImportHasTheTimeZoneOfThatMoment() throws {
    func batch(_ carbs: Double) -> IngestBatch {
      Make.batch([
        Make.record(["carbs": .number(carbs)], sourceID: "a"), Make.record(["carbs": .number(carbs + 1)]),
      ])
    }
    try importing(batch(30), in: nil, generatedAt: 1)
    try importing(batch(40), in: nil, generatedAt: 2) {
      _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    }
    let found = try scratch.rows("SELECT utc_offset, offset_source FROM record WHERE kind = 'food'")
    #expect(found.count >= 2 && Set(found) == ["32400 1"])
    #expect(try scratch.number("SELECT count(*) FROM changed_statement") == 0)
  }

  // MARK: Unknown zones

  private func stateUnknownBase() throws {
    try scratch.open(.editor).write { database in
      try RecordEditor.insert(
        LogbookZones.baseState(named: "Mars/Olympus", .given, editedAt: 5), LogbookZones.baseGuid, database)
    }
  }

  @Test func anUnknownHomeTimeZoneChangesNoOffset() throws {
    try scratch.ingest(readings([0, 1]))
    try stateUnknownBase()
    #expect(try offsets() == ["7200", "7200"])
    let overview = try scratch.open(.reader).overview(ingests: 0)
    #expect(overview.unknownZones == ["Mars/Olympus"] && overview.timezone == "Europe/Madrid")
    let failure = #expect(throws: Failure.self) {
      try importing(readings([2]), in: "Europe/Madrid", zoneIsGiven: false)
    }
    #expect(failure?.message.contains("Mars/Olympus") == true && failure?.message.contains("tzdata") == true)
    #expect(try offsets().count == 2)
    // The zone that is given for an import is stored for its items. It does not replace the logbook's zone,
    // which other systems may know.
    try importing(readings([2]), in: "Europe/Madrid")
    #expect(try scratch.rows("SELECT zone FROM item_zone") == ["Europe/Madrid"])
    #expect(try scratch.open(.reader).zones().unknownBase == "Mars/Olympus")
    // If a person sets the zone of the logbook, this zone replaces the unknown one.
    #expect(try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 6).isChange)
    #expect(try scratch.open(.reader).overview(ingests: 0).unknownZones.isEmpty)
    #expect(try scratch.rows("SELECT count(*) FROM setting WHERE name = 'unknown-zones'") == ["0"])
  }

  @Test func offsetsOfATimeZoneAreDerivedOnceTheSystemKnowsIt() throws {
    try scratch.ingest(readings([0]))
    try stateUnknownBase()
    // Simulates an update of the system's zone data, after which the zone is known.
    try scratch.open(.editor).queue.inDatabase { database in
      try database.execute(
        sql: """
          UPDATE record SET fields = '{"origin":"given","zone":"Asia/Tokyo"}', version = version + 1
            WHERE kind = 'zone';
          DELETE FROM changed_statement;
          UPDATE setting SET value = 'Asia/Tokyo' WHERE name = 'unknown-zones';
          """)
    }
    #expect(try scratch.rows("SELECT derived_offset FROM reading") == ["7200"])
    _ = try scratch.open(.importer)
    #expect(try offsets() == ["32400"])
    #expect(try scratch.rows("SELECT count(*) FROM setting WHERE name = 'unknown-zones'") == ["0"])
  }

  @Test func aStoreWithATimeZoneUnknownToTheSystemCanBeRead() throws {
    try scratch.open(.editor).queue.inDatabase {
      try $0.execute(sql: "UPDATE setting SET value = 'Mars/Olympus' WHERE name = 'timezone'")
    }
    let zones = try scratch.open(.reader).zones()
    #expect(zones.unknownBase == "Mars/Olympus" && zones.base.name == "UTC" && !zones.isKnown)
  }

  // MARK: Withdrawn readings

  private func hidden() throws -> String? { try scratch.rows("SELECT is_withdrawn FROM listed_record").first }

  @Test func onlyAStatedUTCOffsetCountsAsAnEditOfAnUndoneRecord() throws {
    try scratch.ingest(Make.batch([Make.record(["carbs": .number(30)], sourceID: "a")]))
    let guid = try #require(try scratch.rows("SELECT guid FROM record").first)
    let counts = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["group"]), at: 5000)
    #expect(counts.records == 1)
    #expect(try hidden() == "1")
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(try scratch.rows("SELECT utc_offset FROM record WHERE kind = 'food'") == ["32400"])
    #expect(try hidden() == "1")
    _ = try RecordEditor(scratch.open(.editor), at: 6).edit(guid) {
      $0.placement = Placement(utcOffset: 32_400, source: .stated)
    }
    #expect(try hidden() == "0")
  }
}
