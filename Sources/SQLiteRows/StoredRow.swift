// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Logbook

/// A row whose columns are read with errors. NULL, another type, an invalid number or an unknown code is a `DamagedRow`
/// and does not end the program.
package struct StoredRow {
  /// The row as GRDB read it.
  package let row: Row
  private let table: String
  private let key: Range<Int>

  /// - Parameters:
  ///   - table: the table of the row, for the error.
  ///   - key: the columns that identify the row, for the error.
  package init(_ row: Row, of table: String, key: Range<Int> = 0..<1) {
    self.row = row
    self.table = table
    self.key = key
  }

  /// The value of a column.
  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: Int) -> Value {
    get throws {
      // By the stored type, since SQLite itself reads a text as the number 0.
      guard let value = Value.fromDatabaseValue(row[column]) else { throw damage(column) }
      return value
    }
  }

  /// The value of a column by its name.
  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
    get throws { try self[try column(name)] }
  }

  /// The value for the code in a column.
  package func code<Code: RawRepresentable>(_ column: Int) throws -> Code
  where Code.RawValue: DatabaseValueConvertible & StatementColumnConvertible {
    let stored: Code.RawValue = try self[column]
    guard let code = Code(rawValue: stored) else { throw damage(column) }
    return code
  }

  /// A whole number within bounds.
  package func number(_ column: Int, in bounds: ClosedRange<Int64>) throws -> Int64 {
    let number: Int64 = try self[column]
    guard bounds.contains(number) else { throw damage(column) }
    return number
  }

  /// A whole number within bounds; nil for NULL.
  package func optionalNumber(_ column: Int, in bounds: ClosedRange<Int64>) throws -> Int64? {
    let number: Int64? = try self[column]
    guard number.map(bounds.contains) ?? true else { throw damage(column) }
    return number
  }

  /// Seconds since 1970.
  package func seconds(_ column: Int) throws -> Int64 { try number(column, in: StoredBounds.seconds) }

  /// Seconds since 1970; nil for NULL.
  package func optionalSeconds(_ column: Int) throws -> Int64? {
    try optionalNumber(column, in: StoredBounds.seconds)
  }

  /// Seconds since 1970 by the name of the column; nil for NULL.
  package func optionalSeconds(_ name: String) throws -> Int64? { try optionalSeconds(try column(name)) }

  /// A number of items, a version, or the number of a row.
  package func count(_ column: Int) throws -> Int { Int(try number(column, in: StoredBounds.count)) }

  /// The same, by the name of the column.
  package func count(_ name: String) throws -> Int { try count(try column(name)) }

  /// A time that a clock showed.
  package func deviceTime(_ column: Int) throws -> DeviceTime { DeviceTime(seconds: try seconds(column)) }

  /// Seconds east of Greenwich.
  package func offset(_ column: Int) throws -> Int32 { Int32(try number(column, in: StoredBounds.offset)) }

  /// The placement of a shown time: an offset in this column, and its source in the next one.
  package func placement(_ column: Int) throws -> Placement {
    Placement(utcOffset: try offset(column), source: try code(column + 1))
  }

  /// The numbers from this column's to the next column's.
  package func range(_ column: Int) throws -> ClosedRange<Int64> {
    let (first, last): (Int64, Int64) = (try self[column], try self[column + 1])
    guard first <= last else { throw damage(column + 1) }
    return first...last
  }

  /// The error for a column with invalid content.
  package func damage(_ column: Int) -> DamagedRow {
    let title = Array(row.columnNames)[column]
    switch (row[column] as DatabaseValue).storage {
    case .null: return DamagedRow(name, "\(title) is NULL")
    case .int64(let code): return DamagedRow(name, "unknown \(title) \(code)")
    default: return DamagedRow(name, "unknown \(title)")
    }
  }

  /// The table and the row in it, for an error.
  package var name: String {
    let names = Array(row.columnNames)
    let parts = key.map { "\(names[$0]) \(Self.text(row[$0]))" }
    return "\(table) (\(parts.joined(separator: ", ")))"
  }

  private static let maxKeyLength = 64

  /// A part of a key, which may also be damaged.
  private static func text(_ value: DatabaseValue) -> String {
    if case .blob = value.storage { return "with another type" }
    let text = "\(value)"
    return text.count <= maxKeyLength ? text : text.prefix(maxKeyLength) + "…"
  }

  private func column(_ name: String) throws -> Int {
    guard let column = Array(row.columnNames).firstIndex(of: name) else {
      throw DamagedRow(self.name, "there is no column \(name)")
    }
    return column
  }
}

extension StoredRow {
  /// The time in the first column of a statement's only row; nil for NULL and without a row.
  ///
  /// - Parameter table: the table of the time, for the error.
  package static func seconds(
    _ statement: Statement, _ arguments: StatementArguments = [], of table: String
  ) throws -> Int64? {
    guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
    guard let seconds = Int64?.fromDatabaseValue(row[0]),
      seconds.map(StoredBounds.seconds.contains) ?? true
    else { throw DamagedRow(table, "unknown \(row.columnNames.first ?? "time")") }
    return seconds
  }
}

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

/// A row with content that glucoport never writes. Another program changed the file, or the disk damaged it.
package struct DamagedRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table and the row, by the columns that identify it.
  package let row: String
  /// What is wrong, without any value of a person.
  package let reason: String

  /// A row and what is wrong with it.
  package init(_ row: String, _ reason: String) {
    self.row = row
    self.reason = reason
  }

  /// A row identified by these columns.
  package init(_ table: String, _ key: KeyValuePairs<String, Int64>, _ reason: String) {
    self.init("\(table) (\(key.map { "\($0) \($1)" }.joined(separator: ", ")))", reason)
  }

  /// The row and the reason.
  package var description: String { "\(row): \(reason)" }
}

/// The valid ranges of stored numbers. Every import into a store refuses other numbers, so one outside is from another
/// program or a damaged disk. Sums and products of valid numbers never overflow.
package enum StoredBounds {
  /// Seconds since 1970 in the years 1 to 9999, shown or in UTC. There is one more day on both sides for an offset.
  package static let seconds: ClosedRange<Int64> = -62_135_683_200...253_402_387_199
  /// Seconds east of Greenwich.
  package static let offset: ClosedRange<Int64> = -86_399...86_399
  /// Numbers of rows, versions and items. A JSON number holds them exactly.
  package static let count: ClosedRange<Int64> = 0...(1 << 53)

  /// A condition in SQL that is true for NULL and for a number within the bounds.
  package static func check(_ column: String, _ bounds: ClosedRange<Int64>) -> String {
    "\(column) BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)"
  }
}

extension RawStatement {
  /// A column with seconds since 1970 in a row of readings.
  ///
  /// - Parameter name: names the row in the error.
  @inlinable @inline(__always)
  package func seconds(_ column: Int32, in name: @autoclosure () -> String) throws(DamagedRow) -> Int64 {
    guard let seconds = exactInteger(column) else { throw DamagedRow(name(), misfit(column)) }
    guard StoredBounds.seconds.contains(seconds) else { throw DamagedRow(name(), "unknown device_time") }
    return seconds
  }
}
