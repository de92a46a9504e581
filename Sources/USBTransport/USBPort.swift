// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An open device, as links use it: a real device on the bus, or a simulated one.
package protocol USBPort: AnyObject {
  /// The interfaces of the active configuration, in their first alternate setting.
  var interfaces: [USBInterface] { get }

  /// Claims an interface for this process, and detaches the kernel's driver if one holds it.
  func claim(_ interface: UInt8) throws(Failure)
  /// Performs a control request that reads at most `maxBytes`.
  func controlIn(_ request: ControlRequest, maxBytes: Int, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// Performs a control request that writes, or has no data.
  func controlOut(_ request: ControlRequest, _ data: [UInt8], within milliseconds: Int) throws(TransportError)
  /// Writes the bytes to a bulk or interrupt endpoint, as one transfer.
  func write(_ bytes: [UInt8], to endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
  /// Reads one transfer of at most `maxBytes`. If `startReading` was called for the endpoint, returns the
  /// next packet that the device has sent.
  func read(_ maxBytes: Int, from endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// Keeps reads pending at an endpoint, so that data which a device sends without a request is not lost.
  func startReading(_ endpoint: USBEndpoint) throws(TransportError)
  /// Clears the halt of an endpoint that stalled.
  func clearHalt(_ endpoint: USBEndpoint) throws(TransportError)
  /// Releases the interfaces, and reattaches the kernel's drivers.
  func close() throws(Failure)
}

/// An endpoint, from its descriptor.
package struct USBEndpoint: Hashable, Sendable {
  /// The transfer type.
  package enum Kind: UInt8, Sendable { case control, isochronous, bulk, interrupt }

  /// The address; bit 7 is set if the device sends.
  package let address: UInt8
  /// The transfer type.
  package let kind: Kind
  /// The maximum number of bytes of one packet.
  package let packetSize: Int

  /// Reads the fields of a descriptor.
  package init(address: UInt8, attributes: UInt8, maxPacketSize: UInt16) {
    self.address = address
    kind = Kind(rawValue: attributes & 3) ?? .control
    packetSize = max(1, Int(maxPacketSize & 0x7FF))
  }

  /// Whether the device sends on this endpoint.
  package var isIn: Bool { address & 0x80 != 0 }
}

/// An interface in its first alternate setting, from its descriptors.
package struct USBInterface: Hashable, Sendable {
  /// The number of the interface in requests.
  package let number: UInt8
  /// The class: 3 for HID, 8 for disks.
  package let interfaceClass: UInt8
  /// The endpoints, in the order of their descriptors.
  package var endpoints: [USBEndpoint]

  /// An interface as the device describes it.
  package init(number: UInt8, interfaceClass: UInt8, endpoints: [USBEndpoint] = []) {
    self.number = number
    self.interfaceClass = interfaceClass
    self.endpoints = endpoints
  }

  /// The first endpoint of this kind and direction.
  package func endpoint(_ kind: USBEndpoint.Kind, isIn: Bool) -> USBEndpoint? {
    endpoints.first { $0.kind == kind && $0.isIn == isIn }
  }
}
