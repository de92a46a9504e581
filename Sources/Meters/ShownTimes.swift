// SPDX-License-Identifier: Apache-2.0

import Logbook

extension [MeterReading] {
  /// 1990-01-01: no meter with a memory is older.
  private static var earliest: Int64 { 631_152_000 }
  /// A day and two hours: a meter in any zone may show tomorrow's date.
  private static var mostAhead: Int64 { 26 * 3600 }

  /// Marks the readings whose time cannot be right.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  mutating func markDoubtfulTimes(now: Int64) {
    for index in indices {
      let seconds = self[index].deviceTime.seconds
      if seconds < Self.earliest || seconds > now + Self.mostAhead { self[index].marks.insert(.doubtfulTime) }
    }
  }

  /// Marks the readings whose time lies before one that was taken earlier: the clock was set back between them.
  ///
  /// The readings stand in the order of the memory, oldest or newest first: which of the two is told by what most
  /// neighbours say, so that one change of the clock does not turn it round.
  mutating func markClockSetBack() {
    let rises = zip(self, dropFirst()).count { $0.deviceTime < $1.deviceTime }
    let falls = zip(self, dropFirst()).count { $0.deviceTime > $1.deviceTime }
    var latest: DeviceTime?
    for index in falls > rises ? Array<Int>(indices.reversed()) : Array<Int>(indices) {
      let time = self[index].deviceTime
      if let newest = latest, time < newest {
        self[index].marks.insert(.clockSetBack)
      } else {
        latest = time
      }
    }
  }
}
