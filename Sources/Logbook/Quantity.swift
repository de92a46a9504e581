// SPDX-License-Identifier: Apache-2.0

/// The unit of a glucose or ketone value. The raw value is the code in the store.
@frozen public enum GlucoseUnit: UInt8, CaseIterable, Sendable {
  case milligramsPerDecilitre = 0
  case millimolesPerLitre = 1

  /// `mg/dL` or `mmol/L`.
  public var name: String { self == .milligramsPerDecilitre ? "mg/dL" : "mmol/L" }

  /// The unit with this name, in any case and spelling of exports (`mg/dl`, `MMOL/L`, `mmol`), or nil.
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

  /// A number in its unit.
  @inlinable public init(_ number: Double, _ unit: GlucoseUnit) {
    self.number = number
    self.unit = unit
  }

  /// mg/dL in 100,000 mmol/L of glucose, the only constant of the conversion. The molar mass of glucose is 180.1559
  /// g/mol; Tidepool uses the same number.
  package static let milligramsPerDecilitreIn100000Millimoles: Int64 = 1_801_559

  /// mg/dL in one mmol/L of glucose.
  package static let milligramsPerDecilitreInMillimole =
    Double(milligramsPerDecilitreIn100000Millimoles) / 100_000

  /// The same value in `unit`, not rounded.
  public func converted(to unit: GlucoseUnit) -> Quantity {
    switch (self.unit, unit) {
    case (.milligramsPerDecilitre, .millimolesPerLitre):
      Quantity(number / Self.milligramsPerDecilitreInMillimole, unit)
    case (.millimolesPerLitre, .milligramsPerDecilitre):
      Quantity(number * Self.milligramsPerDecilitreInMillimole, unit)
    default: self
    }
  }

  /// The value in tenths of mmol/L, rounded half up, as it is part of an identity.
  ///
  /// mg/dL are converted with integers, so that every machine gets the same result for the same reading.
  package var tenthsOfMillimole: Int64 {
    switch unit {
    case .millimolesPerLitre:
      Int64((number * 10).rounded(.toNearestOrAwayFromZero))
    case .milligramsPerDecilitre:
      // number × 10 / 18.01559, in steps of a thousandth of a mg/dL.
      (Int64((number * 1000).rounded()) * 2000 + Self.milligramsPerDecilitreIn100000Millimoles)
        / (2 * Self.milligramsPerDecilitreIn100000Millimoles)
    }
  }

  /// The number for people. In its own unit it is as given, in mmol/L with at least one decimal, as on meters. A
  /// converted number has one decimal in mmol/L and none in mg/dL.
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

/// The shortest decimal text that is read back as this number, without an exponent or a final `.0`.
package func plainNumber(_ number: Double) -> String {
  if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
  return number.description
}

/// The measurement of a device: a number, or a value outside its range.
@frozen public enum Measurement: Hashable, Sendable {
  case value(Quantity)
  /// Below the range (LO), with the threshold if the source or its format states one.
  case low(below: Double?, GlucoseUnit)
  /// Above the range (HI).
  case high(above: Double?, GlucoseUnit)

  /// The unit of the value or of the range.
  public var unit: GlucoseUnit {
    switch self {
    case .value(let quantity): quantity.unit
    case .low(_, let unit), .high(_, let unit): unit
    }
  }

  /// The quantity; nil for LO and HI.
  public var quantity: Quantity? {
    if case .value(let quantity) = self { quantity } else { nil }
  }

  /// The codes of LO and HI as the value in an identity.
  package static let lowLevel: Int64 = -1
  /// The code of HI as the value in an identity.
  package static let highLevel: Int64 = -2

  /// The value in an identity: tenths of mmol/L, or the code of LO or HI.
  @usableFromInline package var valueBucket: Int64 {
    switch self {
    case .value(let quantity): quantity.tenthsOfMillimole
    case .low: Self.lowLevel
    case .high: Self.highLevel
    }
  }

  /// Whether both mean the same: equal numbers in one unit, or equal tenths of mmol/L in different units.
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
