// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Finds the unit of entries without a stated one. Nightscout stores entries in mg/dL, whatever unit a site shows
/// (`sgv` and `mbg` in lib/api3/swagger.yaml of cgm-remote-monitor). Other tools write mmol/L with the same names.
package struct NightscoutUnits: Sendable {
  /// Smaller integers are error codes of Dexcom receivers, not glucose.
  @usableFromInline static var minGlucose: Double { 13 }
  /// 600 mg/dL, the largest value of any sensor or meter.
  @usableFromInline static var maxMillimoles: Double { 33.3 }
  /// Impossible in mmol/L, so that such a value shows that an input is in mg/dL.
  @usableFromInline static var surelyMilligrams: Double { 40 }

  /// The unit that a person stated for entries.
  package let given: GlucoseUnit?
  @usableFromInline var hasMilligrams: Bool
  @usableFromInline var hasMillimoles = false

  /// The units of a site, whose entries are in mg/dL.
  package static let site = NightscoutUnits(given: nil, values: [.infinity])

  /// - Parameters:
  /// - given: the unit that a person stated. It may be meant only for treatments, whose values may have no unit, while
  ///   entries are in mg/dL.
  ///   - values: the first values of the input without a unit.
  package init(given: GlucoseUnit?, values: [Double]) {
    hasMilligrams = values.contains { $0 > Self.surelyMilligrams }
    self.given = given == .millimolesPerLitre && hasMilligrams ? nil : given
    for value in values where isLikeMillimoles(value) { hasMillimoles = true }
  }

  /// Whether a sensor value means an error.
  ///
  /// - Parameter unit: the unit in the document.
  @inlinable func isErrorCode(_ number: Double, unit: some NightscoutValue) -> Bool {
    guard number < Self.minGlucose else { return false }
    switch self.unit(unit) {
    case .millimolesPerLitre: return false
    case .milligramsPerDecilitre: return true
    case nil: return number == number.rounded()
    }
  }

  /// The measurement of a value, which may be the word for a limit.
  ///
  /// - Parameter number: the number; nil for a word.
  @inlinable mutating func check(
    _ value: some NightscoutValue, _ number: Double?, unit: some NightscoutValue
  ) -> CellValue {
    guard let number else { return value.glucoseWord(given ?? .milligramsPerDecilitre) }
    guard number <= Self.surelyMilligrams || !unit.isEmpty || given != nil else {
      hasMilligrams = true
      return CellValue(glucose: number, .milligramsPerDecilitre)
    }
    return checkClosely(number, unit: self.unit(unit))
  }

  @usableFromInline mutating func checkClosely(_ number: Double, unit: GlucoseUnit?) -> CellValue {
    switch unit {
    case .milligramsPerDecilitre: return CellValue(glucose: number, .milligramsPerDecilitre)
    case .millimolesPerLitre:
      guard number <= Self.maxMillimoles else {
        return .rejected(
          "the glucose value is above \(plainNumber(Self.maxMillimoles)) mmol/L: is it in mg/dL?")
      }
      return CellValue(glucose: number, .millimolesPerLitre)
    case nil:
      if isLikeMillimoles(number) {
        if !hasMilligrams { hasMillimoles = true }
      } else if number > Self.maxMillimoles || !hasMillimoles || hasMilligrams {
        return CellValue(glucose: number, .milligramsPerDecilitre)
      }
      return .rejected(NightscoutRefusal.likeMillimoles)
    }
  }

  @usableFromInline func unit(_ stated: some NightscoutValue) -> GlucoseUnit? {
    stated.isEmpty ? given : GlucoseUnit(name: stated.plainText) ?? given
  }

  /// Whether a value has a fraction that is typical for mmol/L. Smoothed values in mg/dL have fractions, too.
  private func isLikeMillimoles(_ number: Double) -> Bool {
    guard number != number.rounded(), number >= 0.6, number <= Self.maxMillimoles else { return false }
    return number < Self.minGlucose || !hasMilligrams
  }
}
