// SPDX-License-Identifier: Apache-2.0

/// The instants at which a reading can have been taken, as far as a trusted clock shows.
@frozen package struct PlausibleTimes: Sendable {
  @usableFromInline let earliest: Int64
  /// The last one, in UTC seconds.
  package let latest: Int64

  /// - Parameter now: the host's clock in UTC seconds; nil where it is not to be trusted, and judges no future.
  package init(now: Int64?) {
    // 1990-01-01: no meter with a clock that was set is older.
    earliest = 631_152_000
    // A day and two hours: a device in any zone may show tomorrow's date.
    latest = now.map { $0 + 26 * 3600 } ?? .max
  }

  /// Whether this instant, in UTC seconds, is one of them.
  @inlinable package func contains(_ utc: Int64) -> Bool { utc >= earliest && utc <= latest }

  /// The instant of a reading; nil for one that cannot be right, which is marked.
  @inlinable package func judge(_ reading: inout Reading) -> Int64? {
    let utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    if contains(utc) { return utc }
    reading.marks.insert(.doubtfulTime)
    return nil
  }
}
