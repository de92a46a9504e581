// SPDX-License-Identifier: Apache-2.0

/// An instant in milliseconds since 1970 in UTC, with the UTC offset of the text from which it was read.
@frozen @usableFromInline package struct Instant: Hashable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  @usableFromInline package var milliseconds: Int64
  /// Seconds east of Greenwich; nil if the text has no offset.
  @usableFromInline package var utcOffset: Int32?
  /// Whether the text was a date and time without an offset. In this case, the milliseconds are UTC only if
  /// the format defines such times as UTC. Otherwise they are the time on a local clock.
  @usableFromInline package var isWallClock: Bool

  /// An instant, with the offset of the text from which it was read, and whether this text was a date and
  /// time without an offset.
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

/// A time as a source shows it, with its UTC offset if the source states one.
@frozen @usableFromInline package struct ShownTime: Hashable, Sendable {
  /// The date and the time of day.
  @usableFromInline package var deviceTime: DeviceTime
  /// Seconds east of Greenwich; nil for a wall-clock time without an offset.
  @usableFromInline package var utcOffset: Int32?
  /// Whether the source states only the instant, so that the offset is that of the logbook's zone.
  @usableFromInline package var isInstant = false

  /// A date and a time of day as the source shows them, with the offset that the source states.
  @inlinable package init(_ deviceTime: DeviceTime, utcOffset: Int32? = nil) {
    self.deviceTime = deviceTime
    self.utcOffset = utcOffset
  }

  /// An instant in UTC seconds, shown with this offset.
  @inlinable package init(utc seconds: Int64, offset: Int32) {
    deviceTime = DeviceTime(seconds: seconds + Int64(offset))
    utcOffset = offset
  }

  /// An instant in UTC seconds, for which the source states no shown time. It is shown with the zone's
  /// offset.
  @inlinable package init(instant seconds: Int64, zoneOffset: Int32) {
    self.init(utc: seconds, offset: zoneOffset)
    isInstant = true
  }
}

/// The range of plausible instants of readings. The end of the range is only known with a trusted clock.
@frozen @usableFromInline package struct PlausibleTimes: Sendable {
  @usableFromInline let earliest: Int64
  /// The last plausible instant, in UTC seconds.
  @usableFromInline package let latest: Int64

  /// - Parameter now: the host's clock in UTC seconds; nil if the clock is not trusted. Without a trusted
  ///   clock, every instant in the future is plausible.
  package init(now: Int64?) {
    // 1990-01-01: no reading of a meter with a correct clock is older.
    earliest = 631_152_000
    // A device in any zone can show tomorrow's date.
    latest = now.map { $0 + DeviceTime.largestDifference } ?? .max
  }

  /// Whether this instant, in UTC seconds, is plausible.
  @inlinable package func contains(_ utc: Int64) -> Bool { utc >= earliest && utc <= latest }

  /// The instant of a reading in UTC seconds. If it is implausible, the result is nil and the reading gets
  /// the mark `doubtfulTime`.
  @inlinable package func judge(_ reading: inout Reading) -> Int64? {
    let utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    if contains(utc) { return utc }
    reading.marks.insert(.doubtfulTime)
    return nil
  }
}

/// The age of a time that this computer stored, such as that of the last backup.
package enum StoredAge {
  /// The tolerated difference in seconds between two clocks: two minutes, as for the clocks of meters.
  package static let toleratedSeconds: Int64 = 120

  /// The age in seconds. It is nil, and so unknown, if the time is in the future. Then the clock was fast
  /// when the time was stored, or is slow at present.
  ///
  /// - Parameters:
  ///   - time: the stored time in UTC seconds.
  ///   - now: the host's clock in UTC seconds.
  package static func seconds(of time: Int64, now: Int64) -> Int64? {
    let age = now - time
    return age >= -toleratedSeconds ? max(0, age) : nil
  }
}
