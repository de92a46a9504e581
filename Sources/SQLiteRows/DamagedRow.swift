// SPDX-License-Identifier: Apache-2.0

/// A row that holds what no glucoport writes: another program changed the file, or the disk damaged it.
package struct DamagedRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table, and the row in it by the columns that identify it.
  package let row: String
  /// What is wrong with it, without any value that belongs to a person.
  package let reason: String

  /// A row with what is wrong with it.
  package init(_ row: String, _ reason: String) {
    self.row = row
    self.reason = reason
  }

  /// A row that these columns identify.
  package init(_ table: String, _ key: KeyValuePairs<String, Int64>, _ reason: String) {
    self.init("\(table) (\(key.map { "\($0) \($1)" }.joined(separator: ", ")))", reason)
  }

  /// The row and the reason.
  package var description: String { "\(row): \(reason)" }
}
