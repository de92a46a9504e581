// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The numbers that a logbook assigned to series: the readings of one device, kind and position kind.
struct SeriesTable {
  let database: Database

  /// The numbers of the series in a batch, in the order of its readings. Unknown series are added.
  func numbers(of batch: ReadingBatch) throws -> [Int64] {
    var known: [Key: Int64] = [:]
    var last: (key: Key, number: Int64)?
    return try batch.readings.map { reading in
      let key = Key(device: reading.device, kind: reading.kind, positionKind: reading.positionKind)
      if let last, last.key == key { return last.number }
      let number = try known[key] ?? add(key, batch.devices[Int(reading.device.number)])
      known[key] = number
      last = (key, number)
      return number
    }
  }

  /// The device, kind and position kind of a series.
  func series(_ number: Int64) throws -> (device: Device, kind: ReadingKind, positionKind: PositionKind) {
    let statement = try database.cachedStatement(
      sql: """
        SELECT s.id, \(Device.storedColumns), s.kind, s.position_kind
        FROM series s JOIN device d ON d.id = s.device WHERE s.id = ?
        """)
    guard let row = try Row.fetchOne(statement, arguments: [number]) else {
      throw DamagedRow("series", ["id": number], "readings belong to it, and it is not there")
    }
    let stored = StoredRow(row, of: "series")
    return (try Device(stored, from: 1), try stored.code(5), try stored.code(6))
  }
}

extension SeriesTable {
  private struct Key: Hashable {
    let device: DeviceIndex
    let kind: ReadingKind
    let positionKind: PositionKind
  }

  private func add(_ key: Key, _ device: Device) throws -> Int64 {
    let device = try add(device)
    let (kind, positionKind) = (Int64(key.kind.rawValue), Int64(key.positionKind.rawValue))
    let found = try database.cachedStatement(
      sql: "SELECT id FROM series WHERE device = ? AND kind = ? AND position_kind = ?")
    if let number = try Int64.fetchOne(found, arguments: [device, kind, positionKind]) { return number }
    let insert = try database.cachedStatement(
      sql: "INSERT INTO series (device, kind, position_kind) VALUES (?, ?, ?)")
    try insert.execute(arguments: [device, kind, positionKind])
    return database.lastInsertedRowID
  }

  private func add(_ device: Device) throws -> Int64 {
    if let number = try device.storedID(database) { return number }
    let insert = try database.cachedStatement(
      sql: "INSERT INTO device (vendor, model, serial, format) VALUES (?, ?, ?, ?)")
    try insert.execute(arguments: [device.vendor, device.model, device.serial, device.format])
    return database.lastInsertedRowID
  }
}
