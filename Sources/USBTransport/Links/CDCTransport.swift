// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A serial line of the communications class (PSTN subclass document 1.2, section 6.3).
final class CDCTransport: OpenTransport {
  private let port: any USBPort
  private let control: UInt8
  private let output: USBEndpoint
  private var bytes: SerialBytes
  private var isOpen = true

  /// Claims both interfaces of the line, configures it, and signals that a terminal is present.
  init(_ port: any USBPort, _ settings: LineSettings) throws {
    guard let control = port.interfaces.first(where: { $0.interfaceClass == 2 }) else {
      throw Failure.noInterface("serial line of the communications class")
    }
    self.port = port
    self.control = control.number
    // When the kernel's driver was bound to the control interface, it also took the data interface. So
    // detaching the driver from the control interface releases both interfaces, and reattaching the driver
    // takes both.
    try port.claim(control.number)
    let input: USBEndpoint
    (input, output) = try port.claimBulk(0x0A, "data interface of the communications class")
    bytes = SerialBytes(port, input)
    try set(settings, within: LinkTransport.setupMilliseconds)
    try controlOut(0x22, value: 3, [], within: LinkTransport.setupMilliseconds)
    try port.startReading(input)
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let sent):
      try port.clearingHalt(of: output) { () throws(TransportError) in
        try port.write(sent, to: output, within: milliseconds)
      }
    case .receive(let maxBytes): return try bytes.read(maxBytes, within: milliseconds) { $0 }
    case .setLine(let settings): try set(settings, within: milliseconds)
    case .discard: try bytes.discard()
    default: return try port.performRequest(exchange, within: milliseconds)
    }
    return []
  }

  func close() throws {
    guard isOpen else { return }
    isOpen = false
    let farewell = Result { try controlOut(0x22, value: 0, [], within: LinkTransport.setupMilliseconds) }
    try port.close()
    if case .failure(let error as TransportError) = farewell, error != .unplugged, error != .interrupted {
      throw Failure(error, doing: "closing the meter's line")
    }
  }
}

extension CDCTransport {
  /// Sends SET_LINE_CODING: speed, stop bits (0 is one, 2 is two), parity and data bits.
  private func set(_ settings: LineSettings, within milliseconds: Int) throws(TransportError) {
    let speed = (0..<4).map { UInt8(truncatingIfNeeded: settings.baud >> ($0 * 8)) }
    let stop: UInt8 = settings.stopBits == 2 ? 2 : 0
    try controlOut(
      0x20, value: 0, speed + [stop, settings.parity.rawValue, settings.dataBits], within: milliseconds)
  }

  /// Sends a request about the line. A device without a physical line refuses the request. This is ignored,
  /// as in the kernel's driver.
  private func controlOut(
    _ request: UInt8, value: UInt16, _ data: [UInt8], within milliseconds: Int
  ) throws(TransportError) {
    let whole = ControlRequest(type: 0x21, request: request, value: value, index: UInt16(control))
    do { try port.controlOut(whole, data, within: milliseconds) } catch {
      if error != .stalled { throw error }
    }
  }
}

/// The bytes of a serial line that were received and not yet returned. They come from an endpoint for which
/// `startReading` was called.
struct SerialBytes {
  private let port: any USBPort
  private let input: USBEndpoint
  private var unread: [UInt8] = []

  init(_ port: any USBPort, _ input: USBEndpoint) {
    self.port = port
    self.input = input
  }

  /// Waits until at least one byte of the line was received, and returns the received bytes.
  ///
  /// - Parameter unpack: returns the line's bytes in a packet. At most 1024 packets without such bytes are
  ///   skipped.
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

  /// Discards all received bytes that were not returned.
  mutating func discard() throws(TransportError) {
    unread = []
    try port.discardPackets(from: input)
  }
}
