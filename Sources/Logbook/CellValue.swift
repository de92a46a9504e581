// SPDX-License-Identifier: Apache-2.0

/// What the value of a source holds.
package enum CellValue: Sendable {
  case measurement(Measurement)
  case empty
  /// It is none, with the reason in words that hold none of its values.
  case rejected(String)

  /// A glucose value. A number that no meter shows says that the unit or the place is wrong.
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
