// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the readings of an input, in their order, show about the clock of the device that showed their times.
struct DeviceClock {
  /// No two zones are further apart: a longer step back is no clock that was set, but another export joined
  /// on.
  private static let longestStepBack: Int64 = 26 * 3600

  private enum Direction { case open, rising, falling }

  /// The last reading outside a repeated hour: its instant and its tick.
  private var anchor: (utc: Int64, tick: Int64)?
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
    if placement.source == .zoneOverlap {
      return anchor.map { TickClock.settle(time, tick, placement, zone, $0) } ?? placement
    }
    if placement.source != .zoneGap { anchor = (time.seconds - Int64(placement.utcOffset), tick) }
    return placement
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
