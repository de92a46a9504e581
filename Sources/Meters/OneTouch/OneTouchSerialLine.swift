// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The binary frames on a OneTouch meter's serial line, which arrive in pieces of any size.
final class OneTouchSerialLine {
  /// A frame with a wrong checksum, or endless noise.
  struct Damage: Error {}

  /// A working meter starts to answer within this time. A recorded Verio IQ took 0.7 seconds twice.
  private static let beginMilliseconds = 2000
  /// The bytes of a frame follow each other immediately, but a busy host may receive them later.
  private static let nextMilliseconds = 250
  /// More bytes than this are noise: a frame has at most 255 bytes.
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
