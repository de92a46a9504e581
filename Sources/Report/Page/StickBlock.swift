// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The finger sticks of three hours of the day, of all days.
struct StickBlock {
  /// The first hour.
  let hour: Int
  let count: Int
  let lowest: Double
  let highest: Double
  /// With 3 readings or more.
  let median: Double?
  /// The 25th and the 75th percentile, with 5 readings or more.
  let quartiles: (low: Double, high: Double)?

  /// The eight blocks of a day; nil for one without readings.
  static func all(_ sticks: [DayCurve.Dot]) -> [StickBlock?] {
    stride(from: 0, to: 24, by: 3).map { hour in
      var values = Distribution()
      var count = 0
      for stick in sticks where secondsOfDay(stick.deviceTime) / 10800 == hour / 3 {
        values.add(stick.level.milligrams)
        count += 1
      }
      guard let lowest = values.lowest, let highest = values.highest else { return nil }
      let quartiles = values.percentiles([0.25, 0.75])
      return StickBlock(
        hour: hour, count: count, lowest: lowest, highest: highest,
        median: count >= 3 ? values.percentile(0.5) : nil,
        quartiles: count >= 5 ? (quartiles[0], quartiles[1]) : nil)
    }
  }
}

/// Seconds since midnight.
func secondsOfDay(_ time: DeviceTime) -> Int { Int((time.seconds % 86400 + 86400) % 86400) }
