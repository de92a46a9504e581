// SPDX-License-Identifier: Apache-2.0

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
