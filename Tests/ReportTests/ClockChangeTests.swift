// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests days with clock changes in different zones. The expected result comes from reading the clock every
/// five minutes.
struct ClockChangeTests {
  /// A day with a clock change.
  struct Change: CustomTestStringConvertible, Sendable {
    let zone: String
    let date: String
    /// The length of the day.
    let minutes: Int

    var testDescription: String { "\(zone) \(date)" }
  }

  static let changes = [
    Change(zone: "Europe/Berlin", date: "2026-03-29", minutes: 23 * 60),
    Change(zone: "Europe/Berlin", date: "2026-10-25", minutes: 25 * 60),
    Change(zone: "America/New_York", date: "2026-03-08", minutes: 23 * 60),
    Change(zone: "America/New_York", date: "2026-11-01", minutes: 25 * 60),
    // The clock changes by half an hour.
    Change(zone: "Australia/Lord_Howe", date: "2025-10-05", minutes: 23 * 60 + 30),
    Change(zone: "Australia/Lord_Howe", date: "2026-04-05", minutes: 24 * 60 + 30),
    // The clock changes at midnight: the first day begins at one o'clock, and the second day has its last
    // hour twice.
    Change(zone: "America/Sao_Paulo", date: "2018-11-04", minutes: 23 * 60),
    Change(zone: "America/Sao_Paulo", date: "2018-02-17", minutes: 25 * 60),
    // In this zone, hours begin at a quarter of an hour in UTC.
    Change(zone: "Asia/Kathmandu", date: "2026-03-29", minutes: 24 * 60),
  ]

  private static let step: Int64 = 300

  /// The instants of three days around a change, and the time that a clock shows at each of them.
  private static func watch(
    _ change: Change
  ) throws -> (period: Period, shown: [(instant: Int64, time: DeviceTime)]) {
    let zone = try LogbookZone(name: change.zone)
    let noon: Int64 = Time.at(change.date) + 43_200
    let day = Grouping.day(of: DeviceTime(seconds: noon))
    var shown: [(instant: Int64, time: DeviceTime)] = []
    for instant in stride(from: noon - 259_200, to: noon + 259_200, by: Int(step)) {
      let time = DeviceTime(seconds: instant + Int64(zone.offset(atUTC: instant)))
      if abs(Grouping.day(of: time) - day) <= 1 { shown.append((instant, time)) }
    }
    let start = try #require(shown.first?.instant)
    return (Period(start: start, end: start + Int64(shown.count) * step), shown)
  }

  @Test(arguments: changes, [Grouping.day, .hour, .weekday])
  func aroundClockChangesEveryGroupLastsAsLongAsTheClockShows(_ change: Change, _ grouping: Grouping) throws {
    let (period, shown) = try Self.watch(change)
    var zone = try LogbookZone(name: change.zone)
    let possible = PossibleSensorTime(period, by: grouping) { zone.placement(of: $0).utcOffset }
    var expected: [Int: Int64] = [:]
    for moment in shown {
      let key = try #require(grouping.key(of: moment.time))
      expected[key, default: 0] += Self.step
    }
    #expect(possible.groups.mapValues(\.seconds) == expected)
    #expect(possible.total.seconds == period.end - period.start && possible.total.days == 3)
    #expect(possible.keys == expected.keys.sorted())
    if grouping == .day {
      #expect(possible.keys.map { possible.groups[$0]?.minutes } == [1440, change.minutes, 1440])
    }
  }

  @Test(arguments: changes) func aroundClockChangesTheDaysOfACurveBeginAndEndAtMidnight(_ change: Change)
    throws
  {
    let (period, shown) = try Self.watch(change)
    var zone = try LogbookZone(name: change.zone)
    let days = DayTally(period) { zone.placement(of: $0).utcOffset }.finish()
    try #require(days.count == 3)
    for day in days {
      let own = shown.filter { Grouping.day(of: $0.time) == day.day }.map(\.instant)
      let (first, last) = (try #require(own.first), try #require(own.last))
      #expect(day.period == Period(start: first, end: last + Self.step))
      // Every hour that the clock shows is listed once, and then the midnight at the end of the day.
      let hours = Set(
        shown.filter { Grouping.day(of: $0.time) == day.day }.compactMap { Grouping.hour.key(of: $0.time) })
      #expect(day.hours.map(\.hour) == hours.sorted() + [24])
      #expect(zip(day.hours, day.hours.dropFirst()).allSatisfy { $0.instant < $1.instant })
      #expect(day.hours.last?.instant == day.period.end)
    }
    #expect(days[1].date == change.date && days[1].period.minutes == change.minutes)
  }

  /// A sensor without pauses covers the whole day, and no time is counted twice.
  @Test(arguments: changes) func aSensorWithoutPausesCoversADayOfAnyLength(_ change: Change) throws {
    let (period, _) = try Self.watch(change)
    var zone = try LogbookZone(name: change.zone)
    var options = Statistics.Options()
    (options.grouping, options.since, options.until) = (.day, period.start, period.end)
    var statistics = Statistics(options)
    for instant in stride(from: period.start, to: period.end, by: 900) {
      let offset = zone.offset(atUTC: instant)
      statistics.add(Reading.sensor(100, at: instant + Int64(offset), offset: offset))
    }
    let result = statistics.finish { zone.placement(of: $0).utcOffset }
    #expect(result.groups.map(\.sensor.possibleMinutes) == [1440, change.minutes, 1440])
    #expect(result.groups.map(\.sensor.minutes) == [1440, change.minutes, 1440])
    #expect(result.groups.map(\.sensor.active.number) == [100, 100, 100])
    #expect(result.total.sensor.active.number == 100 && result.total.leftOut[.repeated] == 0)
  }

  /// An hour that the clock shows twice has twice the samples, because the two passes cannot be
  /// distinguished.
  @Test func inStatisticsByHourARepeatedHourHasTwiceTheSamples() throws {
    let change = Self.changes[1]
    let (period, _) = try Self.watch(change)
    var zone = try LogbookZone(name: change.zone)
    var options = Statistics.Options()
    options.grouping = .hour
    var statistics = Statistics(options)
    for instant in stride(from: period.start, to: period.end, by: 300) {
      let offset = zone.offset(atUTC: instant)
      statistics.add(Reading.sensor(100, at: instant + Int64(offset), offset: offset))
    }
    let hours = statistics.finish { zone.placement(of: $0).utcOffset }.groups
    #expect(hours.map(\.sensor.readings) == (0..<24).map { $0 == 2 ? 48 : 36 })
    #expect(hours.map(\.sensor.possibleMinutes) == (0..<24).map { $0 == 2 ? 240 : 180 })
  }

  @Test func aDayOf23HoursIsACompleteDay() throws {
    var zone = try LogbookZone(name: "Europe/Berlin")
    var options = Statistics.Options()
    options.grouping = .day
    let start = Time.at("2026-03-28T23:00")
    func percent(_ minutes: Int64) -> Metric {
      var statistics = Statistics(options)
      for instant in stride(from: start, to: start + minutes * 60, by: 300) {
        let offset = zone.offset(atUTC: instant)
        statistics.add(Reading.sensor(100, at: instant + Int64(offset), offset: offset))
      }
      let result = statistics.finish { zone.placement(of: $0).utcOffset }
      return result.total.sensor.ranges[GlucoseBand.target.rawValue].percent
    }
    #expect(percent(23 * 60).number == 100)
    #expect(percent(23 * 60 - 5) == .absent(.shortTime(minutes: 1375)))
  }

  // MARK: - Groups of the calendar

  @Test(arguments: [
    ("2020-12-27", "2020-W52"), ("2020-12-28", "2020-W53"), ("2021-01-03", "2020-W53"),
    ("2021-01-04", "2021-W01"), ("2024-12-30", "2025-W01"), ("2026-01-01", "2026-W01"),
    ("2026-12-31", "2026-W53"), ("2027-01-03", "2026-W53"), ("2000-01-01", "1999-W52"),
  ])
  func weeksAreNumberedAsInTheISOCalendar(_ date: String, _ week: String) throws {
    let time = try #require(DeviceTime(text: "\(date)T12:00"))
    #expect(Grouping.week.key(of: time).map(Grouping.week.name) == week)
  }

  @Test func everyDayOfFourYearsIsASeparateGroup() throws {
    var (days, weekdays, months): (Set<String>, [Int], [String]) = ([], [], [])
    for day in 0..<Int64(1461) {
      let time = DeviceTime(seconds: Time.at("2024-01-01") + day * 86_400 + 86_399)
      days.insert(Grouping.day.name(of: try #require(Grouping.day.key(of: time))))
      weekdays.append(try #require(Grouping.weekday.key(of: time)))
      let month = Grouping.month.name(of: try #require(Grouping.month.key(of: time)))
      if months.last != month { months.append(month) }
    }
    #expect(days.count == 1461 && days.contains("2024-02-29") && !days.contains("2026-02-29"))
    // The first day of 2024 was a Monday.
    #expect(weekdays == (0..<1461).map { $0 % 7 })
    #expect(months.count == 48 && months == months.sorted() && months.first == "2024-01")
  }

  @Test(arguments: [
    (Grouping.day, "2026-05-06"), (.week, "2026-W19"), (.month, "2026-05"), (.hour, "23"),
    (.weekday, "Wednesday"),
  ])
  func theLastSecondOfADayBelongsToItsGroup(_ grouping: Grouping, _ name: String) throws {
    let time = try #require(DeviceTime(text: "2026-05-06T23:59:59"))
    #expect(grouping.key(of: time).map(grouping.name) == name)
    let next = DeviceTime(seconds: time.seconds + 1)
    let isSame = grouping.key(of: next) == grouping.key(of: time)
    #expect(isSame == (grouping == .week || grouping == .month))
    var finder = GroupFinder(grouping)
    #expect(finder.key(of: time) == grouping.key(of: time) && finder.key(of: next) == grouping.key(of: next))
    #expect(finder.key(of: time) == grouping.key(of: time))
  }
}
