// SPDX-License-Identifier: Apache-2.0

/// A 16-bit decimal number of IEEE 11073: an exponent of four bits, a mantissa of twelve, both signed.
enum ShortFloat: Hashable {
  case number(Double)
  case high, low
  /// Not a number, or not at this resolution, or reserved.
  case none

  init(_ bits: UInt16) {
    switch bits {
    case 0x07FE: self = .high
    case 0x0802: self = .low
    case 0x07FF, 0x0800, 0x0801: self = .none
    default:
      let exponent = Int8(bitPattern: UInt8(bits >> 12) << 4) >> 4
      let mantissa = Int16(bitPattern: bits << 4) >> 4
      let power = (0..<abs(Int(exponent))).reduce(1.0) { power, _ in power * 10 }
      self = .number(exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power)
    }
  }
}
