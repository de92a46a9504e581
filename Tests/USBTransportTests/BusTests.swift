// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import SimulatedUSB
import Testing

/// Tests listing and opening through the real libusb.
struct BusTests {
  @Test func theUSBBusIsListedWithoutOpeningADevice() throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.hid()), drivers: [KernelDriver("usbhid", [0])])
    try bus.plug(SilentLine(), vendorID: 0x10C4, productID: 0x85A7)
    let lines = try Probe.run(bus, "list")
    #expect(
      lines == [
        "1-1 1234:5678 'Maker' 'Echo' 'E-1' [usbhid] /dev/bus/usb/001/002 true - 03",
        "1-2 10C4:85A7 'Silicon Labs' 'USB to UART Bridge Controller' '' [cp210x] /dev/bus/usb/001/003 true /dev/ttyUSB0 FF",
      ])
    #expect(server.events == [])
  }

  @Test func anEmptyUSBBusHasNoDevices() throws {
    #expect(try Probe.run(try SimulatedBus(), "list") == [])
  }

  @Test func withoutUSBPermissionTheErrorNamesTheCommandThatGrantsIt() throws {
    let bus = try SimulatedBus()
    try bus.plug(SimulatedDevice(EchoMeter.hid()))
    chmod(bus.root + "/dev/bus/usb/001/002", 0)
    let lines = try Probe.run(bus, "1234:5678", "hid", "send=01", isUnprivileged: true)
    try #require(lines.count == 1)
    #expect(
      lines[0].hasPrefix(
        "failure permission: opening the meter: Permission denied: /dev/bus/usb/001/002; run: "))
    #expect(lines[0].contains("glucoport meter udev-rules | sudo tee"))
    #expect(try Probe.run(bus, "list", isUnprivileged: true).first?.contains("/002 false") == true)
  }

  @Test(arguments: ["bulk", "disk", "cdc"])
  func aUSBDeviceWithoutTheRequestedInterfaceIsNotTouched(link: String) throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.hid()), drivers: [KernelDriver("usbhid", [0])])
    let lines = try Probe.run(bus, "1234:5678", link, "send=01")
    #expect(
      lines.first?.hasPrefix("failure protocolViolation: opening the meter: the device has no ") == true)
    #expect(server.boundDrivers == [0: "usbhid"])
    #expect(server.events == [])
  }

  @Test func theKernelDriverIsDetachedForASessionAndReattached() throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.hid()), drivers: [KernelDriver("usbhid", [0])])
    #expect(try Probe.run(bus, "1234:5678", "hid", "send=01", "receive=64").count == 2)
    #expect(server.events == ["detach 0", "claim 0", "release 0", "attach 0"])
    #expect(server.boundDrivers == [0: "usbhid"])
  }

  @Test func theKernelDriverIsReattachedIfTheSessionFails() throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.hid()), drivers: [KernelDriver("usbhid", [0])])
    #expect(
      try Probe.run(bus, "1234:5678", "hid", "send=01", "nonsense").last == "failure usage: no step: nonsense"
    )
    #expect(server.events.suffix(2) == ["release 0", "attach 0"])
  }

  @Test func aKernelDriverOfTwoInterfacesIsReattachedToBoth() throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.cdc()), drivers: [KernelDriver("cdc_acm", [0, 1])])
    #expect(try Probe.run(bus, "1234:5678", "cdc", "send=02", "receive=1") == ["ok ", "ok 02"])
    #expect(server.events.filter { $0.contains("tach") } == ["detach 0", "attach 0"])
    #expect(server.boundDrivers == [0: "cdc_acm", 1: "cdc_acm"])
  }

  @Test func theUSBConfigurationIsNeverSetByASession() throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(EchoMeter.bulk()))
    _ = try Probe.run(bus, "1234:5678", "bulk", "send=01")
    #expect(!server.events.contains("set-configuration"))
  }
}
