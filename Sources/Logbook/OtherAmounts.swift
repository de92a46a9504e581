// SPDX-License-Identifier: Apache-2.0

/// Items that two sources state with different amounts, since one of them has an older state. For example, a
/// person corrects a dose in an app. The app's own export then has the new amount, and an earlier export of a
/// program that collects its data has the old one.
///
/// Two items are one item with two amounts if they have the same second, which is not a full minute. At this
/// second, each source has only one item of the kind that the other source lacks. Within a week before and
/// after, the two sources must have equal items at equal seconds in more than five minutes. There must be at
/// least four such minutes for each minute with different amounts.
///
/// An item that a person edited counts. Otherwise the item that `CountableItem.precedes` the other one
/// counts. The later export is not known in every store, and every store must get the same result.
package struct OtherAmounts: Hashable, Sendable {
  /// An item that is left out, and the one with another amount that counts.
  fileprivate struct AmountPair: Hashable, Sendable {
    let leftOut: String
    let repetition: Repetition
    let kept: String
    let keptSource: CountingSource
    let instant: Int64

    /// Whether the kept item is preferred to that of `other`, if both pairs leave out the same item.
    func precedes(_ other: AmountPair) -> Bool {
      (keptSource.role.rawValue, keptSource.text, kept)
        < (other.keptSource.role.rawValue, other.keptSource.text, other.kept)
    }
  }

  /// Two sources in the order of their names.
  fileprivate struct Sources: Hashable, Sendable {
    let first: CountingSource
    let second: CountingSource

    init(_ one: CountingSource, _ other: CountingSource) {
      (first, second) = one.text <= other.text ? (one, other) : (other, one)
    }
  }

  /// What two sources state at equal seconds, in the order of time.
  fileprivate struct Evidence: Hashable, Sendable {
    var pairs: [AmountPair] = []
    /// The instants of equal items.
    var equal: [Int64] = []
  }

  /// In two weeks, two sources must have equal items in more than this number of minutes.
  private static let maxByChance = 5
  /// The minimum number of minutes with equal items for each minute with different amounts.
  private static let minEqual = 4

  /// The pairs, by the id of the item that is left out.
  private var pairs: [String: AmountPair] = [:]
  /// What the left-out items state, by the id of the item that counts.
  private var statements: [String: [Repetition]] = [:]

  /// An empty value: no item is left out.
  package init() {}

  fileprivate init(_ evidence: some Sequence<Evidence>) {
    for found in evidence {
      var (equal, others) = (MinuteWindow(found.equal), MinuteWindow(found.pairs.map(\.instant)))
      for pair in found.pairs {
        let minute = pair.instant.minuteStart
        let count = equal.count(around: minute)
        guard count > Self.maxByChance, count >= Self.minEqual * others.count(around: minute) else {
          continue
        }
        if pairs[pair.leftOut].map(pair.precedes) ?? true { pairs[pair.leftOut] = pair }
      }
    }
    for pair in pairs.values.sorted(by: { $0.leftOut < $1.leftOut }) {
      statements[pair.kept, default: []].append(pair.repetition)
    }
  }

  /// The item that counts instead of an item; nil for an item that is not left out.
  func verdict(on item: CountableItem) -> CountVerdict? {
    pairs[item.id].map { .otherAmount($0.kept, $0.keptSource) }
  }

  /// What other sources state with another amount about the item with this id.
  func statements(about id: String) -> [Repetition] { statements[id] ?? [] }
}

/// Finds items with another amount; see `OtherAmounts`. Callers add the items in the order of time. Memory
/// grows with the number of seconds at which two sources have items.
package struct OtherAmountFinder {
  /// The maximum number of items of one second that are compared. The work grows with the square of this
  /// number.
  private static let maxItemsOfASecond = 64
  /// The maximum number of pairs of sources. It is more than a real logbook has.
  private static let maxPairs = 200

  private let rules: CountingRules
  private var instant = Int64.min
  private var items: [CountableItem] = []
  private var evidence: [OtherAmounts.Sources: OtherAmounts.Evidence] = [:]

  /// - Parameter rules: people's decisions. Items that a person declared to be separate are not compared.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Adds the next item in the order of time.
  package mutating func add(_ item: CountableItem) {
    if item.instant != instant {
      compare()
      instant = item.instant
    }
    guard !item.shown.isAtMinute, !item.isAutomatic, item.source.role != .typed, item.source.role != .unknown,
      items.count <= Self.maxItemsOfASecond
    else { return }
    items.append(item)
  }

  /// The items with another amount among the items.
  package mutating func finish() -> OtherAmounts {
    compare()
    return OtherAmounts(evidence.values)
  }

  private mutating func compare() {
    defer { items.removeAll(keepingCapacity: true) }
    guard items.count > 1, items.count <= Self.maxItemsOfASecond else { return }
    // The items are sorted by id, so that every store gets the same result.
    items.sort { $0.id < $1.id }
    for kind in CountableItem.Kind.allCases {
      let bySource = Dictionary(grouping: items.filter { $0.kind == kind }, by: \.source)
      let sources = bySource.keys.sorted { $0.text < $1.text }
      for (index, first) in sources.enumerated() {
        for second in sources[(index + 1)...] {
          compare(bySource[first] ?? [], bySource[second] ?? [], of: OtherAmounts.Sources(first, second))
        }
      }
    }
  }

  private mutating func compare(
    _ mine: [CountableItem], _ theirs: [CountableItem], of sources: OtherAmounts.Sources
  ) {
    guard evidence[sources] != nil || evidence.count < Self.maxPairs else { return }
    var (mine, theirs, equal) = (mine, theirs, 0)
    for index in mine.indices.reversed() {
      guard let other = theirs.firstIndex(where: { $0.canRepeat(mine[index]) }) else { continue }
      mine.remove(at: index)
      theirs.remove(at: other)
      equal += 1
    }
    if equal > 0 { evidence[sources, default: OtherAmounts.Evidence()].equal.append(instant) }
    guard mine.count == 1, theirs.count == 1, mine[0].hasOtherAmount(than: theirs[0]),
      !rules.separates(mine[0], theirs[0])
    else { return }
    let (kept, other) = isKept(mine[0], before: theirs[0]) ? (mine[0], theirs[0]) : (theirs[0], mine[0])
    guard rules.isChosen(kept.kind, kept.source, shown: kept.shown) else { return }
    evidence[sources, default: OtherAmounts.Evidence()].pairs.append(
      OtherAmounts.AmountPair(
        leftOut: other.id, repetition: Repetition(other, hasOtherAmount: true), kept: kept.id,
        keptSource: kept.source, instant: instant))
  }

  /// Whether the amount of an item counts, and not that of another one. A person's edit counts before what
  /// exports state, and a later edit before an earlier one.
  private func isKept(_ item: CountableItem, before other: CountableItem) -> Bool {
    item.amountEditedAt == other.amountEditedAt
      ? item.precedes(other) : item.amountEditedAt ?? .min > other.amountEditedAt ?? .min
  }
}

/// Counts the minutes, some time before and after a minute, that are evidence for copies. Callers ask for the
/// minutes in the order of time.
struct MinuteWindow {
  private var minutes: [Int64] = []
  private var (first, end) = (0, 0)
  private let before: Int64
  private let after: Int64

  /// Counts each minute once: a dose and a meal that were typed together are not more evidence than one of
  /// them.
  init(
    _ instants: [Int64], before: Int64 = OwnCopies.spanSeconds, after: Int64 = OwnCopies.spanSeconds
  ) {
    (self.before, self.after) = (before, after)
    for instant in instants where minutes.last != instant.minuteStart {
      minutes.append(instant.minuteStart)
    }
  }

  mutating func count(around minute: Int64) -> Int {
    while first < minutes.count, minutes[first] < minute - before { first += 1 }
    while end < minutes.count, minutes[end] <= minute + after { end += 1 }
    return end - first
  }
}

extension Int64 {
  /// The first second of the minute of this instant.
  var minuteStart: Int64 { DeviceTime.startOfMinute(self) }
  /// Whether this instant is the first second of a minute.
  var isAtMinute: Bool { self == minuteStart }
}
