// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

/// Mean and standard deviation of weighted numbers, in one pass.
///
/// The sums are of differences from the first number. So equal numbers have a deviation of exactly zero, and
/// results for whole mg/dL are exact.
package struct Moments: Sendable {
  /// The number of added values.
  package private(set) var count = 0
  private var weights = 0.0
  private var origin = 0.0
  private var sum = 0.0
  private var squares = 0.0

  package init() {}

  package mutating func add(_ number: Double, weight: Double = 1) {
    if count == 0 { origin = number }
    let difference = number - origin
    count += 1
    weights += weight
    sum += weight * difference
    squares += weight * difference * difference
  }

  /// The mean; nil without numbers.
  package var mean: Double? { count > 0 ? origin + sum / weights : nil }

  /// The sample standard deviation, with the divisor n − 1; nil for fewer than two numbers.
  package var standardDeviation: Double? {
    guard count > 1 else { return nil }
    let variance = max(0, squares - sum * sum / weights) / weights
    return (variance * Double(count) / Double(count - 1)).squareRoot()
  }

  /// The standard deviation in percent of the mean.
  package var variation: Double? {
    guard let mean, mean > 0, let standardDeviation else { return nil }
    return 100 * standardDeviation / mean
  }
}

/// The number of times that each value occurs, from which percentiles are calculated. Values are rounded to a
/// hundredth of a mg/dL: memory grows with the number of different values, so it stays small.
package struct Distribution: Sendable {
  private var values: [Double] = []
  private var weights: [Int] = []
  private var place = 0
  private var step = 0

  package init() {}

  /// Whether the distribution has no values.
  package var isEmpty: Bool { values.isEmpty }
  /// The lowest value; nil without one.
  package var lowest: Double? { values.first }
  /// The highest value; nil without one.
  package var highest: Double? { values.last }

  /// Adds a value.
  ///
  /// - Parameter weight: its weight, such as the minutes that a sample of a sensor represents.
  package mutating func add(_ value: Double, weight: Int = 1) {
    let whole = value.rounded()
    add(exactly: whole == value ? value : (value * 100).rounded() / 100, weight)
  }

  /// Adds the values of another distribution.
  package mutating func add(_ other: Distribution) {
    for (value, weight) in zip(other.values, other.weights) { add(exactly: value, weight) }
    step = greatestDivisor(step, other.step)
  }

  private mutating func add(exactly value: Double, _ weight: Int) {
    if step != weight { step = greatestDivisor(step, weight) }
    if place < values.count, values[place] == value {
      weights[place] += weight
      return
    }
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    place = low
    if low < values.count, values[low] == value {
      weights[low] += weight
    } else {
      values.insert(value, at: low)
      weights.insert(weight, at: low)
    }
  }

  /// The value below which the fraction `part` of all values lies: type 7 of Hyndman and Fan, linear between
  /// neighbours, as in R.
  ///
  /// A sample with three times the weight counts as three equal values. Nil without values.
  package func percentile(_ part: Double) -> Double? { percentiles([part]).first }

  /// The percentiles for these fractions, which must be in ascending order; empty without values.
  package func percentiles(_ parts: [Double]) -> [Double] {
    guard let last = values.last, step > 0 else { return [] }
    let count = weights.reduce(0, +) / step
    var (index, end) = (0, weights[0] / step)
    return parts.map { part in
      let position = Double(count - 1) * part
      let whole = Int(position)
      while whole >= end, index + 1 < values.count {
        index += 1
        end += weights[index] / step
      }
      let next =
        whole + 1 < end ? values[index] : index + 1 < values.count ? values[index + 1] : last
      return values[index] + (next - values[index]) * (position - Double(whole))
    }
  }
}

private func greatestDivisor(_ first: Int, _ second: Int) -> Int {
  var (first, second) = (first, second)
  while second != 0 { (first, second) = (second, first % second) }
  return first
}

/// Published formulas for figures of many values.
package enum GlucoseIndices {
  /// The glucose management indicator in percent, for a mean in mg/dL (Bergenstal et al. 2018).
  package static func managementIndicator(mean milligrams: Double) -> Double {
    3.31 + 0.02392 * milligrams
  }

  /// The glucose management indicator in mmol/mol, for a mean in mg/dL.
  package static func managementIndicatorInMillimoles(mean milligrams: Double) -> Double {
    12.71 + 4.70587 * milligrams / Quantity.milligramsPerDecilitreInMillimole
  }

  /// The means for which the management indicator was fitted, in mg/dL.
  package static let managementIndicatorMeans = 80.0...350

  /// The risk of a value in mg/dL (Kovatchev et al.). The index LBGI is the mean of `low`, which is 0 above
  /// 112.5 mg/dL. The index HBGI is the mean of `high`, which is 0 below.
  package static func risk(_ milligrams: Double) -> (low: Double, high: Double) {
    let step = Int(milligrams)
    if Double(step) == milligrams, step < wholeRisks.count { return split(wholeRisks[step]) }
    return split(signedRoot(milligrams))
  }

  /// The glycemia risk index for shares of the time in percent (Klonoff et al. 2022), with the standard
  /// ranges.
  package static func glycemiaRisk(_ percent: [Double]) -> (index: Double, low: Double, high: Double) {
    let low = percent[0] + 0.8 * percent[1]
    let high = percent[4] + 0.5 * percent[3]
    return (min(100, 3 * low + 1.6 * high), low, high)
  }

  /// The zone of a glycemia risk index, A to E.
  package static func zone(ofGlycemiaRisk index: Double) -> String {
    switch index.rounded() {
    case ...20: "A"
    case ...40: "B"
    case ...60: "C"
    case ...80: "D"
    default: "E"
    }
  }

  /// The results of `signedRoot` for whole mg/dL are calculated once, since logarithm and power take longer
  /// than all other work for a value.
  private static let wholeRisks = (0...1000).map { signedRoot(Double($0)) }

  private static func signedRoot(_ milligrams: Double) -> Double {
    milligrams > 1 ? 1.509 * (pow(log(milligrams), 1.084) - 5.381) : 1.509 * -5.381
  }

  private static func split(_ root: Double) -> (low: Double, high: Double) {
    let risk = 10 * root * root
    return root < 0 ? (risk, 0) : (0, risk)
  }
}
