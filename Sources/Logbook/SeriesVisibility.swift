// SPDX-License-Identifier: Apache-2.0

/// What withdrawals say of the readings of one series.
package struct SeriesVisibility: Sendable {
  /// The most points of withdrawn imports that count in one series: what a question may pass is bounded, whoever wrote the
  /// withdrawals. Those are a hundred years of a sensor that measures every minute, withdrawn.
  package static let maxListedPoints: Int64 = 1 << 26

  /// Each once: copies of one withdrawal cost nothing.
  let listed: [PointRuns]
  /// How many points count.
  package let listedPoints: Int64
  private let ruled: RuledTimes
  private let own: [SeriesPoint: Bool]
  /// Whether equal values of one place count as one reading.
  package let showsEqualOnce: Bool

  init(listed: [PointRuns], rules: [DeviceRule], own: [SeriesPoint: Bool], showsEqualOnce: Bool) {
    (self.listed, listedPoints) = Self.counting(listed)
    ruled = RuledTimes(rules)
    self.own = own
    self.showsEqualOnce = showsEqualOnce
  }

  /// The lists that count: the short ones first, so that none that hides everything keeps others out, and every store
  /// leaves out the same.
  private static func counting(_ listed: [PointRuns]) -> (lists: [PointRuns], points: Int64) {
    let lists = Array(Set(listed.filter { !$0.isEmpty }))
    let all = lists.reduce(Int64(0)) { $0.addingReportingOverflow($1.count).partialValue }
    guard all > maxListedPoints || all < 0 else { return (lists, all) }
    var sum: Int64 = 0
    let sorted = lists.sorted { left, right in
      left.count == right.count ? left.text < right.text : left.count < right.count
    }
    let counted = sorted.prefix { runs in
      sum += runs.count
      return sum <= maxListedPoints
    }
    return (Array(counted), counted.reduce(0) { $0 + $1.count })
  }

  /// Whether a withdrawn import lists a point.
  package func lists(_ point: SeriesPoint) -> Bool { listed.contains { $0.contains(point) } }

  /// Those of some points that withdrawn imports list.
  package func listed(in points: PointRuns) -> PointRuns {
    listed.reduce(PointRuns([SeriesPoint]())) { $0.union($1.intersection(points)) }
  }

  /// Whether a reading is withdrawn.
  package func hides(_ point: SeriesPoint, shownAt time: DeviceTime) -> Bool {
    hides(point, shownAt: time, isListed: lists(point))
  }

  func hides(
    _ point: SeriesPoint, shownAt time: DeviceTime, isListed: @autoclosure () -> Bool
  ) -> Bool {
    if !own.isEmpty, let isHidden = own[point] { return isHidden }
    return ruled.contains(time) || isListed()
  }

  /// A reading among others of its position.
  package struct Item: Sendable {
    package let point: SeriesPoint
    package let deviceTime: DeviceTime
    package let measurement: Measurement

    package init(_ point: SeriesPoint, at deviceTime: DeviceTime, _ measurement: Measurement) {
      (self.point, self.deviceTime, self.measurement) = (point, deviceTime, measurement)
    }
  }

  /// Why a reading is not shown.
  package enum Verdict: Int64, Sendable {
    case shown = 0
    case withdrawn = 1
    /// An equal reading of its place is shown: two stores numbered the same one apart.
    case equalIsShown = 2
  }

  /// What becomes of the readings of one position, in order.
  package func judge(_ place: [Item]) -> [Verdict] {
    judge(place, isHidden: place.map { hides($0.point, shownAt: $0.deviceTime) })
  }

  /// What becomes of the readings of one position, in order, of which it is known which are withdrawn.
  package func judge(_ place: [Item], isHidden: [Bool]) -> [Verdict] {
    var verdicts: [Verdict] = []
    for (index, item) in place.enumerated() {
      if isHidden[index] {
        verdicts.append(.withdrawn)
      } else if showsEqualOnce, own[item.point] == nil,
        zip(place[..<index], verdicts).contains(where: {
          $1 == .shown && $0.deviceTime == item.deviceTime && $0.measurement.agrees(with: item.measurement)
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

/// The shown times that the rules of a device cover, in ranges that do not touch: any number of rules costs one search.
private struct RuledTimes: Sendable {
  /// Each begins behind the end of the one in front of it. The ends are not part of them; nil has no limit.
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
