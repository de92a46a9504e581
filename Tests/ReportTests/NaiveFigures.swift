// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandom

@testable import Report

/// Statistics of samples of equal duration, computed directly from the definitions with all values in memory.
struct NaiveFigures {
  /// The values in mg/dL.
  let values: [Double]

  private var count: Double { Double(values.count) }

  var mean: Double { values.reduce(0, +) / count }

  /// The standard deviation, with the divisor n − 1.
  var deviation: Double {
    let mean = mean
    return (values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / (count - 1)).squareRoot()
  }

  var variation: Double { deviation / mean * 100 }

  /// The percentile of type 7 of Hyndman and Fan: at h = (n − 1)p, with linear interpolation between the two
  /// nearest sorted values.
  func percentile(_ part: Double) -> Double {
    let sorted = values.sorted()
    let place = (count - 1) * part
    let lower = sorted[Int(place.rounded(.down))]
    let upper = sorted[Int(place.rounded(.up))]
    return lower + (upper - lower) * (place - place.rounded(.down))
  }

  /// The number of values below the first limit, from there to the second limit, and so on. A value at a
  /// limit is in the range above it.
  func counts(_ limits: [Double]) -> [Int] {
    var counts = [Int](repeating: 0, count: limits.count + 1)
    for value in values { counts[limits.filter { value >= $0 }.count] += 1 }
    return counts
  }

  /// The five ranges of the consensus for whole mg/dL.
  var ranges: [Int] { counts([54, 70, 181, 251]) }

  /// The low blood glucose index: the sum of 10 · f² for values with a risk f below zero, divided by the
  /// number of all values.
  var lowRisk: Double { risks { $0 < 0 } }

  /// The high blood glucose index: the sum of 10 · f² for values with a risk f above zero, divided by the
  /// number of all values.
  var highRisk: Double { risks { $0 > 0 } }

  private func risks(_ counts: (Double) -> Bool) -> Double {
    let roots = values.map { 1.509 * (pow(log($0), 1.084) - 5.381) }
    return roots.filter(counts).map { 10 * $0 * $0 }.reduce(0, +) / count
  }

  var glycemiaRisk: Double {
    let percents = ranges.map { Double($0) * 100 / count }
    let low = percents[0] + 0.8 * percents[1]
    let high = percents[4] + 0.5 * percents[3]
    return min(100, 3.0 * low + 1.6 * high)
  }
}

/// Random sensor values from a seed. Each value is near the one before, in the whole range of sensors.
struct RandomWalk {
  private var generator: SeededGenerator
  private var value: Int

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    value = Int.random(in: 80...220, using: &generator)
  }

  /// The next value. It differs from the previous one by at most about `step` mg/dL.
  mutating func next(step: Int = 30) -> Int {
    value = min(400, max(40, value + Int.random(in: -step...step, using: &generator) + (140 - value) / 20))
    return value
  }

  mutating func values(_ count: Int, step: Int = 30) -> [Int] { (0..<count).map { _ in next(step: step) } }

  /// Whether an event happens that has a probability of 1/count.
  mutating func happens(onceIn count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
}
