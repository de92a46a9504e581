// SPDX-License-Identifier: Apache-2.0

/// Items that a source states a second time, from another export of it. A spreadsheet that saves an export cuts times to
/// the minute, and an app exports old values in the other unit after a change of its settings.
///
/// The rule for minutes: an item at a full minute is a copy of an equal item with seconds in this minute. In addition,
/// the source must have such pairs in more than five minutes within a week before and after it. An item is a copy of at
/// most one other, so that two equal doses in a minute stay two.
///
/// A person can repeat a dose within a minute, and one of the two then is at a full minute once in 30 times. Thus more
/// than five in two weeks are not chance, even if the dose is always split in two.
///
/// The rule for units: of one second, a value in mmol/L is a copy of one in mg/dL if they differ by at most a tenth.
/// Apps convert by 18, 18.0182 or 18.01559, and an app does not change its unit within a second.
package struct OwnCopies: Hashable, Sendable {
  fileprivate struct Copy: Hashable, Sendable {
    let item: String
    let instant: Int64
    let kept: String
    let statement: Repetition
    /// Whether it is at a full minute and the kept item is not.
    let isCut: Bool
  }

  /// Up to this number of minutes in two weeks, such pairs prove nothing.
  static let maxByChance = 5
  /// The time before and after an item in which pairs are counted, in seconds.
  static let spanSeconds: Int64 = 7 * 86400
  /// How far outside a period items are needed, in seconds.
  package static let marginSeconds = spanSeconds + 60

  /// By the id of the copy.
  private var copies: [String: Copy] = [:]
  /// The statements of copies, by the id of the kept item.
  private var statements: [String: [Repetition]] = [:]

  /// No copies.
  package init() {}

  fileprivate init(_ found: [CountingSource: [Copy]]) {
    for pairs in found.values {
      for copy in Self.certain(pairs.sorted { $0.instant < $1.instant }) {
        copies[copy.item] = copy
        statements[copy.kept, default: []].append(copy.statement)
      }
    }
  }

  /// The sources with copies.
  package var sources: Set<CountingSource> { Set(copies.values.map(\.statement.source)) }

  /// The id of the item that a copy repeats; nil for any other item.
  func original(of item: CountableItem) -> String? { copies[item.id]?.kept }

  /// The statements of the copies of an item.
  func statements(about id: String) -> [Repetition] { statements[id] ?? [] }

  private static func certain(_ copies: [Copy]) -> [Copy] {
    let cut = copies.filter(\.isCut)
    // A dose and a meal that were typed together have one time, and are no more evidence than one of them.
    var minutes: [Int64] = []
    for copy in cut where minutes.last != copy.instant { minutes.append(copy.instant) }
    var (first, end) = (0, 0)
    let frequent = cut.filter { copy in
      while minutes[first] < copy.instant - spanSeconds { first += 1 }
      while end < minutes.count, minutes[end] <= copy.instant + spanSeconds { end += 1 }
      return end - first > maxByChance
    }
    return copies.filter { !$0.isCut } + frequent
  }
}

/// Finds the copies. Items are added in the order of time. Memory grows with the number of pairs.
package struct OwnCopyFinder {
  private struct Group: Hashable {
    let source: CountingSource
    let kind: CountableItem.Kind
  }

  /// Above this limit, millions of items in one minute are not compared.
  private static let maxItemsOfAMinute = 256

  private let rules: CountingRules
  private var minute = Int64.min
  private var groups: [Group: [CountableItem]] = [:]
  private var found: [CountingSource: [OwnCopies.Copy]] = [:]

  /// - Parameter rules: people's decisions. If a person counts both, neither is a copy.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Adds the next item.
  package mutating func add(_ item: CountableItem) {
    let start = item.instant.minuteStart
    if start != minute {
      compare()
      minute = start
    }
    let group = Group(source: item.source, kind: item.kind)
    guard groups[group]?.count ?? 0 <= Self.maxItemsOfAMinute, !item.isAutomatic else { return }
    groups[group, default: []].append(item)
  }

  /// The copies among the items.
  package mutating func finish() -> OwnCopies {
    compare()
    return OwnCopies(found)
  }

  private mutating func compare() {
    for (group, items) in groups where items.count > 1 && items.count <= Self.maxItemsOfAMinute {
      // In every store, the order of the ids is the same.
      let items = items.sorted { ($0.instant, $0.id) < ($1.instant, $1.id) }
      let converted = Self.pairs(items.filter(\.isInMillimoles), items.filter { !$0.isInMillimoles }) {
        $0.isConverted(from: $1) && !rules.separates($0, $1)
      }
      let rest = items.filter { item in !converted.contains { $0.copy.id == item.id } }
      let cut = Self.pairs(rest.filter(\.isAtMinute), rest.filter { !$0.isAtMinute }) {
        $0.isCut(from: $1) && !rules.separates($0, $1)
      }
      for (pairs, isCut) in [(converted, false), (cut, true)] {
        for (copy, kept) in pairs {
          found[group.source, default: []].append(
            OwnCopies.Copy(
              item: copy.id, instant: copy.instant, kept: kept.id,
              statement: Repetition(copy, isOwnCopy: true),
              isCut: isCut))
        }
      }
    }
    groups.removeAll(keepingCapacity: true)
  }

  /// Pairs each copy with an original that has no other copy, preferably one with the same use.
  private static func pairs(
    _ copies: [CountableItem], _ originals: [CountableItem],
    _ isCopy: (CountableItem, CountableItem) -> Bool
  ) -> [(copy: CountableItem, kept: CountableItem)] {
    var originals = originals
    var pairs: [(copy: CountableItem, kept: CountableItem)] = []
    for copy in copies {
      let matches = originals.indices.filter { isCopy(copy, originals[$0]) }
      guard let index = matches.first(where: { originals[$0].use == copy.use }) ?? matches.first else {
        continue
      }
      pairs.append((copy, originals.remove(at: index)))
    }
    return pairs
  }
}

extension Int64 {
  fileprivate var minuteStart: Int64 { self - (self % 60 + 60) % 60 }
}

extension CountableItem {
  fileprivate var isAtMinute: Bool { shown == shown.minuteStart }

  fileprivate var isInMillimoles: Bool {
    if case .measured(.value(let quantity)) = amount { quantity.unit == .millimolesPerLitre } else { false }
  }

  /// Whether this item is an equal one with its time cut to the minute.
  fileprivate func isCut(from other: CountableItem) -> Bool {
    shown == other.shown.minuteStart && fits(other)
      && (amount.agrees(with: other.amount) || isInOtherUnit(than: other))
  }

  /// Whether this value is that of the same second in the other unit.
  fileprivate func isConverted(from other: CountableItem) -> Bool {
    instant == other.instant && shown == other.shown && isInOtherUnit(than: other)
  }

  private func isInOtherUnit(than other: CountableItem) -> Bool {
    guard case .measured(.value(let mine)) = amount, case .measured(.value(let theirs)) = other.amount,
      mine.unit != theirs.unit
    else { return false }
    return abs(mine.tenthsOfMillimole - theirs.tenthsOfMillimole) <= 1
  }
}
