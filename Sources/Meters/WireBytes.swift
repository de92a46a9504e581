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
