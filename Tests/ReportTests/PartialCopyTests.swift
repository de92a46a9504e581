// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests sources that repeat a part of another source, two sources that together repeat a third, and sources
/// that state one dose in two ways.
@Suite struct PartialCopyTests {
  private typealias Figures = CountingFiguresTests
  private typealias Entry = CountingFiguresTests.Entry
  private static let pen = CountingSource(format: "glooko", part: "pen")

  /// Four doses of a day whose amounts and times differ from day to day.
  private static func doses(_ source: CountingSource, days: Int64 = 8, later: Int64 = 0) -> [Entry] {
    (0..<days).flatMap { day in
      (0..<4).map { (number: Int64) in
        Entry(
          kind: .insulin, amount: 3 + Double(number) + Double(day * 7 % 5) / 2,
          seconds: day * 86_400 + 25_000 + number * 14_000 + day * day * 700 % 3000 + later, source: source)
      }
    }
  }

  /// Seven doses of a day whose amounts and times differ from day to day.
  private static func manyDoses(_ source: CountingSource, days: Int64, later: Int64 = 0) -> [Entry] {
    (0..<days).flatMap { day in
      (0..<7).map { (number: Int64) in
        Entry(
          kind: .insulin, amount: 2 + Double(number * 3 % 7) + Double(day * 3 % 5) / 4,
          seconds: day * 86_400 + 22_000 + number * 8000 + (day * 1700 + number * number * 130) % 3000
            + later,
          source: source)
      }
    }
  }

  private static func part(_ entries: [Entry], _ isTaken: (Int) -> Bool) -> [Entry] {
    entries.enumerated().filter { isTaken($0.offset) }.map(\.element)
  }

  private static func moved(
    _ entries: [Entry], to source: CountingSource, by seconds: Int64, factor: Double = 1
  )
    -> [Entry]
  {
    entries.map { entry in
      var other = Entry(
        kind: entry.kind, amount: entry.amount * factor, seconds: entry.seconds + seconds, source: source)
      other.subtype = entry.subtype
      return other
    }
  }

  // MARK: A copy that lacks a part

  /// One source has a meal with its bolus, and the other source has only the bolus.
  @Test func aBolusCopiedWithoutItsMealCountsOnceAndTheMealStillCounts() {
    let own = Self.doses(Figures.diary)
    let meals = own.map {
      Entry(kind: .food, amount: $0.amount * 10, seconds: $0.seconds, source: Figures.diary)
    }
    let alone = Figures.result(own + meals)
    let both = Figures.result(own + meals + Self.moved(own, to: Figures.phone, by: 40))
    #expect(both.total.amounts.bolus.sum == alone.total.amounts.bolus.sum)
    #expect(both.total.amounts.carbohydrates.sum == alone.total.amounts.carbohydrates.sum)
    #expect(both.doubts.isEmpty && both.total.leftOut[.doubled] == own.count)
  }

  @Test(arguments: [-5400, 200, 3600] as [Int64], [2, 3])
  func aCopyOfSomeDosesWithAConstantDelayHasNoSum(shift: Int64, every: Int) {
    let own = Self.doses(Figures.diary)
    let copy = Self.moved(Self.part(own) { $0 % every == 0 }, to: Figures.phone, by: shift)
    let result = Figures.result(own + copy)
    #expect(result.doubts.count == 1 && result.total.amounts.bolus.sum == nil, "\(result.doubts)")
    #expect(result.doubts.first?.shiftSeconds.map(abs) == (shift == 200 ? nil : abs(shift)))
    let answered = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    #expect(Figures.result(own + copy, rules: answered).total.amounts.bolus.sum != nil)
  }

  /// At the same minutes, the pump has a part of the carbohydrates that the diary has.
  @Test func mealsOfTwoSourcesInTheSameMinutesHaveNoSumWhateverTheirAmounts() {
    func meals(_ source: CountingSource, _ grams: Double, later: Int64 = 0, days: Int64 = 6) -> [Entry] {
      (0..<days).map {
        Entry(kind: .food, amount: grams, seconds: $0 * 86_400 + 25_200 + later, source: source)
      }
    }
    let diary = meals(Figures.diary, 35) + meals(Figures.diary, 10)
    let result = Figures.result(diary + meals(Figures.phone, 20, later: 20))
    #expect(result.doubts.map(\.kind) == [.food] && result.doubts.map(\.days) == [6])
    #expect(result.total.amounts.carbohydrates.sum == nil)
    func sum(_ entries: [Entry]) -> Double? {
      Figures.result(diary + entries).total.amounts.carbohydrates.sum
    }
    // The sum is known if the meals are ten minutes apart, if they are few, or if less than 80 % have equal
    // minutes.
    #expect(sum(meals(Figures.phone, 20, later: 600)) == 390)
    #expect(sum(meals(Figures.phone, 20, days: 4)) == 350)
    #expect(sum(meals(Figures.phone, 20) + meals(Figures.phone, 5, later: 36_000)) == 420)
    let doses =
      Self.doses(Figures.diary) + Self.moved(Self.doses(Figures.diary), to: Self.pen, by: 0, factor: 0.5)
    #expect(Figures.result(doses).doubts.isEmpty)
  }

  @Test func differentDosesOfASmallerSourceAreNotTreatedAsCopies() {
    let own = Self.doses(Figures.diary)
    // There is no warning in these three cases. The smaller source has amounts that the first source never
    // has, equal amounts at varying delays, or only few equal amounts.
    let other = Self.moved(Self.part(own) { $0 % 2 == 0 }, to: Figures.phone, by: 3600, factor: 0.77)
    #expect(Figures.result(own + other).doubts.isEmpty)
    let scattered = Self.part(own) { $0 % 2 == 0 }.enumerated().flatMap { index, entry in
      Self.moved([entry], to: Figures.phone, by: 1300 + Int64(index) * 2900)
    }
    #expect(Figures.result(own + scattered).doubts.isEmpty)
    let few = Self.moved(Self.part(own) { $0 % 8 == 0 }, to: Figures.phone, by: 3600)
    #expect(few.count == 4 && Figures.result(own + few).doubts.isEmpty)
  }

  @Test(arguments: [-5400, 200, 3600] as [Int64], [1, 2] as [Int64])
  func aCopyOnOneOrTwoDaysHasNoSum(shift: Int64, days: Int64) {
    let own = Self.manyDoses(Figures.diary, days: 6)
    let copy = Self.manyDoses(Figures.phone, days: days, later: shift)
    let result = Figures.result(own + copy, by: .day)
    #expect(result.doubts.map(\.days) == [Int(days)], "\(result.doubts)")
    // The other days keep their sums.
    let sums = result.groups.map { $0.amounts.bolus.sum }
    #expect(sums.count == 6 && sums.prefix(Int(days)).allSatisfy { $0 == nil })
    #expect(sums.dropFirst(Int(days)).allSatisfy { $0 != nil })
    let answered = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    #expect(Figures.result(own + copy, rules: answered).doubts.isEmpty)
  }

  @Test func fewOrDifferentDosesOfAnotherSourceOnOneDayCauseNoWarning() {
    let own = Self.manyDoses(Figures.diary, days: 6)
    let copy = Self.manyDoses(Figures.phone, days: 1, later: 200)
    func hasWarning(_ other: [Entry]) -> Bool { !Figures.result(own + other).doubts.isEmpty }
    #expect(hasWarning(copy))
    // There is no warning for only four doses, for other amounts, or for times without a constant
    // difference.
    #expect(!hasWarning(Self.part(copy) { $0 < 4 }))
    #expect(!hasWarning(Self.moved(copy, to: Figures.phone, by: 0, factor: 0.83)))
    #expect(
      !hasWarning(
        copy.enumerated().flatMap { Self.moved([$0.element], to: Figures.phone, by: Int64($0.offset) * 1000) }
      ))
    // There is no warning if the doses have only two different amounts.
    let equal = Self.manyDoses(Figures.diary, days: 1).enumerated().map { index, entry in
      Entry(kind: .insulin, amount: index % 2 == 0 ? 3 : 4, seconds: entry.seconds, source: entry.source)
    }
    #expect(Figures.result(equal + Self.moved(equal, to: Figures.phone, by: 200)).doubts.isEmpty)
  }

  /// A person with the same doses every day changes the app at noon.
  @Test func equalDosesOfTheDayBeforeInAnotherAppAreAdded() {
    func day(_ number: Int64, _ hours: Range<Int64>, _ source: CountingSource) -> [Entry] {
      hours.map {
        Entry(
          kind: .insulin, amount: 2 + Double($0 % 7) / 2, seconds: number * 86_400 + $0 * 3600, source: source
        )
      }
    }
    let before = day(0, 6..<20, Figures.diary) + day(1, 6..<13, Figures.diary)
    let after = day(1, 13..<20, Figures.phone) + day(2, 6..<20, Figures.phone)
    let result = Figures.result(before + after)
    #expect(result.doubts.isEmpty && result.total.amounts.bolus.sum != nil)
  }

  /// One person's fixed doses: four units at 8:00, 13:00 and 19:00. Each app has some of them.
  @Test func fixedDosesDividedBetweenTwoAppsAllCount() {
    func fixed(_ hours: [Int64], _ source: CountingSource) -> [Entry] {
      (0..<9).flatMap { day in
        hours.map { Entry(kind: .insulin, amount: 4, seconds: day * 86_400 + $0 * 3600, source: source) }
      }
    }
    let result = Figures.result(fixed([8, 19], Figures.diary) + fixed([13], Figures.phone))
    #expect(result.doubts.isEmpty && result.total.amounts.bolus.sum == 108)
  }

  // MARK: Three sources, if two of them repeat the third

  @Test func dosesCountOnceIfTwoOtherSourcesEachRepeatHalfOfThem() {
    let own = Self.doses(Figures.diary)
    let copies =
      Self.moved(Self.part(own) { $0 % 2 == 0 }, to: Figures.phone, by: 30)
      + Self.moved(Self.part(own) { $0 % 2 == 1 }, to: Self.pen, by: -20)
    let result = Figures.result(own + copies)
    #expect(result.total.amounts.bolus.sum == Figures.result(own).total.amounts.bolus.sum)
    #expect(result.doubts.isEmpty)
  }

  @Test func dosesOfTwoSourcesThatTogetherResembleAThirdSourceHaveNoSum() {
    let own = Self.doses(Figures.diary)
    // The amounts differ a little and the times by minutes, so no single dose matches.
    let copies =
      Self.moved(Self.part(own) { $0 % 2 == 0 }, to: Figures.phone, by: 300, factor: 1.07)
      + Self.moved(Self.part(own) { $0 % 2 == 1 }, to: Self.pen, by: -240, factor: 1.07)
    let result = Figures.result(own + copies)
    #expect(result.total.amounts.bolus.sum == nil)
    #expect(Set(result.doubts.flatMap { [$0.first.source, $0.second.source] }).count == 3)
    let grouped = Figures.result(own + copies, by: .day).groups
    for day in 0..<8 {
      let alone = Figures.result(own + copies, of: Int64(day)..<Int64(day) + 1)
      #expect((alone.total.amounts.bolus.sum == nil) == (grouped[day].amounts.bolus.sum == nil), "\(day)")
    }
  }

  @Test func threeSourcesWithDifferentDosesAreAdded() {
    // The two pens have the same total as the app, but not on each day.
    let sources: [(source: CountingSource, even: Double, odd: Double)] = [
      (Figures.diary, 14, 1), (Figures.phone, 2.5, 2.5), (Self.pen, 5, 5),
    ]
    let entries = (0..<20).flatMap { (day: Int64) in
      sources.enumerated().map { place, source in
        Entry(
          kind: .insulin, amount: day % 2 == 0 ? source.even : source.odd,
          seconds: day * 86_400 + 30_000 + Int64(place) * 7777 + day * day * 31, source: source.source)
      }
    }
    #expect(Figures.result(entries).doubts.isEmpty)
    // A small third source does not appear in the warning about the other two sources.
    let own = Self.doses(Figures.diary)
    let small = (0..<8).map { Entry(kind: .insulin, amount: 2, seconds: $0 * 86_400, source: Self.pen) }
    let doubts = Figures.result(own + Self.moved(own, to: Figures.phone, by: 400) + small).doubts
    #expect(
      doubts.count == 1 && doubts.allSatisfy { $0.first.source != Self.pen && $0.second.source != Self.pen })
  }

  // MARK: Copies of one source, and a third source that matches none of them

  @Test(arguments: [20, 0] as [Int64], [400, 3600] as [Int64])
  func aThirdSourceMinutesLaterThanTwoCopiesHasNoSum(copied: Int64, later: Int64) {
    let own = Self.doses(Figures.diary)
    let copy = Self.moved(own, to: Figures.phone, by: copied)
    let third = Self.moved(own, to: Self.pen, by: later)
    let result = Figures.result(own + copy + third)
    #expect(result.total.amounts.bolus.sum == nil)
    // The warning names only sources whose doses are in the sums. The phone is not named, since its doses are
    // copies.
    #expect(result.doubts.map { Set([$0.first.source, $0.second.source]) } == [[Figures.diary, Self.pen]])
    #expect(result.doubts.first?.shiftSeconds.map(abs) == (later == 3600 ? 3600 : nil))
    let only = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr")
    ])
    #expect(
      Figures.result(own + copy + third, rules: only).total.amounts.bolus.sum
        == Figures.result(own).total.amounts.bolus.sum)
  }

  /// Both apps have the same rank, so the dose that counts may be that of either app.
  @Test func aThirdSourceMinutesLaterThanTwoAppsThatShareADoseHasNoSum() {
    let own = Self.doses(Figures.diary)
    let app = CountingSource(format: "contour")
    let copies = own.enumerated().flatMap { index, entry in
      Self.moved([entry], to: app, by: index % 2 == 0 ? 20 : -20)
    }
    let all = own + copies + Self.moved(own, to: Self.pen, by: 400)
    #expect(Figures.result(own + copies).doubts.isEmpty)
    #expect(Figures.result(all).total.amounts.bolus.sum == nil)
    #expect(Figures.result(all).doubts.count == 2)
  }

  @Test func aThirdSourceWithDifferentDosesIsAddedToTwoCopies() {
    let own = Self.doses(Figures.diary)
    let copy = Self.moved(own, to: Figures.phone, by: 20)
    let third = Self.moved(Self.part(own) { $0 % 3 == 0 }, to: Self.pen, by: 2000, factor: 0.31)
    let result = Figures.result(own + copy + third)
    #expect(result.doubts.isEmpty)
    let sum = (own + third).reduce(0) { $0 + $1.amount }
    #expect(result.total.amounts.bolus.sum.map { abs($0 - sum) < 0.001 } == true)
  }

  @Test func aDoseReportedWithTwoUsesHasNoSumNextToACopy() {
    let own = Self.basal(Figures.diary, "long") + Self.doses(Figures.diary)
    let copy = Self.moved(own, to: CountingSource(format: "contour"), by: 20)
    #expect(Figures.result(own + copy).doubts.isEmpty)
    let result = Figures.result(own + copy + Self.basal(Figures.phone, "rapid", later: 10))
    #expect(result.total.amounts.insulin.sum == nil && result.doubts.contains { $0.doseDifference == .use })
  }

  // MARK: One dose in two ways

  private static func basal(_ source: CountingSource, _ subtype: String, days: Int64 = 6, later: Int64 = 0)
    -> [Entry]
  {
    (0..<days).map { day in
      var entry = Entry(kind: .insulin, amount: 20, seconds: day * 86_400 + 79_000 + later, source: source)
      entry.subtype = subtype
      return entry
    }
  }

  @Test(arguments: [("long", "rapid"), ("rapid", "long"), ("mix", "long"), ("mix", "rapid")])
  func aDoseThatTwoSourcesReportWithDifferentUsesHasNoSum(_ mine: String, _ theirs: String) throws {
    let all =
      Self.basal(Figures.diary, mine) + Self.basal(Figures.phone, theirs, later: 20)
      + Self.doses(Figures.diary)
    let result = Figures.result(all, by: .day)
    let doubt = try #require(result.doubts.first { $0.doseDifference == .use })
    #expect(doubt.days == 6 && doubt.first.total == 120 && doubt.second.total == 120)
    let amounts = result.total.amounts
    #expect(amounts.insulin.sum == nil && amounts.bolus.sum == nil)
    #expect(amounts.basal.sum == nil || (mine, theirs) == ("mix", "rapid"))
    #expect(
      result.groups.map { $0.amounts.insulin.sum == nil } == [
        true, true, true, true, true, true, false, false,
      ])
    let answered = CountingRules([CountDecision(.sources("mysugr", "apple-health"), .both)])
    #expect(Figures.result(all, rules: answered).doubts.isEmpty)
    let only = CountingRules([
      CountDecision(.range(.insulin, since: nil, until: nil), .only, source: "mysugr")
    ])
    #expect(Figures.result(all, rules: only).total.amounts.insulin.sum == 296)
    #expect(Figures.result(all, rules: .all).doubts.isEmpty)
  }

  @Test func dosesOfDifferentUseThatDifferInTimeOrAmountAreAdded() {
    let own = Self.basal(Figures.diary, "long")
    // The other doses are minutes apart, on only two days, of another amount, of unknown use, or in the same
    // source.
    for other in [
      Self.basal(Figures.phone, "rapid", later: 300), Self.basal(Figures.phone, "rapid", days: 2),
      Self.moved(Self.basal(Figures.phone, "rapid"), to: Figures.phone, by: 0, factor: 0.3),
      Self.basal(Figures.phone, ""), Self.basal(Figures.diary, "rapid"),
    ] {
      #expect(Figures.result(own + other).doubts.filter { $0.doseDifference != nil }.isEmpty)
    }
  }

  @Test func aBolusReportedWithoutItsExtendedPartHasNoSum() throws {
    func statistics(days: Int64, extended: Double) -> StatisticsResult {
      var (statistics, counting) = (
        Statistics(.init()), CountedOnce<(RecordFields, DeviceTime, CountingSource)>()
      )
      for day in 0..<days {
        for (source, parts) in [(Figures.diary, [4, extended]), (Figures.phone, [4])] {
          var fields = RecordFields(["units": .number(parts[0]), "subtype": .text("rapid")])
          if parts.count > 1, extended > 0 { fields["extended"] = .number(parts[1]) }
          let time = DeviceTime(seconds: Figures.start + day * 86_400 + 30_000)
          let item = CountableItem(
            .insulin, fields, id: "\(source.text) \(day)", deviceTime: time,
            placement: Placement(utcOffset: 0, source: .stated), source: source)
          counting.add((fields, time, source), item, at: time.seconds)
        }
      }
      counting.finish()
      while let (entry, item, verdict) = counting.next() {
        statistics.add(
          .insulin, entry.0, deviceTime: entry.1, placement: Placement(utcOffset: 0, source: .stated),
          verdict,
          item, from: entry.2)
      }
      return statistics.finish { _ in 0 }
    }
    let result = statistics(days: 5, extended: 2)
    let doubt = try #require(result.doubts.first { $0.doseDifference == .part })
    #expect(
      doubt.days == 5 && result.total.amounts.bolus.sum == nil && result.total.amounts.insulin.sum == nil)
    #expect(Set([doubt.first.total, doubt.second.total]) == [30, 20])
    #expect(statistics(days: 2, extended: 2).doubts.isEmpty)
    let equal = statistics(days: 5, extended: 0)
    #expect(equal.doubts.isEmpty && equal.total.amounts.bolus.sum == 20)
  }
}
