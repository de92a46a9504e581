// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests the time zone that a person states for one import. It is valid only for the items of this import.
@Suite struct ItemZoneTests {
  private static let (madrid, tokyo, newYork) = ("Europe/Madrid", "Asia/Tokyo", "America/New_York")
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open()
  }

  /// Imports a batch. The first import of a test gets the number 1, the second one the number 2.
  private func importing(
    _ batch: IngestBatch, in name: String?, digest: String = "", before finish: () throws -> Void = {}
  ) throws -> IngestCounts {
    let zone = try name.map {
      InputZone(try LogbookZone(name: $0), isGiven: true, placesReadings: false)
    }
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: 9, decisions: [], zone: zone)
    var counts = IngestCounts()
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try finish()
      try writer.finish(end: .whole, digest: digest, generatedAt: nil, finishedAt: 2000, decisions: [])
      counts = writer.counts
    }
    return counts
  }

  /// Readings at these numbers of hours after noon, each with a meal at the same time.
  private func batch(_ hours: [Int64], value: Double = 100, meals: Bool = true) -> IngestBatch {
    var batch = Make.batch(
      hours.map { Make.reading(.smbg, Make.milligrams(value), at: Make.noon + $0 * 3600) })
    if meals {
      batch.records = hours.map {
        Make.record(["carbs": .number(value)], sourceID: "\(Int(value)) \($0)", at: Make.noon + $0 * 3600)
      }
    }
    return batch
  }

  private func undo(_ ingest: Int64) throws -> UndoCounts {
    try scratch.open(.editor).undo(
      ingest, group: Digest.uuid(of: ["\(UInt64.random(in: .min ... .max))"]), at: 5000)
  }

  private func setBase(_ name: String) throws -> ZoneChange {
    try scratch.open(.editor).setTimezone(LogbookZone(name: name), at: 3000)
  }

  /// The UTC offsets in hours, in the order of the shown times: first those of the readings, then those of
  /// the meals.
  private func hours() throws -> [String] {
    let readings = try scratch.rows(
      "SELECT \(StoredOffset.sql()) / 3600 FROM reading ORDER BY device_time, value")
    let records = try scratch.rows(
      "SELECT utc_offset / 3600 FROM record WHERE kind = 'food' ORDER BY device_time, fields")
    return [readings.joined(separator: " "), records.joined(separator: " ")]
  }

  private func statements() throws -> Int {
    try scratch.number("SELECT count(*) FROM record WHERE kind = 'zone' AND fields LIKE '%\"group\"%'")
  }

  // MARK: The first import

  @Test func theImportThatSetsTheHomeTimeZoneStatesNoOtherZone() throws {
    let scratch = try ScratchStore()
    let zone = try LogbookZone(name: Self.madrid)
    let input = InputZone(zone, isGiven: true, placesReadings: false)
    func run(_ batch: IngestBatch, isKilled: Bool = false) throws {
      let store = try Store.openOrCreate(
        path: scratch.path, role: .importer, zone: zone, isForImport: true)
      let source = IngestSource(
        name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [], zone: input)
      try store.ingest(source, isAtomic: false) { writer in
        try writer.write(batch)
        if isKilled { throw Failure(.temporary, "interrupted") }
        try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: 2000, decisions: [])
      }
    }
    // A first import that failed is repeated. The repetition still counts as the first import, which sets the
    // base zone.
    #expect(throws: Failure.self) { try run(batch([0]), isKilled: true) }
    try scratch.open().endFirstImport()
    try run(batch([0, 1]))
    // The second file of the same command still belongs to the first import.
    try run(batch([2]))
    #expect(try scratch.number("SELECT count(*) FROM record WHERE kind = 'zone'") == 0)
    try scratch.open().endFirstImport()
    try run(batch([3]))
    let moved = try scratch.open(.editor).setTimezone(LogbookZone(name: Self.newYork), at: 3000)
    #expect([moved.readings, moved.records] == [3, 3])
    for (column, table) in [(StoredOffset.sql(), "reading"), ("utc_offset", "record WHERE kind = 'food'")] {
      let offsets = try scratch.rows("SELECT \(column) FROM \(table) ORDER BY device_time")
      #expect(offsets == ["-14400", "-14400", "-14400", "7200"], "\(table)")
    }
  }

  @Test func aHomeTimeZoneSetByAPersonBelongsToNoImport() throws {
    let scratch = try ScratchStore()
    let store = try Store.openOrCreate(
      path: scratch.path, role: .editor, zone: LogbookZone(name: Self.tokyo), isForImport: true)
    _ = try store.setTimezone(LogbookZone(name: Self.madrid), at: 5)
    #expect(try scratch.number("SELECT count(*) FROM setting WHERE name = 'base-of-import'") == 0)
  }

  // MARK: What a zone record states

  @Test func aTimeZoneGivenForAnImportIsKeptWhenTheHomeTimeZoneChanges() throws {
    _ = try importing(batch([0, 1]), in: Self.madrid)
    _ = try importing(batch([2], value: 90), in: nil)
    #expect(try hours() == ["2 2 2", "2 2 2"])
    let moved = try setBase(Self.newYork)
    #expect([moved.readings, moved.records] == [1, 1])
    #expect(try hours() == ["2 2 -4", "2 2 -4"])
  }

  @Test func aZonePeriodWithTheHomeTimeZoneIsKeptWhenTheHomeTimeZoneChanges() throws {
    _ = try importing(batch([0, 24]), in: nil)
    let journey = ZonePeriod(
      guid: Digest.uuid(of: ["p"]), from: DeviceTime(seconds: Make.noon + 3600), until: nil,
      zone: try NamedZone(Self.madrid), madeAt: 100)
    let change = try scratch.open(.editor).add(journey, at: 5)
    #expect(change == ZoneChange(isChange: true, readings: 0, records: 0))
    _ = try setBase(Self.tokyo)
    #expect(try hours() == ["9 2", "9 2"])
  }

  /// Another person's file is imported. Its device has no serial number either, so both files seem to come
  /// from one device.
  @Test func aTimeZoneGivenForAnImportDoesNotChangeAnotherImportOfTheSameDevice() throws {
    _ = try importing(batch([0, 2, 4]), in: nil)
    _ = try importing(batch([1, 3], value: 90), in: Self.tokyo)
    #expect(try hours() == ["2 9 2 9 2", "2 9 2 9 2"])
    let undone = try undo(2)
    #expect([undone.readings, undone.records] == [2, 2])
    // The undone import's items are hidden. They have the offset of the logbook's zone again, as all other
    // items have.
    #expect(try hours() == ["2 2 2 2 2", "2 2 2 2 2"])
    #expect(try scratch.number("SELECT count(*) FROM item_zone") == 0)
    let redone = try scratch.open(.editor).redo(2, at: 5001)
    #expect([redone.readings, redone.records] == [2, 2])
    #expect(try hours() == ["2 9 2 9 2", "2 9 2 9 2"])
  }

  @Test func itemsThatAnImportMovedToAnotherTimeZoneAreMovedBackByItsUndo() throws {
    _ = try importing(batch([0, 2, 4]), in: nil)
    #expect(try importing(batch([0, 2]), in: Self.madrid).movedItems == 0)
    let friend = batch([2, 3])
    #expect(try importing(friend, in: Self.tokyo).movedItems == 2)
    #expect(try hours() == ["2 9 9 2", "2 9 9 2"])
    #expect(try importing(friend, in: Self.tokyo).movedItems == 0)
    #expect(try importing(friend, in: Self.newYork).movedItems == 4)
    // The import with number 5 stored no new item, but `undo` without a number still undoes it first.
    guard case .ingest(5) = try scratch.open(.editor).nextStep(.undo) else {
      Issue.record("undo without a number takes back another step")
      return
    }
    _ = try undo(5)
    #expect(try hours() == ["2 9 9 2", "2 9 9 2"])
    for number: Int64 in [3, 4] { _ = try undo(number) }
    #expect(try hours() == ["2 2 2 2", "2 2 2 2"])
    // The undone import's items are hidden. If a later import moves them to its zone, they are not counted.
    #expect(try importing(batch([3]), in: Self.newYork).movedItems == 0)
  }

  @Test func undoOfAnInputRepeatedInAnotherTimeZoneEndsThatZone() throws {
    let input = batch([0, 1])
    _ = try importing(input, in: Self.tokyo)
    let rows = try scratch.number("SELECT count(*) FROM record WHERE kind <> 'zone'")
    let counts = try importing(input, in: Self.newYork)
    #expect(
      [counts.newReadings, counts.newRecords, counts.updatedRecords, counts.keptRecords] == [0, 0, 0, 0])
    #expect([counts.knownReadings, counts.knownRecords] == [2, 2])
    #expect(try scratch.number("SELECT count(*) FROM record WHERE kind <> 'zone'") == rows)
    #expect(try hours() == ["-4 -4", "-4 -4"])
    // The same rows are imported without a zone. This does not change the zone of the stored items.
    _ = try importing(input, in: nil)
    #expect(try hours() == ["-4 -4", "-4 -4"])
    let undone = try undo(2)
    #expect([undone.readings, undone.records] == [0, 0] && !undone.broughtNothing && undone.changesZone)
    #expect(try hours() == ["9 9", "9 9"])
    #expect(try scratch.open(.editor).redo(2, at: 5001).changesZone)
    #expect(try hours() == ["-4 -4", "-4 -4"])
    _ = try undo(2)
    #expect(try hours() == ["9 9", "9 9"])
    _ = try undo(1)
    #expect(try hours() == ["2 2", "2 2"])
  }

  @Test func aTimeZoneOfRepeatedImportsIsStatedOnceAndEndsWhenAllAreUndone() throws {
    let input = batch([0, 1])
    for _ in 0..<3 { _ = try importing(input, in: Self.tokyo) }
    #expect(try statements() == 1)
    _ = try undo(1)
    _ = try undo(3)
    #expect(try hours() == ["9 9", "9 9"])
    _ = try undo(2)
    #expect(try hours() == ["2 2", "2 2"])
    // The undo of all imports also withdrew the first zone record. So another import stores a zone record
    // again.
    _ = try importing(batch([0, 1, 2]), in: Self.tokyo)
    #expect(try statements() == 2)
    #expect(try hours() == ["9 9 9", "9 9 9"])
  }

  @Test func anEditedRecordStaysInTheTimeZoneOfItsImport() throws {
    _ = try importing(batch([0]), in: nil)
    let guid = try #require(try scratch.rows("SELECT guid FROM record").first)
    _ = try RecordEditor(scratch.open(.editor), at: 6).edit(guid) { $0.fields["carbs"] = .number(7) }
    #expect(try importing(batch([0]), in: Self.tokyo).keptRecords == 1)
    #expect(try hours() == ["9", "9"])
    // An edit stores the same offset as every other write of the record.
    _ = try RecordEditor(scratch.open(.editor), at: 7).edit(guid) { $0.fields["carbs"] = .number(8) }
    #expect(try hours() == ["9", "9"])
    #expect(try scratch.number("SELECT count(*) FROM changed_statement") == 0)
  }

  @Test func anInputThatStatesEveryOffsetStoresNoTimeZone() throws {
    let stated = Make.batch([Make.reading(.cbg, Make.milligrams(100), source: .stated)])
    for _ in 0..<2 { _ = try importing(stated, in: Self.tokyo) }
    #expect(try statements() == 0)
    #expect(try !undo(1).changesZone)
  }

  @Test func itemsOfAnInterruptedImportHaveItsTimeZone() throws {
    #expect(throws: Failure.self) {
      _ = try importing(batch([0]), in: Self.tokyo) { throw Failure(.temporary, "interrupted") }
    }
    #expect(try hours() == ["9", "9"])
  }

  // MARK: Precedence

  private static let device = ReadingIdentity.text(of: Make.device)

  /// Adds a zone period for the hour that begins one hour after noon.
  private func addPeriod(_ zone: String, devices: Set<String> = [], _ madeAt: Int64) throws -> ZoneChange {
    let period = ZonePeriod(
      guid: Digest.uuid(of: ["\(madeAt)"]), from: DeviceTime(seconds: Make.noon + 3600),
      until: DeviceTime(seconds: Make.noon + 7200), zone: try NamedZone(zone), devices: devices,
      madeAt: madeAt)
    return try scratch.open(.editor).add(period, at: 5)
  }

  @Test func aZonePeriodStatedAfterAnImportWinsForItsReadingsAndRecords() throws {
    _ = try importing(batch([0, 1, 2]), in: Self.tokyo)
    let change = try addPeriod(Self.newYork, 9000)
    #expect([change.readings, change.records] == [1, 1])
    #expect(try hours() == ["9 -4 9", "9 -4 9"])
    let period = try #require(try scratch.open(.reader).zones().periods.first)
    _ = try scratch.open(.editor).remove(period, at: 6)
    #expect(try hours() == ["9 9 9", "9 9 9"])
    #expect(try scratch.number("SELECT count(*) FROM zone_period") == 0)
  }

  @Test func aTimeZoneGivenForAnImportAfterAZonePeriodWinsForItsItems() throws {
    _ = try importing(batch([1], value: 90), in: nil)
    _ = try addPeriod(Self.newYork, 1500)
    _ = try importing(batch([0, 1, 2]), in: Self.tokyo)
    #expect(try hours() == ["9 -4 9 9", "9 9 -4 9"])
    // A zone that is given for a later import also wins for a known item, which an earlier import stored.
    _ = try importing(batch([1], value: 90), in: Self.madrid)
    #expect(try hours() == ["9 2 9 9", "9 9 2 9"])
  }

  @Test func onlyADifferentTimeZoneOfARepeatedImportOverridesAZonePeriod() throws {
    _ = try importing(batch([0, 1, 2]), in: Self.tokyo)
    _ = try addPeriod(Self.newYork, 9000)
    let counts = try importing(batch([0, 1, 2]), in: Self.tokyo)
    #expect(counts.periodItems == 2)
    #expect(try statements() == 1)
    #expect(try hours() == ["9 -4 9", "9 -4 9"])
    #expect(try importing(batch([0, 1, 2]), in: Self.madrid).periodItems == 0)
    #expect(try hours() == ["2 2 2", "2 2 2"])
    // The last zone that was stated for the items is Madrid. So the import with the zone Tokyo stores another
    // zone record.
    #expect(try importing(batch([0, 1, 2]), in: Self.tokyo).periodItems == 0)
    #expect(try hours() == ["9 9 9", "9 9 9"])
    #expect(try statements() == 3)
  }

  @Test func theZonePeriodOfADeviceIsComparedWithTheTimeZoneOfTheImport() throws {
    _ = try importing(batch([0, 1, 2]), in: Self.tokyo)
    _ = try addPeriod("Asia/Kolkata", devices: [Self.device], 9001)
    #expect(try hours() == ["9 5 9", "9 9 9"])
    // The import with the zone Madrid is later than the device's period, so Madrid wins. The later period
    // with New York does not change the reading, since the first period names the reading's device.
    _ = try importing(batch([1]), in: Self.madrid)
    #expect(try hours() == ["9 2 9", "9 2 9"])
    _ = try addPeriod(Self.newYork, 9002)
    #expect(try hours() == ["9 2 9", "9 -4 9"])
    _ = try addPeriod("Asia/Kolkata", devices: [Self.device], 9003)
    #expect(try hours() == ["9 5 9", "9 -4 9"])
    let periods = try scratch.open(.reader).zones().periods
    #expect(periods.count == 3)
    for period in periods { _ = try scratch.open(.editor).remove(period, at: 6) }
    #expect(try hours() == ["9 2 9", "9 2 9"])
  }

  /// The period is entered a second time, after the import. So it counts as stated after the import.
  @Test func aZonePeriodEnteredAgainAfterAnImportWinsOverTheZoneOfTheImport() throws {
    _ = try addPeriod(Self.newYork, 9000)
    _ = try importing(batch([1]), in: Self.tokyo)
    #expect(try hours() == ["9", "9"])
    #expect(try addPeriod(Self.newYork, 9500).isChange)
    #expect(try hours() == ["-4", "-4"])
    #expect(try !addPeriod(Self.newYork, 9600).isChange)
  }

  @Test func aRecordMovedOutOfAZonePeriodHasTheTimeZoneOfItsImportAgain() throws {
    _ = try importing(batch([1]), in: Self.tokyo)
    _ = try addPeriod(Self.newYork, 9000)
    let guid = try #require(try scratch.rows("SELECT guid FROM record WHERE kind = 'food'").first)
    for (hour, offset) in [(Int64(5), "9"), (1, "-4")] {
      _ = try RecordEditor(scratch.open(.editor), at: 6).edit(guid) {
        $0.deviceTime = DeviceTime(seconds: Make.noon + hour * 3600)
      }
      #expect(try hours() == ["-4", offset])
    }
  }

  // MARK: An export that is imported each day

  @Test func aTimeZoneIsStoredOnlyForItemsThatDoNotHaveItYet() throws {
    for day in Int64(1)...5 { _ = try importing(batch(Array(0..<day)), in: Self.tokyo) }
    #expect(try statements() == 5)
    let listed = try scratch.rows(
      "SELECT count(*), count(DISTINCT record) FROM item_zone_record")
    #expect(listed == ["5 5"])
    #expect(try hours() == ["9 9 9 9 9", "9 9 9 9 9"])
    // An item keeps the zone until all imports that contain the item are undone.
    for ingest in Int64(1)...4 { _ = try undo(ingest) }
    #expect(try hours() == ["9 9 9 9 9", "9 9 9 9 9"])
    _ = try undo(5)
    #expect(try hours() == ["2 2 2 2 2", "2 2 2 2 2"])
    _ = try scratch.open(.editor).redo(3, at: 6000)
    #expect(try hours() == ["9 9 9 2 2", "9 9 9 2 2"])
  }

  @Test func aTimeZoneStatedForItemsAppliesWhenTheyArriveLater() throws {
    let identity = ReadingIdentity(
      Make.reading(.smbg, Make.milligrams(100), at: Make.noon + 3600), Make.device)
    let food = Digest.uuid(of: ["record", "test", "100 1"])
    let statement = ItemZone(
      guid: Digest.uuid(of: ["s"]), group: Digest.uuid(of: ["g"]), zoneName: Self.tokyo, madeAt: 50,
      points: [SeriesName(identity): PointRuns([SeriesPoint(identity)])], records: [food])
    try scratch.open(.editor).write { database in
      let state = RecordState(
        kind: .zone, entryGuid: nil, deviceTime: DeviceTime(seconds: 50),
        placement: Placement(utcOffset: 0, source: .stated), fields: statement.fields, isDeleted: false,
        editedAt: 50)
      try RecordEditor.insert(state, statement.guid, database)
      #expect(ItemZone(guid: statement.guid, state) == statement)
    }
    _ = try importing(batch([0, 1, 2]), in: nil)
    #expect(try hours() == ["2 9 2", "2 9 2"])
    for table in ["changed_statement", "changed_zone_series"] {
      #expect(try scratch.number("SELECT count(*) FROM \(table)") == 0)
    }
    _ = try scratch.open(.editor).write {
      try RecordEditor.delete([statement.guid], at: 6, $0)
    }
    #expect(try hours() == ["2 2 2", "2 2 2"])
  }

  // MARK: Size

  @Test func aTimeZoneForManyItemsIsSplitIntoSeveralRecords() throws {
    let devices = (0..<250).map { Device(vendor: "Test", model: "M", serial: "N\($0)", format: "test") }
    var input = Make.batch(
      (0..<250).map { Make.reading(.smbg, Make.milligrams(100), device: Int32($0)) }, devices: devices)
    input.records = (0..<8000).map {
      Make.record(["carbs": .number(1)], sourceID: "\($0)", at: Make.noon + Int64($0))
    }
    _ = try importing(input, in: Self.tokyo)
    #expect(try statements() >= 2)
    #expect(try scratch.number("SELECT max(length(fields)) FROM record WHERE kind = 'zone'") < 256 << 10)
    #expect(try Set(scratch.rows("SELECT derived_offset FROM reading")) == ["32400"])
    #expect(try Set(scratch.rows("SELECT utc_offset FROM record WHERE kind = 'food'")) == ["32400"])
    #expect(try scratch.number("SELECT count(DISTINCT made_at || import_group) FROM item_zone") == 1)
    #expect(try undo(1).records == 8000)
    #expect(try scratch.number("SELECT count(*) FROM item_zone") == 0)
  }

  @Test func countersDecideThePassOfARepeatedHourInAGivenTimeZone() throws {
    _ = try setBase(Self.tokyo)
    let start: Int64 = 1_761_436_800  // 2025-10-26T00:00:00Z
    let night = (Int64(-24)..<48).map { step in
      let utc = start + step * 300
      return Make.tick(50_000 + step * 300, 100, at: utc + (utc < 1_761_440_400 ? 7200 : 3600))
    }
    _ = try importing(Make.batch(night), in: Self.madrid)
    #expect(
      try scratch.rows("SELECT device_time - \(StoredOffset.sql()) FROM reading ORDER BY position")
        == (-24..<48).map { String(start + $0 * 300) })
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE offset_source = 4") == 24)
  }

  // MARK: Unknown zones

  @Test func anUnknownTimeZoneChangesNoOffsetUntilTheSystemKnowsIt() throws {
    _ = try importing(batch([0]), in: Self.tokyo)
    try scratch.open(.editor).write {
      try $0.execute(
        sql: """
          UPDATE record SET fields = replace(fields, 'Asia/Tokyo', 'Mars/Olympus'), version = version + 1
          WHERE kind = 'zone'
          """)
    }
    #expect(try hours() == ["2", "2"])
    #expect(try scratch.open(.reader).overview(ingests: 0).unknownZones == ["Mars/Olympus"])
    // Simulates an update of the system's zone data, after which the zone is known.
    try scratch.open(.editor).queue.inDatabase { database in
      try database.execute(
        sql: """
          UPDATE record SET fields = replace(fields, 'Mars/Olympus', 'Asia/Tokyo'), version = version + 1
            WHERE kind = 'zone';
          DELETE FROM changed_statement;
          UPDATE setting SET value = 'Asia/Tokyo' WHERE name = 'unknown-zones';
          """)
    }
    _ = try scratch.open(.importer)
    #expect(try hours() == ["9", "9"])
    #expect(try scratch.open(.reader).overview(ingests: 0).unknownZones.isEmpty)
  }
}
