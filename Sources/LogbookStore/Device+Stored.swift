// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

extension Device {
  /// The number of this device in the store. Adds the device if it is missing.
  func addedID(_ database: Database) throws -> Int64 {
    if let known = try storedID(database) { return known }
    try database.executeCached(
      sql: "INSERT INTO device (vendor, model, serial, format, identity) VALUES (?, ?, ?, ?, ?)",
      arguments: [vendor, model, serial, format, ReadingIdentity.text(of: self)])
    return database.lastInsertedRowID
  }
}
