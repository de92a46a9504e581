// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The time from one instant until immediately before another, in UTC seconds.
package struct Period: Hashable, Sendable {
  /// The first instant of the period.
  package let start: Int64
  /// The instant immediately after the period.
  package let end: Int64

  package init(start: Int64, end: Int64) {
    self.start = start
    self.end = max(start, end)
  }

  /// The duration, rounded to whole minutes.
  package var minutes: Int { Int((end - start + 30) / 60) }
}

/// The time in which a sensor could have measured, for a period and for each of its groups, on the clock of
/// the logbook.
///
/// An hour that the clocks repeat counts twice, and an hour that the clocks skip does not count. So a day has
/// 23, 24 or 25 hours.
package struct PossibleSensorTime: Sendable {
  /// The possible time of one group.
  package struct Share: Sendable {
    /// The number of seconds of the group within the period.
    package var seconds: Int64 = 0
    /// The number of calendar days that are at least partly in the group and the period.
    package var days = 0
    fileprivate var lastDay = Int.min

    /// The possible time of the group within the period, rounded to whole minutes.
    package var minutes: Int { Int((seconds + 30) / 60) }
  }

  /// The possible time of the whole period.
  package private(set) var total = Share()
  /// The possible time of each group, by its key; empty for groups without times.
  package private(set) var groups: [Int: Share] = [:]
  /// The keys of the groups in the order of time. Keys of hours and weekdays begin with the first hour of the
  /// day or the first day of the week.
  package var keys: [Int] { groups.keys.sorted() }

  /// The time in which a sensor could have measured, for a period and its groups.
  ///
  /// - Parameter offset: the offset from UTC at a shown time, in seconds. If the clocks skip the time, it is
  ///   the offset before the change. If they repeat the time, it is the offset of the first occurrence.
  package init(_ period: Period, by grouping: Grouping?, offset: (DeviceTime) -> Int32) {
    guard period.end > period.start else { return }
    // Only groups by hour need every hour. Other groups consist of whole days, and even a long period has few
    // days.
    let isByHour = grouping == .hour
    Self.forEach(86400, of: period, offset) { time, seconds in
      let day = Grouping.day(of: time)
      Self.add(seconds, day, to: &total)
      if !isByHour, let key = grouping?.key(of: time) {
        Self.add(seconds, day, to: &groups[key, default: Share()])
      }
    }
    guard isByHour else { return }
    Self.forEach(3600, of: period, offset) { time, seconds in
      guard let key = Grouping.hour.key(of: time) else { return }
      Self.add(seconds, Grouping.day(of: time), to: &groups[key, default: Share()])
    }
  }

  /// Calls `body` for each hour or day that is at least partly in a period, from the last to the first.
  /// `body` also gets the number of seconds of the hour or day that are in the period.
  private static func forEach(
    _ step: Int64, of period: Period, _ offset: (DeviceTime) -> Int32, _ body: (DeviceTime, Int64) -> Void
  ) {
    func instant(_ shown: Int64) -> Int64 { shown - Int64(offset(DeviceTime(seconds: shown))) }
    // 26 hours are more than the offset of any zone, so no part of the period is after this time.
    let last = period.end + 26 * 3600
    var shown = (last >= 0 ? last : last - step + 1) / step * step
    // The calculated beginning of an hour that the clocks skip is not before the beginning of the next hour.
    // The loop goes backwards, so the skipped hour gets no time.
    var next = instant(shown + step)
    while next > period.start {
      let begin = min(instant(shown), next)
      let seconds = min(next, period.end) - max(begin, period.start)
      if seconds > 0 { body(DeviceTime(seconds: shown), seconds) }
      (shown, next) = (shown - step, begin)
    }
  }

  private static func add(_ seconds: Int64, _ day: Int, to share: inout Share) {
    share.seconds += seconds
    if day != share.lastDay {
      share.days += 1
      share.lastDay = day
    }
  }
}

/// A set of days with items, so that each day is counted once.
struct DaySet: Sendable {
  private var days: Set<Int> = []
  private var last = Int.min
  private(set) var first = Int.max
  private(set) var end = Int.min

  /// The number of days.
  var count: Int { days.count }
  /// The number of days from the first to the last, including both.
  var span: Int { days.isEmpty ? 0 : end - first + 1 }

  /// Whether the set contains any of these days.
  func intersects(_ others: Set<Int>) -> Bool { !others.isDisjoint(with: days) }

  /// The number of these days that the set contains.
  func count(in others: Set<Int>) -> Int { others.count(where: days.contains) }

  mutating func insert(_ day: Int) {
    guard day != last else { return }
    last = day
    days.insert(day)
    first = min(first, day)
    end = max(end, day)
  }
}
