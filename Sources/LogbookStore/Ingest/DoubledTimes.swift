// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Shown times for which one input had two different values of a sensor, by day.
struct DoubledTimes {
  private struct Day {
    var first: DeviceTime
    var last: DeviceTime
    var count = 0
    var isClockSetBack = false
  }

  /// The maximum number of days that are named; the other days are counted.
  private static let maxNamed = 20

  private var days: [Int64: Day] = [:]

  mutating func add(_ time: DeviceTime, _ isClockSetBack: Bool) {
    let number = (time.seconds - (time.seconds < 0 ? 86_399 : 0)) / 86_400
    var day = days[number] ?? Day(first: time, last: time)
    (day.first, day.last) = (min(day.first, time), max(day.last, time))
    day.count += 1
    day.isClockSetBack = day.isClockSetBack || isClockSetBack
    days[number] = day
  }

  var sentences: [String] {
    let named = days.sorted { $0.key < $1.key }.prefix(Self.maxNamed).map { sentence($0.value) }
    let more = days.count - named.count
    return more > 0
      ? named + ["two different values at one time on \(counted(more, "more day")); all are stored"] : named
  }

  private func sentence(_ day: Day) -> String {
    let date = day.first.text.prefix(10)
    let (first, last) = (day.first.text.dropFirst(11).prefix(5), day.last.text.dropFirst(11).prefix(5))
    guard day.count > 1 else {
      return "\(date): two different sensor values at \(first); both are stored"
    }
    return "\(date): two different sensor values at each of \(day.count) times from \(first) to \(last)"
      + (day.isClockSetBack ? ", since the device's clock was set back" : "") + "; all are stored"
  }
}
