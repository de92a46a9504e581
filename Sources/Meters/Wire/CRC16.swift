// SPDX-License-Identifier: Apache-2.0

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
