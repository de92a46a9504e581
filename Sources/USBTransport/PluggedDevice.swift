// SPDX-License-Identifier: Apache-2.0

/// A device on the USB bus, as seen without opening it. Listing wakes no meter and needs no permission.
public struct PluggedDevice: Hashable, Sendable {
  /// The number of the bus.
  public var bus: UInt8
  /// The number that the kernel assigned at this plug-in; each plug-in has a new one.
  public var address: UInt8
  /// The port where it is plugged in, in the kernel's notation: `1-1.4`.
  public var port: String
  /// The USB vendor id.
  public var vendorID: UInt16
  /// The USB product id.
  public var productID: UInt16
  /// The manufacturer that the device states; may be empty. Hostile text: remove control characters before display.
  public var manufacturer = ""
  /// The product that the device states; may be empty. Hostile text.
  public var product = ""
  /// The serial number of the USB chip, which may differ from the meter's; may be empty. Hostile text.
  public var serial = ""
  /// The classes of its interfaces; empty if the system does not report them. 2 is a serial line, 3 HID, 8 a disk.
  public var interfaceClasses: Set<UInt8> = []
  /// The kernel drivers bound to its interfaces: `usbhid`.
  public var kernelDrivers: [String] = []
  /// The file to open for a session with it: `/dev/bus/usb/001/002`.
  public var node: String
  /// The terminal of the kernel's driver, if there is one: `/dev/ttyUSB0`.
  public var terminal: String?
  /// Whether this process may open the node.
  public var mayOpenNode = false
  /// Whether this process may open the terminal.
  public var mayOpenTerminal = false

  /// A device without descriptions.
  package init(bus: UInt8, address: UInt8, port: String, vendorID: UInt16, productID: UInt16, node: String) {
    self.bus = bus
    self.address = address
    self.port = port
    self.vendorID = vendorID
    self.productID = productID
    self.node = node
  }

  /// Whether both are the same device since the same plug-in. The kernel assigns a new address at each plug-in.
  func isSame(as other: PluggedDevice) -> Bool {
    (bus, address, port, vendorID, productID)
      == (other.bus, other.address, other.port, other.vendorID, other.productID)
  }
}
