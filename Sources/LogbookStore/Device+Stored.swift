// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

extension Device {
  /// The number of this device in the store, which it gets at the first meeting: found by vendor and serial number or,
  /// without one, by format and model text.
  func storedID(_ database: Database) throws -> Int64 {
    let known =
      serial.isEmpty
      ? try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT id FROM device WHERE format = ? AND model = ? AND serial = ''"),
        arguments: [format, model])
      : try Int64.fetchOne(
        database.cachedStatement(
          sql: "SELECT id FROM device WHERE vendor = ? AND serial = ? AND serial <> ''"),
        arguments: [vendor, serial])
    if let known { return known }
    try database.executeCached(
      sql: "INSERT INTO device (vendor, model, serial, format, identity) VALUES (?, ?, ?, ?, ?)",
      arguments: [vendor, model, serial, format, ReadingIdentity.text(of: self)])
    return database.lastInsertedRowID
  }
}
