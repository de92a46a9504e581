// SPDX-License-Identifier: Apache-2.0

/// Carbohydrates that a program computed from the fat and protein of a meal. Trio, iAPS and FreeAPS X write
/// them to Nightscout as a series of treatments after the meal, so that their algorithms give insulin for
/// them. The person does not eat them, so they are not part of a total. One treatment of such a series is
/// written like a meal.
///
/// A series has meals of one of these programs at equal distances of 5 to 60 minutes, all at the same second
/// of their minute. Each states only carbohydrates, and the amounts differ by at most a gram. A series has at
/// least three such meals. Two are enough if a meal with fat or protein came up to 12 hours before, at the
/// same second of its minute. A single one counts.
///
/// The intervals and amounts are those of the function `processFPU` in the source code of Trio.
package struct ComputedMeals: Hashable, Sendable {
  /// The programs, by the name with which they sign their treatments, in lower case.
  private static let programs: Set<String> = ["freeaps-x", "iaps", "trio"]

  /// Whether these meals may be computed: those of a program that computes meals.
  package static func mayBe(of source: CountingSource) -> Bool {
    source.format == "nightscout" && programs.contains(source.part.lowercased())
  }

  private var ids: Set<String> = []
  /// The sources that have computed meals.
  package private(set) var sources: Set<CountingSource> = []

  /// An empty value: no meal is computed.
  package init() {}

  fileprivate mutating func add(_ ids: [String], of source: CountingSource) {
    self.ids.formUnion(ids)
    sources.insert(source)
  }

  /// Whether a program computed this meal.
  func contains(_ item: CountableItem) -> Bool { ids.contains(item.id) }
}

/// Finds computed meals; see `ComputedMeals`. Callers add the items in the order of time. Memory grows with
/// the meals of 12 hours and with the number of computed meals.
package struct ComputedMealFinder {
  /// Meals that may be one series.
  private struct MealSeries {
    var ids: [String]
    var last: Int64
    let grams: Int64
    /// The distance of the meals in seconds; nil while there is only one.
    var step: Int64?
    /// Whether a meal with fat or protein precedes the series.
    let hasMeal: Bool

    var isComputed: Bool { ids.count >= 3 || ids.count == 2 && hasMeal }
  }

  private static let steps: ClosedRange<Int64> = 5 * 60...60 * 60
  private static let mealSeconds: Int64 = 12 * 3600
  /// In thousandths of a gram.
  private static let maxDifference: Int64 = 1000
  /// The maximum number of open series of a source, since the work grows with it. A person has only a few
  /// meals in an hour.
  private static let maxOpen = 64

  private let rules: CountingRules
  private var open: [CountingSource: [MealSeries]] = [:]
  private var meals: [CountingSource: [Int64]] = [:]
  private var found = ComputedMeals()

  /// - Parameter rules: people's decisions. A source that a person declared to be separate from itself counts
  ///   whole.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Adds the next item in the order of time.
  package mutating func add(_ item: CountableItem) {
    guard case .carbohydrates(let grams) = item.amount, ComputedMeals.mayBe(of: item.source),
      !item.instant.isAtMinute
    else { return }
    let (source, instant) = (item.source, item.instant)
    endSeries(of: source, before: instant - Self.steps.upperBound)
    if item.hasFatOrProtein {
      meals[source, default: []].removeAll { $0 < instant - Self.mealSeconds }
      meals[source, default: []].append(instant)
      return
    }
    guard item.details == 1 else { return }
    var series = open[source] ?? []
    let matches = series.indices.filter { index in
      let step = instant - series[index].last
      return step % 60 == 0 && Self.steps.contains(step) && series[index].step ?? step == step
        && abs(series[index].grams - grams) <= Self.maxDifference
    }
    if let index = matches.first(where: { series[$0].step != nil }) ?? matches.first {
      series[index].step = instant - series[index].last
      series[index].last = instant
      series[index].ids.append(item.id)
    } else if series.count < Self.maxOpen {
      let hasMeal = (meals[source] ?? []).contains { meal in
        (instant - meal) % 60 == 0 && instant > meal && instant - meal <= Self.mealSeconds
      }
      series.append(MealSeries(ids: [item.id], last: instant, grams: grams, hasMeal: hasMeal))
    }
    open[source] = series
  }

  /// The computed meals among the items.
  package mutating func finish() -> ComputedMeals {
    for source in open.keys { endSeries(of: source, before: .max) }
    return found
  }

  private mutating func endSeries(of source: CountingSource, before instant: Int64) {
    guard let series = open[source], !rules.isSeparate(source, source) else { return }
    for ended in series where ended.last < instant && ended.isComputed { found.add(ended.ids, of: source) }
    open[source] = series.filter { $0.last >= instant }
  }
}
