// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

struct StatisticsTests {
  static let day: Int64 = 86400
  static let start = Time.at("2026-03-02")

  /// Samples with this interval in minutes, all with one value.
  static func samples(
    _ count: Int, from start: Int64 = start, every minutes: Int64 = 5, value: Int = 100, device: Int = 1
  ) -> [GlucoseReading] {
    (0..<Int64(count)).map { Reading.sensor(value, at: start + $0 * minutes * 60, device: device) }
  }

  static func inOrder(_ readings: [GlucoseReading]...) -> [GlucoseReading] {
    readings.flatMap(\.self).enumerated().sorted {
      ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
    }.map(\.element)
  }

  // MARK: - Readings that are left out

  @Test func withoutDataThereAreNoStatistics() {
    let result = figures([], by: .day)
    #expect(result.period == nil && result.groups.isEmpty)
    #expect(result.total.sensor.mean == .absent(.noReadings))
    #expect(result.total.fingerSticks.median == .absent(.noReadings))
    #expect(result.total.amounts.insulin.perDay == .absent(.noReadings))
  }

  @Test func readingsThatAreNotMeasurementsAreLeftOutAndCounted() {
    var withdrawn = Reading.finger(500, at: Self.start)
    withdrawn.isWithdrawn = true
    withdrawn.marks = .controlSolution
    let result = figures([
      withdrawn, Reading.finger(500, at: Self.start, marks: .controlSolution),
      Reading.finger(500, at: Self.start, marks: .calibration),
      Reading.sensor(400, at: Self.start, marks: .doubtfulTime),
      Reading.of(.scan, .value(Quantity(300, .milligramsPerDecilitre)), at: Self.start),
      Reading.finger(100, at: Self.start + 60),
    ])
    #expect(result.total.fingerSticks.readings == 1 && result.total.fingerSticks.mean.number == 100)
    #expect(result.total.sensor.readings == 0)
    let reasons: [LeftOut] = [.withdrawn, .controlSolution, .calibration, .doubtfulTime, .scan]
    for reason in reasons { #expect(result.total.leftOut[reason] == 1, "\(reason)") }
  }

  @Test func scansThatRepeatSensorValuesAreNotCountedAgain() {
    let history = Self.samples(300)
    let scans = history.map { reading in
      var scan = reading
      scan.kind = .scan
      scan.measurement = .value(Quantity(300, .milligramsPerDecilitre))
      return scan
    }
    let result = figures(Self.inOrder(history, scans)).total
    #expect(result.sensor.readings == 300 && result.sensor.mean.number == 100)
    #expect(result.fingerSticks.readings == 0 && result.leftOut[.scan] == 300)
  }

  @Test func ketonesAreNotInTheGlucoseStatistics() {
    let result = figures([
      Reading.of(.ketone, .value(Quantity(0.4, .millimolesPerLitre)), at: Self.start),
      Reading.of(.ketone, .value(Quantity(1.2, .millimolesPerLitre)), at: Self.start + 60),
    ]).total
    #expect(result.ketones.readings == 2 && agree(result.ketones.mean.number, 0.8))
    #expect(result.ketones.highest.number == 1.2)
    #expect(result.sensor.readings + result.fingerSticks.readings == 0)
  }

  // MARK: - LO and HI

  @Test func readingsLOAndHIAreInTheOuterRangesAndBoundTheMean() {
    let low = (0..<300).map {
      Reading.of(.cbg, .low(below: nil, .milligramsPerDecilitre), at: Self.start + $0 * 300)
    }
    let sensor = figures(low).total.sensor
    #expect(sensor.ranges[0].percent.number == 100 && sensor.lows == 300)
    #expect(sensor.mean.number == 40 && sensor.standardDeviation.number == 0)
    #expect(sensor.bound == .orLower)
    let high = (0..<300).map {
      Reading.of(.cbg, .high(above: 22.2, .millimolesPerLitre), at: Self.start + $0 * 300)
    }
    let other = figures(high, targets: .standard).total.sensor
    #expect(other.ranges[4].percent.number == 100 && other.bound == .orHigher)
    #expect(agree(other.mean.number, 22.2 * 18.01559))
    #expect(figures(Self.inOrder(low, high)).total.sensor.highs == 0, "one value at an instant")
  }

  @Test func onePercentOfLOReadingsDoesNotBoundTheMean() {
    var readings = Self.samples(300)
    for index in 0..<3 {
      readings[index].measurement = .low(below: 40, .milligramsPerDecilitre)
    }
    #expect(figures(readings).total.sensor.bound == nil)
    readings[3].measurement = .high(above: 400, .milligramsPerDecilitre)
    #expect(figures(readings).total.sensor.bound == .either)
  }

  @Test func aReadingHIIsInTheHighRangeIfThereIsNoVeryHighRange() {
    let sensor = figures(
      [Reading.of(.cbg, .high(above: 400, .milligramsPerDecilitre), at: 0)], targets: .pregnancy
    ).total.sensor
    #expect(sensor.ranges[3].readings == 1)
    #expect(sensor.ranges[4].percent == .absent(.notSeparate))
  }

  // MARK: - Units and targets

  @Test(arguments: [
    (2.9, GlucoseBand.veryLow), (3.0, .low), (3.8, .low), (3.9, .target), (10.0, .target), (10.1, .high),
    (13.9, .high), (14.0, .veryHigh),
  ])
  func valuesInMillimolesAreComparedWithLimitsInMillimoles(_ value: Double, _ expected: GlucoseBand) throws {
    let level = try #require(Reading.level(value, .millimolesPerLitre))
    #expect(Targets.standard.band(of: level) == expected)
    let own = try #require(Targets(from: 70, to: 180, .milligramsPerDecilitre))
    #expect(own.band(of: level) == expected)
    let same = try #require(Targets(from: 3.9, to: 10, .millimolesPerLitre))
    #expect(same.band(of: level) == expected && same.low.milligrams == 70 && same.high.milligrams == 180)
  }

  @Test func customTargetsAreWithinTheOuterLimits() {
    #expect(Targets(from: 53, to: 180, .milligramsPerDecilitre) == nil)
    #expect(Targets(from: 70, to: 251, .milligramsPerDecilitre) == nil)
    #expect(Targets(from: 180, to: 70, .milligramsPerDecilitre) == nil)
    #expect(Targets(from: 70, to: 180, .millimolesPerLitre) == nil)
    #expect(Targets(from: .nan, to: .infinity, .millimolesPerLitre) == nil)
    #expect(Targets(from: 80, to: 160, .milligramsPerDecilitre)?.goals == nil)
    #expect(Targets(from: 4.5, to: 8, .millimolesPerLitre)?.name == "4.5-8")
  }

  @Test func equalValuesInBothUnitsHaveTheSameStatistics() {
    let values = [3.4, 5.5, 7.2, 11.1, 14.3]
    func readings(_ unit: GlucoseUnit) -> [GlucoseReading] {
      (0..<500).map { index in
        let quantity = Quantity(values[index % 5], .millimolesPerLitre).converted(to: unit)
        let number = unit == .milligramsPerDecilitre ? quantity.number.rounded() : quantity.number
        return Reading.of(.cbg, .value(Quantity(number, unit)), at: Self.start + Int64(index) * 300)
      }
    }
    let (one, other) = (
      figures(readings(.millimolesPerLitre)).total.sensor,
      figures(readings(.milligramsPerDecilitre)).total.sensor
    )
    #expect(one.ranges.map(\.readings) == [0, 100, 200, 100, 100])
    #expect(other.ranges.map(\.readings) == one.ranges.map(\.readings))
    #expect(agree(one.mean.number, 8.3 * 18.01559))
    #expect(agree(one.mean.number, other.mean.number ?? 0, decimals: 0))
  }

  // MARK: - Too little data

  @Test func aSingleReadingHasOnlyAMean() {
    let sensor = figures([Reading.sensor(120, at: Self.start)]).total.sensor
    #expect(sensor.mean.number == 120 && sensor.minutes == 5)
    #expect(sensor.standardDeviation == .absent(.fewReadings(1, of: 30)))
    #expect(sensor.ranges[2].percent == .absent(.shortTime(minutes: 5)))
    #expect(sensor.ranges[2].readings == 1)
    #expect(sensor.managementIndicator == .absent(.fewDays(1, of: 14, percent: 100)))
    #expect(sensor.episodesPerDay(.low) == .absent(.shortTime(minutes: 5)))
  }

  @Test func aPeriodOfTwoWeeksWithFourDaysOfDataHasNoTimeInRange() {
    let result = figures(Self.samples(4 * 288), since: "2026-03-02", until: "2026-03-16").total.sensor
    #expect(agree(result.active.number, 28.571429))
    #expect(result.ranges[2].percent == .absent(.littleTime(percent: result.active.number ?? 0)))
    #expect(result.managementIndicator.shortage?.text == "4 of 14 days, 28 % of time")
    #expect(result.mean.number == 100)
  }

  @Test func aCompleteDayHasTimePercentagesAndHalfADayHasNone() {
    #expect(figures(Self.samples(288)).total.sensor.ranges[2].percent.number == 100)
    #expect(figures(Self.samples(144)).total.sensor.ranges[2].percent == .absent(.shortTime(minutes: 720)))
  }

  @Test func aPeriodOfMoreThan90DaysHasNoTimeInRange() {
    func percent(_ days: Int) -> Metric {
      figures(Self.samples(days * 288)).total.sensor.ranges[2].percent
    }
    #expect(percent(90).number == 100)
    #expect(percent(91) == .absent(.longPeriod(days: 91)))
    let months = figures(Self.samples(120 * 288), by: .month)
    #expect(months.groups.map { $0.sensor.ranges[2].percent.number } == [100, 100, 100, 100])
    #expect(months.total.sensor.glycemiaRisk == .absent(.longPeriod(days: 120)))
  }

  @Test func aMeanOutsideTheValidRangeHasNoGlucoseManagementIndicator() {
    let sensor = figures(Self.samples(14 * 288, value: 70)).total.sensor
    #expect(sensor.managementIndicator == .absent(.meanOutsideFit))
    #expect(figures(Self.samples(14 * 288, value: 80)).total.sensor.managementIndicator.number != nil)
    #expect(sensor.goalShortage == nil)
  }

  @Test func inAYearWithGapsEachMonthWithDataHasStatistics() {
    let readings = Self.samples(30 * 288) + Self.samples(30 * 288, from: Self.start + 330 * Self.day)
    let result = figures(readings, by: .month)
    #expect(result.groups.count == 12)
    #expect(result.total.sensor.days == 360 && result.total.sensor.daysWithReadings == 60)
    #expect(result.total.sensor.ranges[2].percent.number == nil)
    #expect(result.groups[0].sensor.ranges[2].percent.number == 100)
    #expect(result.groups[5].sensor.mean == .absent(.noReadings))
    #expect(agree(result.total.sensor.active.number, 100.0 * 60 / 360))
  }

  // MARK: - Groups

  @Test func aDayWithoutDataIsAGroupWithoutStatistics() {
    let result = figures(Self.samples(288) + Self.samples(288, from: Self.start + 2 * Self.day), by: .day)
    #expect(result.groups.map(\.sensor.readings) == [288, 0, 288])
    #expect(result.groups[1].sensor.ranges[2].percent == .absent(.noReadings))
    #expect(
      result.groups.compactMap(\.key).map(Grouping.day.name) == ["2026-03-02", "2026-03-03", "2026-03-04"])
  }

  @Test func dataOfOnlyFingerSticksHasNoTimeInRangeStatistics() {
    let readings = (0..<40).map { Reading.finger(100 + Int($0), at: Self.start + $0 * 21600) }
    let result = figures(readings, by: .kind)
    #expect(result.total.sensor.readings == 0 && result.total.sensor.active == .absent(.noReadings))
    #expect(result.total.sensor.managementIndicator == .absent(.noReadings))
    let fingers = result.total.fingerSticks
    #expect(fingers.perDay.number == 4 && fingers.daysWithReadings == 10 && fingers.median.number == 119.5)
    #expect(fingers.lowest.number == 100 && fingers.highest.number == 139)
    #expect(fingers.standardDeviation.number != nil && fingers.ranges[2].percent.number == 100)
    #expect(result.groups.count == 1 && result.groups[0].key == Int(ReadingKind.smbg.rawValue))
  }

  @Test func aDayOf25HoursIsCompleteWith300Samples() throws {
    var zone = try LogbookZone(name: "Europe/Berlin")
    var options = Statistics.Options()
    options.grouping = .day
    var statistics = Statistics(options)
    // 2026-10-25 has 25 hours in Berlin, and begins at 22:00 UTC of the day before.
    let start = Time.at("2026-10-24T22:00")
    for index in 0..<Int64(300 + 288) {
      let instant = start + index * 300
      let offset = zone.offset(atUTC: instant)
      statistics.add(Reading.sensor(100, at: instant + Int64(offset), offset: offset))
    }
    let result = statistics.finish { zone.placement(of: $0).utcOffset }
    #expect(result.groups.map(\.sensor.readings) == [300, 288])
    #expect(result.groups.map(\.sensor.possibleMinutes) == [1500, 1440])
    #expect(result.groups.map(\.sensor.active.number) == [100, 100])
    #expect(result.total.days == 2)
  }

  @Test func anHourSkippedByAClockChangeIsNotCountedAsPossibleSensorTime() throws {
    var zone = try LogbookZone(name: "Europe/Berlin")
    let period = Period(start: Time.at("2026-03-28T23:00"), end: Time.at("2026-03-29T22:00"))
    let hours = PossibleSensorTime(period, by: .hour) { zone.placement(of: $0).utcOffset }
    #expect(hours.total.minutes == 23 * 60 && hours.total.days == 1)
    #expect(hours.groups[2] == nil && hours.groups.count == 23)
  }

  @Test func groupsAreNamedByTheirDayWeekMonthHourOrWeekday() throws {
    let time = try #require(DeviceTime(text: "2027-01-02T07:30"))
    let names = [Grouping.day, .week, .month, .hour, .weekday].map { grouping in
      grouping.key(of: time).map(grouping.name)
    }
    #expect(names == ["2027-01-02", "2026-W53", "2027-01", "07", "Saturday"])
    let early = try #require(DeviceTime(text: "1969-12-29T00:00"))
    #expect(Grouping.week.key(of: early).map(Grouping.week.name) == "1970-W01")
    #expect(Grouping.weekday.key(of: early).map(Grouping.weekday.name) == "Monday")
  }

  @Test func theReadingsOfAllGroupsAddUpToTheTotal() {
    let readings = ArithmeticSeries.readings()
    for grouping in Grouping.allCases {
      let result = figures(readings, by: grouping)
      #expect(result.groups.reduce(0) { $0 + $1.sensor.readings } == readings.count, "\(grouping)")
      #expect(
        result.groups.reduce(0) { $0 + $1.sensor.episodes[.low].count } == 29, "\(grouping)")
    }
  }

  @Test func statisticsOfAnHourOfTheDayNeedFiveDays() {
    func hour(_ days: Int) -> Metric {
      figures(Self.samples(days * 288), by: .hour).groups[3].sensor.ranges[2].percent
    }
    #expect(hour(5).number == 100)
    #expect(hour(4) == .absent(.fewDays(4, of: 5, percent: 100)))
  }

  // MARK: - Profile

  @Test func aDailyProfileNeedsSevenDays() throws {
    func profile(_ days: Int) throws -> Profile {
      try #require(figures(Self.samples(days * 288), hasProfile: true).profile)
    }
    #expect(try profile(6).shortage == .fewDays(6, of: 7, percent: 100))
    let whole = try profile(7)
    #expect(
      whole.points.count == 96 && whole.points.allSatisfy { $0.percentiles == [100, 100, 100, 100, 100] })
  }

  @Test func percentilesOfADailyProfileAreInOrder() throws {
    let profile = try #require(figures(ArithmeticSeries.readings(), hasProfile: true).profile)
    for point in profile.points {
      let values = try #require(point.percentiles)
      #expect(values == values.sorted() && values.count == 5)
    }
  }

  @Test func aTimeOfDayWithTooFewDaysIsAGapInTheDailyProfile() throws {
    // The sensor pauses from 10:00 to 14:00.
    let readings = Self.samples(10 * 288).filter {
      !(36000..<50400).contains(($0.instant - Self.start) % Self.day)
    }
    let profile = try #require(figures(readings, hasProfile: true).profile)
    #expect(
      profile.points.filter { $0.percentiles == nil }.map(\.minute)
        == Array(stride(from: 630, through: 810, by: 15)))
  }

  @Test func smoothingOfTheDailyProfileContinuesOverMidnightAndSkipsGaps() {
    #expect(CyclicSmoothing.smooth([6, 0, 0, 12]) == [6, 1, 2, 9])
    #expect(CyclicSmoothing.smooth([5, nil, 10, nil]) == [5, nil, 10, nil])
    #expect(CyclicSmoothing.smooth([5, 10, nil, nil]) == [6, 9, nil, nil])
  }
}
