// SPDX-License-Identifier: Apache-2.0

/// Whether an item counts in totals and, if not, the reason.
package enum CountVerdict: Hashable, Sendable {
  /// The item counts. `alsoIn` lists what other sources state about the same dose, meal or reading.
  case counts(alsoIn: [Repetition])
  /// The item is left out, since the item with this id from this source describes the same dose, meal or
  /// reading.
  case repeats(String, CountingSource)
  /// The item is left out. The item with this id from this source states the same dose, meal or reading with
  /// another amount; see `OtherAmounts`.
  case otherAmount(String, CountingSource)
  /// The item is left out. A person edited the item with this id, and this item is another state of it in the
  /// same source; see `EditedItems`.
  case edited(String, CountingSource)
  /// The item is left out: it is a finger stick that is a copy of this sensor's value.
  case sensorValue(CountingSource)
  /// The item is left out: a program computed the meal from the fat and protein of another one; see
  /// `ComputedMeals`.
  case computed
  /// The item is left out, since a person chose another source for its kind and time.
  case notChosen

  /// Whether the item is part of totals.
  package var counts: Bool { if case .counts = self { true } else { false } }
}

/// What another source states about a dose, a meal or a reading that counts once.
package struct Repetition: Hashable, Sendable {
  /// The source that also states the dose, meal or reading.
  package let source: CountingSource
  /// The marks that the other source states for a reading.
  package let marks: ReadingMarks
  /// The note that the other source has; empty without a note.
  package let note: String
  /// Whether the repetition is a second copy in the same source; see `OwnCopies`.
  package let isOwnCopy: Bool
  /// Whether the other source states another amount; see `OtherAmounts`.
  package let hasOtherAmount: Bool

  /// The repetition for an item that is left out of totals.
  package init(_ item: CountableItem, isOwnCopy: Bool = false, hasOtherAmount: Bool = false) {
    (source, marks, note) = (item.source, item.marks, item.note)
    (self.isOwnCopy, self.hasOtherAmount) = (isOwnCopy, hasOtherAmount)
  }
}

/// Finds items that repeat an item of another source. Callers add the items in the order of time, and get
/// them in the same order with their verdicts. Memory grows with the items within 26 hours, not with the
/// store.
///
/// The rule: items of different sources with equal amounts and times within a minute are one fact: the same
/// dose, meal or measurement. One of these items is kept. A source repeats itself only in a second export
/// (`OwnCopies`). So if one source has two such items and another source has one, two of them count. An item
/// of another source repeats the earliest fact that it matches. Thus an item's verdict depends only on the
/// items near its time, and not on the requested period.
package struct CountedOnce<Payload> {
  fileprivate struct PendingItem {
    var payload: Payload
    let instant: Int64
    var item: CountableItem?
    var fact: Int?
    var verdict: CountVerdict?
  }

  /// The items of different sources that describe the same dose, meal or measurement.
  private struct Fact {
    var items: [CountableItem]
    /// The number of items of this dose, meal or measurement that `next()` has not returned yet.
    var pendingCount: Int
  }

  /// The properties by which a `Fact` is found: the kind, and a minute of the instant or of the shown time.
  private struct MinuteKey: Hashable {
    let kind: CountableItem.Kind
    let isShown: Bool
    let minute: Int64
  }

  /// The maximum number of different doses, meals or measurements (`Fact`) in a minute. A person or a pump
  /// has only a few. Further ones in the minute are not compared, so that a hostile input with millions of
  /// items in one minute costs little time.
  private static var maxFactsOfAMinute: Int { 128 }
  /// The maximum number of items that wait for their verdict. If more wait, the earliest ones get theirs
  /// without the rest. This only happens for a hostile input, since a person's day has hundreds of items.
  private static var maxPending: Int { 100_000 }

  private let rules: CountingRules
  private var entries: [PendingItem] = []
  /// The index of the first entry that is not yet returned.
  private var first = 0
  /// The index of the first entry that is not yet compared. Items at one instant are compared together, in a
  /// fixed order.
  private var compared = 0
  private var newest = Int64.min
  private var isFinished = false
  private var facts: [Int: Fact] = [:]
  private var nextFact = 0
  private var places: [MinuteKey: [Int]] = [:]

  /// An empty comparison that obeys people's decisions.
  package init(_ rules: CountingRules = CountingRules()) { self.rules = rules }

  /// Adds the next item in the order of time.
  ///
  /// - Parameter item: nil for an item that always counts.
  package mutating func add(_ payload: Payload, _ item: CountableItem?, at instant: Int64) {
    if instant > newest {
      compareLast()
      newest = instant
    }
    entries.append(PendingItem(payload: payload, instant: instant, item: item))
  }

  /// Marks the end of the input, so that `next()` returns the remaining items.
  package mutating func finish() {
    compareLast()
    isFinished = true
  }

  /// The next item with its verdict; nil if more items must be added first.
  package mutating func next() -> (payload: Payload, item: CountableItem?, verdict: CountVerdict)? {
    guard first < entries.count, isFinished || isReady(entries[first]) else {
      removeReturned(atLeast: 1024)
      return nil
    }
    if compared <= first { compareLast() }
    var entry = entries[first]
    first += 1
    removeReturned(atLeast: 65_536)
    if let own = entry.item, let fact = entry.fact.flatMap({ facts[$0] }) {
      entry.item?.twins = fact.items.filter { $0.source != own.source }.map(\.source)
    }
    return (entry.payload, entry.item, verdict(of: entry))
  }

  private func isReady(_ entry: PendingItem) -> Bool {
    newest - entry.instant > DeviceTime.largestDifference + CountableItem.windowSeconds
      || entries.count - first > Self.maxPending
  }

  private mutating func removeReturned(atLeast count: Int) {
    guard first >= count else { return }
    entries.removeFirst(first)
    compared -= first
    first = 0
  }
}

// MARK: - Facts

extension CountedOnce {
  /// Compares the items at the newest instant. They are sorted by use, source and id, so that every store
  /// gets the same result.
  private mutating func compareLast() {
    var places: [(index: Int, item: CountableItem)] = []
    for index in compared..<entries.count {
      guard let item = entries[index].item else { continue }
      entries[index].verdict = rules.verdict(of: item)
      if entries[index].verdict == nil { places.append((index, item)) }
    }
    compared = entries.count
    if places.count > 1 { places.sort { Self.isBefore($0.item, $1.item) } }
    for (index, item) in places { entries[index].fact = join(item) }
  }

  /// Orders items with a known use first, since an unknown use matches every `Fact`.
  private static func isBefore(_ left: CountableItem, _ right: CountableItem) -> Bool {
    if left.use != right.use { return left.use.rawValue < right.use.rawValue }
    if left.source != right.source { return left.source.text < right.source.text }
    return left.id < right.id
  }

  /// Adds an item to the earliest matching `Fact`, preferably one with the same use. If none matches, the
  /// item gets a new `Fact`.
  private mutating func join(_ item: CountableItem) -> Int {
    let candidates = candidates(for: item).sorted()
    let alike = candidates.first { facts[$0]?.items.contains { $0.use == item.use } ?? false }
    let number = alike ?? candidates.first ?? nextFact
    if number == nextFact {
      facts[number] = Fact(items: [], pendingCount: 0)
      nextFact += 1
    }
    facts[number]?.items.append(item)
    facts[number]?.pendingCount += 1
    for key in Self.minuteKeys(of: item, 0...0) where places[key]?.last != number {
      guard places[key]?.count ?? 0 < Self.maxFactsOfAMinute else { continue }
      places[key, default: []].append(number)
    }
    return number
  }

  private func candidates(for item: CountableItem) -> Set<Int> {
    var found: Set<Int> = []
    for key in Self.minuteKeys(of: item, -1...1) {
      for number in places[key] ?? [] where canJoin(number, item) { found.insert(number) }
    }
    return found
  }

  private func canJoin(_ number: Int, _ item: CountableItem) -> Bool {
    facts[number]?.items.allSatisfy { $0.canRepeat(item) && !rules.separates($0, item) } ?? false
  }

  private static func minuteKeys(of item: CountableItem, _ minutes: ClosedRange<Int64>) -> [MinuteKey] {
    [(false, item.instant), (true, item.shown)].flatMap { isShown, seconds in
      let minute = seconds >= 0 ? seconds / 60 : (seconds - 59) / 60
      return minutes.map { MinuteKey(kind: item.kind, isShown: isShown, minute: minute + $0) }
    }
  }

  private mutating func verdict(of entry: PendingItem) -> CountVerdict {
    guard let item = entry.item else { return .counts(alsoIn: []) }
    guard let number = entry.fact, let fact = facts[number] else {
      return entry.verdict ?? .counts(alsoIn: [])
    }
    markReturned(number)
    guard let kept = fact.items.min(by: { $0.precedes($1) }), kept.id != item.id else {
      let others = fact.items.filter { $0.source != item.source }.map { Repetition($0) }
      return .counts(alsoIn: rules.repetitionsJoined(to: item.id) + others)
    }
    return .repeats(kept.id, kept.source)
  }

  /// Notes that one item of a `Fact` was returned. From then on, no further item can join this `Fact`.
  private mutating func markReturned(_ number: Int) {
    guard let fact = facts[number] else { return }
    for item in fact.items.prefix(fact.pendingCount == fact.items.count ? fact.items.count : 0) {
      for key in Self.minuteKeys(of: item, 0...0) {
        places[key]?.removeAll { $0 == number }
        if places[key]?.isEmpty == true { places[key] = nil }
      }
    }
    facts[number]?.pendingCount -= 1
    if fact.pendingCount == 1 { facts[number] = nil }
  }
}

extension CountedOnce: Sendable where Payload: Sendable {}
extension CountedOnce.PendingItem: Sendable where Payload: Sendable {}

/// Items must be read up to this distance outside a period, so that the verdicts in the period are certain.
/// An item and its repetition are at most 26 hours apart. The items that decide about the repetition are at
/// most 26 hours from the repetition. Both distances together are less than the margin.
package enum CountingMargin {
  /// The margin before and after the period, in seconds.
  package static let seconds: Int64 = 3 * 86400
  /// The number of days before and after a day whose items decide about that day. They decide whether two
  /// sources seem to describe the same doses or meals on it.
  package static let doubtDays = 14
  /// `doubtDays` in seconds, for the time before or after a period. Two days are added, since a shown time
  /// and its instant differ by less than that.
  package static let doubtSeconds = Int64(doubtDays + 2) * 86400
}
