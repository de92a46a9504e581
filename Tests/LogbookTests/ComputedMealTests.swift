// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

/// Tests carbohydrates that a program computed from the fat and protein of a meal.
struct ComputedMealTests {
  typealias Sample = CountingSample
  private static let trio = CountingSource(format: "nightscout", part: "Trio")
  private static let half: Int64 = 1800

  private static func meal(
    _ grams: Double, at seconds: Int64, _ source: CountingSource = trio, fat: Double? = nil
  ) -> CountableItem? {
    var fields = RecordFields(["carbs": .number(grams)])
    if let fat { fields["fat"] = .number(fat) }
    return Sample.record(.food, fields, at: seconds, source)
  }

  /// A meal with fat, and what the program computed from it: this number of equal meals from an hour after
  /// it.
  private static func series(
    _ count: Int64, of grams: Double = 2.9, at seconds: Int64 = 39, every step: Int64 = half,
    _ source: CountingSource = trio
  ) -> [CountableItem?] {
    [meal(60, at: seconds, source, fat: 25)]
      + (0..<count).map { meal(grams, at: seconds + 3600 + $0 * step, source) }
  }

  private static func counted(_ items: [CountableItem?], _ rules: CountingRules = CountingRules()) -> Int {
    countedWithCopies(items, rules).kept.count
  }

  @Test(arguments: ["Trio", "iAPS", "freeaps-x"]) func aSeriesOfEqualMealsAtEqualDistancesIsNotCounted(
    _ program: String
  ) {
    let source = CountingSource(format: "nightscout", part: program)
    let result = countedWithCopies(Self.series(7, source))
    #expect(result.kept.count == 1 && result.leftOut.count == 7)
    #expect(result.verdicts.values.count { $0 == .computed } == 7)
    #expect(Self.counted(Self.series(2, source)) == 1)
  }

  /// Newer versions of Trio write at most three meals with amounts in whole grams.
  @Test func amountsThatDifferByAGramAreOneSeries() {
    let items = zip([12.0, 12, 11], 0..<3 as Range<Int64>).map { grams, place in
      Self.meal(grams, at: 3639 + place * 600)
    }
    #expect(Self.counted([Self.meal(40, at: 39, fat: 30)] + items) == 1)
    #expect(Self.counted(items) == 0)
  }

  @Test func theSeriesOfTwoMealsOverlap() {
    #expect(Self.counted(Self.series(7) + Self.series(9, of: 4, at: 2471)) == 2)
  }

  @Test func otherMealsOfTheProgramAreCounted() {
    // One meal only, two meals without a fatty one, and two at another second than the fatty one.
    #expect(Self.counted(Self.series(1)) == 2)
    #expect(Self.counted([Self.meal(10, at: 39), Self.meal(10, at: 39 + Self.half)]) == 2)
    #expect(Self.counted([Self.meal(60, at: 12, fat: 25)] + Self.series(2).dropFirst()) == 3)
    // Other distances, and other amounts.
    #expect(Self.counted([0, 1800, 3660, 5400].map { Self.meal(10, at: 39 + $0) }) == 4)
    #expect(Self.counted([0, 1800, 3600].map { Self.meal(10 + Double($0) / 900, at: 39 + $0) }) == 3)
    #expect(Self.counted(Self.series(2, every: 240)) == 3 && Self.counted(Self.series(2, every: 3660)) == 3)
    // A person's meals at full minutes.
    #expect(Self.counted(Self.series(5, at: 0)) == 6)
  }

  @Test func mealsOfOtherSourcesAreCounted() {
    for source in [Sample.site, Sample.diary, CountingSource(format: "apple-health", part: "Trio")] {
      #expect(Self.counted(Self.series(7, source)) == 8, "\(source.text)")
    }
  }

  @Test func aPersonCanCountThem() {
    let both = CountDecision(.sources("nightscout/Trio", "nightscout/Trio"), .both)
    #expect(Self.counted(Self.series(7), CountingRules([both])) == 8)
  }
}
