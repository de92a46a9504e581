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

/// The size of the next part of a content: smaller on a connection that is interrupted before a part is transferred,
/// larger on a stable one.
package struct PartSize: Hashable, Sendable {
  /// Below this size the headers would be as large as the content.
  package static let minBytes = 16 << 10
  /// The maximum size of a part.
  package static let maxBytes = 1 << 20
  /// The number of consecutive transferred parts after which the size grows.
  package static let steadyParts = 8

  /// The size of the next part.
  package private(set) var current: Int
  private let maxBytes: Int
  /// The number of parts transferred since the last interruption or growth.
  private var parts = 0

  /// Starts between the minimum and the maximum.
  ///
  /// - Parameter maxBytes: a smaller limit of the remote.
  package init(maxBytes: Int = Self.maxBytes) {
    self.maxBytes = min(max(1, maxBytes), Self.maxBytes)
    current = min(self.maxBytes, Self.maxBytes / 4)
  }

  /// Records a transferred part.
  package mutating func succeed() {
    parts += 1
    guard parts >= Self.steadyParts else { return }
    parts = 0
    current = min(maxBytes, current * 2)
  }

  /// Records an interruption. If several parts were transferred before, their size was not the cause.
  package mutating func breakOff() {
    if parts < 2 { halve() }
    parts = 0
  }

  /// Records that a part was too large.
  ///
  /// - Returns: false if it had the minimum size.
  @discardableResult
  package mutating func halve() -> Bool {
    guard current > Self.minBytes else { return false }
    current = max(Self.minBytes, current / 2)
    return true
  }
}
