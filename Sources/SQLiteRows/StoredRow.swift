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
