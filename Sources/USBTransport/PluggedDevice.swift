// SPDX-License-Identifier: Apache-2.0

/// A device at the USB bus, as it can be seen without opening it: listing wakes no meter and needs no permission.
public struct PluggedDevice: Hashable, Sendable {
  /// The number of the bus.
  public var bus: UInt8
  /// The number that the kernel gave the device when it was plugged in; another one each time.
  public var address: UInt8
  /// Where it is plugged in, as the kernel names it: `1-1.4`.
  public var port: String
  /// The USB vendor id.
  public var vendorID: UInt16
  /// The USB product id.
  public var productID: UInt16
  /// Who made it, in its own words; empty where it does not say. Hostile text: strip it before it is shown.
  public var manufacturer = ""
  /// What it is, in its own words; empty where it does not say. Hostile text.
  public var product = ""
  /// The serial number of the USB chip, which is not always the meter's; empty without one. Hostile text.
  public var serial = ""
  /// The classes of its interfaces; empty where the system does not say. 2 is a serial line, 3 HID, 8 a disk.
  public var interfaceClasses: Set<UInt8> = []
  /// The drivers of the kernel that hold its interfaces: `usbhid`.
  public var kernelDrivers: [String] = []
  /// The file that has to be opened for a session with it: `/dev/bus/usb/001/002`.
  public var node: String
  /// The terminal that the kernel's driver made of it, if one did: `/dev/ttyUSB0`.
  public var terminal: String?
  /// Whether this process may open the node.
  public var mayOpenNode = false
  /// Whether this process may open the terminal.
  public var mayOpenTerminal = false

  /// A device that says nothing of itself.
  package init(bus: UInt8, address: UInt8, port: String, vendorID: UInt16, productID: UInt16, node: String) {
    self.bus = bus
    self.address = address
    self.port = port
    self.vendorID = vendorID
    self.productID = productID
    self.node = node
  }

  /// Whether this is the other device at the same plug since the same moment: an address is given again each time.
  func isSame(as other: PluggedDevice) -> Bool {
    (bus, address, port, vendorID, productID)
      == (other.bus, other.address, other.port, other.vendorID, other.productID)
  }
}
