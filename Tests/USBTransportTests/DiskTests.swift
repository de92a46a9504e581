// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedUSB
import Testing

/// Tests SCSI commands over the bulk-only transport through the real libusb.
struct DiskTests {
  private static let read = "command=28000000000100000100:512"
  private static let block = "ok " + String(repeating: "01", count: 512)

  private func run(_ meter: DiskMeter, fault: Fault? = nil, _ steps: String...) throws -> [String] {
    let bus = try SimulatedBus()
    let server = try bus.plug(
      SimulatedDevice(meter, fault: fault), drivers: [KernelDriver("usb-storage", [0])])
    let lines = try Probe(bus, ["1234:5678", "disk"] + steps).lines()
    if fault?.kind != .unplug { #expect(server.boundDrivers == [0: "usb-storage"]) }
    return lines
  }

  @Test func aDiskBlockIsReadAndWritten() throws {
    let meter = DiskMeter()
    let new = String(repeating: "C3", count: 512)
    let lines = try run(meter, Self.read, "write=2A000000000100000100:\(new)", Self.read)
    #expect(lines == [Self.block, "ok ", "ok \(new)"])
    #expect(meter.blocks[1].allSatisfy { $0 == 0xC3 })
  }

  @Test func aShortDiskReadReturnsOnlyTheBytesThatTheResidueLeaves() throws {
    #expect(try run(DiskMeter(.shortRead), Self.read) == ["ok " + String(repeating: "01", count: 100)])
  }

  @Test func aRefusedDiskCommandIsReportedAsStalledAndTheNextOneSucceeds() throws {
    #expect(try run(DiskMeter(.refusal), Self.read, Self.read) == ["error stalled", Self.block])
    #expect(try run(DiskMeter(), "command=FF0000000000:0", Self.read) == ["error stalled", Self.block])
  }

  @Test func aDiskCommandIsRepeatedAfterAUnitAttention() throws {
    #expect(try run(DiskMeter(.attention), Self.read) == [Self.block])
  }

  @Test(arguments: [DiskMeter.Quirk.wrongSignature, .wrongTag, .phaseError, .missingStatus])
  func anInvalidCommandStatusResetsTheDisk(quirk: DiskMeter.Quirk) throws {
    let meter = DiskMeter(quirk)
    let lines = try run(meter, Self.read + "@50", Self.read)
    #expect(lines.first?.hasPrefix("error ") == true)
    #expect(lines.last == Self.block)
    #expect(meter.resets == 1)
  }

  @Test func aStallInsteadOfTheDiskStatusIsClearedOnce() throws {
    let meter = DiskMeter()
    #expect(try run(meter, fault: Fault(.stall, at: 1), Self.read) == [Self.block])
    #expect(meter.resets == 0)
  }

  @Test(arguments: 1..<4) func unpluggingADiskDuringACommandIsReported(packet: Int) throws {
    let lines = try run(DiskMeter(), fault: Fault(.unplug, at: packet), Self.read, Self.read)
    #expect(lines.last == "error unplugged")
  }

  @Test func aSilentDiskTimesOutAtTheDeadline() throws {
    #expect(try run(DiskMeter(), fault: Fault(.silence, at: 0), Self.read + "@30") == ["error timedOut"])
  }

  @Test(arguments: [Fault(.shorten, at: 0), Fault(.shorten, at: 1), Fault(.extra, at: 0)])
  func aDiskTransferOfTheWrongLengthIsRefused(fault: Fault) throws {
    let lines = try run(DiskMeter(), fault: fault, Self.read + "@50")
    #expect(lines.first?.hasPrefix("error ") == true)
  }
}
