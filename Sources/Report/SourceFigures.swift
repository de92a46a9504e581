// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// How many items were left out because another source states them, too: of one kind, and of one pair of sources.
package struct DoubledItems: Hashable, Sendable {
  /// The kind of the items.
  package let kind: CountableItem.Kind
  /// The source that is left out.
  package let source: CountingSource
  /// The source that counts in its place.
  package let counted: CountingSource
  /// Whether they are finger sticks that are the own values of that source, a sensor.
  package var isSensorValue = false
  /// How many items.
  package internal(set) var items: Int
}

/// What one source states of bolus insulin, carbohydrates or finger sticks.
package struct SourceAmount: Hashable, Sendable {
  /// The source.
  package let source: CountingSource
  /// All of it, in units, grams or readings, whether it counts or not.
  package let total: Double
  /// The days that have any.
  package let days: Int

  /// The mean over the days that have any.
  package var perDay: Double { total / Double(max(1, days)) }
}

/// Two sources that seem to state the same doses, meals or finger sticks in a way that no rule can match: minutes apart, with rounded
/// amounts, or by a clock that is an hour off. Nothing is left out; a person decides.
package struct SourceDoubt: Hashable, Sendable {
  /// Insulin, food or finger sticks.
  package let kind: CountableItem.Kind
  /// What the one states on the days on which both have any.
  package let first: SourceAmount
  /// What the other states on these days.
  package let second: SourceAmount
  /// By how many seconds most amounts of the second come later; nil where no constant time lies between them.
  package let shiftSeconds: Int64?

  /// The days on which both have any.
  package var days: Int { first.days }
}

/// Gathers what each source states of insulin, food or finger sticks, whether it counts or not.
struct SourceTally: Sendable {
  private struct Day: Sendable {
    var total = 0.0
    var items = 0
    var matched = 0
  }

  private struct Amount: Sendable {
    let source: Int
    let shown: Int64
    /// What equal amounts have in common.
    let key: Int64
  }

  /// How often equal amounts are apart by nearly one time, and by how many seconds together.
  private struct Shift: Sendable {
    var count = 0
    var seconds: Int64 = 0
  }

  private struct Pair: Hashable {
    let first: Int
    let second: Int
  }

  /// More sources than an honest logbook has; further ones have no figures of their own.
  private static let maxSources = 24
  /// The doses of more than a day, with room.
  private static let maxRecent = 400
  /// Fewer days with both may be those of trying out an app.
  private static let minDays = 3
  private static let quarterSeconds: Int64 = 900
  /// The clock of a meter is off by any time.
  private static let minuteSeconds: Int64 = 60
  private static let windowSeconds: Int64 = 60
  /// No zone is further from another one.
  private static let maxShiftSeconds: Int64 = 26 * 3600

  let kind: CountableItem.Kind
  private(set) var sources: [CountingSource] = []
  private var days: [[Int: Day]] = []
  private var recent: [Amount] = []
  private var shifts: [Pair: [Int64: Shift]] = [:]

  init(_ kind: CountableItem.Kind) { self.kind = kind }

  /// Takes an amount of a source.
  ///
  /// - Parameters:
  ///   - key: what it has in common with equal ones; nil for one that says too little to be compared.
  ///   - isMatched: whether another source states it, too.
  mutating func add(_ amount: Double, key: Int64?, _ item: CountableItem, day: Int, isMatched: Bool) {
    guard amount > 0, let source = index(of: item.source) else { return }
    days[source][day, default: Day()].total += amount
    days[source][day, default: Day()].items += 1
    if isMatched { days[source][day, default: Day()].matched += 1 }
    if let key { compare(Amount(source: source, shown: item.shown, key: key)) }
  }

  private mutating func index(of source: CountingSource) -> Int? {
    if source.role == .unknown { return nil }
    if let index = sources.firstIndex(of: source) { return index }
    guard sources.count < Self.maxSources else { return nil }
    sources.append(source)
    days.append([:])
    return sources.count - 1
  }

  /// Notes how far equal amounts of two sources are apart.
  private mutating func compare(_ amount: Amount) {
    if sources.count > 1 {
      for other in recent where other.source != amount.source && other.key == amount.key {
        let isLater = other.source < amount.source
        let distance = isLater ? amount.shown - other.shown : other.shown - amount.shown
        guard abs(distance) <= Self.maxShiftSeconds, let shift = shift(distance) else { continue }
        let pair = Pair(first: min(other.source, amount.source), second: max(other.source, amount.source))
        shifts[pair, default: [:]][shift, default: Shift()].count += 1
        shifts[pair, default: [:]][shift, default: Shift()].seconds += distance
      }
    }
    recent.append(amount)
    if recent.count > 2 * Self.maxRecent { recent.removeFirst(Self.maxRecent) }
  }

  /// The constant time of which a distance is a sign; nil for none. A zone moves typed times by whole quarters of an hour,
  /// a clock the times of a meter by any number of minutes, which other programs cut.
  private func shift(_ distance: Int64) -> Int64? {
    if kind == .smbg {
      guard abs(distance) >= Self.windowSeconds else { return nil }
      return (distance >= 0 ? distance : distance - Self.minuteSeconds + 1) / Self.minuteSeconds
        * Self.minuteSeconds
    }
    let shift = Int64((Double(distance) / Double(Self.quarterSeconds)).rounded()) * Self.quarterSeconds
    return shift != 0 && abs(distance - shift) < Self.windowSeconds ? shift : nil
  }

  /// What each source states, those with the most first.
  var amounts: [SourceAmount] {
    sources.indices.map { index in
      SourceAmount(
        source: sources[index], total: days[index].values.reduce(0) { $0 + $1.total }, days: days[index].count
      )
    }.sorted { ($1.total, $0.source.text) < ($0.total, $1.source.text) }
  }

  /// The pairs of sources that seem to state the same, unless a person decided about them.
  func doubts(_ rules: CountingRules) -> [SourceDoubt] {
    sources.indices.flatMap { first in
      sources.indices.filter { $0 > first }.compactMap { second in
        rules.isDecided(sources[first], sources[second]) ? nil : doubt(first, second)
      }
    }
  }

  private func doubt(_ first: Int, _ second: Int) -> SourceDoubt? {
    let common = days[first].keys.filter { days[second][$0] != nil }
    guard common.count >= Self.minDays else { return nil }
    func sum(_ source: Int) -> Day {
      common.reduce(into: Day()) { sum, day in
        guard let own = days[source][day] else { return }
        sum.total += own.total
        sum.items += own.items
        sum.matched += own.matched
      }
    }
    let (mine, theirs) = (sum(first), sum(second))
    let isClose = abs(mine.total - theirs.total) < 0.25 * max(mine.total, theirs.total)
    let items = min(mine.items, theirs.items)
    guard isClose, min(mine.matched, theirs.matched) * 2 < items else { return nil }
    let shift = constantShift(Pair(first: first, second: second), of: items)
    // Two meters of one person have as many readings each, but not the same values at a constant distance.
    if kind == .smbg, shift == nil { return nil }
    return SourceDoubt(
      kind: kind,
      first: SourceAmount(source: sources[first], total: mine.total, days: common.count),
      second: SourceAmount(source: sources[second], total: theirs.total, days: common.count),
      shiftSeconds: shift)
  }

  /// The time by which at least half of the items of a pair are apart; nil without one.
  private func constantShift(_ pair: Pair, of items: Int) -> Int64? {
    guard let shifts = shifts[pair] else { return nil }
    // Times that one source cuts to minutes are in one minute or the next.
    func near(_ shift: Int64) -> Shift {
      let (first, next) = (shifts[shift] ?? Shift(), shifts[shift + Self.minuteSeconds] ?? Shift())
      guard kind == .smbg else { return first }
      return Shift(count: first.count + next.count, seconds: first.seconds + next.seconds)
    }
    let best = shifts.keys.max { (near($0).count, $1) < (near($1).count, $0) }
    guard let best, near(best).count * 2 >= items else { return nil }
    if kind != .smbg { return best }
    let mean = Double(near(best).seconds) / Double(near(best).count) / Double(Self.minuteSeconds)
    return Int64(mean.rounded()) * Self.minuteSeconds
  }
}
