// SPDX-License-Identifier: Apache-2.0

/// The number of items in the next request: halved by a failure of the request, doubled by successes.
package struct BatchSize: Hashable, Sendable {
  /// The maximum number of items.
  package private(set) var largest: Int
  package private(set) var current: Int

  package init(largest: Int) {
    self.largest = max(1, largest)
    current = self.largest
  }

  /// Records a successful request.
  package mutating func succeed() { current = min(largest, current * 2) }

  /// Records a request with `sent` items that failed because of its content.
  ///
  /// - Returns: false for a single item, which is then the cause.
  package mutating func halve(sent: Int) -> Bool {
    guard sent > 1 else { return false }
    current = max(1, sent / 2)
    return true
  }
}
