// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the order of an input's readings shows about the clock of the device that showed their times.
struct DeviceClock {
  /// Two zones are never further apart than this. After a longer step back, another export begins.
  private static let longestStepBack: Int64 = 26 * 3600

  private enum Direction { case open, rising, falling }

  /// The last reading outside a repeated hour: its instant and its tick.
  private var anchor: (utc: Int64, tick: Int64)?
  private var direction = Direction.open
  private var last: Int64?
  private var highest = Int64.min

  /// Places a reading by its tick if its time may be in a repeated hour. The ticks since the last reading outside that
  /// hour show which occurrence it is. After a clock was set by hand, they may match neither.
  ///
  /// - Parameter placement: the zone's placement, with the first occurrence of a repeated time.
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

  /// Whether the clock was set back before this reading and has not yet passed its earlier maximum. Readings with the
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

  /// Starts another export, whose rows have their own order. Ticks and UTC continue.
  mutating func startExport() {
    direction = .open
    last = nil
  }
}
