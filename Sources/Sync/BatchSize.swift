// SPDX-License-Identifier: Apache-2.0

/// The number of items in the next request. It is halved after a request that failed because of its content,
/// and doubled after a successful one.
package struct BatchSize: Hashable, Sendable {
  /// The maximum number of items.
  package private(set) var largest: Int
  package private(set) var current: Int

  package init(largest: Int) {
    self.largest = max(1, largest)
    current = self.largest
  }

  /// Doubles the number after a successful request.
  package mutating func succeed() { current = min(largest, current * 2) }

  /// Halves the number after a request with `sent` items failed because of its content.
  ///
  /// - Returns: false if the request had a single item, which must be the cause.
  package mutating func halve(sent: Int) -> Bool {
    guard sent > 1 else { return false }
    current = max(1, sent / 2)
    return true
  }
}

/// The size of the next part of an attachment's content. It becomes smaller if the connection breaks before a
/// part is transferred, and larger on a stable connection.
package struct PartSize: Hashable, Sendable {
  /// The minimum size of a part in bytes. With smaller parts, headers would take as much data as the content.
  package static let minBytes = 16 << 10
  /// The maximum size of a part in bytes.
  package static let maxBytes = 1 << 20
  /// The number of parts that must be transferred in sequence before the size is doubled.
  package static let steadyParts = 8

  /// The size of the next part in bytes.
  package private(set) var current: Int
  private let maxBytes: Int
  /// The number of parts transferred since the connection last broke or the size last changed.
  private var parts = 0

  /// Begins with a quarter of the maximum size.
  ///
  /// - Parameter maxBytes: the maximum size that the remote accepts.
  package init(maxBytes: Int = Self.maxBytes) {
    self.maxBytes = min(max(1, maxBytes), Self.maxBytes)
    current = min(self.maxBytes, Self.maxBytes / 4)
  }

  /// Counts a transferred part. After `steadyParts` of them, the size is doubled.
  package mutating func succeed() {
    parts += 1
    guard parts >= Self.steadyParts else { return }
    parts = 0
    current = min(maxBytes, current * 2)
  }

  /// Halves the size after the connection broke. If several parts were transferred before, their size was not
  /// the cause, so the size stays.
  package mutating func halveAfterLostConnection() {
    if parts < 2 { halve() }
    parts = 0
  }

  /// Halves the size after a part was too large.
  ///
  /// - Returns: false if the part already had the minimum size.
  @discardableResult
  package mutating func halve() -> Bool {
    guard current > Self.minBytes else { return false }
    current = max(Self.minBytes, current / 2)
    return true
  }
}
