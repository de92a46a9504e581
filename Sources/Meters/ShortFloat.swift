// SPDX-License-Identifier: Apache-2.0

/// The SFLOAT of IEEE 11073 and Bluetooth: an exponent of 4 bits and a mantissa of 12 bits, both signed, base 10.
enum ShortFloat: Hashable {
  case number(mantissa: Int, exponent: Int)
  case high, low
  /// Not a number, or not at this resolution, or reserved.
  case none

  /// The codes that are not numbers. Each has a mantissa at the edge of its range and an exponent of zero.
  private static let special: [UInt16: ShortFloat] = [
    0x07FE: .high, 0x0802: .low, 0x07FF: .none, 0x0800: .none, 0x0801: .none,
  ]

  /// The value in these 16 bits.
  init(_ bits: UInt16) {
    let signed = Int(Int16(bitPattern: bits))
    self =
      Self.special[bits]
      ?? .number(mantissa: Int(Int16(truncatingIfNeeded: signed << 4) >> 4), exponent: signed >> 12)
  }

  /// The number times this power of ten; nil without a number.
  ///
  /// Both parts are integers, so that the result is the nearest number to the decimal one: 293e-5 kg/L is 293 mg/dL.
  func number(timesTenTo power: Int) -> Double? {
    guard case .number(let mantissa, let exponent) = self else { return nil }
    let shift = exponent + power
    let scale = (0..<abs(shift)).reduce(1.0) { scale, _ in scale * 10 }
    return shift < 0 ? Double(mantissa) / scale : Double(mantissa) * scale
  }
}
