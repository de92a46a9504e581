// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An amount of one source at one time.
struct SourceEntry: Sendable {
  let source: CountingSource
  /// The amount in units, grams or readings.
  var amount: Double
  /// The key that equal amounts share; nil for an amount that cannot be compared.
  var key: Int64?
  /// The shown time in civil seconds.
  let shown: Int64
  /// The other sources that state the same item, as `CountedOnce` has found.
  var twins: Set<CountingSource> = []
  /// Whether the entry counts in sums.
  var counts = true
  /// Whether a person chose another source for the time and kind of this entry.
  var isDecided = false
  /// Whether the entry is a basal rate. Each basal rate ends the one before it, whatever its source, so rates
  /// of two sources never add up.
  var isRate = false
  /// The use of the insulin. Empty for other amounts.
  var uses: InsulinUses = []
  /// Whether the entry is outside of the period. It is then in no figure, but affects which days of the
  /// period are doubtful.
  var isContext = false

  /// The day of the shown time, in days since 1970-01-01.
  var day: Int { Grouping.day(of: DeviceTime(seconds: shown)) }
}

/// Collects the amounts of each source of insulin, food or finger sticks, whether they count or not. Finds
/// the days on which two sources seem to state the same items.
///
/// Whether a day is doubtful depends on the four weeks around it and not on the period of a figure. So the
/// figures of a day and of its month agree. Entries are added in the order of time. Memory grows with the
/// number of days.
struct SourceTally: Sendable {
  /// The items of one source on one day, in comparison with other sources.
  struct Day: Sendable {
    /// The total amount of the day, in units, grams or readings.
    var total = 0.0
    /// The amount of the items that the other sources do not have.
    var unmatched = 0.0
    /// The number of items that the other sources do not have.
    var items = 0
    /// The number of unmatched items that count in sums. Other unmatched items are left out, because a third
    /// source has them.
    var counted = 0
    /// The number of unmatched items that are basal rates.
    var rates = 0
    /// The amount of these basal rates.
    var rateAmount = 0.0
    /// The number of unmatched items that are basal doses.
    var basalDoses = 0
    /// The uses of all insulin of the day.
    var uses: InsulinUses = []
    /// The uses of the insulin that the other sources do not have.
    var unmatchedUses: InsulinUses = []
    /// Whether any item of the day is in the period.
    var isShown = false
    /// Whether a person chose another source for any item of the day.
    var isDecided = false

    mutating func add(_ other: Day) {
      total += other.total
      unmatched += other.unmatched
      items += other.items
      counted += other.counted
      rates += other.rates
      rateAmount += other.rateAmount
      basalDoses += other.basalDoses
      uses.formUnion(other.uses)
      unmatchedUses.formUnion(other.unmatchedUses)
    }
  }

  /// A set of sources, one bit for each.
  typealias Mask = UInt32

  /// A day of one source, with its amounts grouped by the other sources that have the same items. So the day
  /// can be compared with any of the other sources.
  struct SourceDay: Sendable {
    struct PartKey: Hashable {
      let twins: Mask
      let counts: Bool
    }

    var isShown = false
    var isDecided = false
    var parts: [PartKey: Day] = [:]

    /// The items of the day in comparison with these sources.
    ///
    /// - Parameter countedOnly: whether unmatched items are ignored if they do not count in sums.
    func without(_ others: Mask, countedOnly: Bool = false) -> Day {
      var day = Day()
      (day.isShown, day.isDecided) = (isShown, isDecided)
      for (key, part) in parts {
        if key.twins & others == 0, key.counts || !countedOnly {
          day.add(part)
        } else {
          day.total += part.total
          day.uses.formUnion(part.uses)
        }
      }
      return day
    }
  }

  private struct RecentAmount: Sendable {
    let source: Int
    let twins: Mask
    let shown: Int64
    let key: Int64
    let uses: InsulinUses
  }

  /// The number of equal amounts of two sources with nearly the same time difference, and the sum of the
  /// differences in seconds.
  struct Shift: Sendable {
    var count = 0
    var seconds: Int64 = 0
    /// The distinct values of these amounts. Once there are `minAmounts` of them, further ones are not added.
    var amounts: [Int64] = []

    mutating func add(_ key: Int64, _ distance: Int64) {
      count += 1
      seconds += distance
      addAmount(key)
    }

    mutating func add(_ other: Shift) {
      count += other.count
      seconds += other.seconds
      for key in other.amounts { addAmount(key) }
    }

    private mutating func addAmount(_ key: Int64) {
      if amounts.count < minAmounts, !amounts.contains(key) { amounts.append(key) }
    }
  }

  /// Two sources in the order of their names, so that stores with equal items give equal results, although
  /// they number the sources differently.
  struct SourcePair: Hashable {
    let first: Int
    let second: Int
  }

  /// The number of minutes of each day in which two sources both have a meal.
  private struct CommonMeals: Sendable {
    var days: [Int: Int] = [:]
    private var last: Int64?

    /// Adds the time of an item. The foods of one meal have one time, which is added once.
    mutating func add(_ shown: Int64, on day: Int) {
      if let last, abs(shown - last) < windowSeconds { return }
      days[day, default: 0] += 1
      last = shown
    }

    mutating func removeDays(before day: Int) { days = days.filter { $0.key >= day } }
  }

  /// The sums over the doubtful days of a pair of sources.
  private struct Doubt: Sendable {
    var days: Set<Int> = []
    var first = 0.0
    var second = 0.0
    /// For each constant time difference in seconds, the number of days with it.
    var shifts: [Int64: Int] = [:]
  }

  /// A basal rate whose end is only known when the next rate of its source is added.
  private struct OpenRate: Sendable {
    let rate: BasalRate
    let entry: SourceEntry
  }

  /// The maximum number of sources with separate figures. It is more than a real logbook has, and further
  /// sources are ignored.
  private static let maxSources = 24
  /// The number of recent doses with which a dose is compared. It is more than the doses of a day.
  private static let maxRecent = 400
  /// The minimum number of days on which both sources have items. With fewer days, a person may only have
  /// tried an app. Such days are doubtful only if one source copies many items of the other; see `isCopy`.
  static let minDays = 3
  /// The minimum number of items of a source, and below the minimum number of different amounts. Fewer may be
  /// equal by chance.
  private static let minPart = 5
  private static let minAmounts = 3
  private static let quarterSeconds: Int64 = 900
  /// The clock of a meter can be wrong by any amount of time, so time differences of finger sticks are
  /// counted in whole minutes.
  private static let minuteSeconds: Int64 = 60
  private static let windowSeconds: Int64 = 60
  /// The maximum time difference in seconds that shows a copy if both sources have items on fewer than
  /// `minDays` days.
  private static let maxShiftSecondsOfAFewDays: Int64 = 12 * 3600
  /// The number of days after which a day is complete. Items are added in the order of their instants, which
  /// differ from shown times by less than two days. So three days are enough.
  private static let lateDays = 3

  let kind: CountableItem.Kind
  /// The insulin that is compared.
  let insulin: InsulinPart
  private(set) var sources: [CountingSource] = []
  /// The names of the sources. They are kept, since making a name from its two texts takes time.
  private(set) var names: [String] = []
  private var totals: [(total: Double, days: DaySet)] = []
  /// The days of each source, by the day's number. Days that are not needed for further decisions are
  /// removed.
  private(set) var days: [[Int: SourceDay]] = []
  private var recent: [RecentAmount] = []
  private var shifts: [SourcePair: [Int: [Int64: Shift]]] = [:]
  /// The times at which both sources of a pair have a meal.
  private var meals: [SourcePair: CommonMeals] = [:]
  private var undecided: Set<Int> = []
  private var newestDay = Int.min
  private var doubts: [SourcePair: Doubt] = [:]
  private var openRates: [CountingSource: OpenRate] = [:]

  init(_ kind: CountableItem.Kind, _ insulin: InsulinPart = .bolus) {
    (self.kind, self.insulin) = (kind, insulin)
  }

  /// Adds the next entry.
  mutating func add(_ entry: SourceEntry) {
    guard entry.amount > 0, let source = index(of: entry.source) else { return }
    advance(to: entry.day)
    let twins = mask(of: entry.twins)
    var part = Day(total: entry.amount, unmatched: entry.amount, items: 1)
    part.counted = entry.counts ? 1 : 0
    (part.rates, part.rateAmount) = entry.isRate ? (1, entry.amount) : (0, 0)
    (part.uses, part.unmatchedUses) = (entry.uses, entry.uses)
    part.basalDoses = entry.uses.contains(.basal) ? 1 : 0
    var day = days[source][entry.day] ?? SourceDay()
    day.parts[SourceDay.PartKey(twins: twins, counts: entry.counts), default: Day()].add(part)
    if entry.isDecided { day.isDecided = true }
    if !entry.isContext {
      day.isShown = true
      totals[source].total += entry.amount
      totals[source].days.insert(entry.day)
    }
    days[source][entry.day] = day
    undecided.insert(entry.day)
    if let key = entry.key {
      let amount = RecentAmount(
        source: source, twins: twins, shown: entry.shown, key: key, uses: entry.uses)
      compare(amount, on: entry.day)
    }
  }

  /// Adds the next basal rate of a source, which ends the previous one.
  mutating func add(_ rate: BasalRate, _ entry: SourceEntry, at instant: Int64) {
    if let open = openRates.removeValue(forKey: entry.source) { end(open, until: instant) }
    guard openRates.count < Self.maxSources else { return }
    openRates[entry.source] = OpenRate(rate: rate, entry: entry)
  }

  /// Decides for the remaining days whether two sources seem to state the same items.
  mutating func finish() {
    for open in openRates.values.sorted(by: { $0.entry.shown < $1.entry.shown }) { end(open, until: nil) }
    openRates = [:]
    for day in undecided.sorted() { decideDoubles(on: day) }
    undecided = []
  }

  private mutating func end(_ open: OpenRate, until next: Int64?) {
    var entry = open.entry
    entry.amount = open.rate.dose(until: next).units ?? 0
    add(entry)
  }

  private mutating func index(of source: CountingSource) -> Int? {
    if source.role == .unknown { return nil }
    if let index = sources.firstIndex(of: source) { return index }
    guard sources.count < Self.maxSources else { return nil }
    sources.append(source)
    names.append(source.text)
    totals.append((0, DaySet()))
    days.append([:])
    return sources.count - 1
  }
}

extension SourceTally {
  static func mask(_ source: Int) -> Mask { 1 << Mask(source) }

  private mutating func mask(of sources: Set<CountingSource>) -> Mask {
    // The sources are sorted before they get numbers. Only the first `maxSources` sources have separate
    // figures, and every store must choose the same ones.
    sources.sorted { $0.text < $1.text }.reduce(0) { mask, source in
      index(of: source).map { mask | Self.mask($0) } ?? mask
    }
  }

  func pair(_ one: Int, _ other: Int) -> SourcePair {
    names[one] <= names[other] ? SourcePair(first: one, second: other) : SourcePair(first: other, second: one)
  }

  /// The items of one source on a day, in comparison with another source.
  func day(_ source: Int, _ day: Int, without other: Int) -> Day? {
    days[source][day]?.without(Self.mask(other))
  }
}

// MARK: - Constant delays between sources

extension SourceTally {
  /// Records the time differences between equal amounts of two sources.
  private mutating func compare(_ amount: RecentAmount, on day: Int) {
    // In a comparison of all insulin, a bolus repeats no other dose; see `canRepeat`.
    if insulin == .all, amount.uses == .bolus { return }
    if sources.count > 1 {
      if kind == .food { countMeal(amount, on: day) }
      for other in recent
      where other.source != amount.source && other.key == amount.key && canRepeat(amount.uses, other.uses) {
        if amount.twins & Self.mask(other.source) != 0 || other.twins & Self.mask(amount.source) != 0 {
          continue
        }
        let pair = pair(other.source, amount.source)
        let isLater = pair.second == amount.source
        let distance = isLater ? amount.shown - other.shown : other.shown - amount.shown
        guard abs(distance) <= DeviceTime.largestDifference, let shift = shift(distance) else { continue }
        shifts[pair, default: [:]][day, default: [:]][shift, default: Shift()].add(
          amount.key, distance)
      }
    }
    recent.append(amount)
    if recent.count > 2 * Self.maxRecent { recent.removeFirst(Self.maxRecent) }
  }

  /// Counts a meal if another source has a meal within a minute of it, whatever the amounts are.
  private mutating func countMeal(_ amount: RecentAmount, on day: Int) {
    let near = recent.filter { other in
      other.source != amount.source && abs(amount.shown - other.shown) < Self.windowSeconds
        && amount.twins & Self.mask(other.source) == 0 && other.twins & Self.mask(amount.source) == 0
    }
    for other in Set(near.map(\.source)) {
      meals[pair(other, amount.source), default: CommonMeals()].add(amount.shown, on: day)
    }
  }

  /// The constant time difference, in seconds, by which two equal amounts at this distance can be the same
  /// item; nil if there is none.
  ///
  /// A zone shifts typed times by whole quarters of an hour. A clock shifts the times of a meter by any
  /// number of minutes, which other programs truncate. For doses or meals, the difference is 0 at a distance
  /// of a few minutes: a person typed the item into both sources.
  private func shift(_ distance: Int64) -> Int64? {
    if kind == .smbg {
      guard abs(distance) >= Self.windowSeconds else { return nil }
      return (distance >= 0 ? distance : distance - Self.minuteSeconds + 1) / Self.minuteSeconds
        * Self.minuteSeconds
    }
    let shift = Int64((Double(distance) / Double(Self.quarterSeconds)).rounded()) * Self.quarterSeconds
    if shift == 0 { return 0 }
    return abs(distance - shift) < Self.windowSeconds ? shift : nil
  }

  /// The time difference that most equal amounts of the two sources have on these days.
  func bestShift(_ pair: SourcePair, on days: ClosedRange<Int>) -> (seconds: Int64, found: Shift)? {
    var counts: [Int64: Shift] = [:]
    for (day, shifts) in shifts[pair] ?? [:] where days.contains(day) {
      for (shift, sum) in shifts { counts[shift, default: Shift()].add(sum) }
    }
    // If one source truncates times to minutes, a constant time difference appears as two neighbouring
    // numbers of minutes.
    func near(_ shift: Int64) -> Shift {
      var found = counts[shift] ?? Shift()
      if kind == .smbg, let next = counts[shift + Self.minuteSeconds] { found.add(next) }
      return found
    }
    let best = counts.keys.max { left, right in
      (near(left).count, abs(right), right) < (near(right).count, abs(left), left)
    }
    return best.map { ($0, near($0)) }
  }

  /// The time difference that at least half of the items of two sources have, in seconds; nil if there is
  /// none.
  func constantShift(_ best: (seconds: Int64, found: Shift)?, of items: Int) -> Int64? {
    guard let best, best.found.count * 2 >= items else { return nil }
    if kind != .smbg { return best.seconds == 0 ? nil : best.seconds }
    let mean = Double(best.found.seconds) / Double(best.found.count) / Double(Self.minuteSeconds)
    return Int64(mean.rounded()) * Self.minuteSeconds
  }
}

// MARK: - Decisions

extension SourceTally {
  /// Decides about each day once all items of the two weeks after it were added. Removes days that are not
  /// needed for further decisions.
  private mutating func advance(to day: Int) {
    guard day > newestDay else { return }
    newestDay = day
    let decided = undecided.filter { $0 < day - CountingMargin.doubtDays - Self.lateDays }
    guard !decided.isEmpty else { return }
    for day in decided.sorted() { decideDoubles(on: day) }
    undecided.subtract(decided)
    let needed = (undecided.min() ?? day) - CountingMargin.doubtDays
    for source in days.indices { days[source] = days[source].filter { $0.key >= needed } }
    for pair in shifts.keys { shifts[pair] = shifts[pair]?.filter { $0.key >= needed } }
    for pair in meals.keys { meals[pair]?.removeDays(before: needed) }
  }

  private mutating func decideDoubles(on day: Int) {
    for first in sources.indices where days[first][day] != nil {
      for second in sources.indices where second > first && days[second][day] != nil {
        decideDoubles(on: day, pair(first, second))
      }
    }
    if sources.count > 2 { decideSums(day) }
  }

  static func around(_ day: Int) -> ClosedRange<Int> {
    day - CountingMargin.doubtDays...day + CountingMargin.doubtDays
  }

  /// Decides whether two sources seem to state the same items on a day on which each has items that the other
  /// lacks. Only these items are compared. So the days before a clock went wrong, on which items match, do
  /// not affect the days after.
  private mutating func decideDoubles(on day: Int, _ pair: SourcePair) {
    guard let own = self.day(pair.first, day, without: pair.second),
      let other = self.day(pair.second, day, without: pair.first), Self.areOpen(own, other),
      fits(own.unmatchedUses, other.unmatchedUses)
    else { return }
    let around = Self.around(day)
    let common = around.compactMap { day -> (own: Day, other: Day)? in
      guard let own = self.day(pair.first, day, without: pair.second),
        let other = self.day(pair.second, day, without: pair.first), own.items > 0, other.items > 0,
        fits(own.unmatchedUses, other.unmatchedUses)
      else { return nil }
      return (own, other)
    }
    if insulin == .all { return decideAllInsulin(day, pair, common) }
    let (mine, theirs) = (Self.sum(common.map(\.own)), Self.sum(common.map(\.other)))
    let best = bestShift(pair, on: around)
    // The days are compared one by one, and all together, since a dose around midnight may be on different
    // days of the two sources.
    let isDoubtful =
      common.count < Self.minDays
      ? isCopy(mine, theirs, best)
      : unmatchedAmountsAgree(own, other)
        && common.count(where: { unmatchedAmountsAgree($0.own, $0.other) }) >= Self.minDays
        || unmatchedAmountsAgree(mine, theirs) || isPart(mine, theirs, best)
        || hasMealsInCommon(mine, theirs, pair, around)
    guard isDoubtful, mine.rates < mine.items || theirs.rates < theirs.items else { return }
    let shift = constantShift(best, of: min(mine.items, theirs.items))
    // Two meters of one person may have equal numbers of readings each day, so only equal values at a
    // constant time difference are doubtful.
    if kind == .smbg, shift == nil { return }
    compareDay(day, pair, shift)
  }

  /// Whether each of two sources has an item in the sums that the other source lacks. An item of the two must
  /// be in the period, and no person may have decided about the sources.
  static func areOpen(_ own: Day, _ other: Day) -> Bool {
    (own.isShown || other.isShown) && !own.isDecided && !other.isDecided && own.counted > 0
      && other.counted > 0
  }

  /// - Parameter hasRates: whether the amounts of the basal rates were compared, too.
  mutating func compareDay(_ day: Int, _ pair: SourcePair, _ shift: Int64?, hasRates: Bool = true) {
    guard var own = self.day(pair.first, day, without: pair.second),
      var other = self.day(pair.second, day, without: pair.first)
    else { return }
    if !hasRates { (own, other) = (own.withoutRates, other.withoutRates) }
    var doubt = doubts[pair] ?? Doubt()
    guard doubt.days.insert(day).inserted else { return }
    doubt.first += own.total
    doubt.second += other.total
    if let shift { doubt.shifts[shift, default: 0] += 1 }
    doubts[pair] = doubt
  }

  static func sum(_ days: some Sequence<Day>) -> Day {
    days.reduce(into: Day()) { $0.add($1) }
  }

  /// Whether the amounts that each source has without the other are nearly equal, and too large to be ignored
  /// in a sum.
  func unmatchedAmountsAgree(_ own: Day, _ other: Day) -> Bool {
    abs(own.unmatched - other.unmatched) < 0.25 * max(own.unmatched, other.unmatched)
      && isLargePart(own, other)
  }

  private func isLargePart(_ own: Day, _ other: Day) -> Bool {
    min(own.unmatched, other.unmatched) >= 0.05 * max(own.total, other.total)
  }

  /// Whether one source repeats items of the other. Then nearly all of its items have an equal amount in the
  /// other source at the same time difference. If this difference is not 0, there must be several different
  /// amounts. A person who takes the same dose at fixed hours has only one or two.
  ///
  /// - Parameter items: the number of these items; nil for those of the source with fewer items.
  func isPart(
    _ own: Day, _ other: Day, _ best: (seconds: Int64, found: Shift)?, of items: Int? = nil
  ) -> Bool {
    let items = items ?? min(own.items, other.items)
    guard let best, items >= Self.minPart, isLargePart(own, other) else { return false }
    return best.found.count * 10 >= items * 8
      && (best.seconds == 0 || best.found.amounts.count >= Self.minAmounts)
  }

  /// Whether one source repeats items of the other on one or two days. For example, a person tries an app for
  /// a day, to which the pump passes on its doses.
  ///
  /// Equal amounts on one or two days can be chance, so at least three of them must be different. People
  /// repeat their meals and doses from day to day. So a time difference of more than 12 hours does not show a
  /// copy.
  private func isCopy(_ own: Day, _ other: Day, _ best: (seconds: Int64, found: Shift)?) -> Bool {
    guard let best, abs(best.seconds) <= Self.maxShiftSecondsOfAFewDays else { return false }
    return isPart(own, other, best) && best.found.amounts.count >= Self.minAmounts
  }
}

extension SourceTally {
  /// Whether nearly all meals of one source are within a minute of a meal of the other. A pump may get only a
  /// part of the carbohydrates that a diary has, so the amounts can differ by any factor.
  private func hasMealsInCommon(_ own: Day, _ other: Day, _ pair: SourcePair, _ days: ClosedRange<Int>)
    -> Bool
  {
    let items = min(own.items, other.items)
    guard kind == .food, items >= Self.minPart, isLargePart(own, other) else { return false }
    let common = meals[pair]?.days.filter { days.contains($0.key) }.values.reduce(0, +) ?? 0
    return common * 10 >= items * 8
  }
}

// MARK: - Results, after `finish`

extension SourceTally {
  /// The amounts of each source, the largest first.
  var amounts: [SourceAmount] {
    sources.indices.filter { totals[$0].days.count > 0 }.map { index in
      SourceAmount(source: sources[index], total: totals[index].total, days: totals[index].days.count)
    }.sorted { ($1.total, $0.source.text) < ($0.total, $1.source.text) }
  }

  /// The pairs of sources that seem to state the same items on days of the period. Pairs are left out if a
  /// person decided that both count.
  ///
  /// - Parameter whole: the comparison of all insulin. Doubts about a part of the insulin are left out if
  ///   `whole` has the same sources on the same days.
  func doubts(_ rules: CountingRules, notIn whole: SourceTally? = nil) -> [SourceDoubt] {
    undecidedPairs(rules).filter { pair, doubt in
      whole.map { doubt.days.isSubset(of: $0.doubtfulDays(of: sources[pair.first], sources[pair.second])) }
        != true
    }.map { pair, doubt in
      let shift = doubt.shifts.max { ($0.value, abs($1.key), $1.key) < ($1.value, abs($0.key), $0.key) }
      return SourceDoubt(
        kind: kind, insulin: insulin,
        first: SourceAmount(source: sources[pair.first], total: doubt.first, days: doubt.days.count),
        second: SourceAmount(source: sources[pair.second], total: doubt.second, days: doubt.days.count),
        shiftSeconds: shift.flatMap { $0.value * 2 >= doubt.days.count ? $0.key : nil })
    }
  }

  /// The days on which two sources seem to state the same items. Sums that include such a day are not shown.
  func doubtfulDays(_ rules: CountingRules) -> Set<Int> {
    undecidedPairs(rules).reduce(into: []) { $0.formUnion($1.doubt.days) }
  }

  /// The days on which these two sources, in the order of their names, seem to state the same items.
  private func doubtfulDays(of first: CountingSource, _ second: CountingSource) -> Set<Int> {
    guard let one = sources.firstIndex(of: first), let other = sources.firstIndex(of: second) else {
      return []
    }
    return doubts[pair(one, other)]?.days ?? []
  }

  private func undecidedPairs(_ rules: CountingRules) -> [(pair: SourcePair, doubt: Doubt)] {
    doubts.map { ($0.key, $0.value) }.sorted {
      (names[$0.0.first], names[$0.0.second]) < (names[$1.0.first], names[$1.0.second])
    }
    .filter { !rules.isSeparate(sources[$0.0.first], sources[$0.0.second]) }
  }
}
