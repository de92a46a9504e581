// SPDX-License-Identifier: Apache-2.0

/// How many items go into the next request: halved by a failure of the request, doubled again by successes.
package struct BatchSize: Hashable, Sendable {
  /// The most items.
  package private(set) var largest: Int
  /// The size of the next batch.
  package private(set) var current: Int

  /// Starts at the largest size.
  package init(largest: Int) {
    self.largest = max(1, largest)
    current = self.largest
  }

  /// After a request went through.
  package mutating func succeed() { current = min(largest, current * 2) }

  /// After a request of so many items failed for what was in it.
  ///
  /// - Returns: false when it held a single item, which is then what fails.
  package mutating func halve(sent: Int) -> Bool {
    guard sent > 1 else { return false }
    current = max(1, sent / 2)
    return true
  }
}
