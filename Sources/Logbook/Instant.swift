// SPDX-License-Identifier: Apache-2.0

/// A point on the UTC line in milliseconds since 1970, with the offset in its text.
@frozen package struct Instant: Hashable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package var milliseconds: Int64
  /// Seconds east of Greenwich; nil if the text has no offset.
  package var utcOffset: Int32?
  /// Whether the text was a time of day without an offset. The milliseconds are only correct if the format defines such
  /// a time as UTC. Otherwise it is the time on a local clock.
  package var isWallClock: Bool

  /// An instant and the form of its text.
  @inlinable package init(milliseconds: Int64, utcOffset: Int32? = nil, isWallClock: Bool = false) {
    self.milliseconds = milliseconds
    self.utcOffset = utcOffset
    self.isWallClock = isWallClock
  }

  /// UTC seconds.
  @inlinable package var seconds: Int64 {
    (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1000
  }
}
