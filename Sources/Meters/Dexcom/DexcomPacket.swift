// SPDX-License-Identifier: Apache-2.0

/// A packet to or from a Dexcom receiver: 01, the total length, a command or result, a payload and a checksum.
struct DexcomPacket: Hashable {
  /// The result of parsing the first bytes.
  enum Finding: Hashable {
    case packet(DexcomPacket)
    /// The packet is not complete yet.
    case incomplete
    /// Not a packet: the length is impossible, or the checksum is wrong.
    case broken
  }

  private static let start: UInt8 = 0x01
  private static let overhead = 6
  /// Above the longest recorded answer: four pages, 2118 bytes.
  private static let maxBytes = 2200

  /// The command; in an answer, the result.
  var code: UInt8
  var payload: [UInt8] = []

  var bytes: [UInt8] {
    let length = UInt16(truncatingIfNeeded: payload.count + Self.overhead)
    let body = [Self.start] + length.littleEndianBytes + [code] + payload
    return body + CRC16.ccitt(body, initial: 0).littleEndianBytes
  }

  /// The first packet in these bytes, after any noise.
  static func find(in bytes: [UInt8]) -> Finding {
    let bytes = Array(bytes.drop { $0 != start })
    guard let length = bytes.littleEndian(UInt16.self, at: 1).map(Int.init) else { return .incomplete }
    guard (overhead...maxBytes).contains(length) else { return .broken }
    guard bytes.count >= length else { return .incomplete }
    let body = bytes[..<(length - 2)]
    guard bytes.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(body, initial: 0) else {
      return .broken
    }
    return .packet(DexcomPacket(code: body[3], payload: Array(body[4...])))
  }
}
