// SPDX-License-Identifier: Apache-2.0

/// What one reading or record can hold, for every format, meter and remote. A larger amount is a wrong column, a wrong unit
/// or a slip of the finger: imports and pulls reject it, and who types it has to say that it is meant.
package enum PlausibleAmounts {
  /// Glucose in mg/dL: more than any meter or sensor shows on either side.
  @inlinable package static var milligramsPerDecilitre: ClosedRange<Double> { 10...1000 }
  /// The same in mmol/L.
  @inlinable package static var millimolesPerLitre: ClosedRange<Double> { 0.6...55 }
  /// Ketones in mmol/L.
  package static let ketone = 0.0...20
  /// What a reading can hold that a logbook states whole, whatever was accepted when it came: few enough that every
  /// conversion of a value stays a number.
  package static let stated = 0.0...10_000
  /// Units of insulin at one time.
  package static let units = 0.0...500
  /// Units of insulin an hour.
  package static let unitsPerHour = 0.0...100
  /// Grams of carbohydrates, fat or protein at one time.
  package static let grams = 0.0...2000
  /// Servings of carbohydrates, of which the smallest in use has 10 g.
  package static let servings = 0.0...200
  /// Kilocalories of a meal.
  package static let kilocalories = 0.0...20_000
  /// Minutes of an exercise or a basal rate: ten weeks, since a rate without an end is written with a long one.
  package static let minutes = 0.0...100_000
  /// The same in milliseconds, as pumps and sites have it.
  package static let milliseconds = 0.0...(minutes.upperBound * 60_000)
  /// Steps of an exercise.
  package static let steps = 0.0...1_000_000

  /// The glucose values in a unit.
  @inlinable package static func glucose(_ unit: GlucoseUnit) -> ClosedRange<Double> {
    unit == .milligramsPerDecilitre ? milligramsPerDecilitre : millimolesPerLitre
  }

  /// Ketones in a unit.
  @inlinable package static func ketones(_ unit: GlucoseUnit) -> ClosedRange<Double> {
    unit == .milligramsPerDecilitre ? 0...360 : 0...20
  }

  /// What a reading can hold.
  @inlinable package static func range(of reading: Reading, _ unit: GlucoseUnit) -> ClosedRange<Double> {
    if reading.occurrenceIsStated { return 0...10_000 }
    return reading.kind == .ketone ? ketones(unit) : glucose(unit)
  }

  /// Whether a reading's value can be one. LO and HI have none.
  @inlinable package static func allows(_ reading: Reading) -> Bool {
    guard case .value(let quantity) = reading.measurement else { return true }
    return range(of: reading, quantity.unit).contains(quantity.number)
  }

  /// Why a reading's value cannot be one; nil where it can.
  package static func fault(of reading: Reading) -> String? {
    guard !allows(reading), let quantity = reading.measurement.quantity else { return nil }
    let range = range(of: reading, quantity.unit)
    return refusal(of: reading.kind == .ketone ? "ketones" : "glucose", outside: range, quantity.unit)
  }

  /// Why an amount of a record cannot be one; nil where all can.
  package static func fault(of fields: RecordFields, _ kind: RecordKind) -> String? {
    for field in kind.details?.fields ?? [] {
      guard case .number(let range) = field.content, case .number(let number)? = fields[field.name],
        !range.contains(number)
      else { continue }
      return "'\(field.name)' outside \(plainNumber(range.lowerBound))–\(plainNumber(range.upperBound))"
    }
    return nil
  }

  /// Why a number is not taken.
  package static func refusal(
    of what: String, outside range: ClosedRange<Double>, _ unit: GlucoseUnit
  ) -> String {
    "\(what) outside \(plainNumber(range.lowerBound))–\(plainNumber(range.upperBound)) \(unit.name)"
  }
}
