// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reports of the first HID interface, one for each exchange. Meters with this link have unnumbered reports
/// of the length of a packet.
final class HIDTransport: OpenTransport {
  private let port: any USBPort
  private let reports: HIDReports

  /// Claims the first HID interface of the device.
  init(_ port: any USBPort) throws {
    self.port = port
    reports = try HIDReports(port)
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let bytes): try reports.writePadded(bytes, within: milliseconds)
    case .receive(let maxBytes):
      let report = try reports.read(within: milliseconds)
      guard report.count <= maxBytes else { throw .overflow }
      return report
    case .feature(let id, let maxBytes):
      return try reports.feature(id, maxBytes: maxBytes, within: milliseconds)
    case .setFeature(let report): try reports.setFeature(report, within: milliseconds)
    case .discard: try reports.discard()
    default: return try port.performRequest(exchange, within: milliseconds)
    }
    return []
  }

  func close() throws { try port.close() }
}

/// The reports of a HID interface: SET_REPORT and GET_REPORT of the HID class document (1.11, section 7.2),
/// and the interrupt endpoints.
struct HIDReports {
  /// The endpoint on which the device sends.
  let input: USBEndpoint

  private let port: any USBPort
  private let interface: UInt8
  private let output: USBEndpoint?

  /// Claims the first HID interface and keeps reading it.
  init(_ port: any USBPort) throws {
    let hid = port.interfaces.first { $0.interfaceClass == 3 && $0.endpoint(.interrupt, isIn: true) != nil }
    guard let hid, let input = hid.endpoint(.interrupt, isIn: true) else {
      throw Failure.noInterface("HID interface")
    }
    self.port = port
    self.input = input
    interface = hid.number
    output = hid.endpoint(.interrupt, isIn: false)
    try port.claim(interface)
    try port.startReading(input)
  }

  /// Sends an output report. If the interface has no endpoint for output, a control request sends the report.
  func write(_ report: [UInt8], within milliseconds: Int) throws(TransportError) {
    guard let output else {
      return try port.controlOut(request(0x21, 0x09, 0x0200), report, within: milliseconds)
    }
    try port.clearingHalt(of: output) { () throws(TransportError) in
      try port.write(report, to: output, within: milliseconds)
    }
  }

  /// Sends an unnumbered output report, padded with zeros to the length of a packet.
  func writePadded(_ bytes: [UInt8], within milliseconds: Int) throws(TransportError) {
    let length = (output ?? input).packetSize
    guard bytes.count <= length else {
      throw .failed("a report of \(bytes.count) bytes, but at most \(length) fit")
    }
    try write(bytes + [UInt8](repeating: 0, count: length - bytes.count), within: milliseconds)
  }

  /// Waits for an input report.
  func read(within milliseconds: Int) throws(TransportError) -> [UInt8] {
    try port.read(input.packetSize, from: input, within: milliseconds)
  }

  /// Reads a feature report. An unnumbered report has the id 0, which is not transferred.
  func feature(_ id: UInt8, maxBytes: Int, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    let bytes = try port.controlIn(
      request(0xA1, 0x01, 0x0300 | UInt16(id)), maxBytes: id == 0 ? maxBytes - 1 : maxBytes,
      within: milliseconds)
    return id == 0 ? [0] + bytes : bytes
  }

  /// Writes a feature report that begins with its id.
  func setFeature(_ report: [UInt8], within milliseconds: Int) throws(TransportError) {
    guard let id = report.first else { throw .failed("a feature report without an id") }
    try port.controlOut(
      request(0x21, 0x09, 0x0300 | UInt16(id)), id == 0 ? Array(report.dropFirst()) : report,
      within: milliseconds)
  }

  /// Discards unread packets.
  func discard() throws(TransportError) { try port.discardPackets(from: input) }

  private func request(_ type: UInt8, _ request: UInt8, _ value: UInt16) -> ControlRequest {
    ControlRequest(type: type, request: request, value: value, index: UInt16(interface))
  }
}

extension USBPort {
  /// Discards unread packets of an endpoint for which `startReading` was called. At most 1024 packets are
  /// discarded. A device cannot have sent more before this call.
  func discardPackets(from endpoint: USBEndpoint) throws(TransportError) {
    for _ in 0..<1024 {
      do { _ = try read(endpoint.packetSize, from: endpoint, within: 0) } catch {
        if error == .timedOut { return }
        throw error
      }
    }
  }
}

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
