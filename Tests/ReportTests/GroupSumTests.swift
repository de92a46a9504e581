// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests that additive statistics of all groups add up to those of the whole period.
struct GroupSumTests {
  private static let start = Time.at("2026-02-25")

  /// Nine days around the end of a month. They contain two sensors with pauses, finger sticks, ketones, and
  /// readings that are left out.
  private static func readings(_ seed: UInt64) -> [GlucoseReading] {
    var walk = RandomWalk(seed: seed)
    var readings: [GlucoseReading] = []
    for index in 0..<Int64(9 * 96) {
      let time = start + index * 900
      if !walk.happens(onceIn: 12), !(200..<260).contains(index) {
        readings.append(Reading.sensor(walk.next(step: 60), at: time))
      }
      if walk.happens(onceIn: 5) {
        readings.append(Reading.sensor(walk.number(40...400), at: time + 60, device: 2))
      }
      if walk.happens(onceIn: 9) {
        let marks: ReadingMarks = walk.happens(onceIn: 4) ? .controlSolution : []
        readings.append(Reading.finger(walk.number(45...350), at: time + 120, marks: marks))
      }
      if walk.happens(onceIn: 40) {
        let ketone = Measurement.value(Quantity(Double(walk.number(1...30)) / 10, .millimolesPerLitre))
        readings.append(Reading.of(.ketone, ketone, at: time + 180, 9))
      }
      if walk.happens(onceIn: 20) {
        let scan = Measurement.value(Quantity(150, .milligramsPerDecilitre))
        readings.append(Reading.of(.scan, scan, at: time + 240))
      }
    }
    return readings
  }

  private static let timeGroupings: [Grouping] = [.day, .week, .month, .hour, .weekday]

  @Test(arguments: timeGroupings + [.kind], [UInt64(1), 2])
  func countsAndTimesOfAllGroupsAddUpToTheTotal(_ grouping: Grouping, _ seed: UInt64) throws {
    let result = figures(Self.readings(seed), by: grouping)
    let (total, groups) = (result.total, result.groups)
    try #require(groups.count > 1 && total.sensor.readings > 500)
    func sum(_ part: (GroupFigures) -> Int) -> Int { groups.reduce(0) { $0 + part($1) } }
    #expect(sum(\.sensor.readings) == total.sensor.readings)
    #expect(sum(\.sensor.minutes) == total.sensor.minutes)
    #expect(sum(\.fingerSticks.readings) == total.fingerSticks.readings)
    #expect(sum(\.ketones.readings) == total.ketones.readings)
    for band in GlucoseBand.allCases {
      #expect(sum { $0.sensor.ranges[band.rawValue].readings } == total.sensor.ranges[band.rawValue].readings)
      #expect(sum { $0.sensor.ranges[band.rawValue].minutes } == total.sensor.ranges[band.rawValue].minutes)
      #expect(
        sum { $0.fingerSticks.ranges[band.rawValue].readings }
          == total.fingerSticks.ranges[band.rawValue].readings)
    }
    for reason in LeftOut.allCases { #expect(sum { $0.leftOut[reason] } == total.leftOut[reason]) }
    for kind in EpisodeKind.allCases {
      #expect(sum { $0.sensor.episodes[kind].count } == total.sensor.episodes[kind].count, "\(kind)")
      #expect(sum { $0.sensor.episodes[kind].minutes } == total.sensor.episodes[kind].minutes, "\(kind)")
    }
    #expect(total.leftOut[.overlapping] > 0 && total.leftOut[.scan] > 0)
  }

  @Test(arguments: timeGroupings) func thePossibleSensorTimeOfGroupsAddsUpToTheTotal(_ grouping: Grouping) {
    let result = figures(
      Self.readings(3), by: grouping, since: "2026-02-25T00:00", until: "2026-03-06T12:00")
    #expect(result.total.sensor.possibleMinutes == 9 * 1440 + 720)
    #expect(
      result.groups.reduce(0) { $0 + $1.sensor.possibleMinutes } == result.total.sensor.possibleMinutes)
    #expect(result.total.days == 10)
    if grouping == .day { #expect(result.groups.map(\.days) == Array(repeating: 1, count: 10)) }
    if grouping == .month { #expect(result.groups.map(\.days) == [4, 6]) }
    // The period is from a Wednesday to the Friday of the next week.
    if grouping == .weekday { #expect(result.groups.map(\.days) == [1, 1, 2, 2, 2, 1, 1]) }
    if grouping == .hour {
      #expect(result.groups.map(\.days) == (0..<24).map { $0 < 12 ? 10 : 9 })
    }
  }

  @Test(arguments: timeGroupings) func theTotalMeanIsTheWeightedMeanOfTheGroups(_ grouping: Grouping) {
    let result = figures(Self.readings(4), by: grouping)
    let sums = result.groups.compactMap { group in
      group.sensor.mean.number.map { $0 * Double(group.sensor.minutes) }
    }
    let mean = sums.reduce(0, +) / Double(result.total.sensor.minutes)
    #expect(agree(result.total.sensor.mean.number, mean))
    let sticks = result.groups.compactMap { group in
      group.fingerSticks.mean.number.map { $0 * Double(group.fingerSticks.readings) }
    }
    let count = Double(result.total.fingerSticks.readings)
    #expect(agree(result.total.fingerSticks.mean.number, sticks.reduce(0, +) / count))
  }

  @Test(arguments: timeGroupings) func theLowestAndHighestValueOfThePeriodAreThoseOfAGroup(
    _ grouping: Grouping
  ) {
    let result = figures(Self.readings(5), by: grouping)
    let (groups, total) = (result.groups.map(\.fingerSticks), result.total.fingerSticks)
    #expect(groups.compactMap(\.lowest.number).min() == total.lowest.number)
    #expect(groups.compactMap(\.highest.number).max() == total.highest.number)
    let ketones = result.groups.compactMap(\.ketones.highest.number).max()
    #expect(ketones == result.total.ketones.highest.number)
  }

  @Test func aDayHasTheSameStatisticsByItselfAsAmongOtherDays() throws {
    let readings = Self.readings(6)
    let days = figures(readings, by: .day).groups
    try #require(days.count == 9)
    for (index, day) in days.enumerated() {
      let midnight = Self.start + Int64(index) * 86_400
      let own = readings.filter { $0.instant >= midnight && $0.instant < midnight + 86_400 }
      let alone = figures(own).total
      #expect(day.fingerSticks.readings == alone.fingerSticks.readings)
      #expect(day.fingerSticks.median == alone.fingerSticks.median)
      #expect(day.ketones.mean == alone.ketones.mean)
      #expect(day.leftOut[.scan] == alone.leftOut[.scan])
    }
  }

  @Test func statisticsOfSeparatePeriodsAddUp() {
    var walk = RandomWalk(seed: 8)
    func week(_ start: Int64) -> [GlucoseReading] {
      walk.values(7 * 96, step: 60).enumerated().map { Reading.sensor($1, at: start + Int64($0) * 900) }
    }
    let (first, second) = (week(Self.start), week(Self.start + 30 * 86_400))
    let parts = [figures(first).total.sensor, figures(second).total.sensor]
    let whole = figures(first + second).total.sensor
    #expect(whole.readings == parts.reduce(0) { $0 + $1.readings })
    #expect(whole.minutes == parts.reduce(0) { $0 + $1.minutes })
    for kind in EpisodeKind.allCases {
      #expect(whole.episodes[kind].count == parts.reduce(0) { $0 + $1.episodes[kind].count }, "\(kind)")
      #expect(
        whole.episodes[kind].withoutDeeper == parts.reduce(0) { $0 + $1.episodes[kind].withoutDeeper })
    }
    // The sensor has values on 14 of 37 days.
    #expect(agree(whole.active.number, 1400.0 / 37) && parts.allSatisfy { $0.active.number == 100 })
    #expect(whole.days == 37 && whole.daysWithReadings == 14)
  }

  // MARK: - Insulin and food

  @Test(arguments: timeGroupings) func amountsOfAllGroupsAddUpToTheTotal(_ grouping: Grouping) {
    var walk = RandomWalk(seed: 9)
    var options = Statistics.Options()
    options.grouping = grouping
    var statistics = Statistics(options)
    for index in 0..<Int64(150) {
      let time = DeviceTime(seconds: Self.start + index * 5000)
      let placement = Placement(utcOffset: 0, source: .stated)
      let subtype = ["rapid", "long", "mix", ""][walk.number(0...3)]
      let units = Double(walk.number(1...40)) / 4
      statistics.add(
        .insulin, RecordFields(["units": .number(units), "subtype": .text(subtype)]), deviceTime: time,
        placement: placement)
      statistics.add(
        .food, RecordFields(["carbs": .number(Double(walk.number(1...90)))]), deviceTime: time,
        placement: placement)
    }
    let result = statistics.finish { _ in 0 }
    let total = result.total.amounts
    func sum(_ part: (DailyAmounts) -> Double) -> Double {
      result.groups.reduce(0) { $0 + part($1.amounts) }
    }
    #expect(sum(\.insulin.total) == total.insulin.total && sum(\.basal.total) == total.basal.total)
    #expect(sum(\.bolus.total) == total.bolus.total && sum(\.mixed.total) == total.mixed.total)
    #expect(sum(\.carbohydrates.total) == total.carbohydrates.total)
    #expect(total.insulin.total == total.basal.total + total.bolus.total + total.mixed.total)
    #expect(total.insulin.records == 150 && total.carbohydrates.records == 150)
  }
}
