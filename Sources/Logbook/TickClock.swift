// SPDX-License-Identifier: Apache-2.0

/// Determines for each reading of one device in a repeated hour whether it is in the first or the second
/// occurrence. Readings are added in the order of their ticks. Two observations decide. One is a shown time
/// that goes back while the ticks increase. The other is the ticks' count of seconds since the last reading
/// outside the hour.
package struct TickClock: Sendable {
  /// The minimum step back of the shown time that shows that the clock was set back, in seconds. A smaller
  /// step can have another cause: a sensor stores the value of a quarter of an hour after a scan with a later
  /// time.
  package static let setBackSeconds: Int64 = 1800
  /// The longest period that a zone has repeated since 1990, in seconds: Casey station changed from +11 to
  /// +08.
  private static let longestOverlap: Int64 = 3 * 3600

  /// The instant and the tick of the last reading outside a repeated hour.
  private var anchor: (utc: Int64, tick: Int64)?
  /// The latest shown time of the readings in the current repeated hour; nil outside such an hour.
  private var newest: Int64?
  private var isSecondPass = false

  /// A clock without readings.
  package init() {}

  /// Determines the placement of the next reading.
  ///
  /// - Parameters:
  ///   - placement: the placement by the zone. For a repeated time, it is that of the first occurrence.
  ///   - zone: the zone that determined `placement`.
  package mutating func placement(
    of time: DeviceTime, tick: Int64, as placement: Placement, in zone: LogbookZone
  ) -> Placement {
    guard placement.source == .zoneOverlap else {
      if placement.source != .zoneGap { anchor = (time.seconds - Int64(placement.utcOffset), tick) }
      newest = nil
      isSecondPass = false
      return placement
    }
    if let newest, time.seconds < newest - Self.setBackSeconds { isSecondPass = true }
    newest = max(newest ?? time.seconds, time.seconds)
    if isSecondPass {
      return Placement(utcOffset: Self.offsetOfSecondOccurrence(time, placement, zone), source: .ticks)
    }
    return anchor.map { Self.occurrence(time, tick, placement, zone, $0) } ?? placement
  }

  /// Determines the occurrence of a time in a repeated hour. The difference of its tick and the tick of a
  /// reading outside the hour decides. If the ticks match neither occurrence, the first one is returned. This
  /// happens after a person set the clock, or if ticks only count readings.
  package static func occurrence(
    _ time: DeviceTime, _ tick: Int64, _ first: Placement, _ zone: LogbookZone,
    _ anchor: (utc: Int64, tick: Int64)
  ) -> Placement {
    let utc = time.seconds - Int64(first.utcOffset)
    let later = Self.offsetOfSecondOccurrence(time, first, zone)
    // Ticks may be any numbers. If the difference of two ticks is larger than every difference of times in
    // seconds, the ticks do not count seconds.
    let (counted, overflows) = tick.subtractingReportingOverflow(anchor.tick)
    guard !overflows, counted.magnitude < 1 << 40 else { return first }
    let shown = utc - anchor.utc
    let overlap = Int64(first.utcOffset) - Int64(later)
    let lag = counted - shown
    if abs(lag) * 2 < overlap, abs(counted) * 2 >= abs(shown) {
      return Placement(utcOffset: first.utcOffset, source: .ticks)
    }
    return abs(lag - overlap) * 2 <= overlap ? Placement(utcOffset: later, source: .ticks) : first
  }

  /// The offset of a repeated time after the change of clocks. The first occurrence plus the longest repeated
  /// period is an instant after the change.
  package static func offsetOfSecondOccurrence(_ time: DeviceTime, _ first: Placement, _ zone: LogbookZone)
    -> Int32
  {
    zone.offset(of: time, atUTC: time.seconds - Int64(first.utcOffset) + longestOverlap)
  }
}
