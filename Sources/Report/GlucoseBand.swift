// SPDX-License-Identifier: Apache-2.0

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
