// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests periods that are much longer than the time with data.
struct LongPeriodTests {
  private static let day: Int64 = 86400
  private static let start = Time.at("2026-03-02")
  private static let samples = StatisticsTests.samples(288)

  // MARK: - A beginning without data

  @Test(arguments: ["0001-01-01", "1900-01-01", "2025-02-28"])
  func aPeriodThatBeginsLongBeforeAllDataStartsWithTheFirstDay(_ since: String) {
    let late = StatisticsTests.samples(288 - 96, from: Self.start + 8 * 3600)
    let result = figures(late, by: .day, since: since, until: "2026-03-04")
    #expect(result.period == Period(start: Self.start, end: Self.start + 2 * Self.day))
    #expect(result.total.days == 2 && result.groups.map(\.days) == [1, 1])
    #expect(agree(result.total.sensor.active.number, 100 * 16 / 48))
  }

  @Test func aYearWithoutDataBeforeTheFirstReadingIsPartOfThePeriod() {
    let result = figures(Self.samples, by: .day, since: "2025-03-01", until: "2026-03-03")
    #expect(result.period?.start == Time.at("2025-03-01"))
    #expect(result.total.days == 367 && result.groups.count == 367)
    #expect(agree(result.total.sensor.active.number, 100.0 / 367))
  }

  @Test func theRequestedEndOfAPeriodIsKept() {
    let result = figures(Self.samples, by: .month, since: "2026-03-01", until: "2029-03-01")
    #expect(result.period == Period(start: Time.at("2026-03-01"), end: Time.at("2029-03-01")))
    #expect(result.groups.count == 36)
  }

  @Test func theFirstDayOfAPeriodIsThatInTheTimeZoneOfTheLogbook() {
    var options = Statistics.Options()
    (options.since, options.until) = (Time.at("0001-01-01"), Self.start + Self.day)
    var statistics = Statistics(options)
    // 02:00 in Greenwich is 19:00 of the day before at 7 hours to the west, and 09:00 at 7 hours to the east.
    statistics.add(Reading.finger(100, at: Self.start - Self.day + 2 * 3600))
    let west = statistics
    #expect(west.finish { _ in -7 * 3600 }.period?.start == Self.start - 2 * Self.day + 7 * 3600)
    #expect(statistics.finish { _ in 7 * 3600 }.period?.start == Self.start - Self.day - 7 * 3600)
  }

  @Test func aLongPeriodWithoutDataHasNoGroups() {
    let nothing = figures([], by: .day, since: "0001-01-01", until: "2026-01-01")
    #expect(nothing.total.days == 739_616 && nothing.groups.isEmpty)
    #expect(nothing.period?.start == Time.at("0001-01-01"))
    #expect(figures([], by: .day, since: "2026-01-01", until: "2026-01-04").groups.count == 3)
  }

  // MARK: - The last groups

  @Test(arguments: [Grouping.day, .hour])
  func withAMaximumNumberOfGroupsTheLastOnesAreReturned(_ grouping: Grouping) {
    func result(_ maxGroups: Int?) -> StatisticsResult {
      var options = Statistics.Options()
      (options.grouping, options.maxGroups) = (grouping, maxGroups)
      var statistics = Statistics(options)
      for reading in StatisticsTests.samples(5 * 288) { statistics.add(reading) }
      return statistics.finish { _ in 0 }
    }
    let (all, last) = (result(nil), result(2))
    #expect(all.groups.count == (grouping == .day ? 5 : 24) && last.groups.count == 2)
    #expect(last.groups.map(\.key) == all.groups.suffix(2).map(\.key))
    #expect(last.groups.map(\.sensor.readings) == all.groups.suffix(2).map(\.sensor.readings))
    #expect(last.total.sensor.readings == 5 * 288)
    #expect(result(100).groups.count == all.groups.count)
  }

  // MARK: - Possible time

  /// A traveller sets the clock forward by six hours at 10 o'clock on the third day.
  private static func journey(_ time: DeviceTime) -> Int32 {
    time.seconds < start + 2 * day + 16 * 3600 ? 0 : 6 * 3600
  }

  @Test(arguments: Grouping.allCases.map(Optional.some) + [nil])
  func hoursSkippedByAClockChangeAreNotCountedAsPossibleSensorTime(_ grouping: Grouping?) {
    let period = Period(start: Self.start, end: Self.start + 5 * Self.day - 6 * 3600)
    let time = PossibleSensorTime(period, by: grouping, offset: Self.journey)
    #expect(time.total.seconds == period.end - period.start && time.total.days == 5)
    if grouping != nil, grouping != .device, grouping != .kind {
      #expect(time.groups.values.map(\.seconds).reduce(0, +) == time.total.seconds)
    }
    if grouping == .hour {
      let days = (0..<24).map { hour in (10..<16).contains(hour) ? 4 : 5 }
      #expect((0..<24).map { time.groups[$0]?.minutes } == days.map { $0 * 60 })
    }
    if grouping == .day {
      #expect(time.keys.compactMap { time.groups[$0]?.seconds } == [24, 24, 18, 24, 24].map { $0 * 3600 })
    }
  }

  @Test func hoursSkippedByAClockChangeAreNotInTheDayCurve() throws {
    let period = Period(start: Self.start, end: Self.start + 5 * Self.day - 6 * 3600)
    let days = DayTally(period, offset: Self.journey).finish()
    #expect(days.map(\.hourCount) == [24, 24, 18, 24, 24])
    let hours = try #require(days.dropFirst(2).first?.hours)
    #expect(hours.map(\.hour) == Array(0..<10) + Array(16...24))
    #expect(zip(hours, hours.dropFirst()).allSatisfy { $1.instant - $0.instant == 3600 })
  }

  @Test(arguments: [Int64(-400), 0, 20_514])
  func thePossibleSensorTimeOfTheGroupsOfALongPeriodAddsUp(_ day: Int64) {
    let period = Period(start: day * Self.day + 5 * 3600 + 7, end: (day + 40) * Self.day + 61)
    for grouping in [Grouping.hour, .day, .week, .month, .weekday] {
      let time = PossibleSensorTime(period, by: grouping) { _ in 3600 }
      let seconds = time.groups.values.map(\.seconds).reduce(0, +)
      #expect(seconds == period.end - period.start && seconds == time.total.seconds, "\(grouping)")
      #expect(time.total.days == 41, "\(grouping)")
    }
  }
}
