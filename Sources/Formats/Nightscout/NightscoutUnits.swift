// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Tells the unit of entries that state none. Nightscout keeps entries in mg/dL, whatever unit a site shows (`sgv` and
/// `mbg` in lib/api3/swagger.yaml of cgm-remote-monitor); other tools write mmol/L under the same names.
struct NightscoutUnits {
  /// Smaller whole numbers are error codes of Dexcom receivers, not glucose.
  private static let minGlucose = 13.0
  /// 600 mg/dL: no sensor and no meter shows more.
  private static let maxMillimoles = 33.3
  /// No value in mmol/L is as large, so it shows that an input is in mg/dL.
  private static let surelyMilligrams = 40.0

  /// What a person said of entries.
  let given: GlucoseUnit?
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private var hasMilligrams: Bool
  private var hasMillimoles = false

  /// - Parameters:
  ///   - given: what a person said. It may be meant for treatments alone: their values may have no unit beside entries
  ///     in mg/dL.
  ///   - values: the first values of the input that state no unit.
  init(given: GlucoseUnit?, values: [Double]) {
    hasMilligrams = values.contains { $0 > Self.surelyMilligrams }
    self.given = given == .millimolesPerLitre && hasMilligrams ? nil : given
    for value in values where isLikeMillimoles(value) { hasMillimoles = true }
  }

  /// Whether a sensor value stands for an error.
  ///
  /// - Parameter unit: the unit that the row states.
  @inline(__always)
  func isErrorCode(_ number: Double, unit: Field) -> Bool {
    guard number < Self.minGlucose else { return false }
    switch self.unit(unit) {
    case .millimolesPerLitre: return false
    case .milligramsPerDecilitre: return true
    case nil: return number == number.rounded()
    }
  }

  /// The reading that a value is.
  ///
  /// - Parameter unit: the unit that the row states.
  @inline(__always)
  mutating func check(_ number: Double, unit: Field) -> CellValue {
    guard number <= Self.surelyMilligrams || !unit.isEmpty || given != nil else {
      hasMilligrams = true
      return milligrams.check(number)
    }
    return checkClosely(number, unit: self.unit(unit))
  }

  private mutating func checkClosely(_ number: Double, unit: GlucoseUnit?) -> CellValue {
    switch unit {
    case .milligramsPerDecilitre: return milligrams.check(number)
    case .millimolesPerLitre:
      guard number <= Self.maxMillimoles else {
        return .rejected("a glucose value above \(plainNumber(Self.maxMillimoles)) mmol/L: is it in mg/dL?")
      }
      return GlucoseReader(unit: .millimolesPerLitre).check(number)
    case nil:
      if isLikeMillimoles(number) {
        if !hasMilligrams { hasMillimoles = true }
      } else if number > Self.maxMillimoles || !hasMillimoles || hasMilligrams {
        return milligrams.check(number)
      }
      return .rejected(
        "a glucose value that looks like mmol/L, where Nightscout has mg/dL; if it is, say --unit mmol/L")
    }
  }

  private func unit(_ stated: Field) -> GlucoseUnit? {
    stated.isEmpty ? given : GlucoseUnit(name: stated.text) ?? given
  }

  /// Whether a value has a fraction as those in mmol/L have. Smoothed values in mg/dL have some, too.
  private func isLikeMillimoles(_ number: Double) -> Bool {
    guard number != number.rounded(), number >= 0.6, number <= Self.maxMillimoles else { return false }
    return number < Self.minGlucose || !hasMilligrams
  }
}
