// SPDX-License-Identifier: Apache-2.0

/// Which readings of one series are visible according to the withdrawals of the logbook.
package struct SeriesVisibility: Sendable {
  /// The maximum number of points in all lists of withdrawn imports for one series. It limits the work that
  /// hostile withdrawals can cause. A sensor that measures every minute needs a hundred years to reach it.
  package static let maxListedPoints: Int64 = 1 << 26

  /// The points that withdrawn imports list. Equal lists of several withdrawals are kept once.
  let listed: [PointRuns]
  /// The number of points in all lists together.
  package let listedPoints: Int64
  private let ruled: HiddenRanges
  private let own: [SeriesPoint: Bool]
  /// The readings that their source corrected. See `judge`.
  private let corrected: Set<SeriesPoint>
  /// Whether only one of several equal values at one position is shown.
  package let showsEqualOnce: Bool

  init(
    listed: [PointRuns], rules: [DeviceRule], own: [SeriesPoint: Bool], corrected: Set<SeriesPoint> = [],
    showsEqualOnce: Bool
  ) {
    (self.listed, listedPoints) = Self.counting(listed)
    ruled = HiddenRanges(rules)
    (self.own, self.corrected) = (own, corrected)
    self.showsEqualOnce = showsEqualOnce
  }

  /// The lists that together stay within `maxListedPoints`. Short lists come first, so that one list of all
  /// readings does not exclude all other lists. Every store chooses the same lists.
  private static func counting(_ listed: [PointRuns]) -> (lists: [PointRuns], points: Int64) {
    let lists = Array(Set(listed.filter { !$0.isEmpty }))
    let all = lists.reduce(Int64(0)) { $0.addingReportingOverflow($1.count).partialValue }
    guard all > maxListedPoints || all < 0 else { return (lists, all) }
    var sum: Int64 = 0
    let sorted = lists.sorted { left, right in
      left.count == right.count
        ? left.bytes.lexicographicallyPrecedes(right.bytes) : left.count < right.count
    }
    let counted = sorted.prefix { runs in
      sum += runs.count
      return sum <= maxListedPoints
    }
    return (Array(counted), counted.reduce(0) { $0 + $1.count })
  }

  /// Whether a withdrawn import lists this point.
  package func lists(_ point: SeriesPoint) -> Bool { listed.contains { $0.contains(point) } }

  /// The readings among `points` that withdrawn imports list.
  package func listed(in points: PointRuns) -> PointRuns {
    listed.reduce(PointRuns([SeriesPoint]())) { $0.union($1.intersection(points)) }
  }

  /// Whether withdrawals hide a reading. A correction at the source is not considered, since `judge` decides
  /// about it.
  package func hides(_ point: SeriesPoint, shownAt time: DeviceTime) -> Bool {
    hides(point, shownAt: time, isListed: lists(point))
  }

  func hides(
    _ point: SeriesPoint, shownAt time: DeviceTime, isListed: @autoclosure () -> Bool
  ) -> Bool {
    if !own.isEmpty, let isHidden = own[point] { return isHidden }
    return ruled.contains(time) || isListed()
  }

  /// Whether the source corrected a reading, and no person decided about it.
  private func isCorrected(_ point: SeriesPoint) -> Bool { corrected.contains(point) && own[point] == nil }

  /// Whether a reading is not corrected, and some import that is not undone contains it. It may be hidden by
  /// a person.
  private func counts(_ item: JudgedReading, isHidden: Bool) -> Bool {
    guard !isCorrected(item.point) else { return false }
    return !isHidden || own[item.point] == true || ruled.contains(item.deviceTime)
  }

  /// One of several readings at the same position of the series.
  package struct JudgedReading: Sendable {
    package let point: SeriesPoint
    package let deviceTime: DeviceTime
    package let measurement: Measurement
    /// The UTC offset in seconds, and whether the source stated it; nil if offsets are not compared.
    package let offset: (seconds: Int32, isStated: Bool)?

    package init(
      _ point: SeriesPoint, at deviceTime: DeviceTime, _ measurement: Measurement,
      offset: (seconds: Int32, isStated: Bool)? = nil
    ) {
      (self.point, self.deviceTime, self.measurement, self.offset) = (point, deviceTime, measurement, offset)
    }

    /// Whether both items are one measurement. If a source states an offset, a different offset means a
    /// different instant, as in the second pass of an hour that clocks repeat.
    func isEqual(to other: JudgedReading) -> Bool {
      guard deviceTime == other.deviceTime, measurement.agrees(with: other.measurement) else { return false }
      guard let mine = offset, let theirs = other.offset, mine.isStated || theirs.isStated else {
        return true
      }
      return mine.seconds == theirs.seconds
    }
  }

  /// Whether a reading is shown and, if not, the reason.
  package enum Verdict: Int64, Sendable {
    case shown = 0
    case withdrawn = 1
    /// An equal reading at the same position is shown instead. This happens if two stores gave one reading
    /// different occurrences.
    case equalIsShown = 2
  }

  /// Whether each of the readings at one position is shown. The verdicts are in the order of `place`.
  package func judge(_ place: [JudgedReading]) -> [Verdict] {
    judge(place, isHidden: place.map { hides($0.point, shownAt: $0.deviceTime) })
  }

  /// Whether each of the readings at one position is shown, in the order of `place`. `isHidden` states which
  /// readings are withdrawn.
  ///
  /// A reading that its source corrected is hidden if the place has another one that counts: it is neither
  /// corrected nor of an undone import. So two stores that decide differently never hide all values of a
  /// place.
  package func judge(_ place: [JudgedReading], isHidden: [Bool]) -> [Verdict] {
    var isHidden = isHidden
    let hasCorrections = !corrected.isEmpty && place.contains { isCorrected($0.point) }
    if hasCorrections, zip(place, isHidden).contains(where: { counts($0, isHidden: $1) }) {
      for (index, item) in place.enumerated() where isCorrected(item.point) { isHidden[index] = true }
    }
    var verdicts: [Verdict] = []
    for (index, item) in place.enumerated() {
      if isHidden[index] {
        verdicts.append(.withdrawn)
      } else if showsEqualOnce, own[item.point] == nil,
        zip(place[..<index], verdicts).contains(where: {
          $1 == .shown && $0.isEqual(to: item)
        })
      {
        verdicts.append(.equalIsShown)
      } else {
        verdicts.append(.shown)
      }
    }
    return verdicts
  }
}

/// The shown times that the device rules of withdrawals hide, merged into separate ranges in order. So a
/// search in them is fast for any number of rules.
private struct HiddenRanges: Sendable {
  /// Each range begins after the end of the previous one. The ends are exclusive; nil means no limit.
  private var ranges: [(since: DeviceTime?, until: DeviceTime?)] = []

  init(_ rules: [DeviceRule]) {
    let sorted = rules.sorted { left, right in
      guard let right = right.since else { return false }
      return left.since.map { $0 < right } ?? true
    }
    for rule in sorted {
      if let since = rule.since, let until = rule.until, until <= since { continue }
      guard let last = ranges.last, last.until.map({ end in rule.since.map { $0 <= end } ?? true }) ?? true
      else {
        ranges.append((rule.since, rule.until))
        continue
      }
      if let end = last.until {
        ranges[ranges.count - 1].until = rule.until.map { max($0, end) }
      }
    }
  }

  func contains(_ time: DeviceTime) -> Bool {
    if ranges.isEmpty { return false }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].since.map({ $0 <= time }) ?? true { low = middle + 1 } else { high = middle }
    }
    return low > 0 && (ranges[low - 1].until.map { time < $0 } ?? true)
  }
}

extension SeriesVisibility {
  /// Determines the visibility of points that are asked for in order. After a search, a list is skipped until
  /// the requested point reaches the list's next point. So each list is read once, even if many overlap.
  package struct VisibilityCursor: Sendable {
    /// The number of times that a cursor was moved in any list so far. It is at most the number of points in
    /// all lists.
    package private(set) var steps = 0

    private let visibility: SeriesVisibility
    /// The lists that begin after the last requested point, in reverse order.
    private var unopened: [PointRuns]
    /// The cursors of the lists that have begun and still have points, except `lastUsed`.
    private var waiting = WaitingCursors()
    /// The list that contained the last point. It is most likely to contain the next one.
    private var lastUsed: PointRuns.Cursor?

    fileprivate init(_ visibility: SeriesVisibility) {
      self.visibility = visibility
      unopened = visibility.listed.sorted { left, right in
        guard let left = left.ends?.lowerBound, let right = right.ends?.lowerBound else { return false }
        return right < left
      }
    }

    /// Whether a withdrawn import lists a point. Later calls must not ask for an earlier point.
    package mutating func lists(_ point: SeriesPoint) -> Bool {
      if lastUsed?.contains(point) == true { return true }
      if let passed = lastUsed { addWaiting(passed, from: point) }
      lastUsed = nil
      while let next = unopened.last, let ends = next.ends, ends.lowerBound <= point {
        unopened.removeLast()
        if point <= ends.upperBound { addWaiting(PointRuns.Cursor(next, from: point), from: point) }
      }
      while let next = waiting.first, next <= point {
        guard var cursor = waiting.popFirst() else { break }
        if cursor.contains(point) {
          lastUsed = cursor
          return true
        }
        addWaiting(cursor, from: point)
      }
      return false
    }

    /// Whether withdrawals hide a reading. Later calls must not ask for an earlier point.
    package mutating func hides(_ point: SeriesPoint, shownAt time: DeviceTime) -> Bool {
      let isListed = lists(point)
      return visibility.hides(point, shownAt: time, isListed: isListed)
    }

    private mutating func addWaiting(_ cursor: PointRuns.Cursor, from point: SeriesPoint) {
      var cursor = cursor
      guard let next = cursor.first(from: point) else { return }
      steps += 1
      waiting.insert(cursor, at: next)
    }
  }

  /// Visibility for points that are asked for in order.
  package var ordered: VisibilityCursor { VisibilityCursor(self) }
}

/// The cursors of several lists in a heap, ordered by their next points.
private struct WaitingCursors: Sendable {
  private var items: [(next: SeriesPoint, cursor: PointRuns.Cursor)] = []

  /// The earliest of the next points; nil if there are no cursors.
  var first: SeriesPoint? { items.first?.next }

  mutating func insert(_ cursor: PointRuns.Cursor, at next: SeriesPoint) {
    items.append((next, cursor))
    var index = items.count - 1
    while index > 0, items[index].next < items[(index - 1) / 2].next {
      items.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func popFirst() -> PointRuns.Cursor? {
    guard let cursor = items.first?.cursor else { return nil }
    items.swapAt(0, items.count - 1)
    items.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < items.count {
        if items[child].next < items[least].next { least = child }
      }
      if least == index { return cursor }
      items.swapAt(index, least)
      index = least
    }
  }
}
