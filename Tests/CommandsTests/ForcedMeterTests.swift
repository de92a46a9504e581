// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SimulatedMeters
import SimulatedUSB
import TestProgram
import Testing

/// Tests the built program with connected meters whose USB ids no driver lists.
@Suite struct ForcedMeterTests {
  private let program: Program
  private let bus: SimulatedBus

  init() throws {
    program = try Program()
    bus = try SimulatedBus()
  }

  private func memory(serial: String = "SIM123456") throws -> SimulatedMemory {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: Int64(Date().timeIntervalSince1970)))
    memory.serial = serial
    memory.items = try [110, 95, 187].enumerated().map { index, value in
      let time = try #require(DeviceTime(year: 2026, month: 5, day: 4, hour: 7 + index))
      return SimulatedItem(at: time, .value(Quantity(Double(value), .milligramsPerDecilitre)))
    }
    return memory
  }

  /// Connects a meter through a serial cable whose chip is too new to be listed.
  private func plugCable(serial: String = "SIM123456") throws {
    try bus.plug(SimulatedUltraEasy(memory(serial: serial)), vendorID: 0x0403, productID: 0x6015)
  }

  private func plug(_ meter: any SimulatedMeter, _ vendorID: UInt16, _ productID: UInt16) throws {
    try bus.plug(SimulatedDevice(RenumberedMeter(meter, vendorID: vendorID, productID: productID)))
  }

  private func run(_ line: String) async throws -> Program.Outcome {
    try await program.run(
      arguments: line.split(separator: " ").map(String.init), environment: bus.environment)
  }

  private func stored() throws -> Int? { try StoreFile(program.store).count("reading") }

  @Test func aMeterCableWithAnUnknownChipIsReadByTheGivenDriver() async throws {
    try plugCable()
    let unforced = try await run("import --meter --driver onetouch-ultraeasy")
    #expect(unforced.status == 69 && unforced.errors.contains("--usb"), "\(unforced)")
    let outcome = try await run(
      "import --meter --driver onetouch-ultraeasy --usb 0403:6015 --timezone UTC --json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.objects().first?["new"] as? Int == 3)
    #expect(try stored() == 3)
  }

  @Test func allMeterCommandsWorkForANewModelWithAGivenDriverAndUSBID() async throws {
    let meter = SimulatedContour(try memory(serial: "1234567"), variant: .nextLink)
    try plug(meter, 0x1A79, 0x7FFF)
    let chosen = "--driver contour --usb 1a79:7fff"
    #expect(try await run("meter list").output == "")
    let info = try await run("meter info \(chosen)")
    #expect(info.status == 0 && info.output.contains("1234567"), "\(info.errors)")
    #expect(try await run("meter set-clock \(chosen)").status == 0)
    let path = program.path("session.transcript")
    let recorded = try await run("meter record \(chosen) \(path)")
    #expect(recorded.status == 0, "\(recorded.errors)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("glucoport-transcript 1\ndriver contour\nusb 1a79:7fff\nstarted "))
    #expect(text.split(separator: "\n")[4] == "link hid")
    let imported = try await run("import --timezone UTC --json --transcript \(path)")
    #expect(try imported.objects().first?["new"] as? Int == 3, "\(imported.errors)")
    let read = try await run("import --meter \(chosen) --json")
    #expect(try read.objects().first?["known"] as? Int == 3, "\(read.errors)")
  }

  @Test func aGivenUSBIDThatTheDriverKnowsKeepsItsModelName() async throws {
    try bus.plug(SimulatedDevice(SimulatedContour(memory(serial: "1234567"), variant: .nextLink)))
    let outcome = try await run("meter info --driver contour --usb 1A79:6200@1-1")
    #expect(outcome.status == 0 && outcome.output.contains("Contour Next Link at 1-1"), "\(outcome)")
  }

  @Test func theGivenUSBPortSelectsOneOfTwoEqualDevices() async throws {
    try plugCable(serial: "SIM111111")
    try plugCable(serial: "SIM222222")
    let chosen = "meter info --driver onetouch-ultraeasy --usb 0403:6015"
    let both = try await run(chosen)
    #expect(both.status == 64 && both.errors.contains("at 1-2"), "\(both)")
    let second = try await run("\(chosen)@1-2 --json")
    let object = try #require(try second.objects().first?["meter"] as? [String: any Sendable])
    #expect(object["serial"] as? String == "SIM222222", "\(second)")
    #expect(try await run("\(chosen)@1-3").status == 69)
  }

  @Test func aGivenUSBDeviceThatIsMissingIsReportedAsUnavailable() async throws {
    try plugCable()
    for command in ["import --meter", "meter info", "meter set-clock", "meter record session"] {
      let outcome = try await run("\(command) --driver onetouch-ultraeasy --usb 067b:23a3")
      #expect(
        outcome.status == 69 && outcome.errors.contains("no device 067b:23a3 is plugged in"), "\(outcome)")
    }
    let quiet = try await run("import --meter --if-present --driver onetouch-ultraeasy --usb 067b:23a3")
    #expect(quiet.status == 0 && quiet.output + quiet.errors == "", "\(quiet)")
  }

  @Test(arguments: [
    "--usb 0403:6015", "--driver contour --usb 0403", "--driver contour --usb 0403:60155",
    "--driver contour --usb 403:6015", "--driver contour --usb 0x403:6015",
    "--driver contour --usb 0403:6015@",
    "--driver contour --usb 0403:6015@ttyUSB0", "--driver contour --usb 0403:6015@1-1@1-2",
    "--driver contour --usb 0403:6015:1", "--driver contour --usb :6015", "--driver contour --usb 04g3:6015",
  ])
  func anInvalidUSBOptionIsAUsageError(_ options: String) async throws {
    #expect(try await run("meter info \(options)").status == 64)
  }

  @Test func anImportOfFilesRefusesTheUSBOption() async throws {
    try program.write(GeneratedExport.csv(rows: 1), to: "a.csv")
    let outcome = try await run("import --driver contour --usb 0403:6015 \(program.path("a.csv"))")
    #expect(outcome.status == 64 && outcome.errors.contains("--usb"), "\(outcome)")
  }

  @Test func aDriverThatCannotReadTheTypeOfTheDeviceIsRefused() async throws {
    try plugCable()
    for (driver, links) in [("freestyle-libre", "HID devices"), ("onetouch-verio", "disks")] {
      let outcome = try await run("meter info --driver \(driver) --usb 0403:6015")
      #expect(outcome.status == 64, "\(outcome)")
      #expect(
        outcome.errors.contains("the driver '\(driver)' reads \(links); 0403:6015 at 1-1 is not one"),
        "\(outcome)")
    }
    try plug(SimulatedContour(memory(serial: "1"), variant: .nextLink), 0x1234, 1)
    let outcome = try await run("meter info --driver onetouch-ultra2 --usb 1234:0001")
    #expect(outcome.status == 64 && outcome.errors.contains("reads serial lines"), "\(outcome)")
  }

  /// A disk of another manufacturer may contain a person's files. A request that the driver writes to the
  /// disk would overwrite them.
  @Test func theGivenDriverDoesNotWriteToADiskOfAnotherManufacturer() async throws {
    try plug(SimulatedOneTouchDisk(memory()), 0x0781, 0x5567)
    let outcome = try await run("import --meter --driver onetouch-verio --usb 0781:5567")
    #expect(outcome.status == 76 && outcome.errors.contains("nothing was written to it"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func withoutPermissionTheMessageNamesTheUdevRuleForTheDevice() async throws {
    try plug(SimulatedContour(memory(serial: "1"), variant: .nextLink), 0x1234, 1)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: bus.root + "/dev/bus/usb/001/002")
    let outcome = try await program.runUnprivileged(
      "meter", "info", "--driver", "contour", "--usb", "1234:0001", environment: bus.environment)
    #expect(outcome.status == 77, "\(outcome)")
    #expect(outcome.errors.contains("glucoport meter udev-rules --usb 1234:0001 | sudo tee"), "\(outcome)")
    let rules = try await run("meter udev-rules --usb 1234:0001")
    #expect(rules.output.contains(#"ATTR{idVendor}=="1234", ATTR{idProduct}=="0001", MODE="0660""#))
    #expect(try await run("meter udev-rules --usb 1234:0001@1-1").status == 64)
  }
}
