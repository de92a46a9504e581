// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A glucose value for statistics.
package struct GlucoseLevel: Hashable, Sendable {
  /// Whether the device showed a number, LO or HI.
  package enum OutOfRange: Sendable { case neither, low, high }

  /// The value in mg/dL, not rounded; for LO and HI, the threshold.
  package let milligrams: Double
  /// Whether the device showed LO, HI or a number, which is `neither`.
  package let beyond: OutOfRange
  /// The value in the smallest step that devices show in its unit: whole mg/dL, or tenths of mmol/L. Limits
  /// of ranges are compared with this number, so that a conversion never makes 3.9 mmol/L 'low'.
  let step: Int
  let unit: GlucoseUnit

  /// The level of a reading of this kind; nil for a number that no statistics can use.
  ///
  /// LO and HI without a threshold get the limits of common devices: 40 and 400 mg/dL for a sensor, 20 and
  /// 600 for a meter.
  package init?(_ measurement: Measurement, of kind: ReadingKind) {
    switch measurement {
    case .value(let quantity):
      self.init(quantity.number, quantity.unit, .neither)
    case .low(let threshold, let unit):
      let usual = Quantity(kind == .smbg ? 20 : 40, .milligramsPerDecilitre)
      self.init(threshold ?? usual.converted(to: unit).number, unit, .low)
    case .high(let threshold, let unit):
      let usual = Quantity(kind == .smbg ? 600 : 400, .milligramsPerDecilitre)
      self.init(threshold ?? usual.converted(to: unit).number, unit, .high)
    }
  }

  private init?(_ number: Double, _ unit: GlucoseUnit, _ beyond: OutOfRange) {
    guard number > 0, number <= PlausibleAmounts.stated.upperBound else { return nil }
    let isMilligrams = unit == .milligramsPerDecilitre
    milligrams = isMilligrams ? number : number * Quantity.milligramsPerDecilitreInMillimole
    step = Int((isMilligrams ? number : number * 10).rounded(.toNearestOrEven))
    self.unit = unit
    self.beyond = beyond
  }

  /// A level interpolated between two levels of a sensor.
  init(between first: GlucoseLevel, _ second: GlucoseLevel, at part: Double) {
    milligrams = first.milligrams + (second.milligrams - first.milligrams) * part
    unit = second.unit
    let value =
      unit == .milligramsPerDecilitre
      ? milligrams : milligrams / Quantity.milligramsPerDecilitreInMillimole * 10
    step = Int(value.rounded(.toNearestOrEven))
    beyond = .neither
  }
}

/// The five ranges of glucose values, lowest first.
package enum GlucoseBand: Int, CaseIterable, Comparable, Sendable {
  case veryLow, low, target, high, veryHigh

  /// The name in tables and JSON.
  package var name: String {
    switch self {
    case .veryLow: "very_low"
    case .low: "low"
    case .target: "target"
    case .high: "high"
    case .veryHigh: "very_high"
    }
  }

  /// Whether the left range is lower than the right one.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A count for each of the five ranges.
package struct BandCounts: Sendable {
  private var counts = InlineArray<5, Int>(repeating: 0)

  package init() {}

  /// The count of one range.
  package subscript(band: GlucoseBand) -> Int {
    get { counts[band.rawValue] }
    set { counts[band.rawValue] = newValue }
  }

  /// The sum of all ranges.
  package var sum: Int { GlucoseBand.allCases.reduce(0) { $0 + self[$1] } }

  /// The counts, lowest range first.
  package var all: [Int] { GlucoseBand.allCases.map { self[$0] } }

  /// The share of each range in the sum, lowest range first; zeros if the sum is 0.
  package var shares: [Double] {
    let sum = sum
    return all.map { sum > 0 ? Double($0) / Double(sum) : 0 }
  }
}
