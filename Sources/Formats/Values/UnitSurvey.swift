// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Settles the unit of an input that names none, from all of its values.
struct UnitSurvey {
  /// What is certain of the unit of values: below and above are no values of the other one.
  private static let maxMillimoles = 35.0
  private static let minMilligrams = 36.0

  private let given: GlucoseUnit?
  private(set) var unit: GlucoseUnit
  private var basis: Decision.Basis
  private var count = 0
  private var above = 0
  private var hasFraction = false

  /// - Parameters:
  ///   - given: what `--unit` says.
  ///   - usual: the unit that the format usually has, of an input without values.
  init(given: GlucoseUnit?, usual: GlucoseUnit = .milligramsPerDecilitre) {
    self.given = given
    unit = given ?? usual
    basis = given == nil ? .inferred : .given
  }

  /// Whether all values have to be looked at.
  var isOpen: Bool { given == nil }
  /// Whether a value was looked at.
  var hasValues: Bool { count > 0 }

  mutating func note(_ number: Double) {
    guard number > 0, number <= 1000 else { return }
    count += 1
    if number >= Self.minMilligrams { above += 1 }
    if number <= Self.maxMillimoles, number != number.rounded() { hasFraction = true }
  }

  /// - Throws: `Failure` of category `badInput` naming the option that settles it.
  mutating func settle() throws {
    guard isOpen, count > 0 else { return }
    // A sensor that shows 20 at times is one in mg/dL; nobody's glucose is 36 mmol/L time and again.
    if above * 100 >= count * 95 {
      unit = .milligramsPerDecilitre
    } else if above == 0, hasFraction {
      unit = .millimolesPerLitre
    } else {
      throw Failure(.badInput, "cannot infer whether the values are mg/dL or mmol/L; use --unit")
    }
  }

  var decision: Decision { Decision("unit", unit.name, basis) }
}
