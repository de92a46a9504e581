// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds finger sticks that follow each other like the values of a sensor, in a format whose readings are all finger
/// sticks. An app for diaries may write the values of a sensor into its log.
struct SteadySticks {
  /// The minimum number of finger sticks that are judged. A person may measure often for an hour or two, but not for
  /// eight hours.
  private static let minCount = 100
  /// The marks of values that a person did not measure with a meter, or not for the diary.
  private static let others: ReadingMarks = [.calculator, .calibration, .controlSolution]

  private var cadence = Cadence()
  private var count = 0

  mutating func observe(_ readings: [Reading]) {
    for reading in readings where reading.kind == .smbg && reading.marks.isDisjoint(with: Self.others) {
      cadence.observe(reading.deviceTime.seconds, series: UInt64(reading.device.number))
      count += 1
    }
  }

  /// The warning about the finger sticks; nil if their times are those of a person.
  var warning: String? {
    guard count >= Self.minCount, cadence.isSensor else { return nil }
    return
      "\(counted(count, "finger stick")) follow each other every few minutes, as the values of a sensor do; if a sensor "
      + "measured them, 'glucoport undo' rolls this import back, and --map with --kind cbg reads them as those of a sensor"
  }
}
