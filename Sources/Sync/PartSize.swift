// SPDX-License-Identifier: Apache-2.0

/// How many bytes of a content go into one request: less on a link that breaks before they are through, more on one
/// that holds.
package struct PartSize: Hashable, Sendable {
  /// Below this size the headers weigh as much as the content.
  package static let minBytes = 16 << 10
  /// The largest part.
  package static let maxBytes = 1 << 20
  /// Parts in a row that go through before the next ones are larger.
  package static let steadyParts = 8

  /// The size of the next part.
  package private(set) var current: Int
  private let maxBytes: Int
  /// Parts that went through since the last break, or since the size grew.
  private var parts = 0

  /// Starts between the two.
  ///
  /// - Parameter maxBytes: a smaller limit, for a remote that takes no more.
  package init(maxBytes: Int = Self.maxBytes) {
    self.maxBytes = min(max(1, maxBytes), Self.maxBytes)
    current = min(self.maxBytes, Self.maxBytes / 4)
  }

  /// After a part went through.
  package mutating func succeed() {
    parts += 1
    guard parts >= Self.steadyParts else { return }
    parts = 0
    current = min(maxBytes, current * 2)
  }

  /// After the connection broke. Where several parts went through before, their size is not what broke it.
  package mutating func breakOff() {
    if parts < 2 { halve() }
    parts = 0
  }

  /// After a part was too large.
  ///
  /// - Returns: false when it was of the least size.
  @discardableResult
  package mutating func halve() -> Bool {
    guard current > Self.minBytes else { return false }
    current = max(Self.minBytes, current / 2)
    return true
  }
}
