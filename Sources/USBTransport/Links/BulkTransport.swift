// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The two bulk endpoints of an interface. Each exchange is one transfer.
final class BulkTransport: OpenTransport {
  private let port: any USBPort
  private let input: USBEndpoint
  private let output: USBEndpoint

  /// Claims the first interface of this class with bulk endpoints.
  init(_ port: any USBPort, interfaceClass: UInt8) throws {
    (input, output) = try port.claimBulk(interfaceClass, "interface of class \(interfaceClass)")
    self.port = port
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .send(let bytes):
      try port.clearingHalt(of: output) { () throws(TransportError) in
        try port.write(bytes, to: output, within: milliseconds)
      }
      return []
    case .receive(let maxBytes):
      return try port.clearingHalt(of: input) { () throws(TransportError) in
        try port.read(maxBytes, from: input, within: milliseconds)
      }
    default: return try port.performRequest(exchange, within: milliseconds)
    }
  }

  func close() throws { try port.close() }
}

extension USBPort {
  /// Claims the first interface of a class with a bulk endpoint in each direction.
  func claimBulk(_ interfaceClass: UInt8, _ what: String) throws(Failure) -> (
    input: USBEndpoint, output: USBEndpoint
  ) {
    for interface in interfaces where interface.interfaceClass == interfaceClass {
      guard let input = interface.endpoint(.bulk, isIn: true),
        let output = interface.endpoint(.bulk, isIn: false)
      else { continue }
      try claim(interface.number)
      return (input, output)
    }
    throw .noInterface(what)
  }
}
