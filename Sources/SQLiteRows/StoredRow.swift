// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Logbook

/// A row whose columns are checked when they are read. NULL, another type, an invalid number and an unknown
/// code throw `DamagedRow`, and do not end the program.
package struct StoredRow {
  /// The row as GRDB read it.
  package let row: Row
  private let table: String
  private let key: Range<Int>

  /// - Parameters:
  ///   - table: the name of the row's table, for the error.
  ///   - key: the indexes of the columns that identify the row, for the error.
  package init(_ row: Row, of table: String, key: Range<Int> = 0..<1) {
    self.row = row
    self.table = table
    self.key = key
  }

  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: Int) -> Value {
    get throws {
      // The stored type is checked, since SQLite would convert a text to the number 0.
      guard let value = Value.fromDatabaseValue(row[column]) else { throw damage(column) }
      return value
    }
  }

  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
    get throws { try self[try column(name)] }
  }

  /// The enumeration value whose code is in a column.
  package func code<Code: RawRepresentable>(_ column: Int) throws -> Code
  where Code.RawValue: DatabaseValueConvertible & StatementColumnConvertible {
    let stored: Code.RawValue = try self[column]
    guard let code = Code(rawValue: stored) else { throw damage(column) }
    return code
  }

  /// The whole number in a column, which must be within `bounds`.
  package func number(_ column: Int, in bounds: ClosedRange<Int64>) throws -> Int64 {
    let number: Int64 = try self[column]
    guard bounds.contains(number) else { throw damage(column) }
    return number
  }

  /// The whole number in a column, which must be within `bounds`; nil for NULL.
  package func optionalNumber(_ column: Int, in bounds: ClosedRange<Int64>) throws -> Int64? {
    let number: Int64? = try self[column]
    guard number.map(bounds.contains) ?? true else { throw damage(column) }
    return number
  }

  /// The seconds since 1970 in a column.
  package func seconds(_ column: Int) throws -> Int64 { try number(column, in: StoredBounds.seconds) }

  /// The seconds since 1970 in a column; nil for NULL.
  package func optionalSeconds(_ column: Int) throws -> Int64? {
    try optionalNumber(column, in: StoredBounds.seconds)
  }

  /// The seconds since 1970 in the column with this name; nil for NULL.
  package func optionalSeconds(_ name: String) throws -> Int64? { try optionalSeconds(try column(name)) }

  /// The number in a column that is a count of items, a version, or the number of a row.
  package func count(_ column: Int) throws -> Int { Int(try number(column, in: StoredBounds.count)) }

  /// The number in the column with this name, which is a count of items, a version, or the number of a row.
  package func count(_ name: String) throws -> Int { try count(try column(name)) }

  /// The shown time in a column.
  package func deviceTime(_ column: Int) throws -> DeviceTime { DeviceTime(seconds: try seconds(column)) }

  /// The UTC offset in a column, in seconds east of Greenwich.
  package func offset(_ column: Int) throws -> Int32 { Int32(try number(column, in: StoredBounds.offset)) }

  /// The placement of a shown time. The offset is in this column, and its source in the next one.
  package func placement(_ column: Int) throws -> Placement {
    Placement(utcOffset: try offset(column), source: try code(column + 1))
  }

  /// The range from the number in this column to the number in the next one.
  package func range(_ column: Int) throws -> ClosedRange<Int64> {
    let (first, last): (Int64, Int64) = (try self[column], try self[column + 1])
    guard first <= last else { throw damage(column + 1) }
    return first...last
  }

  /// The error for a column whose content is invalid.
  package func damage(_ column: Int) -> DamagedRow {
    let title = Array(row.columnNames)[column]
    switch (row[column] as DatabaseValue).storage {
    case .null: return DamagedRow(name, "\(title) is NULL")
    case .int64(let code): return DamagedRow(name, "unknown \(title) \(code)")
    default: return DamagedRow(name, "unknown \(title)")
    }
  }

  /// The table and the columns that identify the row, for an error.
  package var name: String {
    let names = Array(row.columnNames)
    let parts = key.map { "\(names[$0]) \(Self.text(row[$0]))" }
    return "\(table) (\(parts.joined(separator: ", ")))"
  }

  private static let maxKeyLength = 64

  /// The text of a column that identifies the row, for an error. The value of the column may be damaged, too.
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
  /// The time in the first column of the only row of an SQL statement. Nil for NULL, and if there is no row.
  ///
  /// - Parameter table: the name of the table that contains the time, for the error.
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
  /// The columns from which `init` reads a device `d`, in order.
  package static let storedColumns = "d.vendor, d.model, d.serial, d.format"

  /// Reads a device from four columns, beginning with `column`.
  package init(_ row: StoredRow, from column: Int) throws {
    self.init(
      vendor: try row[column], model: try row[column + 1], serial: try row[column + 2],
      format: try row[column + 3])
  }

  /// The id of this device in a file; nil if the file does not have it. The device is found by vendor and
  /// serial number or, without a serial number, by format and model.
  package func storedID(_ database: Database) throws -> Int64? {
    let bySerial = "SELECT id FROM device WHERE vendor = ? AND serial = ? AND serial <> ''"
    let byModel = "SELECT id FROM device WHERE format = ? AND model = ? AND serial = ''"
    return try Int64.fetchOne(
      database.cachedStatement(sql: serial.isEmpty ? byModel : bySerial),
      arguments: serial.isEmpty ? [format, model] : [vendor, serial])
  }
}

/// A row with content that glucoport never writes. Either another program changed the file, or the disk
/// damaged it.
@usableFromInline package struct DamagedRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table and the columns that identify the row.
  package let row: String
  /// What is wrong with the row. It contains no health data.
  package let reason: String

  /// A row and what is wrong with it.
  @usableFromInline package init(_ row: String, _ reason: String) {
    self.row = row
    self.reason = reason
  }

  /// A row that these columns of the table identify.
  package init(_ table: String, _ key: KeyValuePairs<String, Int64>, _ reason: String) {
    self.init("\(table) (\(key.map { "\($0) \($1)" }.joined(separator: ", ")))", reason)
  }

  @usableFromInline package var description: String { "\(row): \(reason)" }
}

/// The valid ranges of stored numbers. Imports refuse other numbers, so a number outside comes from another
/// program or a damaged disk. Sums and products of valid numbers do not overflow.
@usableFromInline package enum StoredBounds {
  /// Seconds since 1970 in the years 1 to 9999, as shown or in UTC. One more day at both ends leaves room for
  /// an offset.
  @usableFromInline package static let seconds: ClosedRange<Int64> = -62_135_683_200...253_402_387_199
  /// Seconds east of Greenwich.
  package static let offset: ClosedRange<Int64> = -86_399...86_399
  /// Counts of items, numbers of rows, and versions. JSON can represent all of them exactly.
  package static let count: ClosedRange<Int64> = 0...(1 << 53)

  /// An SQL condition for a CHECK constraint: it accepts NULL and a number within the bounds.
  package static func check(_ column: String, _ bounds: ClosedRange<Int64>) -> String {
    "\(column) BETWEEN \(bounds.lowerBound) AND \(bounds.upperBound)"
  }
}

extension RawStatement {
  /// The seconds since 1970 in a column of a reading.
  ///
  /// - Parameter name: the description of the row for the error.
  @inlinable @inline(__always)
  package func seconds(_ column: Int32, in name: @autoclosure () -> String) throws(DamagedRow) -> Int64 {
    guard let seconds = exactInteger(column) else { throw DamagedRow(name(), typeProblem(column)) }
    guard StoredBounds.seconds.contains(seconds) else { throw DamagedRow(name(), "unknown device_time") }
    return seconds
  }

  /// The placement of a shown time: its UTC offset in a column, and the source of the offset in the next one.
  ///
  /// - Parameter name: the description of the row for an error.
  package func placement(
    _ column: Int32, in name: @autoclosure () -> String
  ) throws(DamagedRow) -> Placement {
    guard let offset = exactInteger(column), StoredBounds.offset.contains(offset),
      let code = exactInteger(column + 1), let source = UInt8(exactly: code).flatMap(OffsetSource.init)
    else { throw DamagedRow(name(), "unknown utc_offset or offset_source") }
    return Placement(utcOffset: Int32(offset), source: source)
  }
}
