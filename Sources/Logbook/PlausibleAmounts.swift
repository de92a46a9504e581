// SPDX-License-Identifier: Apache-2.0

/// The ranges of plausible amounts in one reading or record, for every format, meter and remote. An amount
/// outside its range comes from a wrong column, a wrong unit or a typing error. Imports and pulls reject it;
/// a person who types it must confirm it.
@usableFromInline package enum PlausibleAmounts {
  /// Glucose in mg/dL. The range is wider than that of every meter and sensor.
  @inlinable package static var milligramsPerDecilitre: ClosedRange<Double> { 10...1000 }
  /// Glucose in mmol/L.
  @inlinable package static var millimolesPerLitre: ClosedRange<Double> { 0.6...55 }
  /// Ketones in mmol/L.
  package static let ketone = 0.0...20
  /// The range for readings that come from a logbook, which accepted their values earlier. Every value in
  /// this range can be converted to the other unit.
  @inlinable package static var stated: ClosedRange<Double> { 0...10_000 }
  /// Units of insulin at one time.
  package static let units = 0.0...500
  /// Units of insulin per hour. No pump delivers more; in exports, higher numbers are percentages of a
  /// programmed rate.
  package static let unitsPerHour = 0.0...35
  /// Grams of carbohydrates, fat or protein at one time.
  package static let grams = 0.0...2000
  /// Servings of carbohydrates. The smallest serving in use has 10 g.
  package static let servings = 0.0...200
  /// Kilocalories of a meal.
  package static let kilocalories = 0.0...20_000
  /// Minutes of an exercise or a basal rate. The limit is ten weeks, since sources write a long duration for
  /// a rate without an end.
  package static let minutes = 0.0...100_000
  /// The range of `minutes` in milliseconds, which pumps and sites use.
  package static let milliseconds = 0.0...(minutes.upperBound * 60_000)
  /// Steps of an exercise.
  package static let steps = 0.0...1_000_000

  /// The plausible glucose values in a unit.
  @inlinable package static func glucose(_ unit: GlucoseUnit) -> ClosedRange<Double> {
    unit == .milligramsPerDecilitre ? milligramsPerDecilitre : millimolesPerLitre
  }

  /// The plausible ketone values in a unit.
  @inlinable package static func ketones(_ unit: GlucoseUnit) -> ClosedRange<Double> {
    unit == .milligramsPerDecilitre ? 0...360 : 0...20
  }

  /// The plausible values of a reading in a unit.
  @inlinable package static func range(of reading: Reading, _ unit: GlucoseUnit) -> ClosedRange<Double> {
    if reading.occurrenceIsStated { return 0...10_000 }
    return reading.kind == .ketone ? ketones(unit) : glucose(unit)
  }

  /// Whether a reading's value is plausible. LO and HI are always plausible.
  @inlinable package static func allows(_ reading: Reading) -> Bool {
    guard case .value(let quantity) = reading.measurement else { return true }
    return range(of: reading, quantity.unit).contains(quantity.number)
  }

  /// Why a reading's value is implausible; nil if it is plausible.
  package static func fault(of reading: Reading) -> String? {
    guard !allows(reading), let quantity = reading.measurement.quantity else { return nil }
    let range = range(of: reading, quantity.unit)
    return refusal(of: reading.kind == .ketone ? "ketones" : "glucose", outside: range, quantity.unit)
  }

  /// Why an amount of a record is implausible; nil if all amounts are plausible.
  package static func fault(of fields: RecordFields, _ kind: RecordKind) -> String? {
    for field in kind.details?.fields ?? [] {
      guard case .number(let range) = field.content, case .number(let number)? = fields[field.name],
        !range.contains(number)
      else { continue }
      return "'\(field.name)' outside \(plainNumber(range.lowerBound))–\(plainNumber(range.upperBound))"
    }
    return nil
  }

  /// The message for a number outside its range. It does not contain the number, which is health data.
  package static func refusal(
    of what: String, outside range: ClosedRange<Double>, _ unit: GlucoseUnit
  ) -> String {
    "\(what) outside \(plainNumber(range.lowerBound))–\(plainNumber(range.upperBound)) \(unit.name)"
  }
}

/// The content of a value cell.
package enum CellValue: Sendable {
  case measurement(Measurement)
  case empty
  /// The cell does not contain a value. The text is the reason, without the content of the cell.
  case rejected(String)

  /// A glucose value in a cell. A number outside the plausible range is rejected: the unit or the column is
  /// probably wrong.
  @inlinable package init(glucose number: Double, _ unit: GlucoseUnit) {
    let range = PlausibleAmounts.glucose(unit)
    self =
      range.contains(number)
      ? .measurement(.value(Quantity(number, unit)))
      : .rejected(PlausibleAmounts.refusal(of: "a glucose value", outside: range, unit))
  }

  /// A ketone value in a cell, always in mmol/L.
  package init(ketone number: Double) {
    let range = PlausibleAmounts.ketone
    self =
      range.contains(number)
      ? .measurement(.value(Quantity(number, .millimolesPerLitre)))
      : .rejected(PlausibleAmounts.refusal(of: "a ketone value", outside: range, .millimolesPerLitre))
  }
}
