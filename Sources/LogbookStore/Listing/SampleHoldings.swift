// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

/// Whether a store has a reading that another input contains.
package enum SampleHolding: Hashable, Sendable {
  /// The store has a reading with this position and value, and no withdrawal hides it.
  case equal
  /// The store has readings of the device and kind before and after this reading, but not this reading.
  case missing
  /// The reading is before or after all readings of its device and kind.
  case outside
}

extension Store {
  /// Whether the store has readings of this device that no withdrawal hides. Only the counters of the series
  /// are read, and not the readings.
  package func hasShownReadings(of device: Device) throws -> Bool {
    try read { database in
      guard let id = try device.storedID(database) else { return false }
      return try Bool.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT EXISTS (SELECT 1 FROM series AS s
              WHERE s.device = ? AND s.readings > (SELECT count(*) FROM withdrawn AS w WHERE w.series = s.id))
            """), arguments: [id]) ?? false
    }
  }

  /// Whether the store has readings of a device with this serial number, of any vendor, that no withdrawal
  /// hides.
  package func hasShownReadings(ofSerial serial: String) throws -> Bool {
    try devices().contains { try $0.serial == serial && hasShownReadings(of: $0) }
  }

  /// Whether the store has each of these readings. Each of them is searched by its position, so that the cost
  /// does not grow with the store.
  ///
  /// - Parameter devices: the devices to which the readings refer.
  package func holdings(of sample: [Reading], _ devices: [Device]) throws -> [SampleHolding] {
    try read { database in
      let ids = try devices.map { try $0.storedID(database) }
      return try sample.map { reading in
        guard let id = ids[Int(reading.device.number)] else { return .outside }
        return try Self.holding(of: reading, id, database)
      }
    }
  }

  /// The newest readings that no withdrawal hides, as an input states them, with their devices.
  ///
  /// - Parameter count: the maximum number of readings.
  package func newestReadings(_ count: Int) throws -> (devices: [Device], readings: [Reading]) {
    var filter = ItemFilter()
    (filter.recordKinds, filter.newest) = ([], count)
    var (devices, readings): ([Device], [Reading]) = ([], [])
    var indexes: [Int64: DeviceIndex] = [:]
    try forEachItem(filter) { item in
      guard case .reading(let stored) = item else { return }
      if indexes[stored.deviceID] == nil {
        indexes[stored.deviceID] = DeviceIndex(Int32(devices.count))
        devices.append(stored.device)
      }
      var reading = Reading(
        device: indexes[stored.deviceID] ?? DeviceIndex(0), kind: stored.kind, at: stored.deviceTime,
        placement: stored.placement, stored.measurement, marks: stored.marks, line: 0)
      (reading.positionKind, reading.position) = (stored.positionKind, stored.position)
      readings.append(reading)
    }
    return (devices, readings)
  }

  /// The guid of the newest import, which is the same in every copy of the store; nil without imports.
  package func newestImport() throws -> String? {
    try read { try String.fetchOne($0, sql: "SELECT guid FROM ingest ORDER BY id DESC LIMIT 1") }
  }

  /// Whether the store has the import with this guid, so that both stores have a common origin.
  package func hasImport(_ guid: String) throws -> Bool {
    try read { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE guid = ?)"),
        arguments: [guid]) ?? false
    }
  }

  private static func holding(
    of reading: Reading, _ device: Int64, _ database: Database
  ) throws -> SampleHolding {
    let (kind, positionKind) = (reading.kind.rawValue, reading.positionKind.rawValue)
    let equal = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT \(StoredReading.columns)
          FROM series AS s JOIN device AS d ON d.id = s.device
            CROSS JOIN reading AS r ON r.partition = s.partition AND r.series = s.id
          WHERE s.device = ? AND s.kind = ? AND s.position_kind = ? AND r.position = ? AND r.value_bucket = ?
            AND \(Withdrawn.readingIsShown)
          """), arguments: [device, kind, positionKind, reading.position, reading.valueBucket])
    while let row = try equal.next() {
      if try StoredReading(row).measurement.agrees(with: reading.measurement) { return .equal }
    }
    let isInside = try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM series WHERE device = ? AND kind = ? AND position_kind = ?
            AND ? BETWEEN first_position AND last_position)
          """), arguments: [device, kind, positionKind, reading.position])
    return isInside == true ? .missing : .outside
  }
}
