// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// The links over USB, as the models of drivers name them.
package enum LinkTransport {
  /// The timeout of each request that opens or closes a link.
  static let setupMilliseconds = 1000

  /// Opens a link over a device; if that fails, closes the device.
  ///
  /// - Throws: `Failure`.
  package static func open(_ link: MeterLink, over port: any USBPort) throws -> any OpenTransport {
    do {
      return try transport(for: link, over: port)
    } catch let error as TransportError {
      try port.close()
      throw Failure(error, doing: "opening the meter")
    } catch {
      try port.close()
      throw error
    }
  }

  private static func transport(for link: MeterLink, over port: any USBPort) throws -> any OpenTransport {
    switch link {
    case .hid: try HIDTransport(port)
    case .bulk(let interfaceClass): try BulkTransport(port, interfaceClass: interfaceClass)
    case .disk: try DiskTransport(port)
    case .cdc(let settings): try CDCTransport(port, settings)
    case .cp2110(let settings): try CP2110Transport(port, settings)
    case .terminal, .bluetooth: throw Failure.noInterface("terminal")
    }
  }
}

extension USBPort {
  /// Performs the operations that all links support.
  func performRequest(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    switch exchange {
    case .controlIn(let request, let maxBytes):
      return try controlIn(request, maxBytes: maxBytes, within: milliseconds)
    case .controlOut(let request, let data):
      try controlOut(request, data, within: milliseconds)
      return []
    default: throw .unsupported
    }
  }

  /// Performs a transfer over an endpoint. If the endpoint stalls, its halt is cleared, so that the next
  /// transfer can succeed.
  func clearingHalt<Value>(
    of endpoint: USBEndpoint, _ transfer: () throws(TransportError) -> Value
  ) throws(TransportError) -> Value {
    do {
      return try transfer()
    } catch {
      if error == .stalled { try clearHalt(endpoint) }
      throw error
    }
  }
}

/// A transport that holds a device until it is closed.
public protocol OpenTransport: Transport {
  /// Restores everything: the line's settings, the interfaces, and the kernel's drivers that were detached.
  ///
  /// Further calls do nothing.
  ///
  /// - Throws: `Failure` if something could not be restored; everything else is restored nevertheless.
  func close() throws
}

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
