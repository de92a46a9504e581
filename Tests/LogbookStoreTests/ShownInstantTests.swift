// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import Testing

@testable import LogbookStore

/// Tests items whose source states only the instant. Their shown time follows from the zones of the logbook,
/// and not from when they were imported.
@Suite struct ShownInstantTests {
  private static let hour: Int64 = 3600
  private static let day: Int64 = 86_400
  private static let device = Device(vendor: "Site", model: "Sensor", format: "test")
  private let scratch: ScratchStore

  init() throws {
    scratch = try ScratchStore()
    _ = try scratch.open(.importer, zone: "Europe/Berlin")
  }

  // MARK: Items

  /// One sensor value each hour from noon UTC on, for `days` days. Every fifth value comes with a meal.
  private static func batch(days: Int64 = 10, shownIn zone: String = "Europe/Berlin") throws -> IngestBatch {
    var offsets = ZoneOffsets(try LogbookZone(name: zone))
    var batch = IngestBatch()
    batch.devices = [device]
    for step in 0..<days * 24 {
      let utc = Make.noon + step * hour
      let offset = offsets.offset(atUTC: utc)
      let (time, placement) = (
        DeviceTime(seconds: utc + Int64(offset)), Placement(utcOffset: offset, source: .instant)
      )
      batch.readings.append(
        Reading(
          device: DeviceIndex(0), kind: .cbg, tick: utc * 1000, at: time, placement: placement,
          Make.milligrams(Double(100 + step % 40)), line: step + 1))
      guard step % 5 == 0 else { continue }
      batch.records.append(
        ImportedRecord(
          kind: .food, at: time, placement: placement,
          fields: RecordFields(["carbs": .number(Double(step + 1))]),
          sourceID: "meal \(step)", line: step + 1))
    }
    return batch
  }

  private func ingest(
    _ batch: IngestBatch, into scratch: ScratchStore, in zone: String, isGiven: Bool = false
  ) throws -> IngestCounts {
    let zone = InputZone(try LogbookZone(name: zone), isGiven: isGiven)
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [], zone: zone)
    var counts = IngestCounts()
    try scratch.open().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(end: .whole, digest: "", generatedAt: nil, finishedAt: 2000, decisions: [])
      counts = writer.counts
    }
    return counts
  }

  private func shown(_ scratch: ScratchStore) throws -> [String] {
    try scratch.rows(
      """
      SELECT position, device_time, derived_offset, offset_source FROM reading
      UNION ALL SELECT guid, device_time, utc_offset, offset_source FROM record WHERE kind = 'food' ORDER BY 1
      """)
  }

  private func instants() throws -> [String] {
    try scratch.rows(
      """
      SELECT device_time - derived_offset, position / 1000, uploaded FROM reading
      UNION ALL SELECT device_time - utc_offset, guid, version FROM record WHERE kind = 'food' ORDER BY 2
      """)
  }

  private static func journey(_ zone: String = "America/New_York", madeAt: Int64 = 10) throws -> ZonePeriod {
    ZonePeriod(
      guid: Digest.uuid(of: ["journey", zone]), from: DeviceTime(seconds: Make.noon + 2 * day),
      until: DeviceTime(seconds: Make.noon + 5 * day), zone: try NamedZone(zone), madeAt: madeAt)
  }

  // MARK: Zones of the logbook

  @Test(arguments: ["America/New_York", "Asia/Kolkata", "Pacific/Apia", "Etc/UTC"])
  func anotherTimeZoneShowsInstantsAtOtherTimesWithoutChangingThem(_ name: String) throws {
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1 WHERE position % 7 = 0") == nil)
    let before = try instants()
    let moved = try scratch.open(.editor).setTimezone(LogbookZone(name: name), at: 5)
    #expect(moved.readings == 240 && moved.records == 48)
    #expect(try instants() == before)
    try scratch.expectCountersEqualCount()
    // An import into a logbook that had this zone from the start must show the same times.
    let other = try ScratchStore()
    _ = try other.open(.importer, zone: name)
    _ = try ingest(Self.batch(shownIn: name), into: other, in: name)
    #expect(try shown(scratch) == shown(other))
  }

  @Test func aJourneyEnteredBeforeOrAfterTheImportShowsTheSameTimes() throws {
    let other = try ScratchStore()
    _ = try other.open(.importer, zone: "Europe/Berlin")
    _ = try other.open(.editor).add(Self.journey(), at: 5)
    _ = try ingest(Self.batch(), into: other, in: "Europe/Berlin")
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    let before = try shown(scratch)
    let moved = try scratch.open(.editor).add(Self.journey(), at: 5)
    // The journey is three days long, and there is one reading each hour.
    #expect(moved.readings == 72)
    #expect(try shown(scratch) == shown(other))
    #expect(try shown(scratch) != before)
    _ = try scratch.open(.editor).remove(Self.journey(), at: 6)
    #expect(try shown(scratch) == before)
  }

  @Test func importingInstantsInAnotherTimeZoneStoresNothingTwice() throws {
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    let before = try shown(scratch)
    let counts = try ingest(Self.batch(shownIn: "Pacific/Apia"), into: scratch, in: "Pacific/Apia")
    #expect(
      counts.newReadings == 0 && counts.knownReadings == 240 && counts.newRecords == 0
        && counts.knownRecords == 48)
    // The source states instants, so the shown times follow from the zone of the logbook. Only a zone that a
    // person states for the import would be used instead.
    #expect(try shown(scratch) == before)
  }

  @Test func aTimeZoneGivenForAnImportAppliesOnlyToItsOwnInstants() throws {
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Berlin"), at: 1)
    var second = try Self.batch(days: 2)
    second.readings = second.readings.map { reading in
      var reading = reading
      reading.position += 100 * Self.day * 1000
      reading.deviceTime = DeviceTime(seconds: reading.deviceTime.seconds + 100 * Self.day)
      return reading
    }
    second.records = []
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    let first = try shown(scratch)
    _ = try ingest(second, into: scratch, in: "Asia/Tokyo", isGiven: true)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE derived_offset = 32400") == 48)
    #expect(try Set(first).isSubset(of: shown(scratch)))
    // The readings of the second import keep their given zone when the logbook's base zone changes.
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Europe/Lisbon"), at: 7)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE derived_offset = 32400") == 48)
    #expect(try scratch.number("SELECT count(*) FROM reading WHERE derived_offset = 3600") == 240)
    try scratch.expectCountersEqualCount()
  }

  // MARK: What follows from shown times

  @Test func aRuleThatHidesADayFollowsTheShownTimes() throws {
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    let (since, until) = (
      DeviceTime(seconds: Make.noon + 2 * Self.day), DeviceTime(seconds: Make.noon + 3 * Self.day)
    )
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    #expect(
      try editor.hide(Self.device, since: since, until: until, reason: "", guid: Digest.uuid(of: ["rule"]))
        == 24
    )
    func hidden() throws -> [String] {
      try scratch.rows(
        """
        SELECT min(r.device_time), max(r.device_time), count(*) FROM withdrawn AS w
        JOIN reading AS r ON r.series = w.series AND r.position = w.position
        """)
    }
    let expected = ["\(since.seconds) \(until.seconds - Self.hour) 24"]
    #expect(try hidden() == expected)
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "America/New_York"), at: 6000)
    #expect(try hidden() == expected)
  }

  @Test func aTimeZoneChangeMovesNoDocumentOfAnInstantOnASite() throws {
    _ = try ingest(Self.batch(), into: scratch, in: "Europe/Berlin")
    let store = try scratch.open(.sync)
    try store.setRemote(
      RemoteAccess(kind: "nightscout", url: "http://localhost", token: .file("/none")),
      logbook: RemoteLogbook(id: "site", name: "site", isWritable: true, maxReadings: 1, maxRecords: 1),
      isNewRemote: false, at: 0)
    #expect(try scratch.refusal(.sync, "UPDATE reading SET uploaded = 1") == nil)
    let moved = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(moved.readings == 240 && moved.toMove == .init(readings: 0, records: 0))
  }

  // MARK: Rules

  @Test(arguments: [
    ("device_time = device_time + 60", false), ("derived_offset = derived_offset + 60", false),
    ("offset_source = 1", false),
    ("device_time = device_time + 60, derived_offset = derived_offset + 120", false),
    ("device_time = device_time + 60, derived_offset = derived_offset + 60", true),
  ])
  func noProgramCanChangeTheInstantOfAReading(_ change: String, _ isAllowed: Bool) throws {
    _ = try ingest(Self.batch(days: 1), into: scratch, in: "Europe/Berlin")
    let refusal = try scratch.refusal(.importer, "UPDATE reading SET \(change)")
    #expect(refusal == (isAllowed ? nil : "readings are immutable"))
    let record = change.replacing("derived_offset", with: "utc_offset")
    let edit = try scratch.refusal(.importer, "UPDATE record SET \(record) WHERE kind = 'food'")
    #expect(edit == (isAllowed ? nil : "a change of a record raises its version"))
  }

  @Test func noProgramCanChangeAShownTimeThatTheSourceStates() throws {
    try scratch.ingest(Make.batch([Make.reading(.cbg, Make.milligrams(100))]))
    let both = "UPDATE reading SET device_time = device_time + 60, derived_offset = derived_offset + 60"
    #expect(try scratch.refusal(.importer, both) == "readings are immutable")
    #expect(
      try scratch.refusal(.importer, "UPDATE reading SET offset_source = 5") == "readings are immutable")
  }

  @Test func anInstantIsSentInUTCByEveryStore() throws {
    _ = try ingest(Self.batch(days: 1), into: scratch, in: "Europe/Berlin")
    func sent() throws -> [String] {
      try scratch.open(.sync).sync { store in
        let readings = try store.pendingReadings(after: nil, limit: 100)
        let records = try store.pendingRecords(.entries, limit: 100, heldBack: []).map(\.state.json)
        return readings.batch.readings.map { "\($0.withoutZone)" } + records.filter { $0.contains("food") }
      }
    }
    let before = try sent()
    #expect(before.count == 29)
    _ = try scratch.open(.editor).setTimezone(LogbookZone(name: "Asia/Tokyo"), at: 5)
    #expect(try sent() == before)
    #expect(before.last?.contains(#""utc_offset":"Z","offset_source":"instant""#) == true)
  }
}
