// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests days on which a pump gave basal insulin that its source does not state.
@Suite struct RateCoverageTests {
  private typealias Figures = CountingFiguresTests
  private typealias Entry = CountingFiguresTests.Entry
  private static let site = CountingSource(format: "nightscout", part: "loop://iPhone")
  private static let hour: Int64 = 3600

  /// Rates of 2 U/h. In each of these hours, counted from the start, a rate begins and lasts for `minutes`.
  private static func rates(
    _ source: CountingSource = site, hours: Range<Int64>, minutes: Double, after seconds: Int64 = 191
  ) -> [Entry] {
    hours.map {
      Entry(
        kind: .insulin, amount: 2, seconds: $0 * hour + seconds, source: source, subtype: "basal",
        rateHours: minutes / 60)
    }
  }

  /// A dose at noon of each of these days.
  private static func doses(
    days: Range<Int64>, _ subtype: String = "rapid", _ source: CountingSource = site
  ) -> [Entry] {
    days.map {
      Entry(kind: .insulin, amount: 10, seconds: $0 * 86_400 + 12 * hour, source: source, subtype: subtype)
    }
  }

  private static func sums(_ entries: [Entry], of period: Range<Int64>? = nil) -> [Double?] {
    let amounts = Figures.result(entries, of: period).total.amounts
    return [amounts.insulin, amounts.basal, amounts.bolus].map { amount in
      amount.sum.map { ($0 * 1000).rounded() / 1000 }
    }
  }

  /// The sum of all insulin on each day, from statistics of that day only.
  private static func eachDay(_ entries: [Entry], _ days: Range<Int64>) -> [Double?] {
    days.map { sums(entries, of: $0..<$0 + 1)[0] }
  }

  /// If the rates cover only a part of a day, their sum is smaller than the basal insulin of the day.
  @Test(arguments: [
    (0..<48 as Range<Int64>, 0), (12..<48, 1), (12..<36, 2), (1..<47, 0), (4..<48, 1), (30..<48, 1),
  ])
  func daysThatBasalRatesCoverOnlyPartlyAreCounted(hours: Range<Int64>, count: Int) {
    let pump = CountingSource(format: "tidepool", part: "")
    let rates = Self.rates(pump, hours: hours, minutes: 60, after: 0)
    let amounts = Figures.result(rates + Self.doses(days: 0..<2, "rapid", pump)).total.amounts
    #expect(amounts.insulin.partialDays == count && amounts.basal.partialDays == count)
    #expect(amounts.bolus.partialDays == 0)
    // Long-acting insulin acts for the whole day, so the basal insulin is complete.
    let both = Figures.result(rates + Self.doses(days: 0..<2, "long", pump)).total.amounts
    #expect(both.basal.partialDays == 0)
  }

  // MARK: Sums that are withheld

  @Test(arguments: [15, 30, 50] as [Double])
  func insulinHasNoSumIfTheRateBetweenTemporaryRatesIsUnknown(minutes: Double) {
    let entries = Self.rates(hours: 0..<14 * 24, minutes: minutes) + Self.doses(days: 0..<14)
    let result = Figures.result(entries, by: .day)
    let total = result.total.amounts
    #expect(total.insulin.sum == nil && total.basal.sum == nil && total.bolus.sum == 140)
    #expect(total.insulin.perDay == .absent(.incompleteRates))
    #expect(total.basal.perDay == .absent(.incompleteRates))
    #expect(result.groups.map(\.amounts.insulin.sum) == [Double?](repeating: nil, count: 14))
    // The statistics of a single day are equal to those of this day within all days.
    #expect(Self.eachDay(entries, 0..<14) == result.groups.map(\.amounts.insulin.sum))
  }

  @Test func oneDayWithGapsWithholdsOnlySumsThatIncludeTheDay() {
    let complete = Self.rates(hours: 0..<48, minutes: 60) + Self.rates(hours: 72..<120, minutes: 60)
    let entries =
      complete + Self.rates(hours: 48..<72, minutes: 20) + Self.doses(days: 0..<5)
    #expect(Self.eachDay(entries, 0..<5) == [58, 58, nil, 58, 58])
    #expect(Self.sums(entries) == [nil, nil, 50])
    #expect(Self.sums(entries, of: 0..<2) == [116, 96, 20])
  }

  /// A person without an automatic pump sets a temporary rate for sports, once a week or once a month.
  @Test func daysAroundRareTemporaryRatesHaveNoSum() {
    func rate(day: Int64) -> [Entry] { Self.rates(hours: day * 24 + 17..<day * 24 + 18, minutes: 60) }
    let weekly = rate(day: 0) + rate(day: 7) + Self.doses(days: 0..<10)
    #expect(Self.eachDay(weekly, 0..<10) == [Double?](repeating: nil, count: 8) + [10, 10])
    let monthly = rate(day: 0) + rate(day: 30) + Self.doses(days: 0..<31)
    #expect(Self.eachDay(monthly, 0..<31).enumerated().filter { $0.element == nil }.map(\.offset) == [0, 30])
    #expect(Self.sums(monthly) == [nil, nil, 310])
  }

  @Test func aSourceWithGapsHasNoSumEvenAfterRatesOfAnotherSource() {
    let pump = CountingSource(format: "tidepool", part: "pump")
    let entries =
      Self.rates(pump, hours: 0..<48, minutes: 60, after: 0) + Self.rates(hours: 48..<96, minutes: 30)
      + Self.doses(days: 0..<4)
    #expect(Self.eachDay(entries, 0..<4) == [58, 58, nil, nil])
  }

  // MARK: Sums that stay

  @Test func ratesWithoutGapsHaveASumAlsoOnTheirFirstAndLastDay() {
    // The rates begin in the afternoon and end in the morning. Each later day has a pause of two hours.
    let pause = Self.rates(hours: 15..<30, minutes: 60) + Self.rates(hours: 32..<54, minutes: 60)
    let entries = pause + Self.rates(hours: 56..<81, minutes: 60) + Self.doses(days: 0..<4)
    #expect(Self.eachDay(entries, 0..<4) == [28, 54, 54, 28])
    #expect(Self.sums(entries) == [164, 124, 40])
    // Fewer than five whole hours do not show that the source states all rates, and neither does a single
    // rate.
    #expect(Self.sums(Self.rates(hours: 9..<14, minutes: 60) + Self.doses(days: 0..<1)) == [nil, nil, 10])
    #expect(Self.sums(Self.rates(hours: 5..<14, minutes: 60) + Self.doses(days: 0..<1)) == [28, 18, 10])
    #expect(Self.sums(Self.rates(hours: 5..<6, minutes: 900) + Self.doses(days: 0..<1)) == [nil, nil, 10])
  }

  @Test(arguments: ["tidepool", "tandem", "apple-health", "carelink", ""])
  func gapsBetweenRatesAreSuspensionsIfTheSourceStatesAllRates(format: String) {
    let source = CountingSource(format: format, part: "pump")
    let entries = Self.rates(source, hours: 0..<72, minutes: 30) + Self.doses(days: 0..<3)
    #expect(Self.sums(entries) == [102, 72, 30] && Self.eachDay(entries, 0..<3) == [34, 34, 34])
  }

  @Test func ratesOfAnotherSourceFillTheGaps() {
    let phone = CountingSource(format: "apple-health", part: "Loop")
    let segments = (0..<72 as Range<Int64>).map {
      Entry(
        kind: .insulin, amount: 1, seconds: $0 * Self.hour + 1991, source: phone, subtype: "basal",
        minutes: 30)
    }
    let rates = Self.rates(hours: 0..<72, minutes: 30)
    #expect(Self.sums(rates + segments + Self.doses(days: 0..<3)) == [174, 144, 30])
    #expect(
      Self.sums(rates + segments.filter { $0.seconds % 7200 > 3600 } + Self.doses(days: 0..<3))[0] == nil)
  }

  @Test func theInsulinOfAPersonWithLongActingInsulinHasASum() {
    let boluses = Self.doses(days: 4..<13)
    let pens = boluses + Self.doses(days: 4..<13, "long")
    #expect(Self.sums(pens) == [180, 90, 90])
    // For nine days the person uses pens. Before and after, the person uses a pump, whose rates have gaps.
    let pump = Self.rates(hours: 0..<96, minutes: 30) + Self.rates(hours: 312..<400, minutes: 30)
    #expect(Self.eachDay(pens + pump, 4..<13) == [Double?](repeating: 20, count: 9))
    #expect(Self.eachDay(boluses + pump, 4..<13) == [Double?](repeating: nil, count: 9))
  }

  // MARK: Periods

  /// The rate just before midnight states 90 minutes, but the next rate ends it after two minutes.
  @Test func theSumOfADayIsTheSameInEveryPeriod() {
    let entries = (0..<72 as Range<Int64>).flatMap { hour in
      Self.rates(hours: hour..<hour + 1, minutes: 90, after: hour % 24 == 23 ? 3500 : 20)
    }
    let groups = Figures.result(entries, by: .day).groups.map(\.amounts.basal.sum)
    let days = (0..<3 as Range<Int64>).map {
      Figures.result(entries, of: $0..<$0 + 1).total.amounts.basal.sum
    }
    #expect(days[0] == groups[0] && days[1] == groups[1] && days[0] != nil)
    // No later rate ends the last rate, so the sum of the last day differs.
    #expect(days[2] == groups[2] && days[2] != days[1])
  }

  @Test func aChangeOfTheClockIsNotAGap() {
    var statistics = Statistics(Statistics.Options())
    for hour in 0..<72 as Range<Int64> {
      let instant = Figures.start + hour * 3600
      let offset: Int32 = hour < 27 ? 3600 : 7200
      statistics.add(
        .insulin, Self.rates(hours: 0..<1, minutes: 60)[0].fields,
        deviceTime: DeviceTime(seconds: instant + Int64(offset)),
        placement: Placement(utcOffset: offset, source: .stated), from: Self.site)
    }
    #expect(statistics.finish { _ in 3600 }.total.amounts.basal.sum == 144)
  }
}
