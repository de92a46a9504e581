// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the order of a meter's memory says about its clock. Marks only: no time is moved.
enum MemoryClock {
  /// 1990-01-01: no meter with a plug is older.
  private static let earliest: Int64 = 631_152_000
  /// A change of zone or daylight saving leaves readings ahead of the clock for less than a day and two hours.
  private static let latestAhead: Int64 = 26 * 3600

  /// 2025-01-01: a host whose clock is behind this moment has lost its time, and judges nothing.
  private static let earliestHost: Int64 = 1_735_689_600

  /// Marks readings whose shown time cannot be right, and those behind a clock that was set back.
  ///
  /// - Parameters:
  ///   - readings: of one clock, oldest first in the order in which they were taken.
  ///   - clock: both clocks as they are.
  static func mark(_ readings: inout [MeterReading], clock: ClockComparison?) {
    var highest = Int64.min
    for index in readings.indices {
      let shown = readings[index].deviceTime.seconds
      if shown < highest { readings[index].marks.insert(.clockSetBack) }
      if isDoubtful(shown, clock) {
        readings[index].marks.insert(.doubtfulTime)
      } else {
        highest = max(highest, shown)
      }
    }
  }

  private static func isDoubtful(_ shown: Int64, _ clock: ClockComparison?) -> Bool {
    if shown < earliest { return true }
    guard let clock, clock.host >= earliestHost else { return false }
    return shown > clock.host + latestAhead
  }
}
