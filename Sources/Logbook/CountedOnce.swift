// SPDX-License-Identifier: Apache-2.0

/// What becomes of an item.
package enum CountVerdict: Hashable, Sendable {
  /// It counts; what other sources say of the same fact.
  case counts(alsoIn: [Repetition])
  /// It is left out: the item with this id, of this source, states the same.
  case repeats(String, CountingSource)
  /// It is left out: a finger stick that is the own value of this sensor.
  case sensorValue(CountingSource)
  /// It is left out: a person chose another source for its kind and time.
  case notChosen

  /// Whether it has a part in totals.
  package var counts: Bool { if case .counts = self { true } else { false } }
}

/// What another source says of a fact that counts once.
package struct Repetition: Hashable, Sendable {
  /// The other source.
  package let source: CountingSource
  /// What it says besides of a reading.
  package let marks: ReadingMarks
  /// What a person wrote there; empty without a note.
  package let note: String

  /// What an item that is left out says.
  package init(_ item: CountableItem) { (source, marks, note) = (item.source, item.marks, item.note) }
}

/// Finds the items that state a fact which another source states, too. Items pass through in the order of time, and come
/// out in the same order with what becomes of each; memory grows with what lies within 26 hours, not with the store.
///
/// The rule: items of different sources with equal amounts and times within a minute are one fact, of which one stays. A
/// source never repeats itself, so of a fact as many count as the source with the most of them has. Earlier facts find
/// their repetitions first. So what becomes of an item depends on its own minute, and not on the period that is asked for.
package struct CountedOnce<Payload> {
  fileprivate struct Entry {
    var payload: Payload
    let instant: Int64
    var item: CountableItem?
    var fact: Int?
    var verdict: CountVerdict?
  }

  /// Items that state one fact, each of another source.
  private struct Fact {
    var items: [CountableItem]
    /// How many of them have not come out yet.
    var held: Int
  }

  /// Where facts are found: their kind, and a minute of the instant or of the shown time.
  private struct Place: Hashable {
    let kind: CountableItem.Kind
    let isShown: Bool
    let minute: Int64
  }

  /// A person or a pump has a handful in a minute. Beyond this, an input of millions in one minute is no longer compared.
  private static var maxFactsOfAMinute: Int { 128 }
  /// The most items that are held; a day of a life has hundreds.
  private static var maxHeld: Int { 100_000 }

  private let rules: CountingRules
  private var entries: [Entry] = []
  /// The first entry that has not come out.
  private var first = 0
  /// The first entry that has not been compared. Items of one instant are compared together, in an order of their own.
  private var compared = 0
  private var newest = Int64.min
  private var isFinished = false
  private var facts: [Int: Fact] = [:]
  private var nextFact = 0
  private var places: [Place: [Int]] = [:]

  /// Nothing yet, with what people decided.
  package init(_ rules: CountingRules = CountingRules()) { self.rules = rules }

  /// Takes the next item in the order of time.
  ///
  /// - Parameter item: nil for one that always counts.
  package mutating func add(_ payload: Payload, _ item: CountableItem?, at instant: Int64) {
    if instant > newest {
      compareLast()
      newest = instant
    }
    entries.append(Entry(payload: payload, instant: instant, item: item))
  }

  /// No more items come.
  package mutating func finish() {
    compareLast()
    isFinished = true
  }

  /// The next item that is decided; nil until another one comes.
  package mutating func next() -> (payload: Payload, item: CountableItem?, verdict: CountVerdict)? {
    guard first < entries.count, isFinished || isReady(entries[first]) else {
      release(atLeast: 1024)
      return nil
    }
    if compared <= first { compareLast() }
    let entry = entries[first]
    first += 1
    release(atLeast: 65_536)
    return (entry.payload, entry.item, verdict(of: entry))
  }

  private func isReady(_ entry: Entry) -> Bool {
    newest - entry.instant > CountableItem.maxInstantSeconds + CountableItem.windowSeconds
      || entries.count - first > Self.maxHeld
  }

  private mutating func release(atLeast count: Int) {
    guard first >= count else { return }
    entries.removeFirst(first)
    compared -= first
    first = 0
  }
}

// MARK: - Facts

extension CountedOnce {
  /// Compares the items of the newest instant. Their order is that of their sources and ids, the same in every store.
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

  /// What is known better comes first, since an unknown use fits every fact.
  private static func isBefore(_ left: CountableItem, _ right: CountableItem) -> Bool {
    if left.use != right.use { return left.use.rawValue < right.use.rawValue }
    if left.source != right.source { return left.source.text < right.source.text }
    return left.id < right.id
  }

  /// The fact that an item states: the earliest that can be the same, of these one of the same use.
  private mutating func join(_ item: CountableItem) -> Int {
    let candidates = candidates(for: item).sorted()
    let alike = candidates.first { facts[$0]?.items.contains { $0.use == item.use } ?? false }
    let number = alike ?? candidates.first ?? nextFact
    if number == nextFact {
      facts[number] = Fact(items: [], held: 0)
      nextFact += 1
    }
    facts[number]?.items.append(item)
    facts[number]?.held += 1
    for place in Self.places(of: item, 0...0) where places[place]?.last != number {
      guard places[place]?.count ?? 0 < Self.maxFactsOfAMinute else { continue }
      places[place, default: []].append(number)
    }
    return number
  }

  private func candidates(for item: CountableItem) -> Set<Int> {
    var found: Set<Int> = []
    for place in Self.places(of: item, -1...1) {
      for number in places[place] ?? [] where canJoin(number, item) { found.insert(number) }
    }
    return found
  }

  private func canJoin(_ number: Int, _ item: CountableItem) -> Bool {
    facts[number]?.items.allSatisfy { $0.canRepeat(item) && !rules.separates($0, item) } ?? false
  }

  private static func places(of item: CountableItem, _ minutes: ClosedRange<Int64>) -> [Place] {
    [(false, item.instant), (true, item.shown)].flatMap { isShown, seconds in
      let minute = seconds >= 0 ? seconds / 60 : (seconds - 59) / 60
      return minutes.map { Place(kind: item.kind, isShown: isShown, minute: minute + $0) }
    }
  }

  private mutating func verdict(of entry: Entry) -> CountVerdict {
    guard let item = entry.item else { return .counts(alsoIn: []) }
    guard let number = entry.fact, let fact = facts[number] else {
      return entry.verdict ?? .counts(alsoIn: [])
    }
    leave(number)
    guard let kept = fact.items.min(by: { $0.precedes($1) }), kept.id != item.id else {
      let others = fact.items.filter { $0.source != item.source }.map(Repetition.init)
      return .counts(alsoIn: rules.repetitionsJoined(to: item.id) + others)
    }
    return .repeats(kept.id, kept.source)
  }

  /// One item of a fact has come out. Nothing can join the fact any more.
  private mutating func leave(_ number: Int) {
    guard let fact = facts[number] else { return }
    for item in fact.items.prefix(fact.held == fact.items.count ? fact.items.count : 0) {
      for place in Self.places(of: item, 0...0) {
        places[place]?.removeAll { $0 == number }
        if places[place]?.isEmpty == true { places[place] = nil }
      }
    }
    facts[number]?.held -= 1
    if fact.held == 1 { facts[number] = nil }
  }
}

extension CountedOnce: Sendable where Payload: Sendable {}
extension CountedOnce.Entry: Sendable where Payload: Sendable {}

/// How far beyond a period items are read, so that what becomes of those in it is settled: what can repeat an item lies
/// within 26 hours of it, and what decides about that one within 26 hours more.
package enum CountingMargin {
  /// On each side, in seconds.
  package static let seconds: Int64 = 3 * 86400
  /// How many days before and after a day decide whether two sources seem to state the same on it.
  package static let doubtDays = 14
  /// Those days on each side of a period, in seconds. Shown times and instants are less than two days apart.
  package static let doubtSeconds = Int64(doubtDays + 2) * 86400
}
