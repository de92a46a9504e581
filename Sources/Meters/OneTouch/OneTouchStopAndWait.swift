// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The link of the UltraEasy: each frame has a number of one bit and is acknowledged before the next frame.
final class OneTouchStopAndWait {
  /// The bits of a frame's link byte.
  private enum Bit {
    static let sent: UInt8 = 0x01
    static let expected: UInt8 = 0x02
    static let acknowledge: UInt8 = 0x04
    static let disconnect: UInt8 = 0x08
  }

  private static let attempts = 3
  /// The manufacturer's program waits at least 100 ms between packets. Faster reading was reported to shift answers.
  private static let pauseMilliseconds = 100

  private let line: OneTouchSerialLine
  /// The number of the next frame to send: 0 or 1.
  private var sent: UInt8 = 0
  /// The number of the next frame to receive: 0 or 1.
  private var expected: UInt8 = 0
  private var isOpen = false

  init(_ meter: MeterConnection) { line = OneTouchSerialLine(meter) }

  /// Sends a request and returns the payload of the answer. If the answer is damaged or missing, retries on a new link.
  func request(_ payload: [UInt8], doing: String) throws -> OneTouchFrame {
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        if !isOpen { try open() }
        return try exchange(payload)
      } catch is OneTouchSerialLine.Damage {
        isOpen = false
      } catch let error as TransportError {
        isOpen = false
        fault = Failure(error, doing: doing)
        if error != .timedOut { throw fault }
      }
    }
    throw fault
  }

  /// Ends the session, so that the meter leaves its mode at once. The meter also does so by itself after a while, so a
  /// failure here is ignored.
  func close() {
    isOpen = false
    do {
      try open()
    } catch {}
  }
}

extension OneTouchStopAndWait {
  /// Resets both sides to the first frame.
  private func open() throws {
    try line.discard()
    try line.send(OneTouchFrame(link: Bit.disconnect, payload: []))
    let answer = try line.frame()
    guard answer == OneTouchFrame(link: Bit.disconnect | Bit.acknowledge, payload: []) else {
      throw OneTouchSerialLine.Damage()
    }
    (sent, expected, isOpen) = (0, 0, true)
  }

  private func exchange(_ payload: [UInt8]) throws -> OneTouchFrame {
    try line.pause(milliseconds: Self.pauseMilliseconds)
    try line.send(OneTouchFrame(link: link(), payload: payload))
    sent ^= 1
    // The bits in the meter's frames have its point of view: the number that it expects is our next one.
    let counted = (sent == 1 ? Bit.expected : 0) | (expected == 1 ? Bit.sent : 0)
    guard try line.frame() == OneTouchFrame(link: Bit.acknowledge | counted, payload: []) else {
      throw OneTouchSerialLine.Damage()
    }
    let answer = try line.frame()
    guard answer.link == counted else { throw OneTouchSerialLine.Damage() }
    expected ^= 1
    try line.send(OneTouchFrame(link: Bit.acknowledge | link(), payload: []))
    return answer
  }

  private func link() -> UInt8 {
    (sent == 1 ? Bit.sent : 0) | (expected == 1 ? Bit.expected : 0)
  }
}
