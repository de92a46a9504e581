// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds readings whose shown time may occur twice, in a memory that is read from the oldest reading on.
///
/// It does not judge whether a time is plausible: that depends on the host's clock, which drivers do not
/// know.
struct ClockSetBack {
  private var newest: DeviceTime?

  /// The mark `.clockSetBack` for a time before one that the meter had already shown; else no mark.
  mutating func mark(_ time: DeviceTime) -> ReadingMarks {
    guard let newest, time < newest else {
      newest = time
      return []
    }
    return .clockSetBack
  }
}

extension [MeterReading] {
  /// Marks the readings of one clock that are in the order in which they were taken.
  mutating func markClockSetBack() { markClockSetBack(along: indices) }

  /// Marks the readings of one clock that are oldest first or newest first.
  ///
  /// The majority of the pairs of neighbouring readings determines the order, so that one change of the clock
  /// does not reverse it.
  mutating func markClockSetBackInEitherOrder() {
    let rises = zip(self, dropFirst()).count { $0.deviceTime < $1.deviceTime }
    let falls = zip(self, dropFirst()).count { $0.deviceTime > $1.deviceTime }
    if falls > rises {
      markClockSetBack(along: indices.reversed())
    } else {
      markClockSetBack()
    }
  }

  private mutating func markClockSetBack(along places: some Sequence<Int>) {
    var clock = ClockSetBack()
    for place in places { self[place].marks.formUnion(clock.mark(self[place].deviceTime)) }
  }
}
