// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The zones in an input's rows, each looked up once.
struct RowZones {
  /// The maximum number of zone names to remember, more than any diary has. A damaged input may state a new
  /// one in each row.
  private static let maxZones = 64

  private var zones: [[UInt8]: LogbookZone?] = [:]
  private var hasUnknown = false

  /// The time with the offset of the row's zone; unchanged for an unknown zone.
  mutating func addingOffset(to time: ShownTime, in name: Field) -> ShownTime {
    guard time.utcOffset == nil, name.count > 0, name.count <= 64 else {
      if name.count > 64 { hasUnknown = true }
      return time
    }
    let key = Array(name.bytes)
    if zones[key] == nil {
      guard zones.count < Self.maxZones else { return time }
      let zone = NamedZone(known: name.text).map { LogbookZone(base: $0, periods: []) }
      if zone == nil { hasUnknown = true }
      zones[key] = .some(zone)
    }
    guard case .some(.some(var zone)) = zones[key] else { return time }
    let placement = zone.placement(of: time.deviceTime)
    zones[key] = .some(zone)
    return ShownTime(time.deviceTime, utcOffset: placement.utcOffset)
  }

  var warnings: [String] {
    hasUnknown ? ["rows whose time zone is not known are placed by the zone of the logbook"] : []
  }
}
