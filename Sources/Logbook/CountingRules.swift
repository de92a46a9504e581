// SPDX-License-Identifier: Apache-2.0

/// What people decided about counting once, as the rule needs it.
package struct CountingRules: Hashable, Sendable {
  /// Two items that a person calls one.
  package struct Joined: Hashable, Sendable {
    /// The id of the one that is left out.
    let leftOut: String
    /// What it says.
    let repetition: Repetition
    /// The id of the one that stays.
    let kept: String
    let keptSource: CountingSource

    /// Of two visible items, the one that states the fact best stays.
    package init(_ first: CountableItem, _ second: CountableItem) {
      let (kept, other) = first.precedes(second) ? (first, second) : (second, first)
      (leftOut, repetition) = (other.id, Repetition(other))
      (self.kept, keptSource) = (kept.id, kept.source)
    }
  }

  private struct Pair: Hashable, Sendable {
    let first: String
    let second: String
  }

  fileprivate struct Range: Hashable, Sendable {
    let kind: CountableItem.Kind
    let since: Int64
    let until: Int64
    let source: String

    func holds(_ kind: CountableItem.Kind, _ shown: Int64) -> Bool {
      self.kind == kind && since <= shown && shown < until
    }
  }

  /// The most decisions that count: far more than a person makes, and few enough that a remote cannot make counting slow.
  package static let maxDecisions = 500

  /// What was decided, the rule's own apart.
  package let decisions: [CountDecision]
  private var separateSources: [Pair] = []
  private var separateItems: Set<Pair> = []
  private var ranges: [Range] = []
  private var joined: [String: Joined] = [:]
  private var keepers: [String: [Repetition]] = [:]
  private let isOff: Bool
  /// The finger sticks that are a sensor's own values.
  package var sensorCopies = SensorCopies()

  /// The rule with what people decided.
  ///
  /// - Parameter joined: the pairs of items that are one, of which both are visible.
  package init(_ decisions: [CountDecision] = [], joined: [Joined] = []) {
    let all = decisions.filter { $0.choice != .rule }.sorted { $0.guid < $1.guid }
    self.decisions = Array(all.prefix(Self.maxDecisions))
    isOff = false
    for decision in self.decisions {
      switch decision.subject {
      case .sources(let first, let second) where decision.choice == .both:
        separateSources.append(Pair(first: first, second: second))
      case .items(let first, let second) where decision.choice == .both:
        separateItems.insert(Pair(first: first, second: second))
      case .range(let kind, let since, let until):
        ranges.append(
          Range(
            kind: kind, since: since?.seconds ?? .min, until: until?.seconds ?? .max, source: decision.source)
        )
      default: break
      }
    }
    // Of ranges that overlap the shorter one is meant.
    ranges.sort { left, right in
      left.length != right.length ? left.length < right.length : left.source < right.source
    }
    for pair in joined.prefix(Self.maxDecisions) {
      self.joined[pair.leftOut] = pair
      keepers[pair.kept, default: []].append(pair.repetition)
    }
  }

  private init(isOff: Bool) {
    decisions = []
    self.isOff = isOff
  }

  /// Everything counts, as totals were made before anything was counted once.
  package static let all = CountingRules(isOff: true)

  /// Whether anything is left out at all.
  package var isOn: Bool { !isOff }

  /// What is known of one item alone, from a person or a sensor; nil where its minute decides.
  func verdict(of item: CountableItem) -> CountVerdict? {
    if isOff { return .counts(alsoIn: []) }
    if !isChosen(item.kind, item.source, shown: item.shown) { return .notChosen }
    if let pair = joined[item.id] { return .repeats(pair.kept, pair.keptSource) }
    return sensorCopies.sensor(of: item).map(CountVerdict.sensorValue)
  }

  /// Whether a source may count for a kind at a shown time: where a person chose one, only that one does.
  package func isChosen(_ kind: CountableItem.Kind, _ source: CountingSource, shown: Int64) -> Bool {
    ranges.first { $0.holds(kind, shown) }.map { source.isNamed($0.source) } ?? true
  }

  /// Whether a person says that two items are two facts.
  func separates(_ left: CountableItem, _ right: CountableItem) -> Bool {
    if !separateItems.isEmpty {
      let (first, second) = left.id < right.id ? (left.id, right.id) : (right.id, left.id)
      if separateItems.contains(Pair(first: first, second: second)) { return true }
    }
    return isSeparate(left.source, right.source)
  }

  /// Whether a person says that what two sources state are always two facts.
  func isSeparate(_ left: CountingSource, _ right: CountingSource) -> Bool {
    separateSources.contains { pair in
      left.isNamed(pair.first) && right.isNamed(pair.second)
        || left.isNamed(pair.second) && right.isNamed(pair.first)
    }
  }

  /// Whether a person decided about two sources, so that their totals can be added up.
  package func isDecided(_ left: CountingSource, _ right: CountingSource) -> Bool {
    decisions.contains { decision in
      guard case .sources(let first, let second) = decision.subject else { return false }
      return left.isNamed(first) && right.isNamed(second) || left.isNamed(second) && right.isNamed(first)
    }
  }

  /// What the items say that a person called one with this one.
  func repetitionsJoined(to id: String) -> [Repetition] { keepers[id] ?? [] }
}

extension CountingRules.Range {
  fileprivate var length: UInt64 {
    UInt64(bitPattern: Int64(truncatingIfNeeded: until &- since))
  }
}
