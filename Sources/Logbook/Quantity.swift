// SPDX-License-Identifier: Apache-2.0

/// The unit of a glucose or ketone value. The raw value is the code that the store keeps.
@frozen public enum GlucoseUnit: UInt8, CaseIterable, Sendable {
  case milligramsPerDecilitre = 0
  case millimolesPerLitre = 1

  /// `mg/dL` or `mmol/L`.
  public var name: String { self == .milligramsPerDecilitre ? "mg/dL" : "mmol/L" }

  /// The unit with this name in any case and spelling seen in exports (`mg/dl`, `MMOL/L`, `mmol`), or nil.
  public init?(name: some StringProtocol) {
    switch name.lowercased() {
    case "mg/dl", "mgdl", "mg": self = .milligramsPerDecilitre
    case "mmol/l", "mmoll", "mmol": self = .millimolesPerLitre
    default: return nil
    }
  }
}

/// A number and its unit, both as the source gave them.
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

  /// mg/dL in 100,000 mmol/L of glucose: the one constant of the conversion. Glucose has a molar mass of
  /// 180.1559 g/mol; Tidepool converts by the same number.
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

  /// The value in tenths of mmol/L, rounded half up: the form in which it is part of an identity.
  ///
  /// mg/dL go through integers, so that every machine gives the same answer for the same reading.
  package var tenthsOfMillimole: Int64 {
    switch unit {
    case .millimolesPerLitre:
      Int64((number * 10).rounded(.toNearestOrAwayFromZero))
    case .milligramsPerDecilitre:
      // number × 10 / 18.01559, with a thousandth of a mg/dL as the smallest step distinguished.
      (Int64((number * 1000).rounded()) * 2000 + Self.milligramsPerDecilitreIn100000Millimoles)
        / (2 * Self.milligramsPerDecilitreIn100000Millimoles)
    }
  }

  /// The number as a person reads it: as given in its own unit, but in mmol/L with one decimal at least, as meters show
  /// it; converted, with one decimal in mmol/L and none in mg/dL.
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

/// The shortest decimal text that reads back as this number, without exponent or a trailing `.0`.
package func plainNumber(_ number: Double) -> String {
  if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
  return number.description
}

/// What a device measured: a number, or the statement that the value lies beyond its range.
@frozen public enum Measurement: Hashable, Sendable {
  case value(Quantity)
  /// Below the range (LO); the threshold where the source or its format names one.
  case low(below: Double?, GlucoseUnit)
  /// Above the range (HI).
  case high(above: Double?, GlucoseUnit)

  /// The unit of the value, or of the range that it lies beyond.
  public var unit: GlucoseUnit {
    switch self {
    case .value(let quantity): quantity.unit
    case .low(_, let unit), .high(_, let unit): unit
    }
  }

  /// The measured quantity; nil for LO and HI.
  public var quantity: Quantity? {
    if case .value(let quantity) = self { quantity } else { nil }
  }

  /// The codes that mean LO and HI where the value is part of an identity.
  package static let lowLevel: Int64 = -1
  /// The code of HI where the value is part of an identity.
  package static let highLevel: Int64 = -2

  /// The measurement as a part of an identity: tenths of mmol/L, or the code of LO or HI.
  @usableFromInline package var valueBucket: Int64 {
    switch self {
    case .value(let quantity): quantity.tenthsOfMillimole
    case .low: Self.lowLevel
    case .high: Self.highLevel
    }
  }

  /// Whether both say the same: equal numbers in one unit, equal tenths of mmol/L across units.
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
