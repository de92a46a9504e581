// SPDX-License-Identifier: Apache-2.0

/// How many items go into the next request: halved by a failure of the request, doubled again by successes.
public struct BatchSize: Hashable, Sendable {
  /// The most items.
  public private(set) var largest: Int
  /// The size of the next batch.
  public private(set) var current: Int

  /// Starts at the largest size.
  public init(largest: Int) {
    self.largest = max(1, largest)
    current = self.largest
  }

  /// After a request went through.
  public mutating func succeed() { current = min(largest, current * 2) }

  /// After a request of so many items failed for what was in it.
  ///
  /// - Returns: false when it held a single item, which is then what fails.
  public mutating func halve(sent: Int) -> Bool {
    guard sent > 1 else { return false }
    current = max(1, sent / 2)
    return true
  }
}
