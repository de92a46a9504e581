// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// A row whose columns are read with errors: one that holds NULL, another type, or a code that the program does not know
/// is a `DamagedRow`, and not the end of the program.
package struct StoredRow {
  /// The row as GRDB read it.
  package let row: Row
  private let table: String
  private let key: Range<Int>

  /// - Parameters:
  ///   - table: the table of the row, for the error.
  ///   - key: the columns that identify it, for the error.
  package init(_ row: Row, of table: String, key: Range<Int> = 0..<1) {
    self.row = row
    self.table = table
    self.key = key
  }

  /// The value of a column.
  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: Int) -> Value {
    get throws {
      do {
        return try row.decode(Value.self, atIndex: column)
      } catch {
        throw damage(column)
      }
    }
  }

  /// The value of a column by its name.
  package subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ name: String) -> Value {
    get throws {
      guard let column = Array(row.columnNames).firstIndex(of: name) else {
        throw DamagedRow(self.name, "there is no column \(name)")
      }
      return try self[column]
    }
  }

  /// The value for which a column holds the code.
  package func code<Code: RawRepresentable>(_ column: Int) throws -> Code
  where Code.RawValue: DatabaseValueConvertible & StatementColumnConvertible {
    let stored: Code.RawValue = try self[column]
    guard let code = Code(rawValue: stored) else { throw damage(column) }
    return code
  }

  /// What is wrong where a column holds what cannot be.
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
    let parts = key.map { "\(names[$0]) \(row[$0] as DatabaseValue)" }
    return "\(table) (\(parts.joined(separator: ", ")))"
  }
}
