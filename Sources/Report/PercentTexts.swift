// SPDX-License-Identifier: Apache-2.0

/// Percentages of the parts of one whole as people read them: with one decimal each, and 100.0 together.
package struct PercentTexts: Sendable {
  private let weights: [Int]
  private let tenths: [Int]
  private let sum: Int
  private let mark: String

  /// The percentages of these parts, lowest range first, such as the minutes in each range.
  ///
  /// Each part has its whole tenths. Those that are left go to the parts with the largest remainders, of equal ones to the
  /// lower range. So no percentage is a tenth or more from the exact one.
  ///
  /// - Parameter mark: the sign between a number and its decimal.
  package init(_ weights: [Int], mark: String = ".") {
    let sum = weights.reduce(0, +)
    var tenths = weights.map { sum > 0 ? $0 * 1000 / sum : 0 }
    let left = sum > 0 ? 1000 - tenths.reduce(0, +) : 0
    let order = weights.indices.sorted { first, second in
      let (one, other) = (weights[first] * 1000 % max(1, sum), weights[second] * 1000 % max(1, sum))
      return one == other ? first < second : one > other
    }
    for index in order.prefix(left) { tenths[index] += 1 }
    (self.weights, self.tenths, self.sum, self.mark) = (weights, tenths, sum, mark)
  }

  /// The percentages of the five ranges of a sensor's time.
  package init(minutes ranges: [RangeFigures], mark: String = ".") {
    self.init(ranges.map(\.minutes), mark: mark)
  }

  /// The percentages of the five ranges of readings.
  package init(readings ranges: [RangeFigures], mark: String = ".") {
    self.init(ranges.map(\.readings), mark: mark)
  }

  /// The percentage of one range, such as `4.2`.
  package subscript(band: GlucoseBand) -> String {
    Self.text(tenths: tenths[band.rawValue], isThere: weights[band.rawValue] > 0, mark)
  }

  /// The percentage of several ranges together, from the exact sum and not from rounded parts.
  package func sum(_ bands: GlucoseBand...) -> String {
    let part = bands.reduce(0) { $0 + weights[$1.rawValue] }
    return Self.text(100 * Double(part) / Double(max(1, sum)), mark: mark)
  }

  /// A percentage with one decimal, and never 0.0 for a part that is there.
  package static func text(_ percent: Double, mark: String = ".") -> String {
    text(tenths: Int((percent * 10).rounded()), isThere: percent > 0, mark)
  }

  private static func text(tenths: Int, isThere: Bool, _ mark: String) -> String {
    tenths == 0 && isThere ? "<0\(mark)1" : "\(tenths / 10)\(mark)\(tenths % 10)"
  }
}
