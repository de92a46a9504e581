// SPDX-License-Identifier: Apache-2.0

/// A point on the UTC line in milliseconds since 1970, with the offset beside which it was written.
@frozen package struct Instant: Hashable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package var milliseconds: Int64
  /// Seconds east of Greenwich; nil when it was written without one.
  package var utcOffset: Int32?
  /// Whether it was written as a time of day without an offset. The milliseconds are right only where the format's
  /// documentation says that such a time is in UTC; else it is the time that somebody's clock showed.
  package var isWallClock: Bool

  /// An instant and how it was written.
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
