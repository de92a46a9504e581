// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SimulatedMeters
import SimulatedUSB
import Subprocess
import TestProgram
import Testing

/// Tests the built program with meters on a simulated bus, through the real libusb.
@Suite struct MeterCommandTests {
  private let program: Program
  private let bus: SimulatedBus

  init() throws {
    program = try Program()
    bus = try SimulatedBus()
  }

  /// The current time in UTC.
  private static var now: DeviceTime { DeviceTime(seconds: Int64(Date().timeIntervalSince1970)) }

  private func meter(
    serial: String = "1234567", clock: DeviceTime = now, variant: SimulatedContour.Variant = .nextLink
  ) throws -> SimulatedContour {
    var memory = SimulatedMemory(clock: clock)
    memory.serial = serial
    memory.items = try [110, 95, 187].enumerated().map { index, value in
      let time = try #require(DeviceTime(year: 2026, month: 5, day: 4, hour: 7 + index))
      return SimulatedItem(at: time, .value(Quantity(Double(value), .milligramsPerDecilitre)))
    }
    return SimulatedContour(memory, variant: variant)
  }

  @discardableResult
  private func plug(_ meter: SimulatedContour, fault: Fault? = nil) throws -> DeviceServer {
    try bus.plug(SimulatedDevice(meter, fault: fault), drivers: [KernelDriver("usbhid", [0])])
  }

  private func run(_ arguments: String...) async throws -> Program.Outcome {
    try await program.run(arguments: arguments, environment: bus.environment)
  }

  private var hasNoStore: Bool { !FileManager.default.fileExists(atPath: program.store) }

  @Test func aMeterReadTwiceIsStoredOnceAndReleased() async throws {
    let server = try plug(try meter())
    let first = try await run("import", "--meter", "--timezone", "UTC", "--json")
    #expect(first.status == 0, "\(first.errors)")
    let report = try #require(try first.objects().first)
    #expect(report["source"] as? String == "meter" && report["new"] as? Int == 3)
    #expect((report["warnings"] as? [String])?.isEmpty == true)
    #expect(server.boundDrivers == [0: "usbhid"])
    let again = try #require(try await run("import", "--meter", "--json").objects().first)
    #expect(again["new"] as? Int == 0 && again["known"] as? Int == 3)
    #expect(try StoreFile(program.store).readings().count == 3)
  }

  @Test func connectedMetersAreListedWithoutWakingThem() async throws {
    let server = try plug(try meter())
    let list = try await run("meter", "list")
    #expect(list.status == 0)
    #expect(list.output == "1-1  1a79:6200  Contour Next Link: driver contour, permission to open it\n")
    let object = try #require(try await run("meter", "list", "--json").objects().first)
    #expect(
      Set(object.keys) == ["port", "usb", "name", "drivers", "shared", "obstacle", "node", "permission"])
    #expect(server.events == [])
  }

  @Test func theIdentityAndClockOfAMeterAreShown() async throws {
    try plug(try meter(clock: DeviceTime(seconds: Self.now.seconds - 3600)))
    try await makeStore()
    let info = try await run("meter", "info")
    #expect(info.status == 0, "\(info.errors)")
    #expect(info.output.contains("1234567") && info.output.contains("  holds 3 readings\n"))
    #expect(info.errors.contains("probably because of daylight-saving time or another zone"))
    let object = try #require(try await run("meter", "info", "--json").objects().first)
    #expect(Set(object.keys) == ["meter", "driver", "port", "count", "clock"])
  }

  @Test func withoutAMeterAMeterCommandReportsThatNoneIsFound() async throws {
    let missing = try await run("import", "--meter")
    #expect(missing.status == 69 && missing.errors.contains("no meter is plugged in"))
    let quiet = try await run("import", "--meter", "--if-present")
    #expect(quiet.status == 0 && quiet.output == "" && quiet.errors == "")
    #expect(try await run("meter", "info").status == 69)
    #expect(try await run("meter", "set-clock").status == 69)
    #expect(try await run("meter", "list").status == 0)
    #expect(try await run("meter", "record", program.path("session")).status == 69)
    #expect(!FileManager.default.fileExists(atPath: program.path("session")))
    #expect(hasNoStore)
  }

  @Test func oneOfTwoMetersIsSelectedByItsSerialNumber() async throws {
    try plug(try meter(serial: "1111111"))
    let second = try meter(serial: "2222222", variant: .next)
    try plug(second)
    let both = try await run("import", "--meter")
    #expect(both.status == 64)
    #expect(both.errors.contains("Contour Next Link at 1-1 (contour), Contour Next at 1-2 (contour)"))
    let one = try await run("import", "--meter", "--serial", second.serialText, "--json")
    let object = try #require(try one.objects().first)
    #expect((object["meter"] as? [String: any Sendable])?["serial"] as? String == second.serialText)
    #expect(try await run("import", "--meter", "--serial", "3333333").status == 69)
  }

  @Test func withoutPermissionTheCommandThatInstallsUdevRulesIsNamed() async throws {
    try plug(try meter())
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: bus.root + "/dev/bus/usb/001/002")
    let outcome = try await program.runUnprivileged("import", "--meter", environment: bus.environment)
    #expect(outcome.status == 77)
    #expect(outcome.errors.contains("glucoport meter udev-rules | sudo tee"))
    let list = try await program.runUnprivileged("meter", "list", environment: bus.environment)
    #expect(list.output.contains("permission denied for /dev/bus/usb/001/002"))
    #expect(list.errors.contains("glucoport meter udev-rules | sudo tee"))
    #expect(hasNoStore)
  }

  @Test func doctorShowsWhetherTheUserMayOpenTheMeter() async throws {
    try plug(try meter())
    let fine = try await run("doctor")
    #expect(fine.output.contains("ok    usb: Contour Next Link at 1-1 may be opened\n"), "\(fine)")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: bus.root + "/dev/bus/usb/001/002")
    let closed = try await program.runUnprivileged("doctor", environment: bus.environment)
    #expect(
      closed.output.contains(
        "fail  usb: Contour Next Link at 1-1: permission denied for /dev/bus/usb/001/002; run: glucoport meter udev-rules"
      ),
      "\(closed)")
    #expect(closed.status != 0 && hasNoStore)
  }

  @Test(arguments: [(Fault.Kind.unplug, 12, Int32(69)), (.silence, 6, 76)])
  func aFailedMeterSessionStoresNothing(_ kind: Fault.Kind, _ packet: Int, _ status: Int32) async throws {
    try plug(try meter(), fault: Fault(kind, at: packet))
    let outcome = try await run("import", "--meter")
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(hasNoStore)
  }

  /// A job starts when a meter is plugged in. A person who unplugs the meter needs no notification, so the
  /// failure is temporary.
  @Test func aJobWhoseMeterIsUnpluggedEndsWithATemporaryFailure() async throws {
    try plug(try meter(), fault: Fault(.unplug, at: 12))
    let outcome = try await run("import", "--meter", "--if-present", "--quiet")
    #expect(outcome.status == 75 && outcome.errors.contains("plug the meter in and retry"), "\(outcome)")
    #expect(hasNoStore)
  }

  @Test func aJobWhoseMeterCannotBeReadEndsWithAPersistentFailure() async throws {
    try plug(try meter(), fault: Fault(.silence, at: 6))
    let silent = try await run("import", "--meter", "--if-present", "--quiet")
    #expect(silent.status == 76 && hasNoStore, "\(silent)")
  }

  @Test func aMeterIsReadAgainAfterAResetByTheKernel() async throws {
    let server = try plug(try meter(), fault: Fault(.reset, at: 12))
    let outcome = try await run("import", "--meter", "--timezone", "UTC", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.objects().first?["new"] as? Int == 3)
    #expect(server.boundDrivers == [0: "usbhid"])
    #expect(try StoreFile(program.store).readings().count == 3)
    // After a reset of the meter, a read is repeated, but the clock is not set a second time.
    let other = SimulatedDevice(try meter(serial: "7654321"), fault: Fault(.reset, at: 12))
    _ = try bus.plug(other, drivers: [KernelDriver("usbhid", [0])])
    #expect(try await run("meter", "set-clock", "--serial", "7654321").status == 69)
  }

  @Test func aRecordedSessionIsImportedLikeTheMeterItself() async throws {
    try plug(try meter())
    let path = program.path("session.transcript")
    let recorded = try await run("meter", "record", path)
    #expect(recorded.status == 0, "\(recorded.errors)")
    #expect(recorded.output.contains("exchanges, 3 readings"))
    #expect(hasNoStore, "recording stores nothing")
    #expect(try await run("meter", "record", path).status == 73)
    let imported = try #require(
      try await run("import", "--timezone", "UTC", "--json", "--transcript", path).objects().first)
    #expect(imported["new"] as? Int == 3)
    let read = try #require(try await run("import", "--meter", "--json").objects().first)
    #expect(read["new"] as? Int == 0 && read["known"] as? Int == 3)
  }

  @Test(arguments: ["import --meter --timezone UTC", "meter record session.transcript"])
  func theProgressOfAMeterReadIsShownOnlyOnATerminal(_ command: String) async throws {
    try plug(try meter())
    let variables = bus.environment.map { "\($0)=\($1)" }.joined(separator: " ")
    let shown = try await program.shell("script -qec 'env \(variables) glucoport \(command)' /dev/null")
    let clear = "\r\u{1B}[K"
    #expect(shown.output.contains("\(clear)Contour Next Link at 1-1: 3 of 3\(clear)"), "\(shown.output)")
    let quiet = try await program.shell(
      "rm -f session.transcript; script -qec 'env \(variables) glucoport \(command) --quiet' /dev/null")
    #expect(quiet.status == 0 && quiet.output == "")
    let piped = try await program.shell("rm -f session.transcript; env \(variables) glucoport \(command)")
    #expect(piped.status == 0 && piped.errors == "" && !piped.output.contains("\r"), "\(piped.errors)")
  }

  @Test func anAnonymisedRecordingHasNoSerialNumberAndNoRealValues() async throws {
    try plug(try meter())
    let path = program.path("session.transcript")
    let recorded = try await run("meter", "record", "--anonymise", path)
    #expect(recorded.status == 0, "\(recorded.errors)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("\nanonymised\n"))
    let serial = "1234567".utf8.map { String($0, radix: 16) }.joined()
    #expect(!text.contains(serial))
    let imported = try await run("import", "--timezone", "UTC", "--transcript", path)
    #expect(imported.status == 0 && imported.output.contains("new 3 "), "\(imported.errors)")
    #expect(!(try await run("list").output.contains("187")))
  }

  @Test func aFailedMeterSessionKeepsItsTranscript() async throws {
    try plug(try meter(), fault: Fault(.unplug, at: 12))
    let path = program.path("session.transcript")
    let outcome = try await run("meter", "record", path)
    #expect(outcome.status == 69)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("glucoport-transcript 1\ndriver contour\nusb 1a79:6200\n"))
    #expect(text.contains("! unplugged\n"))
  }

  @Test func theMeterClockIsSetToTheLocalTimeOnRequest() async throws {
    let meter = try meter(clock: DeviceTime(seconds: Self.now.seconds - 40 * 86400))
    try plug(meter)
    try await makeStore()
    let outcome = try await run("meter", "set-clock")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains(", the local time in UTC\n"))
    #expect(outcome.output.contains("it showed"))
    #expect(abs(meter.memory.clock.seconds - Self.now.seconds) < 300)
  }

  @Test func anInterruptedMeterReadStoresNothingAndReleasesTheMeter() async throws {
    let server = try plug(try meter(), fault: Fault(.silence, at: 6))
    let (outcome, _) = try await program.run("import", "--meter", environment: bus.environment) { process in
      _ = try await eventually(within: .seconds(60)) { server.steps > 6 }
      try process.send(signal: .interrupt)
      try await process.standardInputWriter.finish()
    }
    #expect(outcome.status == 130, "\(outcome.errors)")
    #expect(server.boundDrivers == [0: "usbhid"])
    #expect(hasNoStore)
  }

  /// Makes a store in UTC.
  private func makeStore() async throws {
    let sample = "time,glucose\n2025-06-01T10:00:00,100\n"
    let path = try program.write(sample, to: "a.csv")
    let outcome = try await program.run("import", "--timezone", "UTC", "--unit", "mg/dL", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }
}
