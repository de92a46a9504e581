// SPDX-License-Identifier: Apache-2.0

extension RecordFields {
  /// What figures take of a record: an export or another store may state any number, and a sum of some must stay one that a
  /// table can show. It is larger than every amount that a person can mean.
  private static let amounts = 0.0...1_000_000

  /// The amount of a field; nil without one, and for a number that no amount is.
  package func amount(_ name: String) -> Double? {
    guard case .number(let number)? = self[name], Self.amounts.contains(number) else { return nil }
    return number
  }
}
