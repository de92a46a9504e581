// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The received but unread bytes of a serial line, from an endpoint after `keepReading`.
struct SerialBytes {
  private let port: any USBPort
  private let input: USBEndpoint
  private var unread: [UInt8] = []

  init(_ port: any USBPort, _ input: USBEndpoint) {
    self.port = port
    self.input = input
  }

  /// Waits for at least one byte.
  ///
  /// - Parameter unpack: returns the line's bytes in a packet. At most 1024 packets without such bytes are skipped.
  mutating func read(
    _ maxBytes: Int, within milliseconds: Int, unpack: ([UInt8]) throws(TransportError) -> [UInt8]
  ) throws(TransportError) -> [UInt8] {
    for _ in 0..<1024 where unread.isEmpty {
      unread = try unpack(try port.read(input.packetSize, from: input, within: milliseconds))
    }
    guard !unread.isEmpty else { throw .timedOut }
    let bytes = Array(unread.prefix(max(1, maxBytes)))
    unread.removeFirst(bytes.count)
    return bytes
  }

  /// Discards everything unread.
  mutating func discard() throws(TransportError) {
    unread = []
    try port.discardPackets(from: input)
  }
}
