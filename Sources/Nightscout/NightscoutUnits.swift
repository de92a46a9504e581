// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Determines the unit of entries that state none. Nightscout stores entries in mg/dL, whatever unit a site
/// shows (`sgv` and `mbg` in lib/api3/swagger.yaml of cgm-remote-monitor). But other tools write mmol/L into
/// the same members.
package struct NightscoutUnits: Sendable {
  /// The lowest glucose value in mg/dL. Smaller integers are error codes of Dexcom receivers.
  @usableFromInline static var minGlucose: Double { 13 }
  /// The highest value in mmol/L. It is 600 mg/dL, the largest value of any sensor or meter.
  @usableFromInline static var maxMillimoles: Double { 33.3 }
  /// A value above this is impossible in mmol/L. It shows that the input is in mg/dL.
  @usableFromInline static var surelyMilligrams: Double { 40 }

  /// The unit that a person stated for entries; nil without one.
  package let given: GlucoseUnit?
  @usableFromInline var hasMilligrams: Bool
  @usableFromInline var hasMillimoles = false

  /// The units of a site. Entries of a site are always in mg/dL.
  package static let site = NightscoutUnits(given: nil, values: [.infinity])

  /// - Parameters:
  ///   - given: the unit that a person stated. The person may have meant only treatments, whose values often
  ///     have no unit, while entries are in mg/dL.
  ///   - values: the first values in the input that state no unit.
  package init(given: GlucoseUnit?, values: [Double]) {
    hasMilligrams = values.contains { $0 > Self.surelyMilligrams }
    self.given = given == .millimolesPerLitre && hasMilligrams ? nil : given
    for value in values where isLikeMillimoles(value) { hasMillimoles = true }
  }

  /// Whether a sensor's value is an error code.
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

  /// The measurement of a value. The value may also be a word such as `LOW`.
  ///
  /// - Parameter number: the value as a number; nil for a word.
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

  /// Whether the value has a fraction that is typical of mmol/L. Smoothed values in mg/dL can have fractions,
  /// too.
  private func isLikeMillimoles(_ number: Double) -> Bool {
    guard number != number.rounded(), number >= 0.6, number <= Self.maxMillimoles else { return false }
    return number < Self.minGlucose || !hasMilligrams
  }
}
