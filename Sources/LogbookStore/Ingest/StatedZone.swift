// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Logbook

/// The readings of an input to which a given zone applies.
struct GivenTimes {
  private(set) var first = Int64.max
  private(set) var last = Int64.min
  private(set) var devices: Set<DeviceIndex> = []
  /// Mostly the device of the next reading, too: a set costs more than all else here.
  private var newest: DeviceIndex?

  @inline(__always)
  mutating func note(_ reading: Reading) {
    guard reading.placement.source.isDerived else { return }
    let seconds = reading.deviceTime.seconds
    if seconds < first { first = seconds }
    if seconds > last { last = seconds }
    guard reading.device != newest else { return }
    newest = reading.device
    devices.insert(reading.device)
  }
}

/// Keeps the zone that a person gave for an input as a fact about its devices and the range of its readings.
struct StatedZone {
  /// Two inputs of the same devices with no more between them are one period if the store has nothing of these devices
  /// there: else a job that imports every week would state a further period every week, for ever.
  private static let maxGapSeconds: Int64 = 31 * 86400
  /// What the names of the devices of one record take at most, far below what a record may hold.
  private static let maxNameBytes = 256 << 10

  private let zone: LogbookZone
  private let database: Database

  init(_ zone: LogbookZone, _ database: Database) { (self.zone, self.database) = (zone, database) }

  /// Refuses an input for which no further period can be stated, before anything of it is stored.
  func requireRoom() throws {
    let zones = try LogbookZones(database)
    let isBase = zones.unknownBase == nil && zones.origin == .given && zones.base == zone.base
    guard !isBase, zones.isKnown || zones.unknownBase != nil else { return }
    try ZoneRecords.requireRoom(zones)
  }

  /// States it.
  func state(_ given: GivenTimes, of all: [Device], at now: Int64) throws {
    let zones = try LogbookZones(database)
    // A zone that only this system does not know is not replaced by that of an input.
    guard zones.isKnown || zones.unknownBase != nil else {
      return try ZoneRecords.setBase(zone.base, at: now, database)
    }
    guard given.first <= given.last else { return }
    let names = Set(given.devices.map { ReadingIdentity.text(of: all[Int($0.number)]) }).sorted()
    for devices in Self.parts(names) {
      let period = ZonePeriod(
        guid: UUID().uuidString.lowercased(), from: DeviceTime(seconds: given.first),
        until: given.last < LogbookZones.lastSecond ? DeviceTime(seconds: given.last + 1) : nil,
        zone: zone.base, devices: Set(devices), madeAt: now)
      try ZoneRecords.add(bridged(period), at: now, database)
    }
  }

  /// As many devices as one record may name, in an order that is the same for the same input.
  private static func parts(_ names: [String]) -> [[String]] {
    var (parts, bytes) = ([[String]](), 0)
    for name in names {
      bytes += name.utf8.count
      if let last = parts.last, last.count < LogbookZones.maxDevices, bytes <= maxNameBytes {
        parts[parts.count - 1].append(name)
      } else {
        parts.append([name])
        bytes = name.utf8.count
      }
    }
    return parts
  }

  /// The period, longer by the gaps to those of the same zone and devices, where nothing lies in them.
  private func bridged(_ period: ZonePeriod) throws -> ZonePeriod {
    let periods = try LogbookZones(database).periods
    let alike = periods.filter { $0.zone == period.zone && $0.devices == period.devices }
    var longer = period
    let before = alike.filter { $0.end < period.first }.max { $0.end < $1.end }
    if let before, try canBridge(before.end, period.first, of: period, periods) { longer.from = before.until }
    let after = alike.filter { $0.first > period.end }.min { $0.first < $1.first }
    if let after, try canBridge(period.end, after.first, of: period, periods) { longer.until = after.from }
    return longer
  }

  /// Whether nobody said anything of the gap, and no reading of the devices lies in it.
  private func canBridge(
    _ first: Int64, _ end: Int64, of period: ZonePeriod, _ periods: [ZonePeriod]
  ) throws -> Bool {
    guard end - first <= Self.maxGapSeconds,
      !periods.contains(where: {
        $0.first < end && first < $0.end
          && ($0.devices.isEmpty || !$0.devices.isDisjoint(with: period.devices))
      })
    else { return false }
    return try period.devices.allSatisfy { device in
      try Bool.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT NOT EXISTS (
              SELECT 1 FROM device AS d JOIN series AS s ON s.device = d.id
                CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
              WHERE d.identity = ?1 AND s.first_time < ?3 AND s.last_time >= ?2
                AND (s.position_kind = 1 OR (r.position >= ?2 AND r.position < ?3))
                AND r.device_time >= ?2 AND r.device_time < ?3 AND r.offset_source <> 0)
            """), arguments: [device, first, end]) ?? false
    }
  }

  /// The failure of an input whose times need a zone that nobody knows.
  static func missing(_ input: String, _ unknown: String?) -> Failure {
    if let unknown {
      return Failure(
        .configuration,
        "\(input): times without an offset need the time zone \(unknown) of the logbook, which this system does not know; "
          + "update its time zone data (tzdata)")
    }
    return Failure(
      .configuration,
      "\(input): times without an offset need a time zone, and that of the logbook was never given; add --timezone, "
        + "such as --timezone Europe/Madrid, or set the logbook's with 'glucoport config timezone Europe/Madrid'"
    )
  }
}
