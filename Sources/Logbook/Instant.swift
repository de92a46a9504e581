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

/// A time as a source shows it, with the offset if it states one.
@frozen package struct ShownTime: Hashable, Sendable {
  /// The date and the time of day.
  package var deviceTime: DeviceTime
  /// Seconds east of Greenwich; nil for a wall-clock time without an offset.
  package var utcOffset: Int32?

  /// A time as it is shown.
  @inlinable package init(_ deviceTime: DeviceTime, utcOffset: Int32? = nil) {
    self.deviceTime = deviceTime
    self.utcOffset = utcOffset
  }

  /// An instant in UTC seconds, shown with this offset.
  @inlinable package init(utc seconds: Int64, offset: Int32) {
    deviceTime = DeviceTime(seconds: seconds + Int64(offset))
    utcOffset = offset
  }
}

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
