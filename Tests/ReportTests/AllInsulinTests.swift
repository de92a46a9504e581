// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

private typealias Figures = CountingFiguresTests
private typealias Entry = CountingFiguresTests.Entry

/// Tests statistics of two sources, if one source does not state the use of its doses.
struct AllInsulinTests {
  private static let app = CountingSource(format: "contour")

  /// The hours and units of the boluses of a day. The units vary from day to day.
  private static func boluses(of day: Int64) -> [(hour: Int64, units: Double)] {
    [(7, 6), (12, 8), (16, 3), (19, 8.5)].map { ($0.0, $0.1 + Double(day * 7 % 5) / 2) }
  }

  /// The boluses of each day, and 18 units of basal insulin each evening, with their uses.
  private static func diary(days: Int64 = 10) -> [Entry] {
    (0..<days).flatMap { day in
      boluses(of: day).map { dose($0.units, day, $0.hour, "rapid") } + [dose(18, day, 22, "long")]
    }
  }

  private static func dose(_ units: Double, _ day: Int64, _ hour: Int64, _ use: String) -> Entry {
    var dose = Entry(
      kind: .insulin, amount: units, seconds: day * 86_400 + hour * 3600 + (day * 613 + hour * 97) % 3000,
      source: Figures.diary)
    dose.subtype = use
    return dose
  }

  /// The same doses in another source, without their uses.
  private static func copy(
    _ entries: [Entry], later: Int64 = 0, source: CountingSource = Figures.phone
  ) -> [Entry] {
    entries.enumerated().map { index, entry in
      // No two doses have the same delay.
      let seconds = later == 0 ? 0 : later + Int64(index * 37 % 600)
      return Entry(
        kind: .insulin, amount: entry.amount, seconds: entry.seconds + seconds, source: source, subtype: "")
    }
  }

  /// One dose of unknown use for each day and period of the day, with the sum of these doses.
  private static func sums(_ entries: [Entry], periodSeconds: Int64) -> [Entry] {
    Dictionary(grouping: entries) { $0.seconds / periodSeconds }.sorted { $0.key < $1.key }.map {
      period, doses in
      Entry(
        kind: .insulin, amount: doses.reduce(0) { $0 + $1.amount }, seconds: period * periodSeconds,
        source: Figures.phone, subtype: "")
    }
  }

  private static func isWithheld(_ result: StatisticsResult) -> Bool {
    let amounts = result.total.amounts
    return amounts.insulin.sum == nil && amounts.bolus.sum == nil && amounts.basal.sum == nil
  }

  @Test(arguments: [86_400, 3600] as [Int64])
  func sumsOfAllInsulinWithoutUseHaveNoSumWithTheDosesOfAnotherSource(period: Int64) throws {
    let own = Self.diary()
    let result = Figures.result(own + Self.sums(own, periodSeconds: period), by: .day)
    #expect(Self.isWithheld(result))
    let doubt = try #require(result.doubts.first)
    #expect(result.doubts.count == 1 && doubt.isAllInsulin && doubt.days == 10)
    #expect(doubt.first.total == doubt.second.total)
    #expect(result.groups.allSatisfy { $0.amounts.insulin.sum == nil })
  }

  @Test func dosesWithoutUseMinutesAfterThoseOfAnotherSourceHaveNoSum() {
    let own = Self.diary()
    let result = Figures.result(own + Self.copy(own, later: 300))
    #expect(Self.isWithheld(result))
    #expect(result.doubts.count == 1 && result.doubts.allSatisfy(\.isAllInsulin))
    // Doses within a minute count once.
    let matched = Figures.result(own + Self.copy(own))
    #expect(
      matched.doubts.isEmpty
        && matched.total.amounts.insulin.sum == Figures.result(own).total.amounts.insulin.sum)
  }

  /// Without its use, a basal dose fits no bolus of the other source.
  @Test func aBasalDoseThatAnotherSourceRepeatsWithoutUseHasNoSum() {
    let own = Self.diary().filter { $0.subtype == "long" }
    let result = Figures.result(own + Self.copy(own, later: 120))
    #expect(Self.isWithheld(result))
    // The boluses of both sources match, so only the basal doses are compared.
    let all = Self.diary()
    let copies = Self.copy(all).map { entry in
      var entry = entry
      if entry.amount == 18 { entry.seconds += 1300 }
      return entry
    }
    #expect(Self.isWithheld(Figures.result(all + copies)))
  }

  @Test func dosesWithoutUseWhoseTotalsDifferFromAnotherSourceAreAdded() {
    // The other source has neither the amount of the boluses nor that of all insulin.
    let own = Self.diary()
    for factor in [0.2, 0.4, 1.6] {
      let other = Self.copy(own, later: 1500).map { entry in
        Entry(
          kind: .insulin, amount: entry.amount * factor, seconds: entry.seconds, source: entry.source,
          subtype: "")
      }
      let result = Figures.result(own + other)
      #expect(result.doubts.isEmpty && result.total.amounts.insulin.sum != nil, "\(factor)")
    }
  }

  /// The totals agree on fewer than four fifths of the days.
  @Test func dosesWithoutUseWhoseTotalsAgreeOnSomeDaysAreAdded() {
    let own = Self.diary(days: 20)
    let other = (0..<20 as Range<Int64>).map { day in
      let total = own.filter { $0.seconds / 86_400 == day }.reduce(0) { $0 + $1.amount }
      return Entry(
        kind: .insulin, amount: day % 3 == 0 ? total : total * (day % 3 == 1 ? 0.42 : 1.58),
        seconds: day * 86_400 + 50_000, source: Figures.phone, subtype: "")
    }
    #expect(Figures.result(own + other).doubts.isEmpty)
  }

  /// The other source repeats the boluses and has no basal insulin. So the basal insulin has a sum.
  @Test func bolusesThatAnotherSourceRepeatsWithoutUseKeepTheSumOfBasalInsulin() {
    let own = Self.diary()
    let copies = Self.copy(own.filter { $0.subtype == "rapid" }).map { entry in
      var entry = entry
      entry.seconds += 200
      return entry
    }
    let result = Figures.result(own + copies)
    #expect(result.total.amounts.insulin.sum == nil && result.total.amounts.bolus.sum == nil)
    #expect(result.total.amounts.basal.sum == 180 && result.doubts.allSatisfy { !$0.isAllInsulin })
  }

  /// One source has the basal insulin, the other one the boluses of about the same amount.
  @Test func basalInsulinAndBolusesOfUnknownUseInTwoSourcesAreAdded() {
    let boluses = Self.copy(
      Self.diary().filter { $0.subtype == "rapid" }.map { entry in
        Entry(kind: .insulin, amount: entry.amount * 0.65, seconds: entry.seconds, source: entry.source)
      }, later: 60)
    let sum = boluses.reduce(0) { $0 + $1.amount }
    // The basal insulin is a rate of a pump, or an injection.
    let rates = (0..<10 as Range<Int64>).map {
      Entry(
        kind: .insulin, amount: 0.75, seconds: $0 * 86_400, source: Figures.diary, subtype: "basal",
        rateHours: 24)
    }
    let segments = (0..<480 as Range<Int64>).map {
      Entry(
        kind: .insulin, amount: 0.375, seconds: $0 * 1800, source: Figures.diary, subtype: "basal",
        minutes: 30)
    }
    for basal in [rates, segments, Self.diary().filter { $0.subtype == "long" }] {
      let result = Figures.result(basal + boluses)
      #expect(result.doubts.isEmpty)
      #expect(result.total.amounts.insulin.sum.map { abs($0 - 180 - sum) < 0.01 } == true)
    }
  }

  /// A pump has rates and boluses, and another source has the sum of both.
  @Test func sumsOfAllInsulinWithoutUseHaveNoSumWithAPump() {
    let boluses = Self.diary().filter { $0.subtype == "rapid" }
    let rates = (0..<10 as Range<Int64>).map {
      Entry(
        kind: .insulin, amount: 0.75, seconds: $0 * 86_400, source: Figures.diary, subtype: "basal",
        rateHours: 24)
    }
    let sums = Self.sums(Self.diary(), periodSeconds: 86_400).map { entry in
      var entry = entry
      entry.seconds += 300
      return entry
    }
    #expect(Self.isWithheld(Figures.result(boluses + rates + sums)))
    // A diary of boluses states no basal insulin.
    let typed = Figures.result(boluses + rates + Self.copy(boluses, later: 300))
    #expect(typed.total.amounts.bolus.sum == nil && typed.total.amounts.basal.sum != nil)
    #expect(typed.doubts.allSatisfy { !$0.isAllInsulin })
  }

  @Test func aDecisionAboutSourcesWithoutUseAllowsASum() {
    let own = Self.diary()
    let all = own + Self.sums(own, periodSeconds: 86_400)
    let total = own.reduce(0) { $0 + $1.amount }
    let both = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    #expect(Figures.result(all, rules: both).total.amounts.insulin.sum == 2 * total)
    let only = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr")
    ])
    #expect(Figures.result(all, rules: only).total.amounts.insulin.sum == total)
    #expect(Figures.result(all, rules: .all).doubts.isEmpty)
  }

  @Test func figuresOfADayWithoutUseAgreeWithThoseOfThePeriod() {
    let own = Self.diary()
    let all = own + Self.sums(own.filter { $0.seconds < 6 * 86_400 }, periodSeconds: 3600)
    let days = Figures.result(all, by: .day).groups.map { $0.amounts.insulin.sum == nil }
    #expect(days == [true, true, true, true, true, true, false, false, false, false])
    for day in 0..<10 as Range<Int64> {
      let alone = Figures.result(all, of: day..<day + 1).total.amounts.insulin.sum
      #expect((alone == nil) == days[Int(day)], "\(day)")
    }
  }

  /// One app has the boluses, another one the basal insulin, and a third source the sums of both.
  @Test func sumsOfTwoAppsWithoutUseHaveNoSum() {
    let own = Self.diary().map { entry in
      Entry(
        kind: .insulin, amount: entry.amount, seconds: entry.seconds,
        source: entry.subtype == "long" ? Self.app : entry.source, subtype: entry.subtype)
    }
    let result = Figures.result(own + Self.sums(own, periodSeconds: 86_400))
    #expect(Self.isWithheld(result) && result.doubts.count == 2)
    #expect(Figures.result(own).doubts.isEmpty)
  }
}
