// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The values of a sensor by the time of day.
package struct Profile: Sendable {
  /// The percentiles at one time of the day.
  package struct Point: Sendable {
    /// Minutes since midnight.
    package let minute: Int
    /// The 5th, 25th, 50th, 75th and 95th percentile in mg/dL; nil if too few days have samples around that
    /// time.
    package let percentiles: [Double]?
    /// The days with samples around that time.
    package let days: Int
  }

  /// The points at every quarter of an hour from midnight on. Each is calculated from the samples of half an
  /// hour before and after it. Empty if there is too little data for a profile.
  package let points: [Point]
  /// Why there is no profile; nil if there is one.
  package let shortage: Shortage?
}

/// Smooths a curve over the hours of a day. The end of the curve continues at its beginning.
enum CyclicSmoothing {
  /// The mean of each value and its two neighbours, with weights of 4, 1 and 1; a missing neighbour has no
  /// weight. A curve that is below another one before smoothing is also below it afterwards.
  static func smooth(_ values: [Double?]) -> [Double?] {
    let count = values.count
    return values.indices.map { index in
      guard let own = values[index] else { return nil }
      let neighbours = [values[(index + count - 1) % count], values[(index + 1) % count]]
        .compactMap(\.self)
      return (neighbours.reduce(0, +) + 4 * own) / Double(4 + neighbours.count)
    }
  }
}

/// Collects the values of a sensor by the time of day that the device showed.
struct ProfileTally: Sendable {
  static let points = 96
  private static let pointSeconds: Int64 = 900
  private static let neededDays = 7
  private static let neededDaysOfAPoint = 5

  private var cells = [Distribution](repeating: Distribution(), count: ProfileTally.points)
  private var days = [DaySet](repeating: DaySet(), count: ProfileTally.points)
  private var minutesByDay: [Int: Int] = [:]
  private var last = (day: Int.min, minutes: 0)

  mutating func add(_ sample: SensorSample, minutes: Int) {
    let day = Grouping.day(of: sample.deviceTime)
    let cell = Int((sample.deviceTime.seconds - Int64(day) * 86400) / Self.pointSeconds)
    cells[cell].add(sample.level.milligrams, weight: minutes)
    // A cell is a quarter of an hour. The cell from k to k + 1 is within half an hour of the points from k −
    // 1 to k + 2.
    for point in cell - 1...cell + 2 { days[(point + Self.points) % Self.points].insert(day) }
    if day != last.day {
      minutesByDay[last.day, default: 0] += last.minutes
      last = (day, 0)
    }
    last.minutes += minutes
  }

  func profile(offset: (DeviceTime) -> Int32) -> Profile {
    if let shortage = shortage(offset) { return Profile(points: [], shortage: shortage) }
    let raw = (0..<Self.points).map { point -> [Double]? in
      guard days[point].count >= Self.neededDaysOfAPoint else { return nil }
      var hour = Distribution()
      for cell in point - 2...point + 1 { hour.add(cells[(cell + Self.points) % Self.points]) }
      return hour.percentiles(SensorTally.percentiles)
    }
    let curves = SensorTally.percentiles.indices.map { index in
      CyclicSmoothing.smooth(raw.map { $0?[index] })
    }
    return Profile(
      points: (0..<Self.points).map { point in
        let values = curves.compactMap { $0[point] }
        return Profile.Point(
          minute: point * 15, percentiles: values.isEmpty ? nil : values, days: days[point].count)
      }, shortage: nil)
  }

  /// The reason why there is too little data for a profile; nil if there is enough. At least seven days must
  /// have an hour of samples each. The seven days with the most samples must have on average 70 % of the
  /// possible samples.
  private func shortage(_ offset: (DeviceTime) -> Int32) -> Shortage? {
    var minutesByDay = minutesByDay
    minutesByDay[last.day, default: 0] += last.minutes
    let parts = minutesByDay.filter { $0.key > .min }.map {
      day, minutes -> (isCounted: Bool, percent: Double) in
      let seconds = Grouping.midnight(of: day + 1, offset) - Grouping.midnight(of: day, offset)
      let percent = 100 * Double(minutes) * 60 / Double(max(1, seconds))
      return (minutes >= 60, min(100, percent))
    }
    if parts.isEmpty { return .noReadings }
    let counted = parts.filter(\.isCounted)
    let best = (counted.isEmpty ? parts : counted).map(\.percent).sorted(by: >).prefix(Self.neededDays)
    let mean = best.reduce(0, +) / Double(best.count)
    return counted.count < Self.neededDays || mean < DataRules.activePercent
      ? .fewDays(counted.count, of: Self.neededDays, percent: mean) : nil
  }
}
