// SPDX-License-Identifier: Apache-2.0

/// Items that a source states a second time, in another export. Four causes are known: A spreadsheet that
/// saves an export cuts times to the minute. An app exports old values in the other unit after a change of
/// its settings. After a site moved to another server, its documents have other ids. A program writes its
/// times in another form (`CountableItem.TimeForm`), such as UTC instead of local times.
///
/// The rule for minutes: an item at a full minute is a copy of an equal item at another second of this
/// minute. This only applies if the source has such pairs in more than five minutes within a week before and
/// after the item. Pairs in three minutes are enough if every item with seconds in these two weeks has a
/// copy. Each item has at most one copy, so that two equal doses in a minute still count as two.
///
/// Without copies, a person who injects an equal dose again within a minute does so exactly at a full minute
/// once in 30 times. So more than five such minutes in two weeks are not chance. This holds even for a person
/// who always splits doses in two.
///
/// A spreadsheet that saves an export cuts the times of items of every kind. So a minute is doubtful if it
/// has an item of another kind at the full minute without an original. The source itself then seems to write
/// full minutes. The rule applies only if less than half of the counted minutes are doubtful.
///
/// The rule for units: two values in mmol/L and mg/dL at the same second are copies if they differ by at most
/// a tenth. Apps convert by 18, 18.0182 or 18.01559, and an app does not change its unit within a second.
///
/// The rule for forms of times: equal finger sticks of one device at the same instant are one if their times
/// have different forms. Ketone readings are compared alike, and so are doses and meals of a table whose
/// columns a person named. Such items get one identity for each form. Items with the same form stay separate,
/// since one export has all times of a column in one form. So two equal amounts in a row still count as two.
///
/// The rule for ids: equal doses at the same second are one dose, except at a full minute. Equal meals at the
/// second of such doses are one meal. Equal meals at another second are one meal only if there is further
/// evidence. That is such doses in more than five minutes within a week before and after. Pairs of meals are
/// not evidence: food diaries write the same time for two equal foods of a meal. The rule does not apply to a
/// table whose columns a person named. Its rows have no ids, and equal amounts in two columns are two
/// amounts.
///
/// At a full minute, two equal doses may be one dose in two injections. They are copies only if four in five
/// minutes with doses around them have two equal doses. There must be more than five such minutes, with at
/// least four different amounts. The minutes are those within a week before and after, within two days
/// before, within two days after, or within a day before and after. The shorter periods are needed since an
/// export may repeat only some days of another one.
package struct OwnCopies: Hashable, Sendable {
  fileprivate struct Copy: Hashable, Sendable {
    let item: String
    let instant: Int64
    let kept: String
    let statement: Repetition
    let kind: CountableItem.Kind
    /// The amount of a dose, immediate and extended; empty for other items.
    let units: [Int64]
    let sign: Sign
    /// Whether the source itself seems to write full minutes; see the rule for minutes in `OwnCopies`.
    let isDoubtful: Bool
  }

  /// The minutes of one source with items that no other item repeats.
  fileprivate struct Unpaired {
    /// The minutes with a dose that has no equal dose at the same second.
    var single: [Int64] = []
    /// The minutes with an item that has seconds, and no copy truncated to the minute.
    var exact: [Int64] = []
  }

  fileprivate enum Sign {
    /// The copy is a value in the other unit, which needs no further evidence.
    case unit
    /// The copy has its time in another form, which needs no further evidence.
    case form
    /// The copy is at a full minute, the kept item at another second of this minute.
    case minute
    /// The copy has the same second as the kept item and another id.
    case id
  }

  /// In two weeks, chance can cause pairs of equal items in at most this number of minutes.
  static let maxByChance = 5
  /// The minimum number of different amounts of doses at full minutes. A person who always splits a
  /// long-acting dose in two has only few amounts.
  private static let minAmounts = 4
  /// The minimum number of minutes with copies, if every item with seconds has a copy. By chance, a repeated
  /// dose is exactly at a full minute only once in 30 times.
  private static let minWhole = 3
  /// The times before and after a copy at a full minute, in seconds. In one of these pairs, nearly all
  /// minutes must have two equal doses.
  private static let completeSpans: [(before: Int64, after: Int64)] = [
    (spanSeconds, spanSeconds), (2 * 86_400, 0), (0, 2 * 86_400), (86_400, 86_400),
  ]
  /// The time before and after an item in which pairs are counted, in seconds.
  static let spanSeconds: Int64 = 7 * 86400
  /// Items must be read up to this distance outside a period, in seconds, to find all copies in the period.
  package static let marginSeconds = spanSeconds + 60

  /// The copies, by their ids.
  private var copies: [String: Copy] = [:]
  /// The repetitions that the verdict on a kept item lists, by the id of that item.
  private var statements: [String: [Repetition]] = [:]

  /// An empty value: no item is a copy.
  package init() {}

  fileprivate init(_ found: [CountingSource: [Copy]], _ unpaired: [CountingSource: Unpaired]) {
    for (source, pairs) in found {
      for copy in Self.certainCopies(pairs.sorted { $0.instant < $1.instant }, unpaired[source] ?? Unpaired())
      {
        copies[copy.item] = copy
        statements[copy.kept, default: []].append(copy.statement)
      }
    }
  }

  package var sources: Set<CountingSource> { Set(copies.values.map(\.statement.source)) }

  /// The id of the item that is kept instead of a copy; nil for an item that is not a copy.
  func original(of item: CountableItem) -> String? { copies[item.id]?.kept }

  /// The repetitions that the verdict on the item with this id lists: its copies.
  func statements(about id: String) -> [Repetition] { statements[id] ?? [] }

  private static func certainCopies(_ copies: [Copy], _ minutes: Unpaired) -> [Copy] {
    let (cut, repeated) = (copies.filter { $0.sign == .minute }, copies.filter { $0.sign == .id })
    let doses = repeated.filter { $0.kind == .insulin && !$0.instant.isAtMinute }
    let seconds = Set(doses.map(\.instant))
    let exact = Set(repeated.filter { seconds.contains($0.instant) } + frequentCopies(repeated, doses))
    let saved = Set(frequentCopies(cut, cut))
    return copies.filter { [.unit, .form].contains($0.sign) || exact.contains($0) || saved.contains($0) }
      + copiesOfRepeatedDoses(repeated.filter { !exact.contains($0) }, repeated, minutes.single)
      + copiesTruncatedToMinute(cut.filter { !saved.contains($0) }, cut, minutes.exact)
  }

  /// Selects copies with a time cut to the minute. All items with seconds within a week before and after a
  /// selected copy have such copies. At least `minWhole` minutes have such copies, and none of them is
  /// doubtful.
  private static func copiesTruncatedToMinute(_ copies: [Copy], _ cut: [Copy], _ exact: [Int64]) -> [Copy] {
    var (clear, doubtful) = (
      MinuteWindow(cut.filter { !$0.isDoubtful }.map(\.instant)),
      MinuteWindow(cut.filter(\.isDoubtful).map(\.instant))
    )
    var others = MinuteWindow(exact)
    return copies.filter { copy in
      let minute = copy.instant.minuteStart
      return clear.count(around: minute) >= minWhole && doubtful.count(around: minute) == 0
        && others.count(around: minute) == 0
    }
  }

  /// Selects copies at full minutes. In one of `completeSpans` around a selected copy, four in five minutes
  /// with doses have two equal doses. There are more than five such minutes, with at least `minAmounts`
  /// amounts.
  private static func copiesOfRepeatedDoses(_ copies: [Copy], _ repeated: [Copy], _ single: [Int64]) -> [Copy]
  {
    let doses = repeated.filter { $0.kind == .insulin }
    var found: Set<Copy> = []
    for (before, after) in completeSpans {
      var (twice, once) = (
        MinuteWindow(doses.map(\.instant), before: before, after: after),
        MinuteWindow(single, before: before, after: after)
      )
      var first = 0
      for copy in copies {
        let minute = copy.instant.minuteStart
        let count = twice.count(around: minute)
        guard count > maxByChance, once.count(around: minute) * 4 <= count else { continue }
        while first < doses.count, doses[first].instant < minute - before { first += 1 }
        var amounts: Set<[Int64]> = []
        for dose in doses[first...] {
          guard dose.instant.minuteStart <= minute + after, amounts.count < minAmounts else { break }
          amounts.insert(dose.units)
        }
        if amounts.count >= minAmounts { found.insert(copy) }
      }
    }
    return copies.filter(found.contains)
  }

  /// Selects the copies that have more than five minutes with evidence within a week before and after. Most
  /// of these minutes must not be doubtful. `copies` and `evidence` are in the order of time.
  private static func frequentCopies(_ copies: [Copy], _ evidence: [Copy]) -> [Copy] {
    var (clear, doubtful) = (
      MinuteWindow(evidence.filter { !$0.isDoubtful }.map(\.instant)),
      MinuteWindow(evidence.filter(\.isDoubtful).map(\.instant))
    )
    return copies.filter { copy in
      let minute = copy.instant.minuteStart
      let (found, against) = (clear.count(around: minute), doubtful.count(around: minute))
      return found + against > maxByChance && found > against
    }
  }
}

/// Finds the items that are copies; see `OwnCopies`. Callers add the items in the order of time. Memory grows
/// with the number of minutes with items.
package struct OwnCopyFinder {
  private struct Group: Hashable {
    let source: CountingSource
    let kind: CountableItem.Kind
  }

  /// The maximum number of items of one minute that are compared, since the work grows with the square of
  /// this number.
  private static let maxItemsOfAMinute = 256

  private let rules: CountingRules
  private var minute = Int64.min
  private var groups: [Group: [CountableItem]] = [:]
  private var found: [CountingSource: [OwnCopies.Copy]] = [:]
  private var unpaired: [CountingSource: OwnCopies.Unpaired] = [:]

  /// - Parameter rules: people's decisions. If a person decided that two items count separately, neither is a
  ///   copy of the other.
  package init(_ rules: CountingRules) { self.rules = rules }

  /// Adds the next item in the order of time.
  package mutating func add(_ item: CountableItem) {
    let start = item.instant.minuteStart
    if start != minute {
      compare()
      minute = start
    }
    let group = Group(source: item.source, kind: item.kind)
    // What a person types into glucoport twice counts twice. Items of unknown origin may come from different
    // sources.
    guard groups[group]?.count ?? 0 <= Self.maxItemsOfAMinute, item.source.role != .typed,
      item.source.role != .unknown
    else { return }
    groups[group, default: []].append(item)
  }

  /// The copies among the items.
  package mutating func finish() -> OwnCopies {
    compare()
    return OwnCopies(found, unpaired)
  }

  private mutating func compare() {
    var cuts: [(group: Group, pairs: [(copy: CountableItem, kept: CountableItem)])] = []
    // The kinds with an item at the full minute that has no original. They are collected by format, since one
    // export has several sources, such as the device of a reading and the origin of a record.
    var uncut: [String: Set<CountableItem.Kind>] = [:]
    for (group, items) in groups where items.count <= Self.maxItemsOfAMinute {
      // The items are sorted by id, so that every store gets the same result.
      let all = items.sorted { ($0.instant, $0.id) < ($1.instant, $1.id) }
      let reformed = otherForms(all, of: group)
      addCopies(reformed, .form)
      let items = all.filter { item in !reformed.contains { $0.copy.id == item.id } }
      let converted = Self.pairs(items.filter(\.isInMillimoles), items.filter { !$0.isInMillimoles }) {
        $0.isConverted(from: $1) && !rules.separates($0, $1)
      }
      let rest = items.filter { item in !converted.contains { $0.copy.id == item.id } }
      let (whole, exact) = (rest.filter(\.shown.isAtMinute), rest.filter { !$0.shown.isAtMinute })
      let repeated = repeated(exact)
      let originals = exact.filter { item in !repeated.contains { $0.copy.id == item.id } }
      let cut = Self.pairs(whole, originals) { $0.isTruncatedToMinute(from: $1) && !rules.separates($0, $1) }
      let others = whole.filter { item in !cut.contains { $0.copy.id == item.id } }
      if originals.contains(where: { item in !item.isAutomatic && !cut.contains { $0.kept.id == item.id } }) {
        unpaired[group.source, default: OwnCopies.Unpaired()].exact.append(minute)
      }
      addCopies(converted, .unit)
      let alike = repeated + self.repeated(others)
      addCopies(alike, .id)
      if group.kind == .insulin { addSingle(items, alike, of: group.source) }
      if !cut.isEmpty { cuts.append((group, cut)) }
      if !others.isEmpty { uncut[group.source.format, default: []].insert(group.kind) }
    }
    for (group, pairs) in cuts {
      let isDoubtful = uncut[group.source.format]?.contains { $0 != group.kind } ?? false
      addCopies(pairs, .minute, isDoubtful: isDoubtful)
    }
    groups.removeAll(keepingCapacity: true)
  }

  private mutating func addSingle(
    _ items: [CountableItem], _ pairs: [(copy: CountableItem, kept: CountableItem)], of source: CountingSource
  ) {
    let paired = Set(pairs.flatMap { [$0.copy.id, $0.kept.id] })
    guard items.contains(where: { !$0.isAutomatic && !paired.contains($0.id) }) else { return }
    unpaired[source, default: OwnCopies.Unpaired()].single.append(minute)
  }

  private mutating func addCopies(
    _ pairs: [(copy: CountableItem, kept: CountableItem)], _ sign: OwnCopies.Sign, isDoubtful: Bool = false
  ) {
    for (copy, kept) in pairs {
      found[copy.source, default: []].append(
        OwnCopies.Copy(
          item: copy.id, instant: copy.instant, kept: kept.id, statement: Repetition(copy, isOwnCopy: true),
          kind: copy.kind, units: copy.amount.units, sign: sign, isDoubtful: isDoubtful))
    }
  }

  /// Finds the items that equal another item at the same instant, but have the time in another form. A kept
  /// item has at most one copy of each form, so the items of the form with the most equal items count.
  private func otherForms(
    _ items: [CountableItem], of group: Group
  ) -> [(copy: CountableItem, kept: CountableItem)] {
    guard group.kind == .smbg || group.kind == .ketone || !group.source.canHaveIDs,
      items.contains(where: { $0.timeForm != items[0].timeForm })
    else { return [] }
    var kept: [(item: CountableItem, forms: Set<CountableItem.TimeForm>)] = []
    var pairs: [(copy: CountableItem, kept: CountableItem)] = []
    let ordered = items.sorted {
      ($0.timeForm.rawValue, $0.instant, $0.id) < ($1.timeForm.rawValue, $1.instant, $1.id)
    }
    for item in ordered {
      let place = kept.firstIndex {
        !$0.forms.contains(item.timeForm) && item.isReformed(from: $0.item) && !rules.separates(item, $0.item)
      }
      if let place {
        pairs.append((item, kept[place].item))
        kept[place].forms.insert(item.timeForm)
      } else {
        kept.append((item, [item.timeForm]))
      }
    }
    return pairs
  }

  /// Finds the doses and meals that equal another dose or meal at the same second. The one with the smallest
  /// id is kept. At a full minute the source may state no seconds, so a kept item has at most one copy at
  /// such a minute. Items of a source without ids have no such copies.
  private func repeated(_ items: [CountableItem]) -> [(copy: CountableItem, kept: CountableItem)] {
    var kept: [(item: CountableItem, copies: Int)] = []
    var pairs: [(copy: CountableItem, kept: CountableItem)] = []
    for item in items where item.source.canHaveIDs {
      let place = kept.firstIndex {
        item.isRepeated(from: $0.item) && ($0.copies == 0 || !item.shown.isAtMinute)
          && !rules.separates(item, $0.item)
      }
      if let place {
        pairs.append((item, kept[place].item))
        kept[place].copies += 1
      } else {
        kept.append((item, 0))
      }
    }
    return pairs
  }

  /// Pairs each copy with an original that has no copy yet, preferably one with the same use.
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

extension CountableItem.Amount {
  fileprivate var units: [Int64] {
    if case .insulin(let units, let extended) = self { [units, extended] } else { [] }
  }
}

extension CountableItem {
  fileprivate var isInMillimoles: Bool {
    if case .measured(.value(let quantity)) = amount { quantity.unit == .millimolesPerLitre } else { false }
  }

  /// Whether this item is equal to `other`, but its time is truncated to the minute.
  fileprivate func isTruncatedToMinute(from other: CountableItem) -> Bool {
    !isAutomatic && !other.isAutomatic && shown == other.shown.minuteStart && fits(other)
      && (hasParts(of: other) || isInOtherUnit(than: other))
  }

  /// Whether this item is equal to `other` at the same instant. The shown times may differ by whole hours.
  fileprivate func isReformed(from other: CountableItem) -> Bool {
    instant == other.instant && use == other.use && isAutomatic == other.isAutomatic && hasParts(of: other)
  }

  /// Whether this dose or meal is equal to `other` at the same second. Doses that an algorithm gave are
  /// included.
  fileprivate func isRepeated(from other: CountableItem) -> Bool {
    guard kind == .insulin || kind == .food else { return false }
    return instant == other.instant && shown == other.shown && use == other.use
      && isAutomatic == other.isAutomatic && hasParts(of: other)
  }

  /// Whether the amounts are equal. The immediate and the extended part are compared separately. A source may
  /// list the two parts of one combination bolus as two doses with equal amounts.
  private func hasParts(of other: CountableItem) -> Bool {
    guard case .insulin(let units, let extended) = amount,
      case .insulin(let otherUnits, let otherExtended) = other.amount
    else { return amount.agrees(with: other.amount) }
    return abs(units - otherUnits) < 100 && abs(extended - otherExtended) < 100
  }

  /// Whether this value is the value of `other` converted to another unit, at the same second.
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
