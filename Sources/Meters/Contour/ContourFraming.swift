// SPDX-License-Identifier: Apache-2.0

/// A frame of ASTM E1381: `STX number text CR ETB-or-ETX checksum CR LF`. The meters put one record into each
/// frame.
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
  /// The letter `X`. A meter whose last session was interrupted responds to it, where an idle one responds to
  /// EOT.
  static let wake: UInt8 = 0x58
}

/// A unit of the stream of bytes from a meter.
enum ContourToken: Hashable {
  case frame(ContourFrame)
  /// A damaged frame.
  case damaged
  case endOfTransmission, enquiry, acknowledge, refuse
}

/// Splits the stream of bytes that the HID reports carry. A frame of exactly 60 bytes fills one report, and
/// no further report follows. So the end of a frame is found in the stream, and not by the size of a report.
struct ContourStream {
  /// The maximum size of a frame in bytes. The longest known, a header of a Contour Next USB, has about 300.
  static let longestFrame = 1024

  private var bytes: [UInt8] = []

  /// Adds the bytes of one report.
  mutating func add(_ payload: ArraySlice<UInt8>) { bytes += payload }

  /// Discards the received bytes.
  mutating func clear() { bytes = [] }

  /// The next token; nil until more bytes arrive. Bytes outside of tokens and frames are dropped.
  mutating func next() -> ContourToken? {
    while let byte = bytes.first {
      if byte == ContourByte.startOfText { return nextFrame() }
      bytes.removeFirst()
      switch byte {
      case ContourByte.endOfTransmission: return .endOfTransmission
      case ContourByte.enquiry: return .enquiry
      case ContourByte.acknowledge: return .acknowledge
      case ContourByte.refuse: return .refuse
      default: continue
      }
    }
    return nil
  }

  private mutating func nextFrame() -> ContourToken? {
    let end = bytes.firstIndex { $0 == ContourByte.endOfText || $0 == ContourByte.endOfBlock }
    guard let end, end + 5 <= bytes.count else {
      guard bytes.count > Self.longestFrame else { return nil }
      clear()
      return .damaged
    }
    let frame = ContourFrame(bytes[..<(end + 5)])
    bytes.removeFirst(end + 5)
    return frame.map(ContourToken.frame) ?? .damaged
  }
}

/// HID reports of the Contour: a prefix of three bytes, a length, and at most 60 bytes of a stream. A frame
/// may begin and end anywhere in a report.
enum ContourReport {
  /// The number of bytes that one report carries.
  static let maxPayload = 60

  /// One report with these bytes, at most `maxPayload`. The prefix is zeros, as in the vendor's software.
  static func pack(_ payload: [UInt8]) -> [UInt8] {
    [0, 0, 0, UInt8(truncatingIfNeeded: min(payload.count, maxPayload))] + payload.prefix(maxPayload)
  }

  /// The payload of a report from the meter; nil if the report is shorter than it states.
  static func payload(_ report: [UInt8]) -> ArraySlice<UInt8>? {
    guard report.count >= 4, report.starts(with: Array("ABC".utf8)) else { return nil }
    let count = Int(report[3])
    guard count <= maxPayload, report.count >= 4 + count else { return nil }
    return report[4..<4 + count]
  }
}
