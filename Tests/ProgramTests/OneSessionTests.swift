// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SimulatedMeters
import SimulatedUSB
import TestProgram
import Testing

/// Tests the built program with meters that allow one association after each plug-in.
@Suite struct OneSessionTests {
  private let program: Program
  private let bus: SimulatedBus

  init() throws {
    program = try Program()
    bus = try SimulatedBus()
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  /// Plugs in a Guide whose clock is one day slow.
  @discardableResult
  private func plug(serial: String) throws -> SimulatedRochePHDC {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: Self.now - 86400))
    memory.serial = serial
    memory.items = try [110, 95, 187].enumerated().map { index, value in
      let time = try #require(DeviceTime(year: 2026, month: 5, day: 4, hour: 7 + index))
      return SimulatedItem(at: time, .value(Quantity(Double(value), .milligramsPerDecilitre)))
    }
    let meter = SimulatedRochePHDC(memory)
    try bus.plug(SimulatedDevice(meter))
    return meter
  }

  private func run(_ arguments: String...) async throws -> Program.Outcome {
    try await program.run(arguments: arguments, environment: bus.environment)
  }

  @Test func theMeterClockIsReadAndSetInOneSession() async throws {
    let meter = try plug(serial: "92512345678")
    let outcome = try await run("meter", "set-clock")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("92512345678: set to "))
    #expect(outcome.output.contains("1 d 0 h behind the local time"), "\(outcome.output)")
    #expect(abs(meter.memory.clock.seconds - Self.now) < 14 * 3600)
    #expect(meter.state == .released)
  }

  @Test func theMeterWithTheGivenSerialNumberIsRead() async throws {
    let others = try plug(serial: "92511111111")
    let meter = try plug(serial: "92522222222")
    let outcome = try await run("import", "--meter", "--serial", "92522222222", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let report = try #require(try outcome.objects().first)
    #expect((report["meter"] as? [String: any Sendable])?["serial"] as? String == "92522222222")
    #expect(report["new"] as? Int == 3)
    #expect(others.state == .released && meter.state == .released)
  }

  @Test func theClockOfTheMeterWithTheGivenSerialNumberIsSet() async throws {
    let other = try plug(serial: "92511111111")
    let meter = try plug(serial: "92522222222")
    let outcome = try await run("meter", "set-clock", "--serial", "92522222222", "--quiet")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome.errors)")
    #expect(abs(meter.memory.clock.seconds - Self.now) < 14 * 3600)
    #expect(other.memory.clock.seconds < Self.now - 86000)
  }

  @Test func theMeterWithTheGivenSerialNumberIsShown() async throws {
    try plug(serial: "92511111111")
    try plug(serial: "92522222222")
    let outcome = try await run("meter", "info", "--serial", "92522222222")
    #expect(outcome.status == 0 && outcome.output.contains("92522222222"), "\(outcome.errors)")
  }

  @Test func aRecordingHasOnlyTheSessionWithTheSelectedMeter() async throws {
    try plug(serial: "92511111111")
    try plug(serial: "92522222222")
    let path = program.path("session.transcript")
    let outcome = try await run("meter", "record", "--serial", "92522222222", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let digits = "92511111111".utf8.map { String($0, radix: 16) }.joined()
    #expect(!text.contains(digits))
    let imported = try await run("import", "--timezone", "UTC", "--transcript", path, "--json")
    #expect(try imported.objects().first?["new"] as? Int == 3, "\(imported.errors)")
  }

  @Test(arguments: [
    ["import", "--meter"], ["meter", "info"], ["meter", "set-clock"], ["meter", "record"],
  ])
  func aMeterSerialNumberThatIsNotPluggedInIsReportedAsUnavailable(_ command: [String]) async throws {
    let meter = try plug(serial: "92511111111")
    let path = program.path("session.transcript")
    let outcome = try await program.run(
      arguments: command + ["--serial", "92533333333"] + (command.last == "record" ? [path] : []),
      environment: bus.environment)
    #expect(outcome.status == 69 && outcome.errors.contains("no connected meter has this serial number"))
    #expect(meter.state == .released && meter.memory.clock.seconds < Self.now - 86000)
    for file in [path, program.store] { #expect(!FileManager.default.fileExists(atPath: file)) }
  }

  @Test func aMeterThatAnswersOncePerConnectionAsksToBePluggedInAgain() async throws {
    try plug(serial: "92511111111")
    #expect(try await run("meter", "info").status == 0)
    let outcome = try await run("meter", "info")
    #expect(outcome.status == 76 && outcome.errors.contains("plug it in again"), "\(outcome.errors)")
  }
}
