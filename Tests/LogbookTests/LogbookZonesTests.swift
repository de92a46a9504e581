// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@Suite struct LogbookZonesTests {
  private func time(_ text: String) throws -> DeviceTime { try #require(DeviceTime(text: text)) }

  private func period(
    _ guid: String, _ zone: String, _ from: String?, _ until: String?, devices: Set<String> = [],
    madeAt: Int64 = 100
  ) throws -> ZonePeriod {
    ZonePeriod(
      guid: guid, from: try from.map(time), until: try until.map(time), zone: try NamedZone(zone),
      devices: devices, madeAt: madeAt)
  }

  private func zones(_ periods: ZonePeriod...) throws -> LogbookZones {
    LogbookZones(base: try NamedZone("Europe/Madrid"), origin: .given, periods: periods)
  }

  @Test func theTimeZonesOfALogbookAreReadBackFromTheirRecords() throws {
    let madrid = try NamedZone("Europe/Madrid")
    let journey = try period("j", "Asia/Tokyo", "2026-05-01", "2026-05-09", devices: ["serial|A|1"])
    let move = try period("m", "America/New_York", "2026-07-01", nil, madeAt: 200)
    let read = LogbookZones(records: [
      ("j", journey.state(editedAt: nil)), (LogbookZones.baseGuid, LogbookZones.baseState(madrid, .given)),
      ("m", move.state(editedAt: 7)),
    ])
    #expect(read == LogbookZones(base: madrid, origin: .given, periods: [journey, move]))
  }

  /// The record of the base zone is the same in every store, so that two logbooks with the same zone do not
  /// differ.
  @Test func theRecordOfTheHomeTimeZoneAlwaysHasTheSameIDAndTime() throws {
    #expect(LogbookZones.baseTime.text == "2000-01-02T00:00:00")
    #expect(LogbookZones.baseGuid == "7941c4b1-0bf1-811f-8f81-578c16b1ee93")
    let state = LogbookZones.baseState(try NamedZone("Asia/Tokyo"), .system)
    #expect(
      state.json
        == #"{"kind":"zone","entry_guid":null,"device_time":"2000-01-02T00:00:00","utc_offset":"Z","#
        + #""offset_source":"stated","fields":{"origin":"system","zone":"Asia/Tokyo"},"deleted":false,"#
        + #""edited_at":null}"#)
  }

  @Test func timeZoneRecordsUnknownToTheSystemAreIgnored() throws {
    var unknown = try period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09").state(editedAt: nil)
    unknown.fields["zone"] = .text("Mars/Olympus")
    var reversed = try period("b", "Asia/Tokyo", "2026-05-01", "2026-05-09").state(editedAt: nil)
    reversed.fields["until"] = .text("2026-04-01T00:00:00")
    var wrong = try period("c", "Asia/Tokyo", "2026-05-01", "2026-05-09").state(editedAt: nil)
    wrong.fields["from"] = .number(5)
    var deleted = try period("d", "Asia/Tokyo", "2026-05-01", "2026-05-09").state(editedAt: nil)
    (deleted.fields, deleted.isDeleted) = (RecordFields(), true)
    let read = LogbookZones(records: [("a", unknown), ("b", reversed), ("c", wrong), ("d", deleted)])
    #expect(read == LogbookZones(base: .utc, origin: .system, unknownPeriods: ["Mars/Olympus"]))
  }

  @Test func anUnknownHomeTimeZoneIsReportedAndReplacedByTheLastKnownOne() throws {
    let madrid = try NamedZone("Europe/Madrid")
    let state = LogbookZones.baseState(named: "Mars/Olympus", .given)
    let read = LogbookZones(records: [(LogbookZones.baseGuid, state)], fallback: madrid)
    #expect(read.base == madrid && read.unknownBase == "Mars/Olympus" && !read.isKnown)
    // The last known zone replaces the base only until the base is known. A period with that zone must stay
    // valid afterwards, so it is added.
    let same = try period("n", "Europe/Madrid", "2026-05-02", "2026-05-05")
    #expect(read.adding(same) == .added(same))
    let known = LogbookZones(
      records: [(LogbookZones.baseGuid, LogbookZones.baseState(madrid, .given))], fallback: .utc)
    #expect(known.base == madrid && known.unknownBase == nil && known.isKnown)
    // The base may change later, so a period is added even if its zone is that of the known base.
    #expect(known.adding(same) == .added(same))
  }

  @Test func devicesWithTheSameZonePeriodsAreOneGroup() throws {
    let known = try zones(
      period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09", devices: ["x", "y", "z"]),
      period("b", "Asia/Seoul", "2026-06-01", "2026-06-09", devices: ["z", "v"]),
      period("c", "UTC", nil, "2020-01-01"))
    #expect(known.deviceGroups == [["v"], ["x", "y"], ["z"]])
    #expect(try zones().deviceGroups.isEmpty)
  }

  /// The periods cover many devices and journeys. A further period for one of these devices and journeys
  /// states nothing new, so it is not added.
  @Test func aZonePeriodThatManyOthersAlreadyCoverIsNotAddedAgain() throws {
    let devices = Set((0..<LogbookZones.maxDevices).map { "serial|A|\($0)" })
    let periods = try (0..<400).map { index in
      let from = DeviceTime(seconds: 1_700_000_000 + Int64(index) * 864_000)
      return ZonePeriod(
        guid: "p\(index)", from: from, until: DeviceTime(seconds: from.seconds + 86_400),
        zone: try NamedZone("Asia/Tokyo"), devices: devices, madeAt: Int64(index))
    }
    let known = LogbookZones(base: try NamedZone("Europe/Madrid"), origin: .given, periods: periods)
    for var again in [periods[0], periods[200], periods[399]] {
      again.madeAt = 1000
      #expect(known.adding(again) == .nothing)
    }
    var longer = periods[300]
    longer.until = DeviceTime(seconds: longer.end + 86_400)
    let next = ZonePeriod(
      guid: "n", from: periods[300].until, until: longer.until, zone: longer.zone, devices: devices,
      madeAt: 1000)
    #expect(known.adding(next) == .extended(longer))
  }

  @Test func aZonePeriodOfADeviceHasPrecedenceOverALaterOneForAllDevices() throws {
    let all = try zones(
      period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09", madeAt: 300),
      period("b", "Asia/Seoul", "2026-05-03", "2026-05-20", madeAt: 400),
      period("c", "Asia/Kolkata", "2026-05-02", "2026-05-04", devices: ["serial|A|1"], madeAt: 100))
    func name(_ text: String, _ device: String? = nil) throws -> String {
      all.zone(of: device).zone(at: try time(text).seconds).name
    }
    #expect(try name("2026-04-30T23:59:59") == "Europe/Madrid")
    #expect(try name("2026-05-01T00:00:00") == "Asia/Tokyo")
    #expect(try name("2026-05-03T00:00:00") == "Asia/Seoul")
    #expect(try name("2026-05-03T00:00:00", "serial|A|1") == "Asia/Kolkata")
    #expect(try name("2026-05-04T00:00:00", "serial|A|1") == "Asia/Seoul")
    #expect(try name("2026-05-03T00:00:00", "serial|A|2") == "Asia/Seoul")
    #expect(try name("2026-05-20T00:00:00") == "Europe/Madrid")
  }

  // MARK: Zones stated for imports

  private func statement(
    _ name: String, _ zone: String, _ positions: [Int64], madeAt: Int64, group: String = "g",
    records: Set<String> = []
  ) throws -> ItemZone {
    let series = SeriesName(device: "serial|A|1", kind: .cbg, positionKind: .time)
    let points = positions.map { SeriesPoint(position: $0, valueBucket: 0, occurrence: 0) }
    return ItemZone(
      guid: Digest.uuid(of: [name]), group: Digest.uuid(of: [group]), zoneName: zone, madeAt: madeAt,
      points: points.isEmpty ? [:] : [series: PointRuns(points)], records: records)
  }

  @Test func aZoneStatedForAnImportIsReadBackAndIsNotAZonePeriod() throws {
    let made = try statement("a", "Asia/Tokyo", [1, 2, 9], madeAt: 7, records: [Digest.uuid(of: ["r"])])
    let state = RecordState(
      kind: .zone, entryGuid: nil, deviceTime: DeviceTime(seconds: 7),
      placement: Placement(utcOffset: 0, source: .stated), fields: made.fields, isDeleted: false, editedAt: 5)
    #expect(ItemZone(guid: made.guid, state) == made)
    #expect(ZonePeriod(guid: made.guid, state) == nil)
    #expect(LogbookZones(records: [(made.guid, state)]).periods.isEmpty)
    for (field, value) in [
      ("group", FieldValue.text("x")), ("points", .text("y 1")), ("records", .text("z")),
      ("zone", .number(1)),
      ("points", .number(2)), ("records", .text(String(repeating: "a", count: Withdrawal.maxBytes + 1))),
    ] {
      var wrong = state
      wrong.fields[field] = value
      #expect(ItemZone(guid: made.guid, wrong) == nil, "\(field)")
    }
    var deleted = state
    deleted.isDeleted = true
    #expect(ItemZone(guid: made.guid, deleted) == nil)
  }

  @Test func theLaterZoneStatedForAnItemWinsWithAllPartsOfItsStatement() throws {
    let series = SeriesName(device: "serial|A|1", kind: .cbg, positionKind: .time)
    // Two stores state a zone for one import at the same second. Each store states its zone in two records.
    let parts = try [("p", "Asia/Tokyo"), ("q", "Asia/Seoul")].flatMap { group, zone in
      try [
        statement(group + "1", zone, [0, 1], madeAt: 50, group: group),
        statement(group + "2", zone, [2, 3], madeAt: 50, group: group),
      ]
    }
    let old = try statement("o", "Asia/Kolkata", [0, 1, 2, 3, 4], madeAt: 40)
    let unknown = try statement("u", "Mars/Olympus", [0, 1, 2, 3, 4], madeAt: 90)
    let device = try period(
      "d", "UTC", "1970-01-01T00:00:03", "1970-01-01T00:00:05", devices: ["serial|A|1"], madeAt: 45)
    for all in [parts + [old, unknown], ([old, unknown] + parts).reversed()] {
      var zones = ItemZones(of: series, all, try self.zones(device))
      let names = (Int64(0)..<6).map { position in
        zones.zone(
          of: SeriesPoint(position: position, valueBucket: 0, occurrence: 0),
          shownAt: DeviceTime(seconds: position), Placement(utcOffset: 0, source: .zone))?.name
      }
      #expect(Set(names[0..<4]).count == 1 && names[0] != "Asia/Kolkata" && names[0] != nil)
      // For position 4, the period of the device was stated later than Asia/Kolkata, so no zone of an import
      // applies. No zone was stated for position 5.
      #expect(names[4] == nil && names[5] == nil)
    }
  }

  @Test func theLaterOfAZonePeriodAndAZoneStatedForAnImportWins() throws {
    let series = SeriesName(device: "serial|A|1", kind: .cbg, positionKind: .time)
    let made = try statement("a", "Asia/Seoul", [0, 1, 2], madeAt: 50)
    func zone(_ periods: ZonePeriod...) throws -> String? {
      var items = ItemZones(of: series, [made], LogbookZones(base: .utc, origin: .given, periods: periods))
      return items.zone(
        of: SeriesPoint(position: 1, valueBucket: 0, occurrence: 0), shownAt: DeviceTime(seconds: 1),
        Placement(utcOffset: 0, source: .zone))?.name
    }
    let (from, until) = ("1970-01-01T00:00:01", "1970-01-01T00:00:02")
    #expect(try zone(period("p", "UTC", from, until, madeAt: 51)) == nil)
    #expect(try zone(period("p", "UTC", from, until, madeAt: 50)) == "Asia/Seoul")
    #expect(try zone(period("p", "UTC", until, nil, madeAt: 51)) == "Asia/Seoul")
    #expect(try zone(period("p", "UTC", from, until, devices: ["serial|A|2"], madeAt: 51)) == "Asia/Seoul")
    // A period of the device has precedence over a period for all devices. So only the period of the device
    // is compared with the zone of the import, which was stated later.
    let device = try period("d", "UTC", from, until, devices: ["serial|A|1"], madeAt: 49)
    #expect(try zone(device, period("p", "UTC", from, until, madeAt: 51)) == "Asia/Seoul")
  }

  @Test func zonePeriodsMadeAtTheSameTimeAreOrderedByID() throws {
    let periods = try ["a", "b"].map {
      try period($0, $0 == "a" ? "Asia/Tokyo" : "Asia/Seoul", "2026-05-01", "2026-05-09")
    }
    let base = try NamedZone("UTC")
    for order in [periods, periods.reversed()] {
      let zones = LogbookZones(base: base, origin: .given, periods: order)
      #expect(zones.zone().zone(at: try time("2026-05-02").seconds).name == "Asia/Seoul")
    }
  }

  @Test func timesInAZonePeriodHaveTheOffsetsAndFlagsOfItsZone() throws {
    var zone = try zones(period("a", "America/New_York", "2025-11-01", "2025-11-03T12:00")).zone()
    #expect(zone.placement(of: try time("2025-10-31T23:00:00")) == Placement(utcOffset: 3600, source: .zone))
    #expect(
      zone.placement(of: try time("2025-11-01T00:00:00")) == Placement(utcOffset: -14400, source: .zone))
    #expect(
      zone.placement(of: try time("2025-11-02T01:30:00"))
        == Placement(utcOffset: -14400, source: .zoneOverlap))
    #expect(
      zone.placement(of: try time("2025-11-03T11:59:59")) == Placement(utcOffset: -18000, source: .zone))
    #expect(zone.placement(of: try time("2025-11-03T12:00:00")) == Placement(utcOffset: 3600, source: .zone))
    // Instants in the period have the offset of its zone. Instants before and after it have the offset of the
    // base.
    #expect(zone.offset(atUTC: try time("2025-11-02T12:00:00").seconds) == -18000)
    #expect(zone.offset(atUTC: try time("2025-11-04T12:00:00").seconds) == 3600)
  }

  @Test func theOldestZonePeriodsAboveTheMaximumAreIgnored() throws {
    let periods = try (0..<LogbookZones.maxPeriods + 30).map {
      try period("p\($0)", "Asia/Tokyo", "2026-05-01", "2026-05-09", madeAt: Int64($0))
    }
    let all = LogbookZones(base: try NamedZone("Europe/Madrid"), origin: .given, periods: periods)
    #expect(all.periods.count == LogbookZones.maxPeriods && all.ignoredPeriods == 30)
    #expect(all.periods.allSatisfy { $0.madeAt >= 30 })
    let many = Set((0...LogbookZones.maxDevices).map { "serial|A|\($0)" })
    let state = try period("d", "Asia/Tokyo", nil, nil, devices: many).state(editedAt: nil)
    #expect(ZonePeriod(guid: "d", state) == nil)
  }

  /// A period stays as stated if the base zone or the zone for all devices changes. So a period is added
  /// even if it has the zone that already applies.
  @Test func aZonePeriodWithTheHomeTimeZoneIsStillAdded() throws {
    let known = try zones(period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09"))
    #expect(known.adding(try period("n", "Asia/Tokyo", "2026-05-02", "2026-05-05", madeAt: 500)) == .nothing)
    let base = try period("n", "Europe/Madrid", "2026-06-01", "2026-06-05", madeAt: 500)
    #expect(known.adding(base) == .added(base))
    let device = try period("n", "Asia/Tokyo", "2026-05-02", "2026-05-05", devices: ["x"], madeAt: 500)
    #expect(known.adding(device) == .added(device))
  }

  @Test(arguments: [[], ["x"]] as [Set<String>])
  func aZonePeriodIsNotJoinedWithOneMadeBeforeAZoneWasStatedForAnImport(_ devices: Set<String>) throws {
    let first = try period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09", devices: devices)
    let next = try period("n", "Asia/Tokyo", "2026-05-09", "2026-05-12", devices: devices, madeAt: 500)
    let known = try zones(first)
    #expect(known.adding(next, latestItemZone: 300) == .added(next))
    guard case .extended = known.adding(next, latestItemZone: 50) else {
      Issue.record("not joined")
      return
    }
  }

  @Test func adjacentZonePeriodsWithTheSameZoneAreJoined() throws {
    let first = try period("a", "Asia/Tokyo", "2026-05-01", "2026-05-09")
    let known = try zones(first)
    var longer = first
    longer.until = try time("2026-05-12")
    #expect(
      known.adding(try period("n", "Asia/Tokyo", "2026-05-09", "2026-05-12", madeAt: 500))
        == .extended(longer))
    let apart = try period("n", "Asia/Tokyo", "2026-05-10", "2026-05-12", madeAt: 500)
    #expect(known.adding(apart) == .added(apart))
    // The period of Seoul is later than the first one and covers its end. If the first period were extended,
    // it would not have precedence over the period of Seoul.
    let covered = try zones(first, period("b", "Asia/Seoul", "2026-05-08", "2026-05-10", madeAt: 200))
    let again = try period("n", "Asia/Tokyo", "2026-05-05", "2026-05-10", madeAt: 500)
    #expect(covered.adding(again) == .added(again))
  }

  /// For any periods in any order, the change by `adding` has the same effect as adding the period.
  @Test func joinedZonePeriodsGiveTheSameZonesAsSeparateOnes() throws {
    var generator = SeededGenerator(seed: 15)
    let names = ["Asia/Tokyo", "America/New_York", "Europe/Madrid"]
    for _ in 0..<200 {
      var written: [ZonePeriod] = []
      for step in 0..<8 {
        let from = Int64.random(in: 0..<20, using: &generator)
        let length = Int64.random(in: 1..<8, using: &generator)
        let devices: [Set<String>] = [[], [], ["x"], ["y"]]
        let next = ZonePeriod(
          guid: "p\(step)", from: DeviceTime(seconds: from * 86400),
          until: DeviceTime(seconds: (from + length) * 86400),
          zone: try NamedZone(names.randomElement(using: &generator) ?? "UTC"),
          devices: devices.randomElement(using: &generator) ?? [], madeAt: Int64(step))
        let plain = written + [next]
        switch try LogbookZones(base: NamedZone("Europe/Madrid"), origin: .given, periods: written).adding(
          next)
        {
        case .nothing: break
        case .added(let period): written.append(period)
        case .extended(let period): written = written.map { $0.guid == period.guid ? period : $0 }
        }
        let base = try NamedZone("Europe/Madrid")
        let (left, right) = (
          LogbookZones(base: base, origin: .given, periods: written),
          LogbookZones(base: base, origin: .given, periods: plain)
        )
        for device in [nil, "x", "y"] {
          for day in 0..<30 {
            let seconds = Int64(day) * 86400
            #expect(left.zone(of: device).zone(at: seconds) == right.zone(of: device).zone(at: seconds))
          }
        }
      }
    }
  }
}

@Suite struct TickClockTests {
  private let first = Placement(utcOffset: 7200, source: .zoneOverlap)
  private let early = Placement(utcOffset: 7200, source: .ticks)
  private let late = Placement(utcOffset: 3600, source: .ticks)
  private let start: Int64 = 1_761_441_000  // 2025-10-26T01:10:00 as Madrid shows it.

  /// The placements of readings with these shown times, in minutes after the start, and these ticks.
  private func places(_ readings: [(minutes: Int64, tick: Int64)]) throws -> [Placement] {
    var (clock, zone) = (TickClock(), try LogbookZone(name: "Europe/Madrid"))
    return readings.map { minutes, tick in
      let time = DeviceTime(seconds: start + minutes * 60)
      return clock.placement(of: time, tick: tick, as: zone.placement(of: time), in: zone)
    }
  }

  @Test func aCounterOfSecondsDeterminesThePassOfARepeatedHour() throws {
    // The shown times are 01:10, 02:10 and 02:10 again.
    #expect(
      try Array(places([(0, 100), (60, 3700), (60, 7300)]).dropFirst()) == [early, late])
    #expect(try places([(0, 100), (60, 7300)])[1] == late)
  }

  @Test func aCounterOfReadingsStartsTheSecondPassWhereTheTimeGoesBack() throws {
    #expect(
      try Array(places([(0, 1), (60, 2), (100, 3), (60, 4), (100, 5)]).dropFirst()) == [
        first, first, late, late,
      ])
    // A time that goes back by less than half an hour begins no second pass. A sensor may store a scan before
    // the quarter of an hour to which it belongs.
    #expect(try Array(places([(0, 1), (100, 2), (90, 3)]).dropFirst()) == [first, first])
  }

  @Test func aCounterThatFitsNeitherPassOfARepeatedHourIsIgnored() throws {
    #expect(try places([(0, 100), (60, 90_000)])[1] == first)
    #expect(try places([(60, 3700)]) == [first])
  }

  // MARK: Instants

  /// Compares the periods of constant offset with a look-up of each instant.
  @Test(arguments: [
    ("Europe/Berlin", "America/New_York"), ("Pacific/Apia", "Etc/UTC"), ("Etc/UTC", "Asia/Kolkata"),
    ("Australia/Lord_Howe", "Europe/London"),
  ])
  func periodsOfConstantOffsetAgreeWithTheOffsetOfEachInstant(_ home: String, _ away: String) throws {
    // Journeys that begin and end in repeated and skipped hours, one of half a day.
    let periods = try [
      ("2025-10-26T01:30:00", "2025-10-26T02:30:00"), ("2025-03-30T02:30:00", "2025-04-06T02:10:00"),
      ("2025-11-02T01:15:00", "2025-11-02T13:00:00"), ("2025-12-31T20:00:00", "2026-01-01T04:00:00"),
    ].enumerated().map { index, ends in
      ZonePeriod(
        guid: "\(index)", from: DeviceTime(text: ends.0), until: DeviceTime(text: ends.1),
        zone: try NamedZone(away), madeAt: Int64(index))
    }
    let zone = LogbookZones(base: try NamedZone(home), origin: .given, periods: periods).zone()
    let stretches = [2024, 2025, 2026].flatMap { zone.makeInstantStretches(of: $0) }
      .sorted { $0.start < $1.start }
    var offsets = ZoneOffsets(zone)
    var place = 0
    for instant in stride(from: Int64(1_704_067_200), to: 1_798_761_600, by: 900) {
      while place + 1 < stretches.count, stretches[place + 1].start <= instant { place += 1 }
      let expected = zone.offset(atUTC: instant)
      guard stretches[place].utcOffset == expected, offsets.offset(atUTC: instant) == expected else {
        Issue.record("\(instant): \(stretches[place].utcOffset), not \(expected)")
        return
      }
    }
  }

  @Test func aRecordThatStatesAnInstantIsTheSameInEveryTimeZone() throws {
    func state(_ offset: Int32, _ source: OffsetSource) -> RecordState {
      RecordState(
        kind: .food, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_700_000_000 + Int64(offset)),
        placement: Placement(utcOffset: offset, source: source), fields: RecordFields(["carbs": .number(5)]),
        isDeleted: false)
    }
    #expect(state(3600, .instant).json == state(-18_000, .instant).json)
    #expect(state(3600, .instant).agrees(with: state(-18_000, .instant)))
    #expect(!state(3600, .stated).agrees(with: state(-18_000, .stated)))
    #expect(!state(3600, .zone).agrees(with: state(-18_000, .zone)))
    let read = try RecordState(json: state(3600, .instant).json)
    #expect(read == state(0, .instant) && read.placement.source == .instant)
  }
}
