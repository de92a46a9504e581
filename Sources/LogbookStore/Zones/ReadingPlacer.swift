// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// Derives the offsets of one batch's readings from the zones of the store. Usually the source used the same
/// zones, and nothing changes.
struct ReadingPlacer {
  /// The zones of the store in this transaction.
  let all: LogbookZones
  /// The zones for records and most devices, followed by those of each group of devices with the same
  /// periods.
  private var zones: [LogbookZone]
  /// The offsets of `zones` at instants; empty until the shown time of an instant is derived.
  private var offsets: [ZoneOffsets] = []
  /// For each device of the batch, the index in `zones`.
  private let places: [Int]

  /// - Parameter devices: the devices to which the readings refer.
  init(_ database: Database, _ devices: [Device]) throws {
    let all = try LogbookZones(database)
    self.all = all
    zones = [all.zone()]
    let groups = all.deviceGroups
    guard !groups.isEmpty else {
      places = Array(repeating: 0, count: devices.count)
      return
    }
    var groupOfDevice: [String: Int] = [:]
    for (index, group) in groups.enumerated() {
      for device in group { groupOfDevice[device] = index }
    }
    var indexOfGroup: [Int: Int] = [:]
    var places: [Int] = []
    for device in devices {
      guard let group = groupOfDevice[ReadingIdentity.text(of: device)] else {
        places.append(0)
        continue
      }
      if let place = indexOfGroup[group] {
        places.append(place)
      } else {
        indexOfGroup[group] = zones.count
        places.append(zones.count)
        zones.append(all.zone(of: groups[group][0]))
      }
    }
    self.places = places
  }

  /// Whether offsets that were derived from `zone` are also correct in this store.
  func agrees(with zone: LogbookZone?) -> Bool { Set(places).allSatisfy { zones[$0] == zone } }

  /// Derives the offsets of all readings without a stated offset, and the shown times of instants.
  mutating func deriveOffsets(of readings: inout [Reading]) {
    for index in readings.indices {
      let placement = readings[index].placement
      switch placement.source {
      case .stated: continue
      case .zone, .zoneGap, .zoneOverlap, .ticks:
        readings[index].placement = self.placement(of: readings[index])
      case .instant:
        if offsets.isEmpty { offsets = zones.map(ZoneOffsets.init) }
        let utc = placement.instant(of: readings[index].deviceTime).seconds
        let offset = offsets[places[Int(readings[index].device.number)]].offset(atUTC: utc)
        readings[index].deviceTime = DeviceTime(seconds: utc + Int64(offset))
        readings[index].placement = Placement(utcOffset: offset, source: .instant)
      }
    }
  }

  /// The placement that the zones derive for a reading.
  mutating func placement(of reading: Reading) -> Placement {
    zones[places[Int(reading.device.number)]].placement(of: reading.deviceTime)
  }
}
