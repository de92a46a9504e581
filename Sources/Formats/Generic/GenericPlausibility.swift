// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Checks with all values and times of a generic input whether they can be glucose readings.
///
/// A wrong column often has numbers that a meter can also show. But all numbers together show that the column
/// is wrong. Most are too small or too large, all are equal, or there is one for each hour or day. One number
/// for each hour or day is typical of sums and averages.
struct GenericPlausibility {
  /// The minimum number of values for a warning about their sizes.
  static let minCount = 3
  /// The minimum median of a glucose sensor in mmol/L. The median of a ketone or lactate sensor is lower.
  static let minMedian = 3.0
  /// The minimum number of equal values for a warning. Finger sticks may be equal by chance, and a sensor's
  /// values for an hour or two.
  private static let minEqual = 24
  private static let milligrams = 20.0...600
  private static let millimoles = 1.0...33
  private static let secondsPerHour: Int64 = 3600
  private static let secondsPerDay: Int64 = 86_400

  /// A fixed interval between consecutive rows, and the minimum number of values with this interval that
  /// shows sums or averages.
  private struct Grid {
    let name: String
    let step: Int64
    let minCount: Int
    var steps = 0
  }

  private struct Outside {
    var count = 0
    var milligrams = 0
    var millimoles = 0
    var belowMedian = 0
    /// The counts of values with more digits than any device shows, if they are in mg/dL or in mmol/L.
    var computedMilligrams = 0
    var computedMillimoles = 0
  }

  /// The minimum number of values for a warning about their digits.
  private static let minComputed = 6
  /// The factors by which programs convert mmol/L to mg/dL.
  private static let factors = [18, 18.01, 18.0156, 18.018, 18.0182, 18.02]

  /// The counts of all values and of implausible values, in rows without a unit.
  private var bare = Outside()
  /// The counts of all values and of implausible values, in rows with a unit.
  private var stated = Outside()
  private var first: Double?
  private var areEqual = true
  private var lastTime: Int64?
  private var remainder: Int64?
  private var isHourly = true
  private var isDaily = true
  /// Whether values have more digits than meters show: decimals in mg/dL, and hundredths in mmol/L.
  private var hasDecimals = false
  private var hasHundredths = false
  private var hasStatedDecimals = false
  private var stepCount = 0
  private var grids = [
    Grid(name: "hour", step: secondsPerHour, minCount: 12),
    Grid(name: "day", step: secondsPerDay, minCount: 7),
    Grid(name: "week", step: 7 * secondsPerDay, minCount: 7),
  ]

  /// The first value at each time. `doubled` has the times with a second, different value.
  private var values: [Int64: Double] = [:]
  private var doubled: Set<Int64> = []
  private var isFullOfTimes = false
  /// The hours of the day that occur, one bit for each. `days` has the first two different days.
  private var hours: UInt32 = 0
  private var days: Set<Int64> = []
  private static let maxTimes = 1 << 16
  private static let minDoubled = 12
  /// The bits of the hours from 1 to 12.
  private static let halfDayHours: UInt32 = 0b1_1111_1111_1110
  private(set) var earliest = Int64.max
  private(set) var latest = Int64.min

  var count: Int { bare.count + stated.count }

  /// Adds a value with its shown time. `unit` is the one that its row states.
  mutating func observe(_ number: Double, _ unit: GlucoseUnit?, at seconds: Int64) {
    // Zero is left out: it means that there is no value, or its row is rejected.
    guard number != 0 else { return }
    if let first, first != number { areEqual = false }
    first = first ?? number
    if unit == nil { Self.observe(number, in: &bare) } else { observeStated(number, unit) }
    if number != number.rounded() { observeDigits(number, unit) }
    observeStep(seconds)
    observeTime(seconds, number)
  }

  private mutating func observeDigits(_ number: Double, _ unit: GlucoseUnit?) {
    if Self.hasRest(number * 10, 0.001) {
      hasHundredths = true
      observeComputed(number, unit)
    }
    if unit == nil { hasDecimals = true }
    if unit == .milligramsPerDecilitre { hasStatedDecimals = true }
  }

  /// Counts a value with more than two decimals in mg/dL, or more than three in mmol/L, unless a program
  /// converted it from the other unit. The tolerances admit the rounding of numbers with 32 bits.
  private mutating func observeComputed(_ number: Double, _ unit: GlucoseUnit?) {
    guard Self.hasRest(number * 100, 0.01) else { return }
    let isConverted = Self.factors.contains { factor in
      !Self.hasRest(number / factor * 10, 0.002) || !Self.hasRest(number / factor * 100, 0.01)
    }
    let milligrams = isConverted || unit == .millimolesPerLitre ? 0 : 1
    let isConvertedBack = Self.factors.contains { !Self.hasRest(number * $0, 0.003) }
    let millimoles =
      isConvertedBack || unit == .milligramsPerDecilitre || !Self.hasRest(number * 1000, 0.01) ? 0 : 1
    if unit == nil {
      bare.computedMilligrams += milligrams
      bare.computedMillimoles += millimoles
    } else {
      stated.computedMilligrams += milligrams
      stated.computedMillimoles += millimoles
    }
  }

  private static func hasRest(_ number: Double, _ tolerance: Double) -> Bool {
    abs(number - number.rounded()) > tolerance
  }

  private mutating func observeTime(_ seconds: Int64, _ number: Double) {
    earliest = min(earliest, seconds)
    latest = max(latest, seconds)
    let day = DeviceTime.day(of: seconds)
    hours |= 1 << UInt32((seconds - day * Self.secondsPerDay) / Self.secondsPerHour)
    if days.count < 2 { days.insert(day) }
    guard !isFullOfTimes else { return }
    guard let known = values[seconds] else {
      values[seconds] = number
      isFullOfTimes = values.count >= Self.maxTimes
      return
    }
    if known != number { doubled.insert(seconds) }
  }

  /// Frees the memory of the times, which only `timeFault` needs. Otherwise it would be in use until the end
  /// of the import.
  mutating func forgetTimes() { (values, doubled) = ([:], []) }

  /// The reason why the times cannot be those of one person's readings, as text after the name of the column
  /// of values. Nil if they may be such times. A clock that was set back does not count, since it repeats
  /// only a few hours.
  var timeFault: String? {
    if doubled.count >= Self.minDoubled, doubled.count * 10 >= values.count * 8 {
      return
        "holds two different values at \(doubled.count) of \(values.count) times, as those of two persons or devices, or of a "
        + "clock of twelve hours"
    }
    guard hours == Self.halfDayHours, days.count > 1, count >= Self.minEqual else { return nil }
    return "has times from 1:00 to 12:59 only, as a clock of twelve hours without AM and PM"
  }

  private mutating func observeStated(_ number: Double, _ unit: GlucoseUnit?) {
    stated.count += 1
    let range = unit == .milligramsPerDecilitre ? Self.milligrams : Self.millimoles
    if !range.contains(number) { stated.milligrams += 1 }
    if unit == .millimolesPerLitre, number < Self.minMedian { stated.belowMedian += 1 }
  }

  private static func observe(_ number: Double, in outside: inout Outside) {
    outside.count += 1
    if !milligrams.contains(number) { outside.milligrams += 1 }
    if !millimoles.contains(number) { outside.millimoles += 1 }
    if number < minMedian { outside.belowMedian += 1 }
  }

  private mutating func observeStep(_ seconds: Int64) {
    let phase = seconds - seconds / Self.secondsPerDay * Self.secondsPerDay
    let remainder = remainder ?? phase
    self.remainder = remainder
    if phase != remainder { isDaily = false }
    if (phase - remainder) % Self.secondsPerHour != 0 { isHourly = false }
    defer { lastTime = seconds }
    guard let lastTime, lastTime != seconds, isHourly else { return }
    stepCount += 1
    for place in grids.indices where abs(seconds - lastTime) == grids[place].step { grids[place].steps += 1 }
  }

  /// The reason why the values are not readings, as text after the name of their column; nil if they may be
  /// readings.
  ///
  /// - Parameters:
  ///   - unit: the unit of values whose rows state none.
  ///   - mayBeDaily: whether the table may be a diary with one value a day.
  func fault(in unit: GlucoseUnit?, mayBeDaily: Bool) -> String? {
    let outside = stated.milligrams + (unit == .millimolesPerLitre ? bare.millimoles : bare.milligrams)
    if count >= Self.minCount, outside * 2 > count {
      let range = unit == .millimolesPerLitre ? "1 to 33 mmol/L" : "20 to 600 mg/dL"
      return "holds \(outside) of \(count) values outside of \(range), which are too many for glucose"
    }
    let computed =
      stated.computedMilligrams + stated.computedMillimoles
      + (unit == .millimolesPerLitre ? bare.computedMillimoles : bare.computedMilligrams)
    if count >= Self.minComputed, computed * 10 >= count * 6 {
      return
        "holds \(computed) of \(count) values with more decimals than devices show, as predictions and averages have"
    }
    if count >= Self.minEqual, areEqual { return "holds the same value \(count) times" }
    guard let grid = grids.first(where: isFilled) else { return nil }
    if mayBeDaily, grid.step != Self.secondsPerHour, isOfMeter(unit) { return nil }
    return "holds one value for each \(grid.name), as sums and averages do"
  }

  /// Whether a meter may show the values. Then they have few enough digits, and their time of day is not
  /// midnight, as it is for dates without a time.
  private func isOfMeter(_ unit: GlucoseUnit?) -> Bool {
    remainder != 0 && !hasHundredths && !hasStatedDecimals && (!hasDecimals || unit == .millimolesPerLitre)
  }

  private func isFilled(_ grid: Grid) -> Bool {
    count >= grid.minCount && grid.steps * 2 > stepCount && (grid.step == Self.secondsPerHour || isDaily)
      && isHourly
  }

  func isTooLowForSensor(_ unit: GlucoseUnit?) -> Bool {
    let low = stated.belowMedian + (unit == .millimolesPerLitre ? bare.belowMedian : 0)
    return count >= Self.minCount && low * 2 > count
  }

  /// Whether the values without a unit are too low to infer mmol/L from them, even if there are few. They may
  /// be in g/L, since such values are that low.
  var isTooLowToInfer: Bool { bare.belowMedian * 2 > bare.count }
}
