// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import SimulatedUSB
import Testing

/// Tests exchanges of every link through the real libusb, successful and failing.
struct LinkTests {
  private func run(_ meter: EchoMeter, _ link: String, fault: Fault? = nil, _ steps: String...) throws
    -> [String]
  {
    let bus = try SimulatedBus()
    try bus.plug(SimulatedDevice(meter, fault: fault))
    return try Probe(bus, ["1234:5678", link] + steps).lines()
  }

  private func padded(_ digits: String, to count: Int = 64) -> String {
    "ok " + digits + String(repeating: "0", count: 2 * count - digits.count)
  }

  // MARK: HID

  @Test(arguments: [true, false])
  func aHIDReportIsPaddedToTheSizeOfAPacket(hasOutput: Bool) throws {
    let lines = try run(.hid(output: hasOutput), "hid", "send=020A", "receive=64", "receive=64")
    #expect(lines == ["ok ", padded("020A"), padded("020A")])
  }

  @Test func aHIDReportLongerThanAPacketIsNotSent() throws {
    let lines = try run(.hid(), "hid", "send=" + String(repeating: "01", count: 65))
    #expect(lines == ["error failed(\"a report of 65 bytes, but at most 64 fit\")"])
  }

  @Test func hidFeatureReportsBeginWithTheirID() throws {
    let meter = EchoMeter.hid()
    #expect(try run(meter, "hid", "set-feature=410203", "feature=46:3") == ["ok ", "ok 46AABB"])
    #expect(meter.features == [[0x41, 2, 3]])
  }

  @Test func hidReportsSentBeforeTheyAreReadAreNotLost() throws {
    let steps = ["send=1F"] + Array(repeating: "receive=64", count: 31) + ["receive=64@20"]
    let bus = try SimulatedBus()
    try bus.plug(SimulatedDevice(EchoMeter.hid()))
    let lines = try Probe(bus, ["1234:5678", "hid"] + steps).lines()
    #expect(lines == ["ok "] + Array(repeating: padded("1F"), count: 31) + ["error timedOut"])
  }

  @Test func unreadHIDReportsAreDiscardedOnRequest() throws {
    #expect(
      try run(.hid(), "hid", "send=03", "receive=64", "discard", "receive=64@20")
        == ["ok ", padded("03"), "ok ", "error timedOut"])
  }

  @Test func aCommandThatALinkDoesNotSupportIsReportedAsUnsupported() throws {
    #expect(
      try run(.hid(), "hid", "line=9600", "command=12:36") == ["error unsupported", "error unsupported"])
  }

  // MARK: Every link

  @Test(arguments: ["hid", "bulk", "cdc"])
  func aSilentUSBDeviceTimesOutAtTheDeadline(link: String) throws {
    let start = ContinuousClock.now
    let lines = try run(meter(link), link, "receive=64@30", "send=01", "receive=64")
    #expect(lines.count == 3)
    #expect(lines.first == "error timedOut")
    #expect(lines.last?.hasPrefix("ok 01") == true, "what comes after a timeout is not lost")
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test(arguments: ["hid", "bulk", "cdc"])
  func aStalledUSBAnswerIsReportedOnceAndTheNextOneArrives(link: String) throws {
    let lines = try run(meter(link), link, fault: Fault(.stall, at: 0), "send=01", "receive=64", "receive=64")
    #expect(lines.count == 3)
    #expect(lines[1] == "error stalled")
    #expect(lines[2].hasPrefix("ok 01"))
  }

  @Test(arguments: ["hid", "bulk", "cdc"])
  func aRefusedUSBPacketIsReportedAsStalled(link: String) throws {
    let lines = try run(meter(link), link, "send=EE", "send=01", "receive=64")
    #expect(lines.first == "error stalled")
    #expect(lines.last?.hasPrefix("ok 01") == true)
  }

  @Test(arguments: ["hid", "bulk", "cdc"], [1, 2])
  func unpluggingADeviceEndsEveryExchange(link: String, packet: Int) throws {
    // Opening a serial line first sends two requests.
    let before = link == "cdc" ? 2 : 0
    let lines = try run(
      meter(link), link, fault: Fault(.unplug, at: before + packet), "send=01", "receive=64", "receive=64",
      "send=01")
    #expect(lines.suffix(2) == ["error unplugged", "error unplugged"])
    #expect(lines.count == 4)
  }

  @Test(arguments: ["hid", "bulk", "cdc", "cp2110"])
  func aDeviceThatIsUnpluggedBeforeOpeningIsReported(link: String) throws {
    let lines = try run(meter(link), link, fault: Fault(.unplug, at: 0), "send=01")
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("failure unavailable: opening the meter: ") == true)
  }

  @Test(arguments: ["hid", "bulk", "cdc"])
  func aSignalEndsTheExchangeAndReattachesTheKernelDriver(link: String) throws {
    let bus = try SimulatedBus()
    let server = try bus.plug(SimulatedDevice(meter(link)), drivers: [KernelDriver("usbhid", [0])])
    let probe = try Probe(bus, ["1234:5678", link, "send=00", "receive=64@50000", "send=01", "receive=64"])
    #expect(probe.firstOutput() == "ok \n")
    let start = ContinuousClock.now
    kill(probe.process.processIdentifier, SIGINT)
    let lines = try probe.lines()
    #expect(lines.count == 3)
    #expect(lines.first == "error interrupted")
    #expect(lines.last?.hasPrefix("ok 01") == true, "the good-bye has its time")
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(server.boundDrivers == [0: "usbhid"])
  }

  // MARK: Bulk

  @Test func aUSBBulkMessageOfManyPacketsIsOneTransfer() throws {
    let message = "01" + String(repeating: "5A", count: 470)
    #expect(try run(.bulk(), "bulk", "send=\(message)", "receive=1024") == ["ok ", "ok \(message)"])
  }

  @Test func moreUSBBytesThanRequestedAreReportedAsAnOverflow() throws {
    let message = "01" + String(repeating: "5A", count: 99)
    #expect(try run(.bulk(), "bulk", "send=\(message)", "receive=64") == ["ok ", "error overflow"])
    #expect(try run(.bulk(), "bulk", "send=0102030405", "receive=3") == ["ok ", "error overflow"])
  }

  // MARK: Serial lines

  @Test func aCDCSerialLineIsConfiguredAndReleased() throws {
    let meter = EchoMeter.cdc()
    #expect(
      try run(meter, "cdc", "line=115200", "send=01020304", "receive=2", "receive=64", "discard").last
        == "ok ")
    #expect(
      meter.features == [
        [0, 0x4B, 0, 0, 0, 0, 8], [3], [0, 0xC2, 1, 0, 0, 0, 8], [0],
      ])
  }

  @Test func bytesOfASerialLineAreReadInPiecesOfAnySize() throws {
    #expect(
      try run(.cdc(), "cdc", "send=01020304", "receive=2", "receive=64", "receive=1@20")
        == ["ok ", "ok 0102", "ok 0304", "error timedOut"])
  }

  @Test func aSerialChipIsConfiguredEnabledAndDisabled() throws {
    let meter = EchoMeter.hid()
    #expect(try run(meter, "cp2110", "send=51", "receive=64") == ["ok ", "ok 51"])
    #expect(
      meter.features == [
        [0x50, 0, 0, 0x4B, 0, 0, 0, 3, 0], [0x41, 1], [0x43, 3], [0x41, 0],
      ])
  }

  @Test func aReportOfASerialChipCarriesAtMost63Bytes() throws {
    let meter = EchoMeter.hid()
    let sent = String(repeating: "AA", count: 64)
    // The device echoes the report of 63 bytes 31 times, and the report of one byte once.
    let lines = try run(meter, "cp2110", "send=\(sent)", "receive=64", "receive=7")
    #expect(
      lines == ["ok ", "ok " + String(repeating: "AA", count: 63), "ok " + String(repeating: "AA", count: 7)])
  }

  @Test func anInvalidReportOfASerialChipIsRefused() throws {
    let sent = "send=" + String(repeating: "51", count: 65)
    #expect(
      try run(.hid(), "cp2110", fault: Fault(.shorten, at: 0), sent, "receive=64")
        == ["ok ", "error failed(\"the serial chip sent a damaged report\")"])
  }

  // MARK: Terminals

  @Test func aTerminalIsConfiguredAndItsSettingsAreRestored() throws {
    let bus = try SimulatedBus()
    let terminal = try bus.plug(EchoLine(), vendorID: 0x10C4, productID: 0x85A7)
    let before = terminal.settings
    #expect(
      try Probe.run(
        bus, "10C4:85A7", "terminal", "send=0D0A03", "receive=1", "line=9600", "receive=1@20", "send=55",
        "receive=8"
      )
      .first == "ok ")
    #expect(terminal.settings == before)
    #expect(terminal.isCooked)
  }

  @Test func aTerminalReturnsReceivedBytesAndTimesOut() throws {
    let bus = try SimulatedBus()
    try bus.plug(EchoLine(), vendorID: 0x10C4, productID: 0x85A7)
    let lines = try Probe.run(
      bus, "10C4:85A7", "terminal", "send=0D0A0311", "receive=4", "receive=1@20", "line=9600", "send=55",
      "receive=8",
      "set-feature=01")
    #expect(lines == ["ok ", "ok 0D0A0311", "error timedOut", "ok ", "ok ", "ok FF", "error unsupported"])
  }

  @Test func aUSBDeviceWithoutATerminalIsReportedAsUnavailable() throws {
    #expect(try run(.hid(), "terminal", "send=01").first?.hasPrefix("failure unavailable: ") == true)
  }

  private func meter(_ link: String) -> EchoMeter {
    switch link {
    case "hid", "cp2110": .hid()
    case "bulk": .bulk()
    default: .cdc()
    }
  }
}
