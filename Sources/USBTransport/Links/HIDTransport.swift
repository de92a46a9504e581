// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reports of the first HID interface, one for each exchange. Meters with this link have unnumbered reports of the
/// length of a packet.
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
