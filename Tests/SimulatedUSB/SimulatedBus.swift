// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import SimulatedMeters

/// A USB bus of simulated devices for one program under test. It has files like those of the kernel, and for
/// each device file a server that answers calls as the kernel does.
///
/// The program must be started with `environment`, so that umockdev's library sends its calls to this bus.
/// Only that program sees the simulated bus, not this process.
package final class SimulatedBus {
  /// The folder of the simulated files. It is short, because a socket's path in it must fit 108 bytes.
  package let root: String

  private var servers: [DeviceServer] = []
  private var terminals: [SimulatedTerminal] = []

  package init() throws {
    var template = Array("/tmp/gpXXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // A program under test may run as another user, and the library creates a socket in this folder.
    chmod(root, 0o777)
    try folder("sys/bus/usb/devices")
    try folder("dev/bus/usb/001")
    try folder("ioctl/dev/bus/usb/001")
  }

  deinit { remove() }

  /// The environment variables for the program under test.
  package var environment: [String: String] {
    ["LD_PRELOAD": "libumockdev-preload.so.0", "UMOCKDEV_DIR": root]
  }

  /// Plugs a device in.
  ///
  /// - Parameter drivers: the kernel's drivers that use interfaces. The interfaces of a driver are detached
  ///   together.
  @discardableResult
  package func plug(
    _ device: SimulatedDevice, drivers: [KernelDriver] = []
  ) throws -> DeviceServer {
    let place = try describe(device, drivers)
    try file("dev/bus/usb/001/\(place.node)", "")
    chmod("\(root)/dev/bus/usb/001/\(place.node)", 0o666)
    let server = try DeviceServer(
      device, drivers: drivers, socket: "\(root)/ioctl/dev/bus/usb/001/\(place.node)")
    servers.append(server)
    return server
  }

  /// Plugs in a device whose kernel driver provides a terminal.
  @discardableResult
  package func plug(
    _ line: any SimulatedLine, vendorID: UInt16, productID: UInt16
  ) throws -> SimulatedTerminal {
    let device = SimulatedDevice(TerminalChip(vendorID: vendorID, productID: productID))
    let place = try describe(device, [KernelDriver("cp210x", [0])])
    try file("dev/bus/usb/001/\(place.node)", "")
    let name = "ttyUSB\(terminals.count)"
    let terminal = try SimulatedTerminal(line, socket: "\(root)/ioctl/dev/\(name)")
    try folder("\(place.folder)/\(place.port):1.0/\(name)")
    try link("dev/\(name)", to: terminal.path)
    terminals.append(terminal)
    return terminal
  }

  /// Stops the servers and removes the folder.
  package func remove() {
    for server in servers { server.stop() }
    for terminal in terminals { terminal.stop() }
    servers = []
    terminals = []
    // The folder is in /tmp and may remain there if it cannot be removed.
    try? FileManager.default.removeItem(atPath: root)
  }
}

/// A driver of the kernel for interfaces of a device. It is detached from all of them, or attached to all.
package struct KernelDriver: Hashable, Sendable {
  package let name: String
  /// The numbers of the interfaces. The kernel binds the driver to the device through the first one.
  package let interfaces: [UInt8]

  package init(_ name: String, _ interfaces: [UInt8]) {
    self.name = name
    self.interfaces = interfaces
  }
}

extension SimulatedBus {
  private struct Place {
    let port: String
    let node: String
    let folder: String
  }

  private func describe(_ device: SimulatedDevice, _ drivers: [KernelDriver]) throws -> Place {
    let number = servers.count + terminals.count + 1
    let port = "1-\(number)"
    let node = String(format: "%03d", number + 1)
    let place = Place(port: port, node: node, folder: "sys/devices/usb1/\(port)")
    try folder(place.folder)
    try link("sys/bus/usb/devices/\(port)", to: "../../../devices/usb1/\(port)")
    try link("\(place.folder)/subsystem", to: "../../../bus/usb")
    try file(
      "\(place.folder)/uevent",
      "DEVTYPE=usb_device\nDEVNAME=bus/usb/001/\(node)\nMAJOR=189\nMINOR=\(number)\n")
    let files = [
      "busnum": "1", "devnum": "\(number + 1)", "speed": "12", "bConfigurationValue": "1",
      "manufacturer": device.string(at: 14), "product": device.string(at: 15),
      "serial": device.string(at: 16),
    ]
    for (name, text) in files {
      if let text { try file("\(place.folder)/\(name)", text + "\n") }
    }
    let descriptors = Data(device.meter.deviceDescriptor + device.meter.configurationDescriptor)
    try descriptors.write(to: URL(filePath: "\(root)/\(place.folder)/descriptors"))
    for driver in drivers {
      for interface in driver.interfaces {
        try folder("\(place.folder)/\(port):1.\(interface)")
        try link(
          "\(place.folder)/\(port):1.\(interface)/driver", to: "../../../../bus/usb/drivers/\(driver.name)")
      }
    }
    return place
  }

  private func folder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: "\(root)/\(path)", withIntermediateDirectories: true)
  }

  private func file(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(root)/\(path)"))
  }

  private func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(root)/\(path)", withDestinationPath: target)
  }
}
