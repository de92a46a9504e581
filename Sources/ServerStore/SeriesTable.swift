// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// One device's readings of one kind on one position kind, under the number that the logbook gave it.
struct SeriesTable {
  let database: Database

  /// The numbers of the series that a batch touches, in the order of its readings; unknown ones are added.
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
        SELECT d.vendor, d.model, d.serial, d.format, s.kind, s.position_kind
        FROM series s JOIN device d ON d.id = s.device WHERE s.id = ?
        """)
    guard let row = try Row.fetchOne(statement, arguments: [number]),
      let kind = ReadingKind(rawValue: row[4]), let positionKind = PositionKind(rawValue: row[5])
    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a reading without its series") }
    return (Device(vendor: row[0], model: row[1], serial: row[2], format: row[3]), kind, positionKind)
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
    let bySerial = "SELECT id FROM device WHERE vendor = ? AND serial = ? AND serial <> ''"
    let byModel = "SELECT id FROM device WHERE format = ? AND model = ? AND serial = ''"
    let found = try database.cachedStatement(sql: device.serial.isEmpty ? byModel : bySerial)
    let arguments: StatementArguments =
      device.serial.isEmpty ? [device.format, device.model] : [device.vendor, device.serial]
    if let number = try Int64.fetchOne(found, arguments: arguments) { return number }
    let insert = try database.cachedStatement(
      sql: "INSERT INTO device (vendor, model, serial, format) VALUES (?, ?, ?, ?)")
    try insert.execute(arguments: [device.vendor, device.model, device.serial, device.format])
    return database.lastInsertedRowID
  }
}
