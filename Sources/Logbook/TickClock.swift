// SPDX-License-Identifier: Apache-2.0

/// Determines by ticks to which occurrence of a repeated hour each reading of one device belongs. Readings are placed
/// in the order of their ticks. Two observations show it: a shown time that goes back while the ticks increase, and
/// ticks that count the seconds since the last reading outside the hour.
package struct TickClock: Sendable {
  /// The step by which the shown time goes back when the clock does. A smaller step can mean that a scan was stored
  /// before the quarter of an hour that contains it.
  package static let setBackSeconds: Int64 = 1800
  /// The longest period of shown times that a zone has repeated since 1990: Casey station, from +11 to +08.
  private static let longestOverlap: Int64 = 3 * 3600

  /// The last reading outside a repeated hour: its instant and its tick.
  private var anchor: (utc: Int64, tick: Int64)?
  /// The newest shown time of the current readings in the repeated hour, and whether the clock has gone back since.
  private var newest: Int64?
  private var isSecondPass = false

  /// A clock without readings.
  package init() {}

  /// Places a reading.
  ///
  /// - Parameters:
  ///   - placement: the zone's placement, with the first occurrence of a repeated time.
  ///   - zone: the zone.
  package mutating func place(
    _ time: DeviceTime, tick: Int64, as placement: Placement, in zone: LogbookZone
  ) -> Placement {
    guard placement.source == .zoneOverlap else {
      if placement.source != .zoneGap { anchor = (time.seconds - Int64(placement.utcOffset), tick) }
      newest = nil
      isSecondPass = false
      return placement
    }
    if let newest, time.seconds < newest - Self.setBackSeconds { isSecondPass = true }
    newest = max(newest ?? time.seconds, time.seconds)
    if isSecondPass { return Placement(utcOffset: Self.later(time, placement, zone), source: .ticks) }
    return anchor.map { Self.occurrence(time, tick, placement, zone, $0) } ?? placement
  }

  /// Places a time in a repeated hour by the ticks since, or until, a reading outside it. Ticks that match neither
  /// occurrence prove nothing, as after a clock set by hand or if they only count readings.
  package static func occurrence(
    _ time: DeviceTime, _ tick: Int64, _ first: Placement, _ zone: LogbookZone,
    _ anchor: (utc: Int64, tick: Int64)
  ) -> Placement {
    let utc = time.seconds - Int64(first.utcOffset)
    let later = Self.later(time, first, zone)
    // A source may state any two ticks. A difference larger than that of all times does not count seconds.
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

  /// The offset after the change. The first occurrence is before the change by less than the overlap, so this instant
  /// is after it.
  private static func later(_ time: DeviceTime, _ first: Placement, _ zone: LogbookZone) -> Int32 {
    zone.offset(of: time, atUTC: time.seconds - Int64(first.utcOffset) + longestOverlap)
  }
}
