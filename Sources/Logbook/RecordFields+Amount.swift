// SPDX-License-Identifier: Apache-2.0

extension RecordFields {
  /// The amounts that figures include. An export or another store may have any number, and a table must be able to show
  /// a sum of some. The limit is above every realistic amount.
  private static let amounts = 0.0...1_000_000

  /// The amount in a field; nil without one, and for a number outside the limit.
  package func amount(_ name: String) -> Double? {
    guard case .number(let number)? = self[name], Self.amounts.contains(number) else { return nil }
    return number
  }
}
