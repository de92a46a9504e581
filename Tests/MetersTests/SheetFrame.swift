// SPDX-License-Identifier: Apache-2.0

/// Frames without a recording, with a checksum that is computed bit by bit.
enum SheetFrame {
  /// The frame of a OneTouch meter with this link byte and printed payload.
  static func frame(_ payload: String, link: UInt8 = 0) -> [UInt8] {
    let payload = [UInt8](printed: payload)
    let body = [0x02, UInt8(payload.count + 6), link] + payload + [0x03]
    return body + checksum(body, initial: 0xFFFF)
  }

  /// The packet of a Dexcom receiver.
  static func packet(_ code: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let length = payload.count + 6
    let body = [0x01, UInt8(length & 0xFF), UInt8(length >> 8), code] + payload
    return body + checksum(body, initial: 0)
  }

  /// A page of a Dexcom receiver with these records, which include their checksums.
  static func page(
    _ partition: UInt8, revision: UInt8, number: UInt8, _ records: [[UInt8]], count: UInt8? = nil
  ) -> [UInt8] {
    let header =
      [0, 0, 0, 0, count ?? UInt8(records.count), 0, 0, 0, partition, revision, number]
      + [UInt8](repeating: 0, count: 15)
    let data = records.flatMap { $0 }
    return header + checksum(header, initial: 0) + data + [UInt8](repeating: 0xFF, count: 500 - data.count)
  }

  /// Bytes followed by the checksum of a Dexcom record.
  static func record(_ bytes: [UInt8]) -> [UInt8] { bytes + checksum(bytes, initial: 0) }

  private static func checksum(_ bytes: [UInt8], initial: UInt16) -> [UInt8] {
    var register = initial
    for bit in bytes.flatMap({ byte in (0..<8).map { byte >> (7 - $0) & 1 } }) {
      let carries = UInt16(bit) != register >> 15
      register = register << 1 ^ (carries ? 0x1021 : 0)
    }
    return [UInt8(register & 0xFF), UInt8(register >> 8)]
  }
}
