// SPDX-License-Identifier: Apache-2.0

/// The content of a value cell.
package enum CellValue: Sendable {
  case measurement(Measurement)
  case empty
  /// It is not a value. The reason contains none of the person's values.
  case rejected(String)

  /// A glucose value. A number that no meter shows means that the unit or the column is wrong.
  @inlinable package init(glucose number: Double, _ unit: GlucoseUnit) {
    let range = PlausibleAmounts.glucose(unit)
    self =
      range.contains(number)
      ? .measurement(.value(Quantity(number, unit)))
      : .rejected(PlausibleAmounts.refusal(of: "a glucose value", outside: range, unit))
  }

  /// A ketone value, which is always in mmol/L.
  package init(ketone number: Double) {
    let range = PlausibleAmounts.ketone
    self =
      range.contains(number)
      ? .measurement(.value(Quantity(number, .millimolesPerLitre)))
      : .rejected(PlausibleAmounts.refusal(of: "a ketone value", outside: range, .millimolesPerLitre))
  }
}
