// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

@Suite struct ZoneRecordTests {
  private let scratch: ScratchStore
  private static let other = Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")

  init() throws { scratch = try ScratchStore() }

  private func period(
    _ zone: String, _ from: String?, _ until: String?, devices: Set<String> = [], madeAt: Int64 = 100
  ) throws -> ZonePeriod {
    ZonePeriod(
      guid: Digest.uuid(of: [zone, from ?? "", until ?? "", String(madeAt)]),
      from: from.flatMap { DeviceTime(text: $0) },
      until: until.flatMap { DeviceTime(text: $0) }, zone: try NamedZone(zone), devices: devices,
      madeAt: madeAt)
  }

  /// Stores two devices with a reading at noon of each of the first ten days of June. Each reading comes with
  /// a record.
  private func fill() throws {
    var batch = Make.batch(
      (0..<10).flatMap { day in
        [0, 1].map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + day * 86400, device: $0) }
      }, devices: [Make.device, Self.other])
    batch.records = (0..<10).map {
      Make.record(["carbs": .number(30)], sourceID: "\($0)", at: Make.noon + $0 * 86400)
    }
    try scratch.ingest(batch)
  }

  private func offsets(_ serial: String) throws -> [String] {
    try scratch.rows(
      """
      SELECT \(StoredOffset.sql("r")) FROM reading AS r JOIN series AS s ON s.id = r.series
        JOIN device AS d ON d.id = s.device WHERE d.serial = '\(serial)' ORDER BY r.device_time
      """)
  }

  private func recordOffsets() throws -> [String] {
    try scratch.rows("SELECT utc_offset FROM record WHERE kind = 'food' ORDER BY device_time")
  }

  @Test func removingAZonePeriodMovesItsItemsBack() throws {
    try fill()
    let (before, records) = (try offsets("S1"), try recordOffsets())
    let journey = try period("Asia/Tokyo", "2025-06-03", "2025-06-05")
    let change = try scratch.open(.editor).add(journey, at: 5)
    #expect(change == ZoneChange(isChange: true, readings: 4, records: 2))
    for found in [try offsets("S1"), try offsets("S2"), try recordOffsets()] {
      #expect(found == (1...10).map { $0 == 3 || $0 == 4 ? "32400" : "7200" })
    }
    #expect(try scratch.number("SELECT count(*) FROM changed_statement") == 0)
    let back = try scratch.open(.editor).remove(journey, at: 6)
    #expect(back.readings == 4 && back.records == 2)
    #expect(try offsets("S1") == before && recordOffsets() == records)
  }

  @Test func aZonePeriodOfOneDeviceMovesNoOtherItems() throws {
    try fill()
    let identity = try scratch.open(.reader).identity(ofDevice: "s2")
    let change = try scratch.open(.editor).add(period("Asia/Tokyo", nil, nil, devices: [identity]), at: 5)
    #expect(change.readings == 10 && change.records == 0)
    #expect(try offsets("S1") == Array(repeating: "7200", count: 10))
    #expect(try offsets("S2") == Array(repeating: "32400", count: 10))
    // A reading that is imported later gets the offset of the period, too.
    try scratch.ingest(
      Make.batch(
        [Make.reading(.cbg, Make.milligrams(90), at: Make.noon + 20 * 86400)], devices: [Self.other]))
    #expect(try offsets("S2").last == "32400")
    #expect(try scratch.open(.reader).coverage(of: scratch.open(.reader).zones()).base.readings == 10)
  }

  @Test func aZonePeriodThatChangesNothingIsNotStored() throws {
    try fill()
    _ = try scratch.open(.editor).add(period("Asia/Tokyo", "2025-06-03", "2025-06-09"), at: 5)
    let again = try scratch.open(.editor).add(
      period("Asia/Tokyo", "2025-06-04", "2025-06-05", madeAt: 200), at: 6)
    #expect(again == ZoneChange(isChange: false, readings: 0, records: 0))
    #expect(try scratch.rows("SELECT version FROM record WHERE kind = 'zone'") == ["1"])
    _ = try scratch.open(.editor).add(period("Asia/Tokyo", "2025-06-09", "2025-06-12", madeAt: 300), at: 7)
    #expect(try scratch.rows("SELECT version FROM record WHERE kind = 'zone'") == ["2"])
  }

  /// The import began before the zone changed, so its reading has an offset of the first zone. The store must
  /// replace this offset.
  @Test func anImportStartedBeforeATimeZoneChangeGetsTheNewOffsets() throws {
    let store = try scratch.open()
    var zone = try LogbookZone(name: "Europe/Madrid")
    let time = DeviceTime(seconds: Make.noon)
    let reading = Reading(
      device: DeviceIndex(0), kind: .cbg, at: time, placement: zone.placement(of: time), Make.milligrams(100),
      line: 1
    )
    let source = IngestSource(
      name: "-", format: "test", startedAt: 1, modifiedAt: nil, decisions: [],
      zone: InputZone(zone, isGiven: false))
    try store.ingest(source, isAtomic: false) { writer in
      _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
      try writer.write(Make.batch([reading]))
      try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: 2, decisions: [])
    }
    #expect(try offsets("S1") == ["32400"])
  }

  private func importGiven(_ name: String, _ batch: IngestBatch) throws {
    let zone = try LogbookZone(name: name)
    let source = IngestSource(
      name: "-", format: "test", startedAt: 1, modifiedAt: 9, decisions: [],
      zone: InputZone(zone, isGiven: true))
    try scratch.open().ingest(source, isAtomic: false) { writer in
      var zone = zone
      var placed = batch
      for index in placed.readings.indices {
        placed.readings[index].placement = zone.placement(of: placed.readings[index].deviceTime)
      }
      try writer.write(placed)
      try writer.finish(end: .whole, digest: "d", generatedAt: nil, finishedAt: 2, decisions: [])
    }
  }

  @Test func theSecondTimeZoneGivenForAnImportReplacesTheFirst() throws {
    try fill()
    var batch = Make.batch(
      [2, 3].map { Make.reading(.smbg, Make.milligrams(80), at: Make.noon + $0 * 86400) })
    batch.records = [Make.record(["carbs": .number(9)], sourceID: "x")]
    let stated = "SELECT utc_offset, offset_source FROM record WHERE kind = 'food' AND fields LIKE '%:9}'"
    // The given zone applies only to the items of this import. Other readings of the same device and days
    // keep their offsets.
    for (zone, offset) in [("Asia/Tokyo", "32400"), ("America/New_York", "-14400"), ("Asia/Tokyo", "32400")] {
      try importGiven(zone, batch)
      #expect(
        try offsets("S1").filter { $0 == "7200" }.count == 10
          && offsets("S1").filter { $0 == offset }.count == 2,
        "\(zone)")
      #expect(try scratch.rows(stated) == ["\(offset) 1"])
    }
    // The readings of the other device and the existing records keep their offsets.
    #expect(try Set(offsets("S2")) == ["7200"])
    let count = try scratch.number("SELECT count(*) FROM record WHERE kind = 'zone'")
    try importGiven("Asia/Tokyo", batch)
    #expect(try scratch.number("SELECT count(*) FROM record WHERE kind = 'zone'") == count)
    // The same rows are imported without a zone. This does not change the zone of the stored items.
    try scratch.ingest(batch, modifiedAt: 20)
    #expect(try scratch.rows(stated) == ["32400 1"])
  }

  @Test func timesWithoutAKnownTimeZoneAreRefused() throws {
    let path = scratch.path
    let utc = try LogbookZone(name: "Etc/UTC")
    let store = try Store.openOrCreate(path: path, role: .importer, zone: utc, isGiven: false)
    let source = IngestSource(
      name: "a.csv", format: "test", startedAt: 1, modifiedAt: nil, decisions: [],
      zone: InputZone(utc, isGiven: false))
    #expect(throws: Failure.self) {
      try store.ingest(source, isAtomic: false) { writer in
        try writer.write(Make.batch([Make.reading(.cbg, Make.milligrams(100))]))
      }
    }
    #expect(try scratch.number("SELECT count(*) FROM reading") == 0)
    // A time with an offset needs no zone. The first zone that a person states becomes the zone of the
    // logbook.
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch([Make.reading(.cbg, Make.milligrams(100), source: .stated)]))
    }
    try importGiven("Asia/Tokyo", Make.batch([Make.reading(.smbg, Make.milligrams(100))]))
    #expect(try scratch.open(.reader).zones().base.name == "Asia/Tokyo")
  }

  /// A person may correct the system's zone after the first import was refused. The store then uses the
  /// corrected zone.
  @Test func aStoreCreatedWithoutATimeZoneGetsTheFirstKnownOne() throws {
    let (utc, madrid) = (try LogbookZone(name: "Etc/UTC"), try LogbookZone(name: "Europe/Madrid"))
    let store = try Store.openOrCreate(path: scratch.path, role: .importer, zone: utc, isGiven: false)
    #expect(try !store.lacksZone(utc, isGiven: false) && store.lacksZone(utc, isGiven: true))
    #expect(try !store.completeZone(utc, isGiven: false) && store.zones().origin == .system)
    #expect(try store.lacksZone(madrid, isGiven: false) && store.completeZone(madrid, isGiven: false))
    #expect(try store.zones().base.name == "Europe/Madrid" && store.zones().origin == .system)
    // Once the store has adopted the system's zone, the zone is kept, as if a person had given it.
    let tokyo = try LogbookZone(name: "Asia/Tokyo")
    #expect(try !store.completeZone(tokyo, isGiven: true) && store.zones().base.name == "Europe/Madrid")
  }

  @Test func aTimeZoneFromTheRemoteOrAPersonIsNotReplaced() throws {
    let (utc, madrid) = (try LogbookZone(name: "Etc/UTC"), try LogbookZone(name: "Europe/Madrid"))
    let given = try Store.openOrCreate(path: scratch.path, role: .importer, zone: utc, isGiven: true)
    #expect(try !given.completeZone(madrid, isGiven: false) && given.zones().base.name == "Etc/UTC")
    let other = try ScratchStore()
    let joined = try Store.openOrCreate(path: other.path, role: .sync, zone: utc, isGiven: false)
    try joined.sync { try $0.stateBaseZone() }
    #expect(try !joined.completeZone(madrid, isGiven: true) && joined.zones().base.name == "Etc/UTC")
  }

  // MARK: The repeated hour

  /// Readings of a sensor that counts seconds, one every five minutes. They cover the night in which clocks
  /// in Madrid show an hour twice.
  private static let night: [Reading] = {
    let start: Int64 = 1_761_436_800  // 2025-10-26T00:00:00Z
    return (-24..<48).map { step in
      let utc = start + Int64(step) * 300
      let offset: Int64 = utc < 1_761_440_400 ? 7200 : 3600
      return Make.tick(50_000 + Int64(step) * 300, 100, at: utc + offset)
    }
  }()

  private func instants() throws -> [String] {
    try scratch.rows("SELECT device_time - \(StoredOffset.sql()) FROM reading ORDER BY position")
  }

  @Test func ticksDecideTheOccurrenceOfARepeatedHourInAnyOrderOfImports() throws {
    let expected = (-24..<48).map { String(1_761_436_800 + $0 * 300) }
    for seed in UInt64(1)...12 {
      var generator = SeededGenerator(seed: seed)
      let scratch = try ScratchStore()
      var parts = Self.night.shuffled(using: &generator)
      while !parts.isEmpty {
        let count = min(parts.count, Int.random(in: 1...30, using: &generator))
        try scratch.ingest(Make.batch(Array(parts.prefix(count))))
        parts.removeFirst(count)
      }
      let found = try scratch.rows(
        "SELECT device_time - \(StoredOffset.sql()) FROM reading ORDER BY position")
      #expect(found == expected, "seed \(seed)")
    }
  }

  @Test func aTimeZoneChangeDerivesRepeatedHoursFromCountersAgain() throws {
    try scratch.ingest(Make.batch(Self.night))
    let before = try instants()
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(try Set(scratch.rows("SELECT offset_source FROM reading")) == ["1"])
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Madrid"), at: 6)
    #expect(try instants() == before)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE offset_source = 4") == 24)
  }
}
