// SPDX-License-Identifier: Apache-2.0

/// The plausible instants of readings, as far as a trusted clock can show.
@frozen package struct PlausibleTimes: Sendable {
  @usableFromInline let earliest: Int64
  /// The last one, in UTC seconds.
  package let latest: Int64

  /// - Parameter now: the host's clock in UTC seconds; nil if it is not trusted, which leaves the future open.
  package init(now: Int64?) {
    // 1990-01-01: no meter with a correct clock is older.
    earliest = 631_152_000
    // A day and two hours, since a device in any zone can show tomorrow's date.
    latest = now.map { $0 + 26 * 3600 } ?? .max
  }

  /// Whether this instant, in UTC seconds, is plausible.
  @inlinable package func contains(_ utc: Int64) -> Bool { utc >= earliest && utc <= latest }

  /// The instant of a reading; nil for an implausible one, which is marked.
  @inlinable package func judge(_ reading: inout Reading) -> Int64? {
    let utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    if contains(utc) { return utc }
    reading.marks.insert(.doubtfulTime)
    return nil
  }
}
