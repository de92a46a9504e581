// SPDX-License-Identifier: Apache-2.0

/// CRC-16 with the polynomial 1021, most significant bit first, not reflected, without a final XOR.
package func crcCCITT(_ bytes: some Sequence<UInt8>, from start: UInt16) -> UInt16 {
  var register = start
  for byte in bytes {
    register ^= UInt16(byte) << 8
    for _ in 0..<8 {
      register = register & 0x8000 == 0 ? register << 1 : register << 1 ^ 0x1021
    }
  }
  return register
}

/// The bytes of a number, least significant first.
package func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// The number of up to eight bytes, least significant first.
package func littleEndianNumber(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
  bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
}
