// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The binary frames that come over a OneTouch meter's serial line, in pieces of any size.
final class OneTouchSerialLine {
  /// A frame with a wrong checksum, or noise without end.
  struct Damage: Error {}

  /// A meter that answers at all begins within this time. A recorded Verio IQ took 0.7 seconds twice.
  private static let beginMilliseconds = 2000
  /// The bytes of one frame follow each other at once; a busy host may see them later.
  private static let nextMilliseconds = 250
  /// A frame has at most 255 bytes; what is more is noise.
  private static let maxBytes = 1024

  private let meter: MeterConnection
  private var received: [UInt8] = []

  /// A line on which nothing has come yet.
  init(_ meter: MeterConnection) { self.meter = meter }

  /// Sends a frame.
  func send(_ frame: OneTouchFrame) throws(TransportError) { try meter.send(frame.bytes) }

  /// Forgets what has come.
  func discard() throws(TransportError) {
    received = []
    _ = try meter.perform(.discard, within: Self.beginMilliseconds)
  }

  /// Keeps still for so long, and drops what comes meanwhile.
  func pause(milliseconds: Int) throws(TransportError) {
    do {
      _ = try meter.receive(maxBytes: 256, within: milliseconds)
    } catch .timedOut {}
  }

  /// The next frame; bytes before it are dropped.
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
