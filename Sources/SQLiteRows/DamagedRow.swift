// SPDX-License-Identifier: Apache-2.0

/// A row that holds what no glucoport writes: another program changed the file, or the disk damaged it.
public struct DamagedRow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table, and the row in it by the columns that identify it.
  public let row: String
  /// What is wrong with it, without any value that belongs to a person.
  public let reason: String

  /// A row with what is wrong with it.
  public init(_ row: String, _ reason: String) {
    self.row = row
    self.reason = reason
  }

  /// A row that these columns identify.
  public init(_ table: String, _ key: KeyValuePairs<String, Int64>, _ reason: String) {
    self.init("\(table) (\(key.map { "\($0) \($1)" }.joined(separator: ", ")))", reason)
  }

  /// The row and the reason.
  public var description: String { "\(row): \(reason)" }
}
