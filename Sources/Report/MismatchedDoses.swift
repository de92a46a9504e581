// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds doses of two sources at one time that seem to be one dose although no rule can match them.
///
/// The two doses have equal amounts, but one is basal insulin and the other a bolus. Or only one of them has
/// an extended part, which is given over time. Doses are added in the order of time. Memory grows with the
/// number of days with such doses.
struct MismatchedDoses: Sendable {
  private struct SourcePair: Hashable {
    let first: CountingSource
    let second: CountingSource
    let doseDifference: SourceDoubt.DoseDifference

    func sharesSource(with other: SourcePair) -> Bool {
      first == other.first || first == other.second || second == other.first || second == other.second
    }
  }

  /// The units of both sources on a day.
  private struct UnitsOfDay: Sendable {
    var first = 0.0
    var second = 0.0
    var isShown = false
  }

  private struct Dose: Sendable {
    let item: CountableItem
    let isContext: Bool
    var isTaken = false
  }

  /// The number of recent doses with which a dose is compared. It is more than the doses of a day.
  private static let maxRecent = 400
  /// The maximum number of pairs of sources. It is more than a real logbook has.
  private static let maxPairs = 200
  /// The minimum number of days with such doses. On fewer days, equal doses may be chance.
  private static let minDays = 3

  private var recent: [Dose] = []
  /// The source of the first dose. While all doses are of it, none can be a dose of another source.
  private var firstSource: CountingSource?
  private var hasTwoSources = false
  private var days: [SourcePair: [Int: UnitsOfDay]] = [:]

  /// Adds the next dose that counts. A dose that several sources state is added once.
  mutating func add(_ item: CountableItem, isContext: Bool) {
    guard item.kind == .insulin, item.source.role != .unknown else { return }
    var dose = Dose(item: item, isContext: isContext)
    firstSource = firstSource ?? item.source
    if firstSource != item.source { hasTwoSources = true }
    if hasTwoSources,
      let index = recent.firstIndex(where: { !$0.isTaken && $0.item.doseDifference(item) != nil }),
      let doseDifference = recent[index].item.doseDifference(item)
    {
      recent[index].isTaken = true
      dose.isTaken = true
      addPair(recent[index], dose, doseDifference)
    }
    recent.append(dose)
    if recent.count > 2 * Self.maxRecent { recent.removeFirst(Self.maxRecent) }
  }

  private mutating func addPair(_ one: Dose, _ two: Dose, _ doseDifference: SourceDoubt.DoseDifference) {
    let isInOrder = one.item.source.text <= two.item.source.text
    let (first, second) = isInOrder ? (one.item, two.item) : (two.item, one.item)
    let pair = SourcePair(first: first.source, second: second.source, doseDifference: doseDifference)
    guard days[pair] != nil || days.count < Self.maxPairs else { return }
    let number = Grouping.day(of: DeviceTime(seconds: first.shown))
    var day = days[pair]?[number] ?? UnitsOfDay()
    day.first += first.units
    day.second += second.units
    if !one.isContext || !two.isContext { day.isShown = true }
    days[pair, default: [:]][number] = day
  }
}

// MARK: - Results

extension MismatchedDoses {
  /// The pairs of sources with doses that seem to be one. There must be such doses on at least three days of
  /// the four weeks around a day of the period. Pairs are left out if a person decided that both count.
  func doubts(_ rules: CountingRules) -> [SourceDoubt] {
    undecided(rules).map { pair, days in
      SourceDoubt(
        kind: .insulin, doseDifference: pair.doseDifference,
        first: SourceAmount(
          source: pair.first, total: days.values.reduce(0) { $0 + $1.first }, days: days.count),
        second: SourceAmount(
          source: pair.second, total: days.values.reduce(0) { $0 + $1.second }, days: days.count),
        shiftSeconds: nil)
    }
  }

  /// The days with doses that seem to be one in spite of this kind of difference. Such days have no sums.
  func doubtfulDays(_ rules: CountingRules, _ doseDifference: SourceDoubt.DoseDifference) -> Set<Int> {
    undecided(rules).filter { $0.pair.doseDifference == doseDifference }.reduce(into: []) {
      $0.formUnion($1.days.keys)
    }
  }

  private func undecided(_ rules: CountingRules) -> [(pair: SourcePair, days: [Int: UnitsOfDay])] {
    days.filter { !rules.isSeparate($0.key.first, $0.key.second) }
      .map { pair, days in (pair, days.filter { $0.value.isShown && isFrequent($0.key, pair) }) }
      .filter { !$0.1.isEmpty }
      .sorted { Self.name($0.0) < Self.name($1.0) }
  }

  /// Whether doses that seem to be one are frequent around a day. If several sources have the same dose, any
  /// of them can be the one that counts, so pairs with a common source are counted together.
  private func isFrequent(_ day: Int, _ pair: SourcePair) -> Bool {
    let around = day - CountingMargin.doubtDays...day + CountingMargin.doubtDays
    let akin = days.filter { $0.key.doseDifference == pair.doseDifference && $0.key.sharesSource(with: pair) }
    return Set(akin.values.flatMap(\.keys)).count(where: around.contains) >= Self.minDays
  }

  private static func name(_ pair: SourcePair) -> String {
    "\(pair.first.text)\n\(pair.second.text)\n\(pair.doseDifference)"
  }
}

extension CountableItem {
  /// How two doses differ that may be one dose: in their use, or by an extended part that only one has. Nil
  /// if they are equal, or certainly two doses.
  fileprivate func doseDifference(_ other: CountableItem) -> SourceDoubt.DoseDifference? {
    if differsInUse(other) { return .use }
    return lacksPart(other) ? .part : nil
  }

  /// The number of units of the whole dose.
  fileprivate var units: Double {
    if case .insulin(let units, let extended) = amount { Double(units + extended) / 10_000 } else { 0 }
  }
}
