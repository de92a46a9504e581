// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Gives the readings of one batch the offsets that the zones of the store derive. Mostly the source has placed them by
/// the same zones, and nothing is to be done.
struct ReadingPlacer {
  private let zones: LogbookZones
  private var byDevice: [LogbookZone]

  /// - Parameter devices: those to which the readings point.
  init(_ database: Database, _ devices: [Device]) throws {
    let zones = try LogbookZones(database)
    self.zones = zones
    let common = zones.zone()
    let named = zones.devices
    byDevice = devices.map { device in
      let identity = named.isEmpty ? "" : ReadingIdentity.text(of: device)
      return named.contains(identity) ? zones.zone(of: identity) : common
    }
  }

  /// The zones of the store as they are in this transaction.
  var all: LogbookZones { zones }

  /// Whether readings that this zone placed stand as they are.
  func agrees(with zone: LogbookZone?) -> Bool { byDevice.allSatisfy { $0 == zone } }

  /// Places readings whose source states no offset.
  mutating func place(_ readings: inout [Reading]) {
    for index in readings.indices where readings[index].placement.source.isDerived {
      readings[index].placement = byDevice[Int(readings[index].device.number)].place(
        readings[index].deviceTime)
    }
  }
}
