// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A stretch of time: from an instant on, and before another one, in UTC seconds.
package struct Period: Hashable, Sendable {
  /// The first instant.
  package let start: Int64
  /// The instant behind the last.
  package let end: Int64

  /// From an instant on, and before another one.
  package init(start: Int64, end: Int64) {
    self.start = start
    self.end = max(start, end)
  }

  /// Whole minutes.
  package var minutes: Int { Int((end - start + 30) / 60) }
}

/// How much time the groups of a period have, on the clock of the logbook: what a sensor could have measured.
///
/// An hour that the clocks repeat counts twice, and one that they skip not at all. So a day has 23, 24 or 25 hours.
package struct PossibleTime: Sendable {
  /// One group's time.
  package struct Share: Sendable {
    /// Seconds within the period.
    package var seconds: Int64 = 0
    /// Calendar days that have a part in it.
    package var days = 0
    fileprivate var lastDay = Int.min

    /// Whole minutes.
    package var minutes: Int { Int((seconds + 30) / 60) }
  }

  /// The whole period.
  package private(set) var total = Share()
  /// The groups by their keys; empty where time has no part in them.
  package private(set) var groups: [Int: Share] = [:]
  /// The keys in the order of time, of hours and weekdays from the first of the day or week.
  package var keys: [Int] { groups.keys.sorted() }

  /// The time of a period.
  ///
  /// - Parameter offset: the seconds east of Greenwich at a shown time: in an hour that is skipped those before the change,
  ///   in one that is repeated those of its first occurrence.
  package init(_ period: Period, by grouping: Grouping?, offset: (DeviceTime) -> Int32) {
    guard period.end > period.start else { return }
    // All other groups are of whole days, of which a long period has fewer.
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

  /// The hours, or the days, that have a part in a period, the last one first, and how many seconds.
  private static func forEach(
    _ step: Int64, of period: Period, _ offset: (DeviceTime) -> Int32, _ body: (DeviceTime, Int64) -> Void
  ) {
    func instant(_ shown: Int64) -> Int64 { shown - Int64(offset(DeviceTime(seconds: shown))) }
    // No zone is further from Greenwich than 26 hours, with room to spare.
    let last = period.end + 26 * 3600
    var shown = (last >= 0 ? last : last - step + 1) / step * step
    // From the end: what the clocks skip begins no later than the first time behind it that they show.
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

/// Days that have something, each counted once.
struct DaySet: Sendable {
  private var days: Set<Int> = []
  private var last = Int.min
  private(set) var first = Int.max
  private(set) var end = Int.min

  /// How many.
  var count: Int { days.count }
  /// From the first to the last, both with it.
  var span: Int { days.isEmpty ? 0 : end - first + 1 }

  /// Whether it has any of these.
  func intersects(_ others: Set<Int>) -> Bool { !others.isDisjoint(with: days) }

  mutating func insert(_ day: Int) {
    guard day != last else { return }
    last = day
    days.insert(day)
    first = min(first, day)
    end = max(end, day)
  }
}
