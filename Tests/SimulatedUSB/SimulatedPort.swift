// SPDX-License-Identifier: Apache-2.0

package import Logbook
import SimulatedMeters
package import USBTransport

/// A replacement for the bus between the program's links and a simulated device. Every wait times out at
/// once.
package final class SimulatedPort: USBPort {
  package let interfaces: [USBInterface]
  package private(set) var isClosed = false

  private let device: SimulatedDevice

  package init(_ device: SimulatedDevice) {
    self.device = device
    interfaces = Self.interfaces(device.meter.configurationDescriptor)
  }

  package func claim(_ interface: UInt8) throws(Failure) {}

  package func controlIn(
    _ request: ControlRequest, maxBytes: Int, within milliseconds: Int
  ) throws(TransportError) -> [UInt8] {
    try Self.result(device.control(request, maxBytes: maxBytes, data: []))
  }

  package func controlOut(_ request: ControlRequest, _ data: [UInt8], within milliseconds: Int)
    throws(TransportError)
  {
    _ = try Self.result(device.control(request, maxBytes: data.count, data: data))
  }

  package func write(
    _ bytes: [UInt8], to endpoint: USBEndpoint, within milliseconds: Int
  ) throws(TransportError) {
    _ = try Self.result(device.accept(bytes, endpoint: endpoint.address))
  }

  package func read(
    _ maxBytes: Int, from endpoint: USBEndpoint, within milliseconds: Int
  ) throws(TransportError) -> [UInt8] {
    let room = (max(1, maxBytes) + endpoint.packetSize - 1) / endpoint.packetSize * endpoint.packetSize
    let bytes = try Self.result(device.nextPacket(endpoint: endpoint.address, maxBytes: room))
    guard bytes.count <= maxBytes else { throw .overflow }
    return bytes
  }

  package func startReading(_ endpoint: USBEndpoint) throws(TransportError) {}
  package func clearHalt(_ endpoint: USBEndpoint) throws(TransportError) {}
  package func close() throws(Failure) { isClosed = true }

  private static func result(_ answer: WireAnswer) throws(TransportError) -> [UInt8] {
    switch answer {
    case .data(let bytes): return bytes
    case .accepted: return []
    case .nothing: throw .timedOut
    case .stall: throw .stalled
    case .gone: throw .unplugged
    }
  }

  /// The interfaces of a configuration descriptor, in their first setting.
  package static func interfaces(_ descriptor: [UInt8]) -> [USBInterface] {
    var interfaces: [USBInterface] = []
    var isFirstSetting = false
    var rest = descriptor[...]
    while let length = rest.first, length >= 2, rest.count >= length {
      let part = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      if part[1] == 4, part.count >= 9 {
        isFirstSetting = part[3] == 0
        if isFirstSetting { interfaces.append(USBInterface(number: part[2], interfaceClass: part[5])) }
      }
      if part[1] == 5, part.count >= 7, isFirstSetting, !interfaces.isEmpty {
        let size = UInt16(part[4]) | UInt16(part[5]) << 8
        interfaces[interfaces.count - 1].endpoints.append(
          USBEndpoint(address: part[2], attributes: part[3], maxPacketSize: size))
      }
    }
    return interfaces
  }
}
