// SPDX-License-Identifier: Apache-2.0

/// Percentages of the five ranges as people read them.
package enum WholePercents {
  /// Whole percents of parts that make one whole, lowest range first. Each is rounded; what they then have more or less than
  /// 100 goes to the high range. A difference of more than two is no matter of rounding, and where the high range cannot
  /// take it, all stay as they are.
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

  /// A percentage as text: of less than one its tenths, and never 0 for a part that is there.
  package static func text(_ whole: Int, exactly percent: Double) -> String {
    if percent > 0, percent < 1 {
      let tenths = Int((percent * 10).rounded())
      return tenths == 0 ? "<0.1" : tenths == 10 ? "1" : "0.\(tenths)"
    }
    return "\(whole)"
  }
}
