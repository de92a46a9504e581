// SPDX-License-Identifier: Apache-2.0

/// An endpoint as its descriptor has it.
package struct USBEndpoint: Hashable, Sendable {
  /// How bytes go over it.
  package enum Kind: UInt8, Sendable { case control, isochronous, bulk, interrupt }

  /// The address; bit 7 is set where the device sends.
  package let address: UInt8
  /// How bytes go over it.
  package let kind: Kind
  /// The most bytes of one packet.
  package let packetSize: Int

  /// An endpoint with the fields of its descriptor.
  package init(address: UInt8, attributes: UInt8, maxPacketSize: UInt16) {
    self.address = address
    kind = Kind(rawValue: attributes & 3) ?? .control
    packetSize = max(1, Int(maxPacketSize & 0x7FF))
  }

  /// Whether the device sends over it.
  package var isIn: Bool { address & 0x80 != 0 }
}

/// An interface in its first setting, as its descriptors have it.
package struct USBInterface: Hashable, Sendable {
  /// Its number, which requests to it name.
  package let number: UInt8
  /// The class: 3 for HID, 8 for disks.
  package let interfaceClass: UInt8
  /// The endpoints, in the order of their descriptors.
  package var endpoints: [USBEndpoint]

  /// An interface with these endpoints.
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
