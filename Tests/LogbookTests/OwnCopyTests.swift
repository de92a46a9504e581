// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests items that one source states twice, for example with times truncated to the minute, or in the other
/// unit.
struct OwnCopyTests {
  typealias Sample = CountingSample
  private static let day: Int64 = 86400

  /// Equal doses of one source: one in each `step`, at this number of seconds after its beginning.
  private static func doses(
    _ count: Int, at seconds: Int64 = 33, every step: Int64 = day, from start: Int64 = 0, _ name: String,
    _ source: CountingSource = Sample.diary
  ) -> [CountableItem?] {
    (0..<count).map { index in
      Sample.dose(2, at: start + Int64(index) * step + seconds, source, id: "\(name) \(index)")
    }
  }

  // MARK: Times truncated to the minute

  @Test(arguments: [1, 33, 59] as [Int64]) func aDoseAndItsCopyWithoutSecondsFromTheSameSourceCountOnce(
    seconds: Int64
  ) {
    let result = countedWithCopies(Self.doses(14, at: seconds, "own") + Self.doses(14, at: 0, "cut"))
    #expect(result.kept.map(\.id) == (0..<14).map { "own \($0)" })
    #expect(result.leftOut == Dictionary(uniqueKeysWithValues: (0..<14).map { ("cut \($0)", "own \($0)") }))
    guard case .counts(let others)? = result.verdicts["own 3"] else { return #expect(Bool(false)) }
    #expect(others.map(\.source) == [Sample.diary] && others.map(\.isOwnCopy) == [true])
  }

  @Test func mealsAndFingerSticksCopiedWithoutSecondsCountOnce() {
    let meals = (0..<10 as Range<Int64>).flatMap { index in
      [33, 0].map { Sample.meal(45, at: index * Self.day + $0, Sample.diary) }
    }
    #expect(countedWithCopies(meals).kept.count == 10)
    let sticks = (0..<10 as Range<Int64>).flatMap { index in
      [33, 0].map { Sample.stick(100 + Double(index), at: index * Self.day + $0, Sample.app) }
    }
    #expect(countedWithCopies(sticks).kept.count == 10)
  }

  @Test func threeEqualPairsInTwoWeeksAreCopiesIfEveryItemHasACopy() {
    func kept(_ count: Int, at seconds: Int64 = 0) -> Int {
      countedWithCopies(Self.doses(count, "own") + Self.doses(count, at: seconds, "second")).kept.count
    }
    #expect(kept(2) == 4)
    #expect(kept(3) == 3)
    #expect(kept(5, at: 10) == 10)
  }

  @Test func sixEqualPairsInTwoWeeksAreCopiesEvenIfSomeItemsHaveNoCopy() {
    func kept(_ count: Int, every step: Int64) -> Int {
      countedWithCopies(
        Self.doses(count, every: step, "own") + Self.doses(count, at: 0, every: step, "second")
          + Self.doses(count, at: 4000, every: step, "later")
      ).kept.count - count
    }
    #expect(kept(5, every: Self.day) == 10)
    #expect(kept(6, every: Self.day) == 6)
    // A dose and a meal in one minute count as evidence only once.
    let meals = (0..<5 as Range<Int64>).flatMap { index in
      [33, 0].map { Sample.meal(45, at: index * Self.day + $0, Sample.diary) }
    }
    let later = Self.doses(1, at: 4000, "later")
    #expect(
      countedWithCopies(Self.doses(5, "own") + Self.doses(5, at: 0, "second") + meals + later).kept.count
        == 21)
    // With one pair every three days, only five pairs are within a week before and after each dose.
    #expect(kept(40, every: 3 * Self.day) == 80)
  }

  /// If finger sticks at full minutes have no original, the source itself writes full minutes. So no dose is
  /// treated as a copy.
  @Test func dosesAtFullMinutesWithFingerSticksAreNotTakenForCopies() {
    func sticks(_ days: Range<Int64>, at seconds: Int64) -> [CountableItem?] {
      days.map { Sample.stick(100 + Double($0), at: Int64($0) * Self.day + seconds, Sample.app) }
    }
    let doses = Self.doses(14, at: 20, "own") + Self.doses(14, at: 0, "second")
    #expect(countedWithCopies(doses).kept.count == 14)
    #expect(countedWithCopies(doses + sticks(0..<14, at: 0)).kept.count == 42)
    // Finger sticks in other minutes are not evidence for or against the copies.
    #expect(countedWithCopies(doses + sticks(0..<14, at: 60)).kept.count == 28)
    // Finger sticks with seconds may have been made after the export was saved, so they are not evidence
    // against the copies.
    #expect(countedWithCopies(doses + sticks(0..<14, at: 20)).kept.count == 28)
    // Three finger sticks at full minutes do not change the result, since the original of each may be hidden.
    // Ten do change it.
    #expect(countedWithCopies(doses + sticks(3..<6, at: 0)).kept.count == 17)
    #expect(countedWithCopies(doses + sticks(0..<10, at: 0)).kept.count == 38)
  }

  @Test func dosesOfAnotherMinuteAmountUseOrSourceAreNotCopies() {
    let own = Self.doses(14, "own")
    #expect(countedWithCopies(own + Self.doses(14, at: 60, "next")).kept.count == 28)
    #expect(countedWithCopies(own + Self.doses(14, at: 34, "seconds")).kept.count == 28)
    let larger = (0..<14 as Range<Int64>).map { Sample.dose(3, at: $0 * Self.day, Sample.diary) }
    #expect(countedWithCopies(own + larger).kept.count == 28)
    let long = (0..<14 as Range<Int64>).map {
      Sample.dose(2, at: $0 * Self.day, Sample.diary, subtype: "long")
    }
    #expect(countedWithCopies(own + long).kept.count == 28)
    let micro = (0..<14 as Range<Int64>).map {
      Sample.dose(2, at: $0 * Self.day, Sample.diary, fields: ["automatic": .flag(true)])
    }
    #expect(countedWithCopies(own + micro).kept.count == 28)
    // Items of two sources are compared by another rule, which needs only one pair.
    let phone = Self.doses(14, at: 0, "phone", Sample.phone)
    #expect(countedWithCopies(own + phone).kept.map(\.source) == Array(repeating: Sample.diary, count: 14))
  }

  @Test func aSecondDoseInTheSameMinuteStillCounts() {
    let (own, cut) = (Self.doses(14, "own"), Self.doses(14, at: 0, "cut"))
    // Two doses of the original are also two doses in the copy, where both have the same time.
    let second = Sample.dose(2, at: 50, Sample.diary, id: "second")
    let copy = Sample.dose(2, at: 0, Sample.diary, id: "copy of the second")
    #expect(countedWithCopies(own + cut + [second, copy]).kept.count == 15)
    #expect(countedWithCopies(own + cut + [second]).kept.count == 15)
    #expect(countedWithCopies(own + cut + [copy]).kept.count == 15)
    // In the original, one of two doses is at a full minute. So only the copy of the other dose is left out.
    let late = Sample.dose(2, at: 120, Sample.diary, id: "at the minute")
    let later = Sample.dose(2, at: 150, Sample.diary, id: "half a minute later")
    let copyOfLater = Sample.dose(2, at: 120, Sample.diary, id: "copy of later")
    #expect(countedWithCopies(own + cut + [late, later, copyOfLater]).kept.count == 16)
  }

  @Test func dosesFromAnotherSourceThatMatchTheOriginalOfACopyCountOnce() {
    // The doses of the other source are within a minute of the original, but not of the copy.
    let all = Self.doses(14, "own") + Self.doses(14, at: 0, "cut") + Self.doses(14, at: 70, "x", Sample.phone)
    let result = countedWithCopies(all)
    #expect(result.kept.map(\.id) == (0..<14).map { "own \($0)" })
    let pump = countedWithCopies(
      Self.doses(14, "own") + Self.doses(14, at: 0, "cut") + Self.doses(14, at: 70, "x", Sample.pump))
    #expect(pump.kept.map(\.id) == (0..<14).map { "x \($0)" })
  }

  @Test(arguments: Seeds.first(10)) func theOrderOfItemsAndThePeriodDoNotChangeWhichCopiesAreLeftOut(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let own = (0..<400).map { index in
      Sample.dose(
        Double(Int.random(in: 1...2, using: &random)),
        at: Int64.random(in: 0..<40 * Self.day, using: &random),
        Sample.diary, id: "own \(index)")
    }.compactMap(\.self)
    let cut = own.filter { $0.shown % 60 != 0 }.compactMap { item -> CountableItem? in
      guard case .insulin(let units, _) = item.amount else { return nil }
      let minute = (item.shown - Sample.morning) / 60 * 60
      return Sample.dose(Double(units) / 10_000, at: minute, Sample.diary, id: "cut \(item.id)")
    }
    let whole = countedWithCopies(own + cut)
    #expect(whole.kept.count == own.count, "seed \(seed)")
    #expect(countedWithCopies((own + cut).shuffled(using: &random)).leftOut == whole.leftOut, "seed \(seed)")
    let margin = CountingMargin.seconds + OwnCopies.marginSeconds
    for day in [0, 1, 20, 39] as [Int64] {
      let range = Sample.morning + day * Self.day..<Sample.morning + (day + 1) * Self.day
      let near = (own + cut).filter {
        $0.instant >= range.lowerBound - margin && $0.instant < range.upperBound + margin
      }
      func ids(_ items: [CountableItem]) -> [String] {
        items.filter { range.contains($0.instant) }.map(\.id).sorted()
      }
      #expect(ids(countedWithCopies(near).kept) == ids(whole.kept), "seed \(seed), day \(day)")
    }
  }

  // MARK: Other ids

  @Test func dosesWithEqualSecondsAndDifferentIDsCountOnce() {
    let (first, second) = (Self.doses(14, "a"), Self.doses(14, "b"))
    #expect(countedWithCopies(first + second).kept.map(\.id) == (0..<14).map { "a \($0)" })
    #expect(countedWithCopies(first + second + Self.doses(14, "c")).kept.count == 14)
    #expect(countedWithCopies([first[0], second[0]]).kept.count == 1)
    #expect(countedWithCopies([first[0]] + Self.doses(1, at: 34, "b")).kept.count == 2)
    // Equal meals count once at a second at which doses repeat, but separately at other seconds.
    let meals = [33, 33, 3633, 3633].enumerated().map { index, seconds in
      Sample.meal(15, at: Int64(seconds), Sample.diary, id: "meal \(index)")
    }
    #expect(countedWithCopies([first[0], second[0]] + meals).kept.count == 4)
    // Each of four equal doses at a full minute has at most one copy, so two of them count.
    let noon = ["a", "b", "c", "d"].map { Sample.dose(2, at: 4 * 3600, Sample.diary, id: "noon \($0)") }
    #expect(countedWithCopies(first + second + noon).kept.count == 16)
    let automatic = (0..<28 as Range<Int64>).map { index in
      Sample.dose(
        0.3, at: index / 2 * Self.day + 33, Sample.site, id: "\(index)", fields: ["automatic": .flag(true)])
    }
    #expect(countedWithCopies(automatic).kept.count == 14)
  }

  @Test func equalDosesInTwoColumnsOfATableBothCountWhateverTheirTimes() {
    let table = CountingSource(format: "generic")
    for seconds in [0, 33] as [Int64] {
      let columns = Self.doses(14, at: seconds, "a", table) + Self.doses(14, at: seconds, "b", table)
      #expect(countedWithCopies(columns).kept.count == 28, "\(seconds)")
    }
    let meals = (0..<28).map { index in
      Sample.meal(15, at: Int64(index / 2) * Self.day + 33, table, id: "meal \(index)")
    }
    #expect(countedWithCopies(meals).kept.count == 28)
  }

  @Test func equalDosesAtFullMinutesBothCount() {
    #expect(countedWithCopies(Self.doses(14, at: 0, "a") + Self.doses(14, at: 0, "b")).kept.count == 28)
    let typed = CountingSource(format: "glucoport")
    #expect(countedWithCopies(Self.doses(14, "a", typed) + Self.doses(14, "b", typed)).kept.count == 28)
    #expect(countedWithCopies(Self.doses(14, "a", .unknown) + Self.doses(14, "b", .unknown)).kept.count == 28)
  }

  /// A site that moved has two exports: the same doses at full minutes, with different ids.
  @Test func dosesAtFullMinutesUnderOtherIDsCountOnceIfNearlyAllAreDoubled() {
    func site(_ name: String, days: Range<Int64>, amounts: Int64, hours: [Int64] = [8, 13, 19])
      -> [CountableItem?]
    {
      days.flatMap { day in
        hours.map { hour in
          Sample.dose(
            Double(2 + (day + hour) % amounts), at: day * Self.day + hour * 3600, Sample.diary,
            id: "\(name) \(day) \(hour)")
        }
      }
    }
    let (one, other) = (site("a", days: 0..<14, amounts: 5), site("b", days: 0..<14, amounts: 5))
    #expect(countedWithCopies(one + other).kept.count == 42)
    // If the doses are copies, equal meals at the same times are copies as well.
    let meals = (0..<14 as Range<Int64>).flatMap { day in
      [0, 1].map { Sample.meal(45, at: day * Self.day + 8 * 3600, Sample.diary, id: "\($0) \(day)") }
    }
    #expect(countedWithCopies(one + other + meals).kept.count == 42 + 14)
    #expect(countedWithCopies(meals).kept.count == 28)
    // The second export has the last days of the first one, and then further days.
    for overlap in 3...8 as ClosedRange<Int64> {
      let (old, new) = (
        site("a", days: 0..<20, amounts: 7), site("b", days: 20 - overlap..<34, amounts: 7)
      )
      #expect(countedWithCopies(old + new).kept.count == 34 * 3, "\(overlap)")
    }
    // All doses count if only one of three a day is doubled, if they have few different amounts, or if they
    // are on one day.
    #expect(countedWithCopies(one + site("b", days: 0..<14, amounts: 5, hours: [8])).kept.count == 56)
    let few = site("a", days: 0..<14, amounts: 3) + site("b", days: 0..<14, amounts: 3)
    #expect(countedWithCopies(few).kept.count == 84)
    let short = site("a", days: 0..<1, amounts: 5) + site("b", days: 0..<1, amounts: 5)
    #expect(countedWithCopies(short).kept.count == 6)
  }

  @Test func twoPartsOfACombinationBolusBothCount() {
    let parts = (0..<14 as Range<Int64>).map {
      Sample.dose(0, at: $0 * Self.day + 33, Sample.diary, id: "part \($0)", fields: ["extended": .number(2)])
    }
    #expect(countedWithCopies(Self.doses(14, "a") + parts).kept.count == 28)
    let long = (0..<14 as Range<Int64>).map {
      Sample.dose(2, at: $0 * Self.day + 33, Sample.diary, subtype: "long", id: "long \($0)")
    }
    #expect(countedWithCopies(Self.doses(14, "a") + long).kept.count == 28)
  }

  @Test func mealsWithEqualSecondsCountOnceOnlyIfDosesAlsoRepeat() {
    let meals = (0..<28 as Range<Int64>).map {
      Sample.meal(15, at: $0 / 2 * Self.day + 3633, Sample.diary, id: "meal \($0)")
    }
    #expect(countedWithCopies(meals).kept.count == 28)
    #expect(countedWithCopies(meals + Self.doses(14, "a") + Self.doses(14, "b")).kept.count == 28)
    #expect(countedWithCopies(meals + Self.doses(14, "a")).kept.count == 42)
  }

  // MARK: The other unit

  @Test func aValueRepeatedInTheOtherUnitAtTheSameSecondCountsOnce() {
    for milligrams in 20...600 {
      for factor in [18, 18.0182, 18.01559] {
        let millimoles = (Double(milligrams) / factor * 10).rounded() / 10
        let result = countedWithCopies([
          Sample.stick(Double(milligrams), at: 33, Sample.app),
          Sample.stick(millimoles, .millimolesPerLitre, at: 33, Sample.app),
        ])
        #expect(result.kept.count == 1, "\(milligrams) / \(factor)")
        guard case .measured(let value)? = result.kept.first?.amount else { return #expect(Bool(false)) }
        #expect(value.unit == .milligramsPerDecilitre)
      }
    }
  }

  @Test func valuesInBothUnitsThatDifferInValueOrSecondBothCount() {
    func pair(_ millimoles: Double, at seconds: Int64) -> Int {
      countedWithCopies([
        Sample.stick(100, at: 33, Sample.app),
        Sample.stick(millimoles, .millimolesPerLitre, at: seconds, Sample.app),
      ]).kept.count
    }
    #expect(pair(5.5, at: 33) == 1 && pair(5.7, at: 33) == 1)
    #expect(pair(5.4, at: 33) == 2 && pair(5.8, at: 33) == 2 && pair(5.5, at: 34) == 2)
    let same = [5.5, 5.6].map { Sample.stick($0, .millimolesPerLitre, at: 33, Sample.app) }
    #expect(countedWithCopies(same).kept.count == 2)
  }

  @Test func aCopyWithoutSecondsInTheOtherUnitCountsOnce() {
    let sticks = (0..<10 as Range<Int64>).flatMap { index in
      [
        Sample.stick(100, at: index * Self.day + 33, Sample.app),
        Sample.stick(5.5, .millimolesPerLitre, at: index * Self.day, Sample.app),
      ]
    }
    #expect(countedWithCopies(sticks).kept.count == 10)
  }

  // MARK: Decisions

  @Test func aDecisionOfThePersonCountsADoseAndItsCopy() {
    let all = Self.doses(14, "own") + Self.doses(14, at: 0, "cut")
    let source = CountingRules([CountDecision(.sources("mysugr", "mysugr"), .both)])
    #expect(countedWithCopies(all, source).kept.count == 28)
    let items = CountingRules([CountDecision(.items("own 3", "cut 3"), .both)])
    #expect(countedWithCopies(all, items).kept.count == 15)
    #expect(countedWithCopies(all, .all).kept.count == 28)
  }

  @Test func thousandsOfEqualDosesInAMinuteAreNotSearchedForCopies() {
    let items = (0..<3000).map { Sample.dose(2, at: Int64($0 % 2) * 30, Sample.diary, id: "\($0)") }
    #expect(countedWithCopies(items).kept.count == 3000)
  }
}
