// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SeededRandom
import Testing

@testable import LogbookStore

/// Tests random sequences of imports and zone changes. The stored offsets must always follow from the zone
/// records, and lists must use these offsets.
@Suite struct ZoneHistoryTests {
  private static let devices = (1...3).map {
    Device(vendor: "Test", model: "Meter", serial: "S\($0)", format: "test")
  }
  private static let zones = [
    "Europe/Madrid", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Pacific/Kiritimati",
  ]
  /// 2025-10-20T00:00:00 as seconds since 1970. Madrid sets its clocks back six days later, and New York
  /// another week later.
  private static let start: Int64 = 1_760_918_400

  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private static func batch(_ random: inout SeededGenerator) -> IngestBatch {
    Make.batch(
      (0..<60).map { _ in
        var reading = Make.reading(
          [.cbg, .smbg].randomElement(using: &random) ?? .cbg,
          Make.milligrams(Double(Int.random(in: 60...300, using: &random))),
          at: start + Int64.random(in: 0..<1344, using: &random) * 900,
          device: Int32.random(in: 0..<3, using: &random))
        if Int.random(in: 0..<6, using: &random) == 0 {
          reading.placement = Placement(
            utcOffset: Int32.random(in: -20...20, using: &random) * 1800, source: .stated)
        }
        return reading
      }, devices: devices)
  }

  private static func period(_ random: inout SeededGenerator, _ step: Int) throws -> ZonePeriod {
    let first = start + Int64.random(in: 0..<14, using: &random) * 86_400 + 5400
    let identities = devices.map { ReadingIdentity.text(of: $0) }
    let named =
      Int.random(in: 0..<2, using: &random) == 0 ? [] : identities.filter { _ in Bool.random(using: &random) }
    return ZonePeriod(
      guid: Digest.uuid(of: ["period", String(step), String(random.next())]),
      from: Int.random(in: 0..<6, using: &random) == 0 ? nil : DeviceTime(seconds: first),
      until: Int.random(in: 0..<6, using: &random) == 0
        ? nil : DeviceTime(seconds: first + Int64.random(in: 1..<6, using: &random) * 43_200),
      zone: try NamedZone(zones.randomElement(using: &random) ?? "UTC"), devices: Set(named),
      madeAt: 1000 + Int64(step))
  }

  private func readings(_ filter: ItemFilter) throws -> [StoredReading] {
    var readings: [StoredReading] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  /// The zones that the records state for items of imports, without withdrawn records.
  private func statements() throws -> [ItemZone] {
    try scratch.open(.reader).queue.inDatabase { database in
      try String.fetchAll(database, sql: "SELECT guid FROM record WHERE kind = 'zone'")
        .compactMap { try ItemZoneTables.statement($0, database) }
    }
  }

  /// Imports a batch with a given zone. Other imports have readings at the same times.
  private func importGiven(_ random: inout SeededGenerator, _ step: Int) throws {
    let zone = try LogbookZone(name: Self.zones.randomElement(using: &random) ?? "UTC")
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1500, modifiedAt: nil, decisions: [],
      zone: InputZone(zone, isGiven: true, placesReadings: false))
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(Self.batch(&random))
      try writer.finish(
        end: .whole, digest: "", generatedAt: nil, finishedAt: 1000 + Int64(step), decisions: [])
    }
  }

  private func undo(_ random: inout SeededGenerator, _ step: Int) throws {
    let imports = try scratch.number("SELECT max(id) FROM ingest")
    let ingest = Int64.random(in: 1...Int64(imports), using: &random)
    let (editor, now) = (try scratch.open(.editor), 2000 + Int64(step))
    if Bool.random(using: &random) {
      _ = try editor.redo(ingest, at: now)
    } else {
      let group = Digest.uuid(of: ["undo", String(step), String(random.next())])
      _ = try editor.undo(ingest, group: group, at: now)
    }
  }

  private func expectZones(_ place: String) throws {
    let zones = try scratch.open(.reader).zones()
    let all = try readings(ItemFilter())
    #expect(
      try scratch.number("SELECT (SELECT count(*) FROM reading) - (SELECT count(*) FROM withdrawn)")
        == all.count,
      "\(place)")
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.utc <= $1.utc }, "\(place)")
    let statements = try self.statements()
    var places: [String: LogbookZone] = [:]
    for reading in all where reading.placement.source.isDerived {
      let device = ReadingIdentity.text(of: reading.device)
      let identity = reading.identity
      var items = ItemZones(of: SeriesName(identity), statements, zones)
      let stated = items.zone(
        of: SeriesPoint(identity), shownAt: reading.deviceTime, reading.placement)
      let key = stated.map { "zone \($0.name)" } ?? device
      var zone = places[key] ?? stated.map { LogbookZone(base: $0, periods: []) } ?? zones.zone(of: device)
      let expected = zone.placement(of: reading.deviceTime)
      places[key] = zone
      if reading.placement != expected { Issue.record("\(place): \(reading.deviceTime.text) of \(device)") }
    }
    for day in [2, 6, 13] {
      var filter = ItemFilter()
      filter.since = Self.start + Int64(day) * 86_400
      filter.until = Self.start + Int64(day + 1) * 86_400 + 3600
      let expected = all.filter { $0.utc >= filter.since ?? 0 && $0.utc < filter.until ?? 0 }
      #expect(try readings(filter).map(\.address) == expected.map(\.address), "\(place), day \(day)")
    }
    var filter = ItemFilter()
    filter.newest = 20
    #expect(try readings(filter).map(\.address) == all.suffix(20).map(\.address), "\(place)")
  }

  @Test(arguments: Seeds.first(4)) func storedOffsetsAlwaysFollowFromTheTimeZoneRecords(_ seed: UInt64) throws
  {
    var random = SeededGenerator(seed: seed)
    var periods: [ZonePeriod] = []
    try scratch.ingest(Self.batch(&random))
    for step in 0..<14 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try scratch.ingest(Self.batch(&random))
      case 3, 4: try importGiven(&random, step)
      case 5: try undo(&random, step)
      case 1:
        let zone = try LogbookZone(name: Self.zones.randomElement(using: &random) ?? "UTC")
        _ = try scratch.open(.editor).setTimezone(zone, at: 2000 + Int64(step))
      case 2 where !periods.isEmpty:
        _ = try scratch.open(.editor).remove(periods.removeFirst(), at: 2000 + Int64(step))
      default:
        _ = try scratch.open(.editor).add(try Self.period(&random, step), at: 2000 + Int64(step))
        // If the added period continues another one, the store has extended the other period instead. So the
        // periods are read again.
        periods = try scratch.open(.reader).zones().periods
      }
      try expectZones("seed \(seed), step \(step)")
    }
  }

  /// An offset that the source states is kept after every zone change.
  @Test func aStatedUTCOffsetNeverChanges() throws {
    var random = SeededGenerator(seed: 77)
    try scratch.ingest(Self.batch(&random))
    func stated() throws -> [String] {
      try scratch.rows(
        "SELECT series, position, value_bucket, occurrence, stated_offset FROM reading WHERE stated_offset IS NOT NULL"
      )
    }
    let before = try stated()
    #expect(before.count > 3)
    for (index, name) in Self.zones.enumerated() {
      _ = try scratch.open(.editor).setTimezone(LogbookZone(name: name), at: 2000 + Int64(index))
      #expect(try stated() == before, "\(name)")
    }
  }
}
