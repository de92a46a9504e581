// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds readings whose shown time may occur twice, in a memory that is read from the oldest on.
struct ClockSetBack {
  private var newest: DeviceTime?

  /// `.clockSetBack` for a time that lies behind one that the meter had shown before it; else nothing.
  mutating func mark(_ time: DeviceTime) -> ReadingMarks {
    guard let newest, time < newest else {
      newest = time
      return []
    }
    return .clockSetBack
  }
}
