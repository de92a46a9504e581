// SPDX-License-Identifier: Apache-2.0

/// A frame of ASTM E1381: `STX number text CR ETB-or-ETX checksum CR LF`. The meters put one record into each.
struct ContourFrame: Hashable {
  /// The number of the frame, from 1 on, modulo 8.
  let number: Int
  /// The record, without the CR at its end.
  let text: [UInt8]

  /// Parses these bytes, from STX to LF; nil if they are not a frame, or if the checksum is wrong.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count >= 8, bytes[0] == ContourByte.startOfText, (0x30...0x37).contains(bytes[1]) else {
      return nil
    }
    let end = bytes.count - 5
    guard bytes[end] == ContourByte.endOfText || bytes[end] == ContourByte.endOfBlock, bytes[end - 1] == 0x0D,
      bytes[end + 3] == 0x0D, bytes[end + 4] == 0x0A,
      let high = Self.digit(bytes[end + 1]), let low = Self.digit(bytes[end + 2]),
      high << 4 | low == Self.checksum(bytes[1...end])
    else { return nil }
    number = Int(bytes[1] - 0x30)
    text = Array(bytes[2..<end - 1])
  }

  /// The sum of these bytes modulo 256; in a frame, of all bytes between STX and the checksum.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt8 { bytes.reduce(0, &+) }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

/// The bytes that control a session.
enum ContourByte {
  static let startOfText: UInt8 = 0x02
  static let endOfText: UInt8 = 0x03
  static let endOfTransmission: UInt8 = 0x04
  static let enquiry: UInt8 = 0x05
  static let acknowledge: UInt8 = 0x06
  static let refuse: UInt8 = 0x15
  static let endOfBlock: UInt8 = 0x17
  /// `X`: the meter answers it like EOT.
  static let wake: UInt8 = 0x58
}
