// SPDX-License-Identifier: Apache-2.0

/// The unit of a glucose or ketone value. The raw value is the code in the store.
@frozen public enum GlucoseUnit: UInt8, CaseIterable, Sendable {
  case milligramsPerDecilitre = 0
  case millimolesPerLitre = 1

  /// The name as exports write it: `mg/dL` or `mmol/L`.
  public var name: String { self == .milligramsPerDecilitre ? "mg/dL" : "mmol/L" }

  /// The unit with this name, or nil. Upper and lower case and the spellings of exports are accepted
  /// (`mg/dl`, `MMOL/L`, `mmol`).
  public init?(name: some StringProtocol) {
    switch name.lowercased() {
    case "mg/dl", "mgdl", "mg": self = .milligramsPerDecilitre
    case "mmol/l", "mmoll", "mmol": self = .millimolesPerLitre
    default: return nil
    }
  }
}

/// A number and its unit, as the source gave them.
@frozen public struct Quantity: Hashable, Sendable {
  /// The number as the source gave it.
  public let number: Double
  /// The unit as the source gave it.
  public let unit: GlucoseUnit

  /// Stores both as they are, without a check of the range or a conversion.
  @inlinable public init(_ number: Double, _ unit: GlucoseUnit) {
    self.number = number
    self.unit = unit
  }

  /// The mg/dL in 100,000 mmol/L of glucose, from which every conversion is computed. The molar mass of
  /// glucose is 180.1559 g/mol. Tidepool uses the same number.
  package static let milligramsPerDecilitreIn100000Millimoles: Int64 = 1_801_559

  /// mg/dL in one mmol/L of glucose.
  package static let milligramsPerDecilitreInMillimole =
    Double(milligramsPerDecilitreIn100000Millimoles) / 100_000

  /// The same amount in `unit`, not rounded.
  public func converted(to unit: GlucoseUnit) -> Quantity {
    switch (self.unit, unit) {
    case (.milligramsPerDecilitre, .millimolesPerLitre):
      Quantity(number / Self.milligramsPerDecilitreInMillimole, unit)
    case (.millimolesPerLitre, .milligramsPerDecilitre):
      Quantity(number * Self.milligramsPerDecilitreInMillimole, unit)
    default: self
    }
  }

  /// The amount in tenths of mmol/L, rounded half up. Identities of readings contain it.
  ///
  /// Amounts in mg/dL are converted with integers, so that every machine gets the same result.
  package var tenthsOfMillimole: Int64 {
    switch unit {
    case .millimolesPerLitre:
      Int64((number * 10).rounded(.toNearestOrAwayFromZero))
    case .milligramsPerDecilitre:
      // The result is the number × 10 / 18.01559, rounded. The calculation uses thousandths of a mg/dL.
      (Int64((number * 1000).rounded()) * 2000 + Self.milligramsPerDecilitreIn100000Millimoles)
        / (2 * Self.milligramsPerDecilitreIn100000Millimoles)
    }
  }

  /// The numbers of mg/dL in a mmol/L by which programs convert.
  package static let conversionFactors = [18, 18.0182, milligramsPerDecilitreInMillimole]

  /// The tenths of mmol/L that programs show for this value in mg/dL. Most results are equal.
  var shownTenths: ClosedRange<Int64> {
    let tenths = Self.conversionFactors.map {
      Int64((number * 10 / $0).rounded(.toNearestOrAwayFromZero))
    }
    return (tenths.min() ?? 0)...(tenths.max() ?? 0)
  }

  /// The number as text for people. In the quantity's own unit, the number is unchanged, but in mmol/L it has
  /// at least one decimal, as meters show it. A converted number has one decimal in mmol/L and none in mg/dL.
  public func displayed(in unit: GlucoseUnit) -> String {
    if unit == self.unit {
      let text = plainNumber(number)
      let isWhole = text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      return unit == .millimolesPerLitre && isWhole ? text + ".0" : text
    }
    let value = converted(to: unit).number
    if unit == .milligramsPerDecilitre {
      return plainNumber(value.rounded(.toNearestOrAwayFromZero))
    }
    let tenths = tenthsOfMillimole
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// The shortest decimal text that reads back as this number, without a final `.0`. Whole numbers below 10^15
/// have no exponent.
package func plainNumber(_ number: Double) -> String {
  if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
  return number.description
}

/// The measurement of a device: a number, or a value outside the device's range.
@frozen public enum Measurement: Hashable, Sendable {
  case value(Quantity)
  /// Below the range of the device (LO), with the lower limit if the source or its format states it.
  case low(below: Double?, GlucoseUnit)
  /// Above the range of the device (HI), with the upper limit if the source or its format states it.
  case high(above: Double?, GlucoseUnit)

  /// The unit of the value, or of the device's range for LO and HI.
  public var unit: GlucoseUnit {
    switch self {
    case .value(let quantity): quantity.unit
    case .low(_, let unit), .high(_, let unit): unit
    }
  }

  /// The value with its unit; nil for LO and HI.
  public var quantity: Quantity? {
    if case .value(let quantity) = self { quantity } else { nil }
  }

  /// The code for LO in an identity, in place of the value.
  package static let lowLevel: Int64 = -1
  /// The code for HI in an identity, in place of the value.
  package static let highLevel: Int64 = -2

  /// The value as an identity contains it: tenths of mmol/L, or the code of LO or HI.
  @usableFromInline package var valueBucket: Int64 {
    switch self {
    case .value(let quantity): quantity.tenthsOfMillimole
    case .low: Self.lowLevel
    case .high: Self.highLevel
    }
  }

  /// Whether both values are the same measurement: equal numbers in one unit, or equal tenths of mmol/L in
  /// different units.
  package func agrees(with other: Measurement) -> Bool {
    switch (self, other) {
    case (.value(let mine), .value(let theirs)):
      mine.unit == theirs.unit
        ? mine.number == theirs.number : mine.tenthsOfMillimole == theirs.tenthsOfMillimole
    case (.low, .low), (.high, .high): true
    default: false
    }
  }
}
