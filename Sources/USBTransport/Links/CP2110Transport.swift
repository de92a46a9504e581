// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A serial line of a Silicon Labs CP2110 (its interface document is AN434). A report contains up to 63 bytes
/// of the line. The first byte of the report is the number of these bytes.
final class CP2110Transport: OpenTransport {
  private static let maxBytes = 63

  private let port: any USBPort
  private let reports: HIDReports
  private var bytes: SerialBytes
  private var isOpen = true

  /// Claims the chip, configures the line and enables it.
  init(_ port: any USBPort, _ settings: LineSettings) throws {
    self.port = port
    reports = try HIDReports(port)
    bytes = SerialBytes(port, reports.input)
    try set(settings, within: LinkTransport.setupMilliseconds)
    try reports.setFeature([0x41, 1], within: LinkTransport.setupMilliseconds)
    try purge(within: LinkTransport.setupMilliseconds)
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let sent):
      for start in stride(from: 0, to: sent.count, by: Self.maxBytes) {
        let piece = sent[start..<min(start + Self.maxBytes, sent.count)]
        try reports.write([UInt8(piece.count)] + piece, within: milliseconds)
      }
    case .receive(let maxBytes):
      return try bytes.read(maxBytes, within: milliseconds) { report throws(TransportError) in
        guard let count = report.first, count <= Self.maxBytes, Int(count) < report.count else {
          throw .failed("the serial chip sent a damaged report")
        }
        return Array(report.dropFirst().prefix(Int(count)))
      }
    case .feature(let id, let maxBytes):
      return try reports.feature(id, maxBytes: maxBytes, within: milliseconds)
    case .setFeature(let report): try reports.setFeature(report, within: milliseconds)
    case .setLine(let settings): try set(settings, within: milliseconds)
    case .discard:
      try purge(within: milliseconds)
      try bytes.discard()
    default: return try port.performRequest(exchange, within: milliseconds)
    }
    return []
  }

  func close() throws {
    guard isOpen else { return }
    isOpen = false
    let farewell = Result { try reports.setFeature([0x41, 0], within: LinkTransport.setupMilliseconds) }
    try port.close()
    if case .failure(let error as TransportError) = farewell, error != .unplugged, error != .interrupted {
      throw Failure(error, doing: "switching off the meter's serial chip")
    }
  }
}

extension CP2110Transport {
  /// Sends feature report 0x50: speed (the high byte first), parity, flow control, data bits (3 is eight) and
  /// stop bits.
  private func set(_ settings: LineSettings, within milliseconds: Int) throws(TransportError) {
    guard (5...8).contains(settings.dataBits) else { throw .unsupported }
    let speed = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: settings.baud >> $0) }
    let flow: UInt8 = settings.hasHardwareFlowControl ? 1 : 0
    let stop: UInt8 = settings.stopBits == 2 ? 1 : 0
    let line = [settings.parity.rawValue, flow, settings.dataBits - 5, stop]
    try reports.setFeature([0x50] + speed + line, within: milliseconds)
  }

  /// Empties both buffers of the chip with feature report 0x43.
  private func purge(within milliseconds: Int) throws(TransportError) {
    try reports.setFeature([0x43, 3], within: milliseconds)
  }
}
