// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Logbook

extension Device {
  /// The columns of a device, in the order of reading.
  package static let storedColumns = "d.vendor, d.model, d.serial, d.format"

  /// The device in four columns of a row from this one on.
  package init(_ row: StoredRow, from column: Int) throws {
    self.init(
      vendor: try row[column], model: try row[column + 1], serial: try row[column + 2],
      format: try row[column + 3])
  }

  /// The number of this device in a file; nil if it is not there. It is found by vendor and serial number or, without a
  /// serial number, by format and model.
  package func storedID(_ database: Database) throws -> Int64? {
    let bySerial = "SELECT id FROM device WHERE vendor = ? AND serial = ? AND serial <> ''"
    let byModel = "SELECT id FROM device WHERE format = ? AND model = ? AND serial = ''"
    return try Int64.fetchOne(
      database.cachedStatement(sql: serial.isEmpty ? byModel : bySerial),
      arguments: serial.isEmpty ? [format, model] : [vendor, serial])
  }
}
