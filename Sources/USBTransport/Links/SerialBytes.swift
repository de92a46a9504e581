// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What has come over a serial line behind an endpoint that is kept reading, and was not read yet.
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
  /// - Parameter unpack: returns the line's bytes of a packet; packets without any are passed over, so many at most.
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

  /// Drops everything unread.
  mutating func discard() throws(TransportError) {
    unread = []
    try port.discardPackets(from: input)
  }
}
