// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The limits of the five ranges, and the goals for the share of the time in each.
///
/// Source: Battelino et al. 2019 (Diabetes Care 42:1593) for the three sets. The limits in mmol/L are those
/// of the consensus, not converted numbers.
package struct Targets: Hashable, Sendable {
  /// A limit in both units: whole mg/dL and tenths of mmol/L.
  package struct Limit: Hashable, Sendable {
    /// Whole mg/dL.
    package let milligrams: Int
    /// Tenths of mmol/L.
    package let tenthsOfMillimole: Int

    init(_ milligrams: Int, _ tenthsOfMillimole: Int) {
      self.milligrams = milligrams
      self.tenthsOfMillimole = tenthsOfMillimole
    }

    /// The limit in a unit.
    package func number(in unit: GlucoseUnit) -> Double {
      unit == .milligramsPerDecilitre ? Double(milligrams) : Double(tenthsOfMillimole) / 10
    }

    func step(in unit: GlucoseUnit) -> Int {
      unit == .milligramsPerDecilitre ? milligrams : tenthsOfMillimole
    }
  }

  /// The goals: the share of the time that each range should have, in percent. The goals `low` and `high`
  /// include the very low and the very high range.
  package struct Goals: Hashable, Sendable {
    /// The share in the target range must be above this.
    package let target: Double
    /// The share in the low and very low range must be below this.
    package let low: Double
    /// The share in the very low range must be below this; nil without a goal.
    package let veryLow: Double?
    /// The share in the high and very high range must be below this.
    package let high: Double
    /// The share in the very high range must be below this; nil without a goal.
    package let veryHigh: Double?
  }

  /// `standard`, `older`, `pregnancy`, or the limits as they were given.
  package let name: String
  /// The lower limit of the range `low`. Lower values are very low.
  package let lowest: Limit
  /// The lowest value of the target range.
  package let low: Limit
  /// The highest value of the target range.
  package let high: Limit
  /// The highest value that is not very high; nil if all values above the target range are one range.
  package let highest: Limit?
  /// The goals; nil for limits that a person chose.
  package let goals: Goals?

  /// The standard targets: 70 to 180 mg/dL.
  package static let standard = Targets(
    name: "standard", lowest: Limit(54, 30), low: Limit(70, 39), high: Limit(180, 100),
    highest: Limit(250, 139),
    goals: Goals(target: 70, low: 4, veryLow: 1, high: 25, veryHigh: 5))
  /// 70 to 180 mg/dL, with the goals for older people and others at high risk.
  package static let older = Targets(
    name: "older", lowest: Limit(54, 30), low: Limit(70, 39), high: Limit(180, 100),
    highest: Limit(250, 139),
    goals: Goals(target: 50, low: 1, veryLow: nil, high: 50, veryHigh: 10))
  /// The targets for pregnancy with type 1 diabetes: 63 to 140 mg/dL.
  package static let pregnancy = Targets(
    name: "pregnancy", lowest: Limit(54, 30), low: Limit(63, 35), high: Limit(140, 78),
    highest: nil,
    goals: Goals(target: 70, low: 4, veryLow: 1, high: 25, veryHigh: nil))

  /// All sets of targets with a name.
  package static let named = [standard, older, pregnancy]

  /// The limits of the tight range, which has no goal: 70 to 140 mg/dL.
  package static let tight = (low: Limit(70, 39), high: Limit(140, 78))

  /// A target range that a person chose. It includes both limits.
  ///
  /// - Returns: nil if the range is empty or extends into the very low or very high values.
  package init?(from low: Double, to high: Double, _ unit: GlucoseUnit) {
    let (lowest, highest) = (Self.standard.lowest, Limit(250, 139))
    guard let low = Self.limit(low, unit), let high = Self.limit(high, unit),
      lowest.step(in: unit) <= low.step(in: unit), low.step(in: unit) < high.step(in: unit),
      high.step(in: unit) <= highest.step(in: unit)
    else { return nil }
    let numbers = [low, high].map { plainNumber($0.number(in: unit)) }
    self.init(
      name: numbers.joined(separator: "-"), lowest: lowest, low: low, high: high, highest: highest,
      goals: nil)
  }

  private init(name: String, lowest: Limit, low: Limit, high: Limit, highest: Limit?, goals: Goals?) {
    self.name = name
    self.lowest = lowest
    self.low = low
    self.high = high
    self.highest = highest
    self.goals = goals
  }

  /// The range of a level. LO is always in the lowest range, and HI in the highest.
  package func band(of level: GlucoseLevel) -> GlucoseBand {
    switch level.beyond {
    case .low: return .veryLow
    case .high: return highest == nil ? .high : .veryHigh
    case .neither: break
    }
    let (step, unit) = (level.step, level.unit)
    if step < low.step(in: unit) { return step < lowest.step(in: unit) ? .veryLow : .low }
    if step <= high.step(in: unit) { return .target }
    guard let highest else { return .high }
    return step <= highest.step(in: unit) ? .high : .veryHigh
  }

  /// Whether a level is in the tight range.
  package static func isTight(_ level: GlucoseLevel) -> Bool {
    level.beyond == .neither && level.step >= tight.low.step(in: level.unit)
      && level.step <= tight.high.step(in: level.unit)
  }

  /// A limit in both units. If the consensus states the limit in both units, these numbers are used.
  /// Otherwise it is converted to the nearest number that devices show.
  private static func limit(_ number: Double, _ unit: GlucoseUnit) -> Limit? {
    let isMilligrams = unit == .milligramsPerDecilitre
    let step = (isMilligrams ? number : number * 10).rounded()
    guard step > 0, step < 1000 else { return nil }
    let known = [
      Limit(54, 30), Limit(63, 35), Limit(70, 39), Limit(140, 78), Limit(180, 100), Limit(250, 139),
    ]
    if let pair = known.first(where: { $0.step(in: unit) == Int(step) }) { return pair }
    let factor = Quantity.milligramsPerDecilitreInMillimole
    return isMilligrams
      ? Limit(Int(step), Int((step / factor * 10).rounded()))
      : Limit(Int((step / 10 * factor).rounded()), Int(step))
  }
}

/// A goal for the share of the time in a range, and the share that the sensor measured.
package struct StatsGoal: Sendable {
  /// The part of the time that a goal is for. Goals for low or high values always include very low or very
  /// high values.
  package enum Range: String, Sendable {
    case target
    /// Values below the target range: low and very low.
    case below = "below_target"
    case veryLow = "very_low"
    /// Values above the target range: high and very high.
    case above = "above_target"
    case veryHigh = "very_high"

    /// The name in text.
    package var name: String { rawValue.replacing("_", with: " ") }
  }

  /// The part of the time that the goal is for.
  package let range: Range
  /// The limit in percent.
  package let limit: Double
  /// Whether the share must be above the limit. If not, it must be below the limit.
  package let isAbove: Bool
  /// The measured share, in percent.
  package let percent: Double

  /// Whether the goal is reached.
  package var isMet: Bool { isAbove ? percent > limit : percent < limit }

  /// The goals of the targets; empty if there is too little data to compare with them.
  package static func all(of sensor: SensorFigures, _ targets: Targets) -> [StatsGoal] {
    guard sensor.goalShortage == nil, let goals = targets.goals else { return [] }
    func percent(_ bands: GlucoseBand...) -> Double? {
      let parts = bands.map { sensor.ranges[$0.rawValue] }.filter { $0.percent.shortage != .notSeparate }
      guard parts.allSatisfy({ $0.percent.number != nil }) else { return nil }
      // The share is calculated from minutes. A sum of rounded percentages could be below the limit that it
      // should equal.
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

/// The goal in `stats --json`. Its limit is `above` or `below`; the other one is nil.
extension StatsGoal: Encodable {
  private enum CodingKeys: String, CodingKey { case range, above, below, percent, met }

  package func encode(to encoder: any Encoder) throws {
    let (above, below): (Double?, Double?) = isAbove ? (limit, nil) : (nil, limit)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(range.rawValue, forKey: .range)
    try container.encode(above, forKey: .above)
    try container.encode(below, forKey: .below)
    try container.encode(Metric.decimals(percent), forKey: .percent)
    try container.encode(isMet, forKey: .met)
  }
}
