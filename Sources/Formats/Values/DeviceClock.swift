// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the readings of an input, in their order, show about the clock of the device that showed their times.
struct DeviceClock {
  /// No two zones are further apart: a longer step back is no clock that was set, but another export joined
  /// on.
  private static let longestStepBack: Int64 = 26 * 3600
  /// The longest stretch of shown times that a zone has repeated since 1990: Casey station, from +11 to +08.
  private static let longestOverlap: Int64 = 3 * 3600

  private enum Direction { case open, rising, falling }

  /// UTC seconds less ticks, from the last reading outside a repeated hour.
  private var anchor: Int64?
  private var direction = Direction.open
  private var last: Int64?
  private var highest = Int64.min

  /// Places a reading whose time may be in a repeated hour by its tick. The ticks since the last reading outside that
  /// hour say which occurrence it is, unless they lead nowhere near either, as after a clock set by hand.
  ///
  /// - Parameter placement: what the zone says, with the first occurrence of a repeated time.
  @inline(__always)
  mutating func place(_ time: DeviceTime, tick: Int64, as placement: Placement, in zone: LogbookZone)
    -> Placement
  {
    if placement.source == .zoneOverlap { return settle(time, tick: tick, placement, zone) }
    if placement.source != .zoneGap { anchor = time.seconds - Int64(placement.utcOffset) - tick }
    return placement
  }

  private func settle(_ time: DeviceTime, tick: Int64, _ first: Placement, _ zone: LogbookZone) -> Placement {
    guard let anchor else { return first }
    let utc = time.seconds - Int64(first.utcOffset)
    // The first occurrence lies before the change by less than the overlap, so this instant lies behind it.
    let laterOffset = zone.offset(atUTC: utc + Self.longestOverlap)
    let overlap = Int64(first.utcOffset) - Int64(laterOffset)
    let lag = anchor + tick - utc
    if abs(lag) * 2 < overlap { return Placement(utcOffset: first.utcOffset, source: .ticks) }
    if abs(lag - overlap) * 2 <= overlap { return Placement(utcOffset: laterOffset, source: .ticks) }
    return first
  }

  /// Whether the clock was set back before this reading and has not passed its earlier maximum yet. Readings that come
  /// newest first show nothing.
  mutating func isBehindItself(_ time: DeviceTime) -> Bool {
    let now = time.seconds
    defer { last = now }
    guard let last else {
      highest = now
      return false
    }
    if direction == .open, now != last { direction = now > last ? .rising : .falling }
    if now > highest || highest - now > Self.longestStepBack {
      highest = now
      return false
    }
    return direction == .rising && (now < highest || last < highest)
  }

  /// Another export begins here: its order of rows is its own. Ticks and UTC go on.
  mutating func startExport() {
    direction = .open
    last = nil
  }
}
