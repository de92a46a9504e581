// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Zones that people give for imports, and zones that this system does not know.
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

  /// Readings of the one device at noon of these days.
  private func readings(_ days: [Int64]) -> IngestBatch {
    Make.batch(days.map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * Self.day) })
  }

  private func periods() throws -> [ZonePeriod] { try scratch.open(.reader).zones().listed }

  private func offsets() throws -> [String] {
    try scratch.rows("SELECT \(StoredOffset.sql()) FROM reading ORDER BY device_time")
  }

  // MARK: Many devices

  @Test func anInputOfMoreDevicesThanARecordNamesIsStatedInSeveralRecords() throws {
    let count = LogbookZones.maxDevices * 2 + 50
    let devices = (0..<count).map { Device(vendor: "Test", model: "M", serial: "N\($0)", format: "test") }
    let batch = Make.batch(
      (0..<count).map { Make.reading(.smbg, Make.milligrams(100), device: Int32($0)) }, devices: devices)
    try importing(batch)
    #expect(try offsets() == Array(repeating: "32400", count: count))
    let stated = try periods()
    #expect(stated.map(\.devices.count).sorted() == [50, 200, 200])
    #expect(stated.reduce(into: Set<String>()) { $0.formUnion($1.devices) }.count == count)
    try importing(batch)
    #expect(try periods() == stated)
    // A device that the input did not have is none of them.
    try scratch.ingest(readings([0]))
    #expect(try offsets().filter { $0 == "7200" }.count == 1)
  }

  // MARK: Gaps

  @Test func importsOfEveryWeekAreOnePeriod() throws {
    for week in Int64(0)..<20 { try importing(readings([week * 7, week * 7 + 2])) }
    let stated = try periods()
    #expect(stated.count == 1)
    #expect(stated.first?.from?.seconds == Make.noon)
    #expect(stated.first?.until?.seconds == Make.noon + (19 * 7 + 2) * Self.day + 1)
    #expect(try Set(offsets()) == ["32400"])
    // In another order, too.
    try importing(readings([-10]))
    #expect(try periods().count == 1)
  }

  @Test func aGapInWhichSomethingLiesStays() throws {
    try scratch.ingest(readings([5]))
    try importing(readings([0]))
    try importing(readings([9]))
    #expect(try periods().count == 2)
    #expect(try offsets() == ["32400", "7200", "32400"])
  }

  @Test func aGapOfWhichSomebodySaidSomethingStays() throws {
    try importing(readings([0]))
    let journey = ZonePeriod(
      guid: Digest.uuid(of: ["journey"]), from: DeviceTime(seconds: Make.noon + 2 * Self.day),
      until: DeviceTime(seconds: Make.noon + 3 * Self.day), zone: try NamedZone("Asia/Kolkata"), madeAt: 5)
    _ = try scratch.open(.editor).add(journey, at: 5)
    try importing(readings([9]))
    #expect(try periods().count == 3)
  }

  @Test func aLongGapStays() throws {
    try importing(readings([0]))
    try importing(readings([40]))
    #expect(try periods().count == 2)
    // What lies between both joins with one, and then that with the other.
    try importing(readings([20]))
    #expect(try periods().count <= 2)
    #expect(try offsets() == ["32400", "32400", "32400"])
  }

  @Test func anImportForWhichNoPeriodIsLeftIsRefusedBeforeAnythingIsStored() throws {
    try scratch.open(.editor).write { database in
      for index in 0..<LogbookZones.maxPeriods {
        let from = Make.noon + Int64(index) * Self.day * 50
        let period = ZonePeriod(
          guid: Digest.uuid(of: ["p", String(index)]), from: DeviceTime(seconds: from),
          until: DeviceTime(seconds: from + 60), zone: try NamedZone("Asia/Kolkata"), madeAt: Int64(index + 1)
        )
        try RecordEditor.insert(period.state(editedAt: 5), period.guid, database)
      }
    }
    let failure = #expect(throws: Failure.self) { try importing(readings([1])) }
    #expect(failure?.category == .configuration && failure?.message.contains("--remove") == true)
    #expect(try scratch.rows("SELECT count(*) FROM reading") == ["0"])
    #expect(try scratch.rows("SELECT count(*) FROM ingest") == ["0"])
    // The zone of the logbook needs no period.
    try importing(readings([1]), in: "Europe/Madrid")
    #expect(try offsets() == ["7200"])
  }

  // MARK: Zones that change meanwhile

  @Test func aRecordThatWaitsForTheEndIsPlacedByTheZoneOfTheEnd() throws {
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

  // MARK: Zones that this system does not know

  private func stateUnknownBase() throws {
    try scratch.open(.editor).write { database in
      try RecordEditor.insert(
        LogbookZones.baseState(named: "Mars/Olympus", .given, editedAt: 5), LogbookZones.baseGuid, database)
    }
  }

  @Test func aBaseThatThisSystemDoesNotKnowMovesNothing() throws {
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
    // A zone that a person gives is stated, and replaces no base that others know.
    try importing(readings([2]), in: "Europe/Madrid")
    #expect(try periods().map(\.zone.name) == ["Europe/Madrid"])
    #expect(try scratch.open(.reader).zones().unknownBase == "Mars/Olympus")
    // A person decides for the logbook.
    #expect(try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 6).isChange)
    #expect(try scratch.open(.reader).overview(ingests: 0).unknownZones.isEmpty)
    #expect(try scratch.rows("SELECT count(*) FROM setting WHERE name = 'unknown-zones'") == ["0"])
  }

  @Test func whatFollowsFromAZoneIsDerivedOnceTheSystemKnowsIt() throws {
    try scratch.ingest(readings([0]))
    try stateUnknownBase()
    // As the next version of the system's zone data would have it: the name is that of a zone.
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

  @Test func aStoreOfAnotherSystemWithAnUnknownZoneCanBeRead() throws {
    try scratch.open(.editor).queue.inDatabase {
      try $0.execute(sql: "UPDATE setting SET value = 'Mars/Olympus' WHERE name = 'timezone'")
    }
    let zones = try scratch.open(.reader).zones()
    #expect(zones.unknownBase == "Mars/Olympus" && zones.base.name == "UTC" && !zones.isKnown)
  }

  // MARK: What is withdrawn

  private func hidden() throws -> String? { try scratch.rows("SELECT is_withdrawn FROM listed_record").first }

  @Test func aDerivedOffsetIsNoEditOfWhatIsWithdrawnAndAStatedOneIs() throws {
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
