// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Finds the unit of entries that state none. Nightscout keeps entries in mg/dL, whatever unit a site shows (`sgv` and
/// `mbg` in lib/api3/swagger.yaml of cgm-remote-monitor); other tools write mmol/L under the same names.
package struct NightscoutUnits: Sendable {
  /// Smaller whole numbers are error codes of Dexcom receivers, not glucose.
  @usableFromInline static var minGlucose: Double { 13 }
  /// 600 mg/dL: no sensor and no meter shows more.
  @usableFromInline static var maxMillimoles: Double { 33.3 }
  /// No value in mmol/L is as large, so it shows that an input is in mg/dL.
  @usableFromInline static var surelyMilligrams: Double { 40 }

  /// What a person said of entries.
  package let given: GlucoseUnit?
  @usableFromInline var hasMilligrams: Bool
  @usableFromInline var hasMillimoles = false

  /// Those of a site, whose entries are in mg/dL.
  package static let site = NightscoutUnits(given: nil, values: [.infinity])

  /// - Parameters:
  ///   - given: what a person said. It may be meant for treatments alone: their values may have no unit beside entries
  ///     in mg/dL.
  ///   - values: the first values of the input that state no unit.
  package init(given: GlucoseUnit?, values: [Double]) {
    hasMilligrams = values.contains { $0 > Self.surelyMilligrams }
    self.given = given == .millimolesPerLitre && hasMilligrams ? nil : given
    for value in values where isLikeMillimoles(value) { hasMillimoles = true }
  }

  /// Whether a sensor value means an error.
  ///
  /// - Parameter unit: the unit that the document states.
  @inlinable func isErrorCode(_ number: Double, unit: some NightscoutValue) -> Bool {
    guard number < Self.minGlucose else { return false }
    switch self.unit(unit) {
    case .millimolesPerLitre: return false
    case .milligramsPerDecilitre: return true
    case nil: return number == number.rounded()
    }
  }

  /// The measurement that a value is, which may be the word for a limit.
  ///
  /// - Parameter number: the number that the value is; nil for a word.
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

  /// Whether a value has a fraction as those in mmol/L have. Smoothed values in mg/dL have some, too.
  private func isLikeMillimoles(_ number: Double) -> Bool {
    guard number != number.rounded(), number >= 0.6, number <= Self.maxMillimoles else { return false }
    return number < Self.minGlucose || !hasMilligrams
  }
}
