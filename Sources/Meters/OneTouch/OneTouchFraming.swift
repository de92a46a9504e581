// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The binary frame of OneTouch meters: STX, length, link byte, payload, ETX and a checksum.
struct OneTouchFrame: Hashable {
  /// The result of parsing the first bytes.
  enum ParsedFrame: Hashable {
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

  /// The byte for link control; 0 on meters without it.
  var link: UInt8 = 0
  /// A prefix, followed by a command, or by a status and its data. It has at most 249 bytes.
  var payload: [UInt8]

  var bytes: [UInt8] {
    let body =
      [Self.start, UInt8(truncatingIfNeeded: payload.count + Self.overhead), link] + payload + [Self.end]
    return body + CRC16.ccitt(body, initial: 0xFFFF).littleEndianBytes
  }

  /// Parses the frame at the start of these bytes.
  static func find(in bytes: [UInt8]) -> ParsedFrame {
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

/// The binary frames on a OneTouch meter's serial line, which arrive in pieces of any size.
final class OneTouchSerialLine {
  /// A frame with a wrong checksum, or endless noise.
  struct Damage: Error {}

  /// The time in which a working meter starts to answer. A recorded Verio IQ needed 0.7 seconds in two cases.
  private static let beginMilliseconds = 2000
  /// The time to wait for the next bytes of a frame. They follow each other immediately, but a busy host may
  /// receive them later.
  private static let nextMilliseconds = 250
  /// The maximum number of bytes that may arrive without a frame. A frame has at most 255 bytes, so more
  /// bytes are noise.
  private static let maxBytes = 1024

  private let meter: MeterConnection
  private var received: [UInt8] = []

  init(_ meter: MeterConnection) { self.meter = meter }

  func send(_ frame: OneTouchFrame) throws(TransportError) { try meter.send(frame.bytes) }

  /// Discards the received bytes.
  func discard() throws(TransportError) {
    received = []
    _ = try meter.perform(.discard, within: Self.beginMilliseconds)
  }

  /// Pauses for `milliseconds`, and discards what arrives meanwhile.
  func pause(milliseconds: Int) throws(TransportError) {
    do {
      _ = try meter.receive(maxBytes: 256, within: milliseconds)
    } catch .timedOut {}
  }

  /// The next frame. Bytes before it are dropped.
  ///
  /// - Throws: `Damage` or a `TransportError`.
  func frame() throws -> OneTouchFrame {
    var taken = 0
    while true {
      received = Array(received.drop { $0 != 0x02 })
      switch OneTouchFrame.find(in: received) {
      case .frame(let frame, let length):
        received.removeFirst(length)
        return frame
      case .broken: throw Damage()
      case .incomplete:
        guard taken < Self.maxBytes else { throw Damage() }
        let wait = received.isEmpty ? Self.beginMilliseconds : Self.nextMilliseconds
        let bytes = try meter.receive(maxBytes: 256, within: wait)
        guard !bytes.isEmpty else { throw TransportError.timedOut }
        taken += bytes.count
        received += bytes
      }
    }
  }
}
