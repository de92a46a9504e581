// SPDX-License-Identifier: Apache-2.0

/// Frames of OneTouch meters that no recording holds, built by a checksum of one bit at a time.
enum SheetFrame {
  /// The frame with this link byte around a printed payload.
  static func frame(_ payload: String, link: UInt8 = 0) -> [UInt8] {
    let payload = [UInt8](printed: payload)
    let body = [0x02, UInt8(payload.count + 6), link] + payload + [0x03]
    var register: UInt16 = 0xFFFF
    for bit in body.flatMap({ byte in (0..<8).map { byte >> (7 - $0) & 1 } }) {
      let carries = UInt16(bit) != register >> 15
      register = register << 1 ^ (carries ? 0x1021 : 0)
    }
    return body + [UInt8(register & 0xFF), UInt8(register >> 8)]
  }
}
