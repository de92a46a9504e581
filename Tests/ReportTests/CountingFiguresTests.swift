// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests statistics of the same items from two sources.
struct CountingFiguresTests {
  static let start = Time.at("2026-03-02")
  static let diary = CountingSource(format: "mysugr")
  static let phone = CountingSource(format: "apple-health", part: "iPhone")

  /// A dose or a meal from a source.
  struct Entry {
    let kind: RecordKind
    let amount: Double
    var seconds: Int64
    let source: CountingSource
    var subtype = "rapid"
    /// The number of hours of a basal rate, whose `amount` is in units per hour; nil for other entries.
    var rateHours: Double?
    /// The number of minutes over which a pump gave basal insulin; nil for other entries.
    var minutes: Double?
    var isAutomatic = false

    func with(subtype: String) -> Entry {
      var entry = self
      entry.subtype = subtype
      return entry
    }

    var fields: RecordFields {
      if let rateHours {
        return RecordFields([
          "rate": .number(amount), "minutes": .number(rateHours * 60), "subtype": .text("basal"),
        ])
      }
      guard kind == .insulin else { return RecordFields(["carbs": .number(amount)]) }
      var fields = RecordFields(["units": .number(amount), "subtype": .text(subtype)])
      if isAutomatic { fields["automatic"] = .flag(true) }
      if let minutes { fields["minutes"] = .number(minutes) }
      return fields
    }
    var time: DeviceTime { DeviceTime(seconds: CountingFiguresTests.start + seconds) }
    var placement: Placement { Placement(utcOffset: 0, source: .stated) }
    func item(_ id: Int) -> CountableItem? {
      CountableItem(kind, fields, id: "\(id)", deviceTime: time, placement: placement, source: source)
    }
  }

  /// - Parameter period: the days of the statistics. Items outside of these days are only used for
  ///   comparison.
  static func result(
    _ entries: [Entry], by grouping: Grouping? = nil, rules: CountingRules = CountingRules(),
    of period: Range<Int64>? = nil
  ) -> StatisticsResult {
    var options = Statistics.Options()
    (options.grouping, options.rules) = (grouping, rules)
    var statistics = Statistics(options)
    var counting = CountedOnce<Entry>(rules)
    for (index, entry) in entries.sorted(by: { $0.seconds < $1.seconds }).enumerated() {
      counting.add(entry, entry.item(index), at: entry.time.seconds)
    }
    counting.finish()
    while let (entry, item, verdict) = counting.next() {
      statistics.add(
        entry.kind, entry.fields, deviceTime: entry.time, placement: entry.placement, verdict, item,
        from: entry.source, isContext: period?.contains(entry.seconds / 86400) == false)
    }
    return statistics.finish { _ in 0 }
  }

  /// Four doses on each of these days. `later` shifts them by this number of seconds.
  static func doses(_ source: CountingSource, days: Int64 = 5, later: Int64 = 0, factor: Double = 1)
    -> [Entry]
  {
    (0..<days).flatMap { day in
      [(3, 4.0), (7, 5.5), (12, 7.0), (19, 6.5)].map { hour, units in
        Entry(
          kind: .insulin, amount: (units + Double(day)) * factor, seconds: day * 86400 + hour * 3600 + later,
          source: source)
      }
    }
  }

  @Test func itemsReportedByTwoSourcesAreInTheTotalsOnce() {
    let own = Self.doses(Self.diary)
    let alone = Self.result(own)
    let both = Self.result(own + Self.doses(Self.phone, later: 20))
    #expect(both.total.amounts.insulin.sum == alone.total.amounts.insulin.sum)
    #expect(both.total.amounts.bolus.perDay == alone.total.amounts.bolus.perDay)
    #expect(both.total.leftOut[.doubled] == 20 && alone.total.leftOut[.doubled] == 0)
    #expect(
      both.doubled == [DoubledItems(kind: .insulin, source: Self.phone, counted: Self.diary, items: 20)])
    #expect(both.doubts.isEmpty)
    #expect(
      Self.result(own + Self.doses(Self.phone), rules: .all).total.amounts.insulin.sum
        == alone.total.amounts.insulin.sum.map { $0 * 2 })
  }

  @Test func groupsOfStatisticsLeaveOutTheSameItemsAsTheTotal() {
    let result = Self.result(Self.doses(Self.diary) + Self.doses(Self.phone), by: .day)
    #expect(result.groups.map { $0.leftOut[.doubled] } == [4, 4, 4, 4, 4])
    #expect(result.groups.map { $0.amounts.insulin.sum } == [23, 27, 31, 35, 39])
  }

  @Test func copiedFingerSticksDoNotCountTowardsThe30ThatARiskIndexNeeds() {
    func stick(_ index: Int64, _ device: Device, later: Int64) -> (GlucoseReading, CountableItem?) {
      let reading = Reading.finger(100 + Int(index), at: Self.start + index * 3600 + later)
      let item = CountableItem(
        .smbg, reading.measurement, marks: [], id: "\(device.format) \(index)",
        deviceTime: reading.deviceTime,
        placement: reading.placement, source: CountingSource(device))
      return (reading, item)
    }
    let meter = Device(vendor: "Ascensia", model: "Contour Next", serial: "1", format: "contour")
    let app = Device(vendor: "mySugr", model: "mySugr", format: "mysugr")
    var (statistics, counting) = (Statistics(.init()), CountedOnce<GlucoseReading>())
    for index in 0..<21 as Range<Int64> {
      for (reading, item) in [stick(index, app, later: 0), stick(index, meter, later: 30)] {
        counting.add(reading, item, at: reading.instant)
      }
    }
    counting.finish()
    while let (reading, item, verdict) = counting.next() { statistics.add(reading, verdict, item) }
    let sticks = statistics.finish { _ in 0 }.total.fingerSticks
    #expect(sticks.readings == 21 && sticks.perDay.number == 21)
    #expect(sticks.lowRisk == .absent(.fewReadings(21, of: 30)))
  }

  // MARK: - Finger sticks

  /// Six finger sticks a day, shifted by `later` seconds. With `cuts` the seconds are removed, as on a device
  /// that shows only minutes.
  private static func sticks(
    _ device: Device, days: Int64 = 5, later: Int64 = 0, cuts: Bool = false, higher: Int = 0
  ) -> [(reading: GlucoseReading, item: CountableItem?)] {
    (0..<days * 6).map { index in
      var seconds = index / 6 * 86400 + index % 6 * 9000 + index * index * 37 % 3000 + later
      if cuts { seconds -= (seconds % 60 + 60) % 60 }
      let reading = Reading.finger(70 + Int(index * 53 % 180) + higher, at: start + seconds)
      let item = CountableItem(
        .smbg, reading.measurement, marks: [], id: "\(device.format) \(index)",
        deviceTime: reading.deviceTime, placement: reading.placement, source: CountingSource(device))
      return (reading, item)
    }
  }

  private static func result(
    _ sticks: [(reading: GlucoseReading, item: CountableItem?)], _ rules: CountingRules = CountingRules()
  ) -> StatisticsResult {
    var options = Statistics.Options()
    options.rules = rules
    var (statistics, counting) = (Statistics(options), CountedOnce<GlucoseReading>(rules))
    for (reading, item) in sticks.sorted(by: { $0.reading.instant < $1.reading.instant }) {
      counting.add(reading, item, at: reading.instant)
    }
    counting.finish()
    while let (reading, item, verdict) = counting.next() { statistics.add(reading, verdict, item) }
    return statistics.finish { _ in 0 }
  }

  private static let meter = Device(vendor: "Ascensia", model: "Contour Next", serial: "1", format: "contour")
  private static let app = Device(vendor: "mySugr", model: "mySugr", format: "mysugr")

  @Test(arguments: [433, -433, 3600, -7260, 86_400] as [Int64])
  func fingerSticksOfTwoSourcesWithAConstantDelayHaveNoStatistics(shift: Int64) throws {
    let result = Self.result(Self.sticks(Self.meter) + Self.sticks(Self.app, later: shift, cuts: true))
    let doubt = try #require(result.doubts.first)
    #expect(doubt.kind == .smbg && doubt.days >= 4)
    // The times of the app have no seconds, so the delay is found only to a minute.
    let found = try #require(doubt.shiftSeconds)
    #expect(abs(abs(found) - abs(shift)) <= 60, "\(found)")
    let sticks = result.total.fingerSticks
    #expect(sticks.readings == 60 && sticks.median.number != nil)
    for figure in [
      sticks.perDay, sticks.perDayWithReadings, sticks.standardDeviation, sticks.variation, sticks.lowRisk,
      sticks.highRisk,
    ] {
      #expect(figure == .absent(.severalSources))
    }
    #expect(result.sources.sticks.map(\.total) == [30, 30])
  }

  @Test func differentFingerSticksOfTwoSourcesCauseNoWarning() {
    let own = Self.sticks(Self.meter)
    // Finger sticks within a minute are counted once. Finger sticks with other values are different
    // measurements. Four equal values may be chance.
    #expect(Self.result(own + Self.sticks(Self.app, later: 20)).doubts.isEmpty)
    #expect(Self.result(own + Self.sticks(Self.app, later: 433, higher: 7)).doubts.isEmpty)
    #expect(Self.result(own + Self.sticks(Self.app, days: 1, later: 433).prefix(4)).doubts.isEmpty)
    #expect(Self.result(own + Self.sticks(Self.app, days: 1, later: 433)).doubts.count == 1)
    // If the times between equal values vary, the clock of no source is wrong.
    let scattered = Self.sticks(Self.app).enumerated().flatMap { index, stick in
      Self.sticks(Self.app, later: 300 + Int64(index) * 190)[index...index]
    }
    #expect(Self.result(own + scattered).doubts.isEmpty)
  }

  @Test func aDecisionAboutFingerSticksRemovesTheTwoSourceWarning() {
    let all = Self.sticks(Self.meter) + Self.sticks(Self.app, later: 433)
    let both = CountingRules([CountDecision(.sources("contour", "mysugr"), .both)])
    #expect(Self.result(all, both).total.fingerSticks.perDay.number == 12)
    let only = CountingRules([
      CountDecision(.range(.smbg, since: nil, until: nil), .only, source: "contour")
    ])
    #expect(Self.result(all, only).total.fingerSticks.perDay.number == 6)
    #expect(Self.result(all, .all).total.fingerSticks.perDay.number == 12)
  }

  @Test func copiesOfSensorValuesAreLeftOutWithTheirReason() throws {
    let relay = Device(vendor: "Apple Health", model: "iPhone", format: "apple-health")
    let sensor = CountingSource(format: "clarity")
    var statistics = Statistics(Statistics.Options())
    for (reading, item) in Self.sticks(relay) {
      statistics.add(reading, .sensorValue(sensor), item)
    }
    let result = statistics.finish { _ in 0 }
    #expect(result.total.leftOut[.sensorCopy] == 30 && result.total.leftOut[.doubled] == 0)
    #expect(result.total.fingerSticks.readings == 0 && result.sources.sticks.isEmpty)
    let line = try #require(result.doubled.first)
    #expect(line.isSensorValue && line.counted == sensor && line.items == 30)
  }

  // MARK: - Doses and meals that two sources report at different times

  @Test(arguments: [6 * 3600, -3600, 900] as [Int64])
  func equalDosesOfTwoSourcesWithAConstantDelayHaveNoSum(shift: Int64) throws {
    let result = Self.result(Self.doses(Self.diary) + Self.doses(Self.phone, later: shift), by: .day)
    let doubt = try #require(result.doubts.first)
    #expect(doubt.kind == .insulin && doubt.days >= 4)
    #expect(doubt.shiftSeconds.map(abs) == abs(shift))
    #expect(result.total.amounts.insulin.sum == nil && result.total.amounts.bolus.sum == nil)
    #expect(result.total.amounts.insulin.perDay == .absent(.severalSources))
    // Days with only one source have the sum of this source.
    #expect(result.groups.count { $0.amounts.insulin.sum == nil } == doubt.days)
    #expect(result.sources.bolus.map(\.total) == [155, 155])
  }

  @Test func similarDosesOfTwoSourcesHaveNoSumAndNoConstantDelay() throws {
    let result = Self.result(Self.doses(Self.diary) + Self.doses(Self.phone, later: 200, factor: 1.1))
    let doubt = try #require(result.doubts.first)
    #expect(doubt.shiftSeconds == nil && doubt.days == 5)
  }

  @Test func carbohydratesOfTwoSourcesAreCheckedSeparatelyFromInsulin() {
    func meals(_ source: CountingSource, later: Int64) -> [Entry] {
      (0..<4).map { Entry(kind: .food, amount: 40, seconds: $0 * 86400 + later, source: source) }
    }
    let result = Self.result(
      meals(Self.diary, later: 0) + meals(Self.phone, later: 400) + Self.doses(Self.diary))
    #expect(result.doubts.map(\.kind) == [.food])
    #expect(result.total.amounts.carbohydrates.sum == nil && result.total.amounts.insulin.sum != nil)
  }

  @Test func differentTotalsFewDaysOrMatchedDosesCauseNoTwoSourceWarning() {
    let own = Self.doses(Self.diary)
    #expect(Self.result(own + Self.doses(Self.phone, later: 400, factor: 0.5)).doubts.isEmpty)
    // Five equal doses on one or two days would be a copy.
    #expect(Self.result(own + Self.doses(Self.phone, days: 1, later: 400)).doubts.isEmpty)
    #expect(Self.result(own + Self.doses(Self.phone, days: 2, later: 400, factor: 1.1)).doubts.isEmpty)
    #expect(Self.result(own + Self.doses(Self.phone, later: 30)).doubts.isEmpty)
  }

  /// A long-acting dose each evening.
  private static func basal(_ source: CountingSource, later: Int64, units: Double = 20) -> [Entry] {
    (0..<9).map {
      Entry(
        kind: .insulin, amount: units, seconds: $0 * 86400 + 79_200 + later, source: source, subtype: "long")
    }
  }

  @Test func basalInsulinOfTwoSourcesIsCheckedSeparatelyFromBolus() throws {
    let result = Self.result(
      Self.basal(Self.diary, later: 0) + Self.basal(Self.phone, later: 600) + Self.doses(Self.diary))
    #expect(result.doubts.map(\.isBasal) == [true])
    let amounts = result.total.amounts
    #expect(amounts.basal.sum == nil && amounts.insulin.sum == nil && amounts.bolus.sum == 155)
    #expect(result.sources.basal.map(\.total) == [180, 180])
    // Other totals cause no warning, and neither do items that are counted once.
    let own = Self.basal(Self.diary, later: 0)
    #expect(Self.result(own + Self.basal(Self.phone, later: 600, units: 12)).doubts.isEmpty)
    #expect(Self.result(own + Self.basal(Self.phone, later: 30)).doubts.isEmpty)
  }

  @Test func basalUnitsThatTwoSourcesStateOverMinutesCountOnce() {
    // The rate is 1.2 U/h for a day. One source states 0.1 U for each 5 minutes, and the other states
    // temporary rates of 30 minutes.
    let segments = (0..<288).map {
      Entry(
        kind: .insulin, amount: 0.1, seconds: $0 * 300, source: Self.phone, subtype: "basal", minutes: 5)
    }
    let rates = (0..<48).map {
      Entry(
        kind: .insulin, amount: 1.2, seconds: $0 * 1800 + 3, source: Self.diary, subtype: "basal",
        rateHours: 0.5)
    }
    func sum(_ entries: [Entry]) -> Double? {
      Self.result(entries).total.amounts.basal.sum.map { ($0 * 1000).rounded() / 1000 }
    }
    #expect(sum(segments) == 28.8)
    #expect(sum(rates) == 28.8 && sum(segments + rates) == 28.8)
    // A pump's rate and an injection are two doses.
    let injection = Entry(kind: .insulin, amount: 12, seconds: 60, source: Self.diary, subtype: "basal")
    #expect(sum(segments + [injection]) == 40.8)
    // A later rate ends the last segment after half of its time, so half of its units count.
    let cut = Entry(
      kind: .insulin, amount: 0, seconds: 287 * 300 + 150, source: Self.diary, subtype: "basal", rateHours: 1)
    #expect(sum(segments + [cut]) == 28.75)
  }

  @Test func basalRatesAndEqualBasalDosesOfTwoSourcesCauseAWarning() {
    // At each instant only one source provides the rate, so the same rates from two sources do not add up.
    func rates(_ source: CountingSource, later: Int64) -> [Entry] {
      (0..<20).map {
        Entry(
          kind: .insulin, amount: 1, seconds: $0 * 21_600 + later, source: source, subtype: "basal",
          rateHours: 6)
      }
    }
    // Each rate would last six hours, but ends after half an hour.
    func shortRates(_ source: CountingSource) -> [Entry] {
      (0..<240).map {
        Entry(
          kind: .insulin, amount: 1, seconds: $0 * 1800, source: source, subtype: "basal", rateHours: 6)
      }
    }
    #expect(Self.result(rates(Self.diary, later: 0) + rates(Self.phone, later: 60)).doubts.isEmpty)
    let doses = Self.basal(Self.phone, later: 0, units: 24)
    #expect(Self.result(rates(Self.diary, later: 0) + doses).doubts.map(\.isBasal) == [true])
    #expect(Self.result(shortRates(Self.diary) + doses).doubts.map(\.isBasal) == [true])
    #expect(
      Self.result(rates(Self.diary, later: 0) + Self.basal(Self.phone, later: 0, units: 9)).doubts.isEmpty)
  }

  @Test func aDayAndItsMonthLeaveOutTheSameSums() {
    // Days 20 to 31 have both sources, and the days before have only one.
    let own = Self.doses(Self.diary, days: 40)
    let copies = Self.doses(Self.phone, days: 40, later: 400).filter {
      (20..<32).contains($0.seconds / 86400)
    }
    let month = Self.result(own + copies)
    #expect(month.total.amounts.bolus.sum == nil && month.doubts.map(\.days) == [12])
    let groups = Self.result(own + copies, by: .day).groups
    for day in 0..<40 {
      let alone = Self.result(own + copies, of: Int64(day)..<Int64(day) + 1)
      #expect((alone.total.amounts.bolus.sum == nil) == (20..<32).contains(day), "\(day)")
      #expect(alone.total.amounts.bolus.sum == groups[day].amounts.bolus.sum)
      #expect(alone.doubts.map(\.days) == ((20..<32).contains(day) ? [1] : []))
      #expect(alone.sources.bolus.count == ((20..<32).contains(day) ? 2 : 1))
    }
    // Days with both sources are counted only within the four weeks around each of them. In this test, these
    // days are too few for a warning.
    let rare = Self.doses(Self.phone, days: 40, later: 400).filter { $0.seconds / 86400 % 15 == 0 }
    #expect(Self.result(own + rare).doubts.isEmpty)
  }

  @Test func aTwoSourceWarningIsFoundEvenIfEarlierDaysMatched() {
    let own = Self.doses(Self.diary, days: 21)
    let copies = Self.doses(Self.phone, days: 15) + Self.doses(Self.phone, days: 21, later: 300).suffix(24)
    let result = Self.result(own + copies, by: .day)
    #expect(result.doubts.map(\.days) == [6] && result.total.amounts.bolus.sum == nil)
    #expect(result.groups.map { $0.amounts.bolus.sum == nil } == (0..<21).map { $0 >= 15 })
    // At first, the second source has a late copy of one dose a day. On the last days it has late copies of
    // all doses.
    let few = Self.doses(Self.phone, days: 15, later: 300).enumerated().filter { $0.offset % 4 == 0 }
    let late = few.map(\.element) + Self.doses(Self.phone, days: 21, later: 300).suffix(24)
    #expect(Self.result(own + late).doubts.map(\.days) == [21])
    // Doses that are missing in the second source cause no warning. Neither do unmatched doses that are a
    // small part of the total.
    let some = Self.doses(Self.phone, days: 21).filter { $0.seconds / 86400 % 9 != 0 }
    #expect(Self.result(own + some).doubts.isEmpty)
    func small(_ source: CountingSource, at seconds: Int64) -> [Entry] {
      (0..<21).map { (day: Int64) -> Entry in
        Entry(kind: .insulin, amount: 0.2, seconds: day * 86400 + seconds, source: source)
      }
    }
    let both = own + Self.doses(Self.phone, days: 21) + small(Self.diary, at: 30_000)
    #expect(Self.result(both + small(Self.phone, at: 31_000)).doubts.isEmpty)
  }

  @Test func theConstantDelayOfTwoSourcesIsComputedFromUnmatchedItems() throws {
    // Both sources have equal meals each day. On the last six days, the times of one source are an hour
    // later.
    func meals(_ source: CountingSource, _ days: Range<Int64>, later: Int64 = 0) -> [Entry] {
      days.flatMap { day in
        [(8, 40.0), (13, 60.0), (19, 70.0)].map { hour, grams in
          Entry(kind: .food, amount: grams, seconds: day * 86400 + hour * 3600 + later, source: source)
        }
      }
    }
    let copies = meals(Self.phone, 0..<15) + meals(Self.phone, 15..<21, later: 3600)
    let doubt = try #require(Self.result(meals(Self.diary, 0..<21) + copies).doubts.first)
    // Sources are ordered by name, so the diary is the second one. Its meals are an hour earlier.
    #expect(doubt.days == 6 && doubt.shiftSeconds == -3600)
  }

  /// Two stores with equal items may read the items of one time in different orders.
  @Test func theOrderOfItemsAtOneTimeDoesNotChangeTheResult() throws {
    let site = CountingSource(format: "nightscout", part: "Loop")
    let rest =
      Self.doses(Self.diary, later: 60) + Self.doses(Self.phone, later: 3660)
      + Self.doses(site, later: 7260)
    func result(_ sources: [CountingSource]) -> StatisticsResult {
      let first = sources.flatMap { source in
        [(RecordKind.insulin, 9.0), (.food, 30)].map {
          Entry(kind: $0, amount: $1, seconds: 0, source: source)
        }
      }
      return Self.result(first + rest)
    }
    let one = result([Self.diary, Self.phone, site])
    #expect(one.doubts.count == 3 && one.doubled.count == 4)
    #expect(one.doubts.map(\.shiftSeconds) == [-3600, 3600, 7200])
    for order in [[site, Self.phone, Self.diary], [Self.phone, site, Self.diary]] {
      let other = result(order)
      #expect(other.doubts == one.doubts && other.doubled == one.doubled)
    }
  }

  @Test func unmatchedAutomaticDosesOfTwoSourcesHaveNoSumEvenIfTypedDosesMatch() {
    func automatic(_ source: CountingSource, later: Int64 = 0) -> [Entry] {
      (0..<25).map { (index: Int64) -> Entry in
        let (day, place) = (index / 5, index % 5)
        let seconds = day * 86400 + place * 600 + 50_000
        var entry = Entry(kind: .insulin, amount: 1, seconds: seconds + later, source: source)
        entry.isAutomatic = true
        return entry
      }
    }
    let typed = Self.doses(Self.diary) + Self.doses(Self.phone, later: 20)
    #expect(Self.result(typed).doubts.isEmpty)
    let matched = Self.result(typed + automatic(Self.diary) + automatic(Self.phone, later: 2))
    #expect(matched.doubts.isEmpty && matched.total.amounts.insulin.sum == 180)
    let all = Self.result(typed + automatic(Self.diary) + automatic(Self.phone, later: 120))
    #expect(all.doubts.map(\.days) == [5] && all.total.amounts.insulin.sum == nil)
    #expect(Self.result(typed + automatic(Self.diary)).total.amounts.insulin.sum == 180)
  }

  @Test func aTwoSourceDecisionForSomeDaysLeavesOtherDaysWithoutASum() {
    let entries = Self.doses(Self.diary) + Self.doses(Self.phone, later: 400)
    let until = DeviceTime(seconds: Self.start + 3 * 86400)
    let rules = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: until), .only, source: "mysugr")
    ])
    let result = Self.result(entries, by: .day, rules: rules)
    #expect(result.groups.map { $0.amounts.insulin.sum } == [23, 27, 31, nil, nil])
    #expect(result.doubts.map(\.days) == [2])
    #expect(result.sources.bolus.map(\.total) == [155, 155])
  }

  @Test func premixedInsulinOfTwoSourcesHasNoSum() {
    let own = Self.doses(Self.diary).map { $0.with(subtype: "mix") }
    let result = Self.result(own + Self.doses(Self.phone, later: 400).map { $0.with(subtype: "mix") })
    #expect(result.total.amounts.mixed.sum == nil && result.total.amounts.insulin.sum == nil)
    #expect(Self.result(own).total.amounts.mixed.sum == 155)
  }

  @Test func twoSourcesOfEqualDailyDosesAreNotReportedAsADayApart() throws {
    // Both sources have the same doses each day, minutes apart. The delay must not be calculated from the
    // equal doses of another day.
    func daily(_ source: CountingSource, later: Int64) -> [Entry] {
      (0..<9).flatMap { day in
        [(8, 4.0), (13, 6.0), (19, 8.0)].map { hour, units in
          Entry(kind: .insulin, amount: units, seconds: day * 86400 + hour * 3600 + later, source: source)
        }
      }
    }
    let result = Self.result(daily(Self.diary, later: 0) + daily(Self.phone, later: 240))
    #expect(try #require(result.doubts.first).shiftSeconds == nil)
    let shifted = Self.result(daily(Self.diary, later: 0) + daily(Self.phone, later: 3600))
    #expect(try #require(shifted.doubts.first).shiftSeconds == -3600)
  }

  @Test func aDecisionToCountBothSourcesRemovesTheWarning() {
    let entries = Self.doses(Self.diary) + Self.doses(Self.phone, later: 400)
    #expect(Self.result(entries, rules: .all).total.amounts.insulin.sum == 310)
    let both = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    let summed = Self.result(entries, rules: both)
    #expect(summed.doubts.isEmpty && summed.total.amounts.insulin.sum == 310)
    let only = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr")
    ])
    let chosen = Self.result(entries, rules: only)
    #expect(chosen.doubts.isEmpty && chosen.total.amounts.insulin.sum == 155)
    #expect(chosen.total.leftOut[.otherSource] == 20 && chosen.total.leftOut[.doubled] == 0)
  }

  @Test func aDecisionToCountTwoSourcesOnceKeepsTheTwoSourceWarning() {
    let once = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .once)])
    let moved = Self.result(Self.doses(Self.diary) + Self.doses(Self.phone, later: 120), rules: once)
    #expect(moved.total.amounts.insulin.sum == nil && moved.total.amounts.bolus.sum == nil)
    #expect(moved.doubts.map(\.days) == [5])
    // Items that the rule matches are counted once in the total.
    let matched = Self.result(Self.doses(Self.diary) + Self.doses(Self.phone, later: 20), rules: once)
    #expect(matched.doubts.isEmpty && matched.total.amounts.insulin.sum == 155)
  }
}
