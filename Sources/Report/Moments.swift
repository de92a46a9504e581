// SPDX-License-Identifier: Apache-2.0

/// Mean and standard deviation of weighted numbers, in one pass.
///
/// The sums are of differences from the first number. So equal numbers have a deviation of exactly zero, and
/// results for whole mg/dL are exact.
package struct Moments: Sendable {
  /// The number of numbers.
  package private(set) var count = 0
  private var weights = 0.0
  private var origin = 0.0
  private var sum = 0.0
  private var squares = 0.0

  package init() {}

  /// Adds a number.
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
