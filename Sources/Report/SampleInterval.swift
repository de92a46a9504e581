// SPDX-License-Identifier: Apache-2.0

/// The minutes between two samples of one sensor: the median of the differences, in whole minutes.
struct SampleInterval: Sendable {
  /// The interval of a sensor with too few samples.
  static let usualMinutes = 5
  private static let maxMinutes = 60
  private static let neededDifferences = 8

  private var counts = [Int](repeating: 0, count: SampleInterval.maxMinutes + 1)
  private var differences = 0
  private var below = 0
  private var last: Int64?
  /// The median so far.
  private(set) var minutes = SampleInterval.usualMinutes

  /// Whether there were enough samples.
  var isKnown: Bool { differences >= Self.neededDifferences }

  /// Adds the instant of a sample, in UTC seconds; they come in order.
  mutating func add(_ instant: Int64) {
    defer { last = instant }
    guard let last, instant > last else { return }
    let difference = Int(min(Int64(Self.maxMinutes), max(1, (instant - last + 30) / 60)))
    counts[difference] += 1
    differences += 1
    if difference < minutes { below += 1 }
    settle()
  }

  /// Moves the median to the right position; for each sample, one step is mostly enough.
  private mutating func settle() {
    while below > (differences - 1) / 2 {
      minutes -= 1
      below -= counts[minutes]
    }
    while below + counts[minutes] <= (differences - 1) / 2 {
      below += counts[minutes]
      minutes += 1
    }
  }
}
