// SPDX-License-Identifier: Apache-2.0

/// The number of times that each value occurs, from which percentiles are calculated. Its size depends on the
/// number of different values. Values are rounded to a hundredth of a mg/dL, so that it always stays small.
package struct Distribution: Sendable {
  private var values: [Double] = []
  private var weights: [Int] = []
  private var place = 0
  private var step = 0

  package init() {}

  /// Whether it has no values.
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

  /// The value below which this part of the values lies: type 7 of Hyndman and Fan, linear between
  /// neighbours, as in R.
  ///
  /// A sample with three times the weight counts as three equal values. Nil without values.
  package func percentile(_ part: Double) -> Double? { percentiles([part]).first }

  /// The percentiles for these parts, in ascending order; empty without values.
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
