// SPDX-License-Identifier: Apache-2.0

/// Percentages of the five ranges as whole numbers.
package enum WholePercents {
  /// Whole percentages of shares that add up to one, lowest range first. Each is rounded; the difference of
  /// their sum from 100 is added to the high range. A difference of more than two cannot come from rounding.
  /// In that case, or if the high range would be negative, all stay as they are.
  package static func of(_ shares: [Double]) -> [Int] {
    let percents = shares.map { Int((100 * $0).rounded()) }
    let difference = 100 - percents.reduce(0, +)
    let high = GlucoseBand.high.rawValue
    guard high < percents.count, abs(difference) <= 2, percents[high] + difference >= 0 else {
      return percents
    }
    var reconciled = percents
    reconciled[high] += difference
    return reconciled
  }

  /// A percentage as text: in tenths below one percent, and never 0 for a share that is not 0.
  package static func text(_ whole: Int, exactly percent: Double) -> String {
    if percent > 0, percent < 1 {
      let tenths = Int((percent * 10).rounded())
      return tenths == 0 ? "<0.1" : tenths == 10 ? "1" : "0.\(tenths)"
    }
    return "\(whole)"
  }
}
