// SPDX-License-Identifier: Apache-2.0

/// A goal for the share of the time in a range, and the share that the sensor measured.
package struct StatsGoal: Sendable {
  /// What part of the time a goal is for. None is for the low or the high range without the one that lies beyond it.
  package enum Range: String, Sendable {
    case target
    /// Low and very low.
    case below = "below_target"
    case veryLow = "very_low"
    /// High and very high.
    case above = "above_target"
    case veryHigh = "very_high"

    /// The name in text.
    package var name: String { rawValue.replacing("_", with: " ") }
  }

  /// What the goal is for.
  package let range: Range
  /// The limit in percent.
  package let limit: Double
  /// Whether the share must be above the limit; otherwise below.
  package let isAbove: Bool
  /// The measured share, in percent.
  package let percent: Double

  /// Whether the goal is reached.
  package var isMet: Bool { isAbove ? percent > limit : percent < limit }

  /// The goals of the targets; none if there is too little data to compare with them.
  package static func all(of sensor: SensorFigures, _ targets: Targets) -> [StatsGoal] {
    guard sensor.goalShortage == nil, let goals = targets.goals else { return [] }
    func percent(_ bands: GlucoseBand...) -> Double? {
      let parts = bands.map { sensor.ranges[$0.rawValue] }.filter { $0.percent.shortage != .notSeparate }
      guard parts.allSatisfy({ $0.percent.number != nil }) else { return nil }
      // Calculated from the minutes: a sum of percentages, each rounded in binary, can be below the limit
      // that it should equal.
      return 100 * (Double(parts.reduce(0) { $0 + $1.minutes }) / Double(max(1, sensor.minutes)))
    }
    func goal(_ range: Range, _ limit: Double?, isAbove: Bool = false, _ percent: Double?) -> StatsGoal? {
      guard let limit, let percent else { return nil }
      return StatsGoal(range: range, limit: limit, isAbove: isAbove, percent: percent)
    }
    return [
      goal(.target, goals.target, isAbove: true, percent(.target)),
      goal(.below, goals.low, percent(.veryLow, .low)), goal(.veryLow, goals.veryLow, percent(.veryLow)),
      goal(.above, goals.high, percent(.high, .veryHigh)),
      goal(.veryHigh, goals.veryHigh, percent(.veryHigh)),
    ].compactMap(\.self)
  }
}
