// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The binary frame of OneTouch meters: STX, length, link byte, payload, ETX and a checksum.
struct OneTouchFrame: Hashable {
  /// The result of parsing the first bytes.
  enum Finding: Hashable {
    case frame(OneTouchFrame, length: Int)
    /// The frame is not complete yet.
    case incomplete
    /// Not a frame: a wrong first byte, an impossible length, no ETX or a wrong checksum.
    case broken
  }

  /// The number of bytes around the payload.
  static let overhead = 6
  private static let start: UInt8 = 0x02
  private static let end: UInt8 = 0x03

  /// 0, except on meters with link control.
  var link: UInt8 = 0
  /// A prefix, then a command, or a status and its data; at most 249 bytes.
  var payload: [UInt8]

  var bytes: [UInt8] {
    let body =
      [Self.start, UInt8(truncatingIfNeeded: payload.count + Self.overhead), link] + payload + [Self.end]
    return body + CRC16.ccitt(body, initial: 0xFFFF).littleEndianBytes
  }

  /// Parses the frame at the start of these bytes.
  static func find(in bytes: [UInt8]) -> Finding {
    guard let first = bytes.first else { return .incomplete }
    guard first == start else { return .broken }
    guard bytes.count > 1 else { return .incomplete }
    let length = Int(bytes[1])
    guard length >= overhead else { return .broken }
    guard bytes.count >= length else { return .incomplete }
    let body = bytes[..<(length - 2)]
    guard body.last == end,
      bytes.littleEndian(UInt16.self, at: length - 2) == CRC16.ccitt(body, initial: 0xFFFF)
    else { return .broken }
    return .frame(OneTouchFrame(link: bytes[2], payload: Array(body[3..<(length - 3)])), length: length)
  }

  /// The data after the prefix and the status of an answer.
  ///
  /// - Throws: `Failure` if the status does not mean success.
  func answer(doing: String) throws -> [UInt8] {
    guard payload.count >= 2 else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer has no status")
    }
    guard payload[1] == 0x06 else {
      throw Failure(
        .protocolViolation,
        "\(doing): the meter refused the request with status \(payload[1]); it may be "
          + "another model than the driver is for")
    }
    return Array(payload[2...])
  }
}
