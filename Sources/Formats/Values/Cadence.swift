// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines from the times of an input whether a sensor measured its readings: one every 1 to 15 minutes
/// for a long time.
///
/// The order of the times, gaps and the number of devices do not change the result. The times of each device
/// are sorted before the steps between them are compared. Up to three devices that no column distinguishes
/// are recognised. If there are more than `maxTimes` times, only the times of some whole days are kept.
struct Cadence {
  private static let maxTimes = 1 << 16
  private static let maxDaysPerKept: Int64 = 1 << 20
  private static let secondsPerDay: Int64 = 86_400
  /// If all steps between successive times are regular, at least this number of steps shows a sensor.
  private static let minSteps = 3
  /// The longest step between two readings of a sensor in seconds: 15 minutes, and 3 minutes for the
  /// inaccuracy of clocks and rounding.
  private static let longestStep: Int64 = 18 * 60
  /// If irregular steps occur as well, at least this number of regular steps shows a sensor.
  private static let minStepsAmongOthers = 10

  private static let minSteadySteps = 24

  private struct Time: Comparable {
    let series: UInt64
    let seconds: Int64

    static func < (left: Time, right: Time) -> Bool {
      (left.series, left.seconds) < (right.series, right.seconds)
    }
  }

  private var times: [Time] = []
  /// Only the times of every n-th day are kept, where n is this number, so that memory is limited.
  private var daysPerKept: Int64 = 1

  /// Records the time of a reading.
  ///
  /// - Parameter series: a number that is different for each device.
  mutating func observe(_ seconds: Int64, series: UInt64) {
    guard Self.isKept(seconds, oneDayIn: daysPerKept) else { return }
    times.append(Time(series: series, seconds: seconds))
    while times.count > Self.maxTimes {
      guard daysPerKept < Self.maxDaysPerKept else {
        // All times are on one day. Half of them are enough to show the interval.
        times.removeLast(times.count / 2)
        return
      }
      daysPerKept *= 2
      times = times.filter { [daysPerKept] in Self.isKept($0.seconds, oneDayIn: daysPerKept) }
    }
  }

  private static func isKept(_ seconds: Int64, oneDayIn days: Int64) -> Bool {
    days == 1 || (seconds / secondsPerDay) % days == 0
  }

  /// Whether a sensor measured at these times. Two finger sticks of a person are usually hours apart, and
  /// rarely a few minutes.
  var isSensor: Bool {
    let sorted = distinctTimes
    return (1...3).contains { lag in
      let steps = steps(of: sorted, lag: lag)
      let regular = Self.regularCount(steps)
      if regular < Self.minSteps { return false }
      // If there are few regular steps, all steps must be regular. So a person who measures twice at each
      // meal is not taken for a sensor: the steps between the pairs are long.
      if regular < Self.minStepsAmongOthers { return regular == steps.count && lag == 1 }
      return regular * 5 >= steps.count * 3
    }
  }

  var isEmpty: Bool { times.isEmpty }

  /// Whether the times are enough to decide between a sensor and a person. A few rows of a sensor's table, or
  /// rows with gaps between them, are not enough.
  var isConclusive: Bool {
    if isSensor { return true }
    let steps = steps(of: distinctTimes, lag: 1)
    return steps.count >= Self.minSteps && steps.count { $0 > Self.longestStep } * 2 >= steps.count
  }

  /// Whether most of at least 24 steps between times are nearly equal, with a median of 16 to 59 minutes.
  /// That is too often for a person, and too seldom for a sensor. The rows may be a selection of a sensor's
  /// values, or averages.
  var isSteady: Bool {
    let steps = steps(of: distinctTimes, lag: 1).sorted()
    guard steps.count >= Self.minSteadySteps else { return false }
    let median = steps[steps.count / 2]
    guard (Self.longestStep - 120...59 * 60).contains(median) else { return false }
    return steps.count { abs($0 - median) * 5 <= median } * 5 >= steps.count * 3
  }

  /// Whether the times show that a person measured.
  var isOfPerson: Bool { isConclusive && !isSensor && !isSteady }

  /// Whether there are several times, and each step between them is at most `longestStep`.
  var isDense: Bool {
    let steps = steps(of: distinctTimes, lag: 1)
    return !steps.isEmpty && steps.allSatisfy { $0 <= Self.longestStep }
  }

  private var distinctTimes: [Time] {
    var distinct: [Time] = []
    for time in times.sorted() where distinct.last != time { distinct.append(time) }
    return distinct
  }

  /// The seconds between each time and the one `lag` positions later. Pairs of different devices, and pairs
  /// across days that were not kept, are left out.
  private func steps(of times: [Time], lag: Int) -> [Int64] {
    zip(times, times.dropFirst(lag)).compactMap { first, second in
      guard first.series == second.series else { return nil }
      let step = second.seconds - first.seconds
      return daysPerKept > 1 && step > Self.secondsPerDay ? nil : step
    }
  }

  /// The number of steps with the commonest length from 1 to 15 minutes, with the inaccuracy of clocks and
  /// rounding.
  private static func regularCount(_ steps: [Int64]) -> Int {
    (1...15).map { minutes in
      let length = Int64(minutes) * 60
      let slack = max(length / 5, 20)
      return steps.count { abs($0 - length) <= slack }
    }.max() ?? 0
  }
}

/// Finds finger sticks that follow each other like the values of a sensor, in a format whose readings are all
/// finger sticks. An app for diaries may write the values of a sensor into its log.
struct SteadySticks {
  /// The minimum number of finger sticks that are judged. A person may measure often for an hour or two, but
  /// not for eight hours.
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
