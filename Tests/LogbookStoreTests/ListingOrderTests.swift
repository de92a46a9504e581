// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows
import SeededRandom
import Testing

@testable import LogbookStore

/// Compares lists with a simple reference implementation: it reads all readings, applies the filter, and
/// sorts them by instant and identity.
@Suite struct ListingOrderTests {
  private static let devices = (0..<4).map {
    Device(vendor: "Test", model: "Meter", serial: "S\(3 - $0)", format: "test")
  }
  /// 2025-10-26T03:00:00 as seconds since 1970: Madrid sets its clocks back at this time.
  private static let change: Int64 = 1_761_447_600

  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  // MARK: The definition

  private func everything() throws -> [StoredReading] {
    try scratch.open(.reader).queue.inDatabase { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT \(StoredReading.columns) FROM reading AS r JOIN series AS s ON s.id = r.series
          JOIN device AS d ON d.id = s.device
          """
      ).map(StoredReading.init)
    }
  }

  private static func precedes(_ one: StoredReading, _ other: StoredReading) -> Bool {
    key(one).lexicographicallyPrecedes(key(other))
  }

  private static func key(_ reading: StoredReading) -> [Int64] {
    [
      reading.utc, reading.deviceID, Int64(reading.kind.rawValue), Int64(reading.positionKind.rawValue),
      reading.position, reading.valueBucket, reading.occurrence,
    ]
  }

  private func expected(_ filter: ItemFilter) throws -> [StoredReading] {
    let passed = try everything().filter { reading in
      reading.utc >= filter.since ?? .min && reading.utc < filter.until ?? .max
        && filter.readingKinds.contains(reading.kind) && (filter.includesWithdrawn || !reading.isWithdrawn)
        && (filter.includesDevice?(reading.device) ?? true)
    }
    let sorted = passed.sorted(by: Self.precedes)
    return filter.newest.map { sorted.suffix($0) } ?? sorted
  }

  private func listed(_ filter: ItemFilter) throws -> [StoredReading] {
    var readings: [StoredReading] = []
    try scratch.open(.reader).forEachItem(filter) { item in
      if case .reading(let reading) = item { readings.append(reading) }
    }
    return readings
  }

  private static func text(_ reading: StoredReading) -> String {
    let parts: [Any] = [
      reading.address, reading.utc, reading.deviceTime.text, reading.placement, reading.measurement,
      reading.marks.names,
      reading.ingest, reading.isUploaded, reading.isWithdrawn, reading.refusal ?? "", reading.partition,
      reading.device.serial,
    ]
    return parts.map { "\($0)" }.joined(separator: " ")
  }

  private func expectDefinition(_ filter: ItemFilter, _ comment: Comment) throws {
    #expect(try listed(filter).map(Self.text) == expected(filter).map(Self.text), comment)
  }

  // MARK: Readings

  /// Readings of some days around `change`. Many have the same instant, but offsets from all over the world.
  private static func readings(_ random: inout SeededGenerator) -> [Reading] {
    let offsets: [Int32] = [0, 3600, 7200, -43_200, 50_400, 86_399, -86_399]
    return (0..<240).map { number in
      let shown = change + Int64.random(in: -400...400, using: &random) * 900
      let kind = ReadingKind.allCases.randomElement(using: &random) ?? .cbg
      let isStated = Bool.random(using: &random)
      var reading = Reading(
        device: DeviceIndex(Int32.random(in: 0..<4, using: &random)), kind: kind,
        at: DeviceTime(seconds: shown),
        placement: isStated
          ? Placement(utcOffset: offsets.randomElement(using: &random) ?? 0, source: .stated)
          : Placement(utcOffset: shown < change ? 7200 : 3600, source: .zone),
        Make.milligrams(Double(Int.random(in: 60...90, using: &random))), line: Int64(number))
      setPosition(&reading, number, &random)
      return reading
    }
  }

  /// Makes a tick the position of some readings. Depending on the device, it is a counter, an instant, or a
  /// counter as large as an instant.
  private static func setPosition(_ reading: inout Reading, _ number: Int, _ random: inout SeededGenerator) {
    if Int.random(in: 0..<5, using: &random) > 1 { return }
    reading.positionKind = .tick
    switch reading.device.number {
    case 2: reading.position = (reading.deviceTime.seconds - Int64(reading.placement.utcOffset)) * 1000 + 7
    case 3: reading.position = 202_510_260_000 + Int64(number * 7919 % 240)
    case 1: reading.position = Int64(number * 7919 % 240)
    // The position is a counter. Its order differs from the order of time by at most about an hour.
    default:
      reading.position =
        (reading.deviceTime.seconds - change) / 900 + Int64.random(in: 1000...1004, using: &random)
    }
  }

  private func fill(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2 { try scratch.ingest(Make.batch(Self.readings(&random), devices: Self.devices)) }
    let all = try everything().sorted(by: Self.precedes)
    let editor = WithdrawalEditor(try scratch.open(.editor), at: 5000)
    for reading in all where Int.random(in: 0..<12, using: &random) == 0 {
      _ = try editor.set(reading, isHidden: true, reason: "")
    }
    try scratch.open(.sync).sync { store in
      let keys = try store.pendingReadings(after: nil, limit: 9).keys
      try store.quarantine(Array(keys.prefix(4)), reason: "too odd", at: 7)
      try store.markUploaded(Array(keys.dropFirst(4)), except: [], at: 7)
    }
  }

  private static func filters(_ all: [StoredReading], _ random: inout SeededGenerator) -> [ItemFilter] {
    var filters = [ItemFilter()]
    for newest in [nil, 0, 1, 2, 7, 100, 10_000] as [Int?] {
      for isWhole in [true, false] {
        var filter = ItemFilter()
        (filter.newest, filter.recordKinds) = (newest, [])
        filter.includesWithdrawn = Bool.random(using: &random)
        if !isWhole {
          let ends = [all.randomElement(using: &random), all.randomElement(using: &random)].compactMap {
            $0?.utc
          }
          (filter.since, filter.until) = (ends.min(), ends.max())
          if Bool.random(using: &random) { filter.readingKinds = [.cbg, .ketone] }
          if Bool.random(using: &random) { filter.includesDevice = { $0.serial != "S1" } }
        }
        filters.append(filter)
      }
    }
    return filters
  }

  @Test(arguments: Seeds.first(3))
  func aListHasTheItemsOfAReferenceImplementation(_ seed: UInt64) throws {
    try fill(seed)
    var random = SeededGenerator(seed: seed &+ 1000)
    let all = try everything()
    let places = try scratch.open(.reader).queue.inDatabase { database in
      try SeriesList(database, ItemFilter()).all.map(\.positionMeaning)
    }
    #expect(Set(places) == [.time, .instant, .count])
    #expect(all.count > 300)
    for (number, filter) in Self.filters(all, &random).enumerated() {
      try expectDefinition(filter, "seed \(seed), filter \(number): \(filter)")
    }
  }

  /// `maxHeld` limits how many readings with counters are sorted in memory. The list must not depend on it.
  @Test(arguments: [0, 1, 30, 200, 100_000], Seeds.first(2))
  func theNumberOfReadingsInMemoryDoesNotChangeTheList(_ maxHeld: Int, _ seed: UInt64) throws {
    try fill(seed)
    var random = SeededGenerator(seed: seed &+ 3000)
    let store = try scratch.open(.reader)
    for (number, filter) in Self.filters(try everything(), &random).enumerated() where filter.newest == nil {
      let listed = try store.queue.inDatabase { database in
        var readings = try OrderedReadings(database, filter, isDescending: false, maxHeld: maxHeld)
        var listed: [StoredReading] = []
        while let next = try readings.next() { listed.append(next) }
        return listed
      }
      #expect(try listed.map(Self.text) == expected(filter).map(Self.text), "filter \(number): \(filter)")
    }
  }

  /// The days of all readings that match the filter. If the filter has a limit, these are only the newest
  /// days.
  private func expectedDays(_ filter: ItemFilter) throws -> [ReadingDay] {
    var unlimited = filter
    unlimited.newest = nil
    let days = Dictionary(grouping: try expected(unlimited)) { reading in
      Int((Double(reading.deviceTime.seconds) / 86_400).rounded(.down))
    }
    let sorted = days.sorted { $0.key < $1.key }.map { day, readings in
      let queued = readings.filter { !$0.isUploaded }
      let isRefused = queued.contains { $0.refusal != nil }
      return ReadingDay(
        start: DeviceTime(seconds: Int64(day) * 86_400), readings: readings.count, queued: queued.count,
        state: queued.isEmpty ? .synced : .queued(isRefused ? .refused : .waiting))
    }
    return filter.newest.map { sorted.suffix($0) } ?? sorted
  }

  @Test(arguments: Seeds.first(3))
  func theDaysOfAListAreThoseOfItsReadings(_ seed: UInt64) throws {
    try fill(seed)
    var random = SeededGenerator(seed: seed &+ 2000)
    let refused = try everything().filter { $0.refusal != nil }
    #expect(!refused.isEmpty)
    for (number, filter) in Self.filters(try everything(), &random).enumerated() {
      let days = try scratch.open(.reader).readingDays(filter, .none)
      #expect(try days == expectedDays(filter), "seed \(seed), filter \(number): \(filter)")
    }
  }

  /// Stores records around `change`. Many have the same instant, but offsets from all over the world.
  @Test(arguments: Seeds.first(3))
  func theNewestRecordsAreThoseOfAReferenceImplementation(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let records = (0..<200).map { number in
      ImportedRecord(
        kind: [.note, .food].randomElement(using: &random) ?? .note,
        at: DeviceTime(seconds: Self.change + Int64.random(in: -300...300, using: &random) * 900),
        placement: Placement(
          utcOffset: [0, 3600, -43_200, 50_400, 86_399, -86_399].randomElement(using: &random) ?? 0,
          source: .stated),
        fields: RecordFields(["text": .text("\(number)")]), sourceID: "\(number)", line: Int64(number))
    }
    try scratch.ingest(Make.batch(records))
    let all = try scratch.rows(
      "SELECT guid, kind, device_time - utc_offset FROM record ORDER BY device_time - utc_offset, guid")
    #expect(all.count == 200)
    for newest in [nil, 1, 2, 7, 100, 1000] as [Int?] {
      for kinds in [Set(RecordKind.listed), [.food]] {
        for since in [nil, Self.change, Self.change + 100_000] as [Int64?] {
          var filter = ItemFilter()
          (filter.readingKinds, filter.recordKinds, filter.newest, filter.since) = ([], kinds, newest, since)
          var listed: [String] = []
          try scratch.open(.reader).forEachItem(filter) { item in
            if case .record(let record) = item {
              listed.append("\(record.guid) \(record.kind.rawValue) \(record.utc)")
            }
          }
          let passed = all.filter { row in
            let parts = row.split(separator: " ")
            return kinds.contains { $0.rawValue == parts[1] } && Int64(parts[2]) ?? 0 >= since ?? .min
          }
          #expect(listed == newest.map { passed.suffix($0) } ?? passed, "seed \(seed), \(filter)")
        }
      }
    }
  }

  @Test func aStoreWithoutReadingsListsNoReadings() throws {
    _ = try scratch.open()
    #expect(try listed(ItemFilter()).isEmpty)
  }

  @Test func aLimitOf0ListsNothingAndALimitOf1ListsTheNewestItem() throws {
    try scratch.ingest(
      Make.batch((0..<3).map { Make.reading(.cbg, Make.milligrams(100), at: Make.noon + $0 * 300) }))
    var filter = ItemFilter()
    filter.newest = 0
    #expect(try listed(filter).isEmpty)
    filter.newest = 1
    #expect(try listed(filter).map(\.deviceTime.seconds) == [Make.noon + 600])
  }

  /// Ten readings whose counter decreases with time, and ten readings of another device at the same instants.
  @Test func readingsWithADescendingCounterAreListedByTime() throws {
    let one = (0..<10).map { Make.tick(10 - $0, Double(60 + $0), at: Make.noon + $0 * 200_000) }
    let other = one.map { reading in
      var reading = reading
      reading.device = DeviceIndex(1)
      return reading
    }
    try scratch.ingest(Make.batch(one + other, devices: Array(Self.devices.prefix(2))))
    var filter = ItemFilter()
    try expectDefinition(filter, "oldest first")
    filter.newest = 5
    try expectDefinition(filter, "newest")
    #expect(try listed(filter).map(\.position) == [3, 2, 2, 1, 1])
  }

  private static func instants(_ random: inout SeededGenerator, farthestSeconds: Int64) -> [Reading] {
    (0..<120).map { _ in
      let shown = change + Int64.random(in: -2000...2000, using: &random) * 900
      let offset = Int32.random(in: -86_399...86_399, using: &random)
      let distance = Int64.random(in: -farthestSeconds...farthestSeconds, using: &random)
      return Reading(
        device: DeviceIndex(0), kind: .cbg, tick: (shown + distance) * 1000, at: DeviceTime(seconds: shown),
        placement: Placement(utcOffset: offset, source: .stated), Make.milligrams(100), line: 1)
    }
  }

  /// The ticks are instants that differ from the shown times by up to `farthestSeconds`. A list may use ticks
  /// as instants only if all of them differ by less than a day.
  @Test(arguments: [Int64(86_399), 86_400, 172_799, 2_000_000], Seeds.first(2))
  func readingsWhoseInstantsDifferFromTheirShownTimesAreListedByTime(_ farthestSeconds: Int64, _ seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let readings = Self.instants(&random, farthestSeconds: farthestSeconds)
    for start in [0, 60] {
      try scratch.ingest(Make.batch(Array(readings[start..<start + 60]), devices: [Self.devices[0]]))
    }
    let isNear = readings.allSatisfy { abs($0.position / 1000 - $0.deviceTime.seconds) < 86_400 }
    let places = try scratch.open(.reader).queue.inDatabase { database in
      try SeriesList(database, ItemFilter()).all.map(\.positionMeaning)
    }
    #expect(places == [isNear ? .instant : .count], "seed \(seed)")
    #expect(try scratch.number("SELECT has_strays FROM series") == (isNear ? 0 : 1))
    for (number, filter) in Self.filters(try everything(), &random).enumerated() {
      try expectDefinition(filter, "seed \(seed), filter \(number): \(filter)")
    }
  }

  /// The first and the last tick are the instants of their readings, but a tick between them is not. A list
  /// of a period must contain its reading.
  @Test func aReadingIsListedByItsTimeEvenIfItsCounterLooksLikeAnInstant() throws {
    let day: Int64 = 86_400
    let readings = [(0, 0), (5, 20), (10, 10), (30, 30)].map { tick, shown in
      Make.tick((Make.noon + Int64(tick) * day) * 1000, 100, at: Make.noon + Int64(shown) * day)
    }
    try scratch.ingest(Make.batch(readings))
    var filter = ItemFilter()
    filter.since = Make.noon + 18 * day
    #expect(try listed(filter).map { ($0.deviceTime.seconds - Make.noon) / day } == [20, 30])
    filter.until = Make.noon + 25 * day
    #expect(try listed(filter).count == 1)
  }

  @Test(arguments: [
    (Int64(1_000_000), Int64(1000), true), (1_000_000, 87_399, true), (1_000_000, 87_400, false),
    (1_000_000, -85_399, true), (1_000_000, -85_400, false), (-1, -86_400, true), (-1, 86_399, false),
    (.max, .min, false), (.min, .max, false), (0, .min, false),
  ])
  func anInstantIsNearAShownTimeIfAUTCOffsetExplainsTheDifference(
    _ milliseconds: Int64, _ shown: Int64, _ isNear: Bool
  ) {
    #expect(PositionSpan.isNear(milliseconds, shown) == isNear)
  }

  /// `OrderedReadings` reads at most 64 groups of series at the same time. This store has 200 series.
  @Test func hundredsOfSeriesWithCountersAreListedByTime() throws {
    let devices = (0..<200).map { Device(vendor: "T", model: "M", serial: "\($0)", format: "test") }
    let readings = (0..<600).map { number in
      var reading = Make.tick(Int64(number), 100, at: Make.noon + Int64(number * 7919 % 600) * 3600)
      reading.device = DeviceIndex(Int32(number % 200))
      return reading
    }
    try scratch.ingest(Make.batch(readings, devices: devices))
    for newest in [nil, 3, 700] as [Int?] {
      var filter = ItemFilter()
      filter.newest = newest
      try expectDefinition(filter, "\(newest ?? 0)")
    }
  }

  /// glucoport never assigns these row ids, but another program may. `SeriesList` finds ids below 4096 in an
  /// array and others in a dictionary, so the test has both.
  @Test func aSeriesWithAnyRowIDIsListed() throws {
    var random = SeededGenerator(seed: 11)
    try scratch.ingest(Make.batch(Self.readings(&random), devices: Self.devices))
    try scratch.damage(
      """
      PRAGMA foreign_keys = OFF;
      UPDATE series SET id = id + 4090; UPDATE reading SET series = series + 4090;
      UPDATE reading SET partition = 4 + series WHERE partition > 4
      """)
    for side in ["<", ">="] {
      try #require(try scratch.number("SELECT count(*) FROM reading WHERE series \(side) 4096") > 0)
    }
    try expectDefinition(ItemFilter(), "all")
    var filter = ItemFilter()
    filter.includesDevice = { $0.serial == "S1" }
    try expectDefinition(filter, "one device")
  }

  // MARK: The hour that is repeated

  @Test func readingsOfARepeatedHourAreListedByInstant() throws {
    // In Madrid, 02:00:00 to 02:59:59 is shown twice in this night. The shown times are in this hour.
    let shown = [-900, 0, 1799].map { Make.repeated + $0 }
    let first = shown.map { Make.reading(.smbg, Make.milligrams(100), at: $0) }
    let second = shown.map { time in
      Reading(
        device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: time),
        placement: Placement(utcOffset: 3600, source: .stated), Make.milligrams(110), line: 1)
    }
    try scratch.ingest(Make.batch(zip(first, second).flatMap { [$0, $1] }))
    let instants = try listed(ItemFilter()).map(\.utc)
    #expect(instants == instants.sorted() && Set(instants).count == 6)
    try expectDefinition(ItemFilter(), "the repeated hour")
  }

  // MARK: Positions

  @Test(arguments: [
    (false, nil, nil, Int64.min...Int64.max), (false, 100_000, 200_000, 13_600...286_400),
    (true, 100_000, 200_000, -72_800_000...372_800_000), (true, .min, .max, Int64.min...Int64.max),
    (false, .min, .max, Int64.min...Int64.max), (true, nil, -100_000, Int64.min...72_800_000),
  ])
  func theReadingsOfAPeriodAreBetweenTwoPositions(
    _ isInstant: Bool, _ since: Int64?, _ until: Int64?, _ positions: ClosedRange<Int64>
  ) {
    #expect(PositionSpan(isInstant: isInstant).positions(since: since, until: until) == positions)
  }

  @Test func negativeMillisecondsAreRoundedDownToSeconds() {
    #expect([-1001, -1000, -1, 0, 999, 1000].map(PositionSpan.floored) == [-2, -1, -1, 0, 0, 1])
  }
}
