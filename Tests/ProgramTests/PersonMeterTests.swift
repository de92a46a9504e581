// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import SimulatedMeters
import SimulatedUSB
import TestProgram
import Testing

/// Tests the meters of several people at one computer.
@Suite(.timeLimit(.minutes(10)))
struct PersonMeterTests {
  private let program: Program
  private let bus: SimulatedBus

  init() throws {
    program = try Program()
    bus = try SimulatedBus()
  }

  private func plug(_ serial: String, _ variant: SimulatedContour.Variant, value: Double) throws -> String {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: Int64(Date().timeIntervalSince1970)))
    memory.serial = serial
    let time = try #require(DeviceTime(year: 2026, month: 5, day: 4, hour: 7))
    memory.items = [SimulatedItem(at: time, .value(Quantity(value, .milligramsPerDecilitre)))]
    let meter = SimulatedContour(memory, variant: variant)
    try bus.plug(SimulatedDevice(meter), drivers: [KernelDriver("usbhid", [0])])
    return meter.serialText
  }

  private func run(_ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    let outcome = try await program.run(
      arguments: line.split(separator: " ").map(String.init), environment: bus.environment)
    #expect(outcome.status == status, "\(line): \(outcome.status) \(outcome.output)\(outcome.errors)")
    return outcome
  }

  private func values(_ person: String) async throws -> [Double] {
    try await run("list --format ndjson --person \(person)").objects().compactMap { $0["value"] as? Double }
  }

  @Test func eachMeterIsImportedIntoTheStoreOfItsPerson() async throws {
    let first = try plug("1111111", .next, value: 110)
    let second = try plug("2222222", .next, value: 95)
    for name in ["anna", "ben"] { _ = try await run("person add \(name) --quiet") }
    let refused = try await run("import --meter --timezone UTC", status: 78)
    #expect(refused.errors.contains("'glucoport person assign \(first) NAME'"), "\(refused.errors)")
    #expect(refused.errors.contains("'glucoport person assign \(second) NAME'"), "\(refused.errors)")
    _ = try await run("person assign \(first) anna --quiet")
    // A meter without an owner does not affect the other meter.
    _ = try await run("import --meter --timezone UTC --quiet", status: 78)
    #expect(try await values("anna") == [110])
    _ = try await run("person assign \(second) ben --quiet")
    _ = try await run("import --meter --timezone UTC --quiet --if-present")
    #expect(try await values("anna") == [110])
    #expect(try await values("ben") == [95])
    let list = try await run("person list --json").objects()
    #expect(list.map { $0["meters"] as? [String] } == [[first], [second]])
    // The option `--serial` selects one of the two meters. If no plugged meter has the serial number, the
    // command fails.
    _ = try await run("import --meter --serial \(second) --quiet")
    _ = try await run("import --meter --serial 3333333", status: 69)
  }

  @Test func aMeterOfAnotherPersonIsRefusedForTheChosenPerson() async throws {
    let serial = try plug("1111111", .next, value: 110)
    for name in ["anna", "ben"] { _ = try await run("person add \(name) --quiet") }
    _ = try await run("person assign \(serial.lowercased()) anna --quiet")
    let refused = try await run("import --meter --person ben --timezone UTC", status: 65)
    #expect(refused.errors.contains("'--person anna'"), "\(refused.errors)")
    _ = try await run("list --person ben", status: 66)
    _ = try await run("import --meter --person anna --timezone UTC --quiet")
    _ = try await run("import --meter --person ben --timezone UTC --yes --quiet")
    // After the meter is assigned to another person, the next import goes into that person's store.
    let moved = try await run("person assign \(serial) ben")
    #expect(moved.output.hasSuffix("to ben, before to anna\n"), "\(moved.output)")
    _ = try await run("person rename ben benjamin --quiet")
    _ = try await run("import --meter --quiet")
    _ = try await run("person assign \(serial) carla", status: 66)
  }

  @Test func withOnlyOnePersonAMeterIsImportedWithoutAPersonOption() async throws {
    _ = try plug("1111111", .next, value: 110)
    _ = try await run("person add anna --quiet")
    _ = try await run("import --meter --timezone UTC --quiet")
    #expect(try await values("anna") == [110])
  }

  @Test func withoutAMeterAnImportForEachPersonEndsWithStatus69() async throws {
    for name in ["anna", "ben"] { _ = try await run("person add \(name) --quiet") }
    _ = try await run("import --meter", status: 69)
    let quiet = try await run("import --meter --if-present")
    #expect(quiet.output == "" && quiet.errors == "")
  }

  /// The test has two jobs of cron at once, a person with a remote that cannot be reached, and three meters
  /// of two people.
  @Test func simultaneousMeterJobsStoreEachReadingForTheRightPerson() async throws {
    let meters = [
      (try plug("1111111", .next, value: 110), "anna"), (try plug("2222222", .next, value: 95), "ben"),
      (try plug("3333333", .next, value: 187), "anna"),
    ]
    for name in ["anna", "ben"] { _ = try await run("person add \(name) --quiet") }
    for (serial, name) in meters { _ = try await run("person assign \(serial) \(name) --quiet") }
    _ = try await run("import --meter --timezone UTC --quiet")
    let token = try program.write("t", to: "token")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token)
    try StoreFile(program.path("data/glucoport/persons/anna.db")).execute(
      "INSERT INTO remote (id, kind, url, token_file, logbook, logbook_name, node) VALUES "
        + "(1, 'glucoport', 'http://127.0.0.1:9', '\(token)', 'l', 'n', 'x')")
    let (program, environment) = (program, bus.environment)
    async let meterJob = program.run("import", "--meter", "--quiet", environment: environment)
    async let uploadJob = program.run("upload", "--unattended", "--quiet", environment: environment)
    let (imported, uploaded) = try await (meterJob, uploadJob)
    #expect(imported.status == 0 && imported.errors.isEmpty, "\(imported.errors)")
    #expect([69, 75].contains(uploaded.status), "\(uploaded.status) \(uploaded.errors)")
    #expect(!uploaded.errors.contains("ben: cannot"), "\(uploaded.errors)")
    #expect(try await values("anna").sorted() == [110, 187])
    #expect(try await values("ben") == [95])
  }
}
