// SPDX-License-Identifier: Apache-2.0

extension Collection<UInt8> {
  /// The number whose least significant byte is at this offset; nil past the end.
  func littleEndian<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number? {
    let size = Number.bitWidth / 8
    guard offset >= 0, offset <= count - size else { return nil }
    return dropFirst(offset).prefix(size).reversed().reduce(Number.zero) { number, byte in
      number << 8 | Number(truncatingIfNeeded: byte)
    }
  }

  /// The text of these bytes; nil if it is empty or has a character that is not printable ASCII.
  var printableText: String? {
    guard !isEmpty, allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return String(decoding: self, as: UTF8.self)
  }
}

extension FixedWidthInteger {
  /// The bytes of the number, least significant first.
  var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}

/// The 16-bit checksums of meters.
enum CRC16 {
  private static let ccittTable: [UInt16] = (0..<256).map { index in
    (0..<8).reduce(UInt16(index) << 8) { register, _ in
      register & 0x8000 == 0 ? register << 1 : register << 1 ^ 0x1021
    }
  }

  /// The CRC with polynomial 0x1021, most significant bit first, nothing reflected and no final XOR.
  ///
  /// - Parameter initial: 0xFFFF for CCITT-FALSE, 0 for XModem.
  static func ccitt(_ bytes: some Sequence<UInt8>, initial: UInt16) -> UInt16 {
    bytes.reduce(initial) { register, byte in
      register << 8 ^ ccittTable[Int(UInt8(truncatingIfNeeded: register >> 8) ^ byte)]
    }
  }
}

extension StringProtocol {
  /// The text without leading and trailing whitespace.
  var trimmingBlanks: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

/// The SFLOAT of IEEE 11073 and Bluetooth: an exponent of 4 bits and a mantissa of 12 bits, both signed, base
/// 10.
enum ShortFloat: Hashable {
  case number(mantissa: Int, exponent: Int)
  case high, low
  /// A code without a number: not a number, not at this resolution, or reserved.
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
  /// Mantissa and exponent are integers, so that the result is the nearest number to the decimal one: 293e-5
  /// kg/L is 293 mg/dL.
  func number(timesTenTo power: Int) -> Double? {
    guard case .number(let mantissa, let exponent) = self else { return nil }
    let shift = exponent + power
    let scale = (0..<abs(shift)).reduce(1.0) { scale, _ in scale * 10 }
    return shift < 0 ? Double(mantissa) / scale : Double(mantissa) * scale
  }
}
