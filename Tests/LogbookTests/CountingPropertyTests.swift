// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests rules about repeated items that must hold for any items.
struct CountingPropertyTests {
  typealias Sample = CountingSample
  private static let day: Int64 = 86400

  /// Ten days of one source: doses and meals of few amounts, so that many are equal.
  private static func diary(
    _ random: inout SeededGenerator, _ source: CountingSource, _ count: Int = 200, amounts: Int = 4
  ) -> [CountableItem] {
    (0..<count).compactMap { index in
      let seconds = Int64.random(in: 0..<10 * day, using: &random)
      let amount = Double(Int.random(in: 1...amounts, using: &random))
      let id = "\(source.text) \(index)"
      return index.isMultiple(of: 3)
        ? Sample.meal(amount * 10, at: seconds, source, id: id)
        : Sample.dose(amount, at: seconds, source, id: id)
    }
  }

  /// The same items from another source. With `everyMinute`, all times are truncated to minutes.
  private static func copy(
    of items: [CountableItem], _ source: CountingSource, everyMinute: Bool = true
  ) -> [CountableItem] {
    items.compactMap { item in
      var seconds = item.shown - Sample.morning
      if everyMinute { seconds -= (seconds % 60 + 60) % 60 }
      let id = "\(source.text) \(item.id)"
      switch item.amount {
      case .insulin(let units, _): return Sample.dose(Double(units) / 10_000, at: seconds, source, id: id)
      case .carbohydrates(let grams): return Sample.meal(Double(grams) / 1000, at: seconds, source, id: id)
      case .measured: return nil
      }
    }
  }

  private static func total(_ items: [CountableItem]) -> Int64 {
    items.reduce(0) { sum, item in
      switch item.amount {
      case .insulin(let units, let extended): sum + units + extended
      case .carbohydrates(let grams): sum + grams
      case .measured: sum
      }
    }
  }

  private static func days(_ items: [CountableItem]) -> [Int64: Int64] {
    Dictionary(grouping: items) { $0.shown / day }.mapValues(total)
  }

  @Test(arguments: Seeds.share(of: Seeds.first(20), every: 4))
  func aCopyFromAnotherSourceWithoutSecondsDoesNotChangeTheTotal(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let own = Self.diary(&random, Sample.diary)
    let result = counted(own + Self.copy(of: own, Sample.phone))
    #expect(result.leftOut.count == own.count, "seed \(seed)")
    #expect(Self.total(result.kept) == Self.total(own), "seed \(seed)")
    #expect(Set(result.kept.map(\.source)) == [Sample.diary], "seed \(seed)")
  }

  @Test(arguments: Seeds.first(10))
  func theSameDosesFromAThirdSourceDoNotChangeTheTotal(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let own = Self.diary(&random, Sample.diary)
    let copies = Self.copy(of: own, Sample.phone) + Self.copy(of: own, Sample.site, everyMinute: false)
    let result = counted(own + copies)
    #expect(Self.total(result.kept) == Self.total(own), "seed \(seed)")
  }

  @Test(arguments: Seeds.first(10))
  func twoSourcesWithoutEqualAmountsBothCountCompletely(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let own = Self.diary(&random, Sample.diary)
    // The amounts of the pump never occur in the diary.
    let others = Self.diary(&random, Sample.pump).compactMap { item -> CountableItem? in
      let seconds = item.shown - Sample.morning
      return Sample.dose(Double(Self.total([item])) / 10_000 + 100.5, at: seconds, Sample.pump, id: item.id)
    }
    #expect(counted(own + others).leftOut.isEmpty, "seed \(seed)")
  }

  @Test(arguments: Seeds.share(of: Seeds.first(20), every: 4))
  func theOrderOfItemsDoesNotChangeTheCountedItems(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var items = Self.diary(&random, Sample.diary, amounts: 2) + Self.diary(&random, Sample.pump, amounts: 2)
    items += Self.copy(of: items, Sample.phone)
    let expected = counted(items).leftOut
    items.shuffle(using: &random)
    #expect(counted(items).leftOut == expected, "seed \(seed)")
  }

  @Test(arguments: Seeds.share(of: Seeds.first(20), every: 4))
  func theTotalOfADayNeverDependsOnThePeriodOfTheQuery(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // The times are close together, so that many are near midnight.
    let own = (0..<3000).compactMap { index in
      Sample.dose(
        1, at: Int64.random(in: 0..<6 * Self.day, using: &random),
        index.isMultiple(of: 2) ? Sample.diary : Sample.phone, id: "\(index)")
    }
    let whole = Self.days(counted(own).kept)
    let first = own.map(\.shown).min().map { $0 / Self.day } ?? 0
    for day in first + 2...first + 4 {
      let margin = CountingMargin.seconds
      let part = own.filter {
        $0.shown >= day * Self.day - margin && $0.shown < (day + 1) * Self.day + margin
      }
      let found = Self.days(counted(part).kept)[day]
      #expect(found == whole[day], "seed \(seed), day \(day)")
    }
  }

  @Test(arguments: Seeds.share(of: Seeds.first(20), every: 4))
  func theTotalIsBetweenTheLargestSourceAndTheSumOfAllSources(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let first = Self.diary(&random, Sample.diary, 400, amounts: 2)
    let second = Self.diary(&random, Sample.pump, 400, amounts: 2)
    let both = Self.total(counted(first + second).kept)
    #expect(both <= Self.total(first) + Self.total(second), "seed \(seed)")
    #expect(both >= max(Self.total(first), Self.total(second)), "seed \(seed)")
    // A third copy of the same items does not change the total.
    let more = Self.total(
      counted(first + second + Self.copy(of: second, Sample.site, everyMinute: false)).kept)
    #expect(more <= both, "seed \(seed)")
  }

  @Test(arguments: Seeds.first(10))
  func eachItemLeftOutRepeatsAnItemThatCounts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var items = Self.diary(&random, Sample.diary, 400, amounts: 2)
    items += Self.copy(of: items, Sample.phone) + Self.diary(&random, Sample.pump, 400, amounts: 2)
    let byID = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) })
    let result = counted(items)
    let kept = Set(result.kept.map(\.id))
    for (id, other) in result.leftOut {
      #expect(kept.contains(other) && !kept.contains(id), "seed \(seed)")
      guard let item = byID[id], let original = byID[other] else { continue }
      #expect(item.canRepeat(original), "seed \(seed)")
    }
  }
}
