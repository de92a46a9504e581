// SPDX-License-Identifier: Apache-2.0

/// Packs bytes in the gzip format without compressing them. A client must still unpack them.
package enum StoredGzip {
  private static let maxBlockBytes = 65_535

  package static func packed(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    for start in stride(from: 0, to: max(1, bytes.count), by: maxBlockBytes) {
      let block = bytes[start..<min(bytes.count, start + maxBlockBytes)]
      let length = UInt16(block.count)
      packed.append(start + block.count == bytes.count ? 1 : 0)
      packed += littleEndian(UInt32(length) | UInt32(~length) << 16)
      packed += block
    }
    return packed + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// The CRC-32 of the bytes, which a gzip file contains.
  package static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { checksum, byte in
      (0..<8).reduce(checksum ^ UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
  }

  private static func littleEndian(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
  }
}
