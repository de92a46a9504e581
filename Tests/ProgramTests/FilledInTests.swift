// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the finger sticks of a Tandem pump that its bolus calculator filled in from a sensor. The sensor
/// values are in another import.
@Suite(.timeLimit(.minutes(10)))
struct FilledInTests {
  private static func row(_ time: String, _ value: Int, _ what: String) -> String {
    "\"t:slim X2\",\"0000001\",\"\(what)\",\"2026-05-04T\(time):00\",\"\(value)\",\n"
  }

  private static let sticks =
    "DeviceType,SerialNumber,Description,EventDateTime,BG (mg/dL),Note\n" + row("08:07", 132, "BG")
    + row("12:30", 171, "BG")
  private static let sensor =
    "DeviceType,SerialNumber,Description,EventDateTime,Readings (mg/dL)\n" + row("08:00", 132, "EGV")
    + row("08:05", 137, "EGV") + row("12:15", 171, "EGV")

  /// The number of counted finger sticks and the number of filled-in values in a period.
  private func counts(_ program: Program, _ options: String...) async throws -> [Int] {
    let outcome = try await program.run(arguments: ["stats", "--json"] + options)
    #expect(outcome.status == 0, "\(outcome)")
    return ["\"finger_sticks\":{\"readings\":", "\"filled_in\":"].map { name in
      outcome.output.firstRange(of: name).flatMap {
        Int(outcome.output[$0.upperBound...].prefix { $0.isNumber })
      } ?? -1
    }
  }

  @Test func sensorValuesFilledInByABolusCalculatorAreFoundInAnyOrderOfImports() async throws {
    for files in [["sticks", "sensor"], ["sensor", "sticks"]] {
      let program = try Program()
      try program.write(Self.sticks, to: "sticks.csv")
      try program.write(Self.sensor, to: "sensor.csv")
      for (place, name) in files.enumerated() {
        let imported = try await program.run(
          "import", "--quiet", "--timezone", "UTC", program.path("\(name).csv"))
        #expect(imported.status == 0, "\(imported)")
        if place == 0, name == "sticks" { #expect(try await counts(program) == [2, 0]) }
      }
      #expect(try await counts(program) == [1, 1])
      // The sensor value that equals the finger stick is before the period, and is found nevertheless.
      #expect(try await counts(program, "--since", "2026-05-04T08:06") == [1, 1])
      #expect(try await counts(program, "--since", "2026-05-04T12:00") == [1, 0])
      let text = try await program.run("stats")
      #expect(text.output.contains("filled in 1"), "\(text.output)")
      func leftOut(_ options: String...) async throws -> [Substring] {
        try await program.run(arguments: ["list", "--left-out"] + options).output.split(separator: "\n")
      }
      let lines = try await leftOut()
      #expect(lines.count == 1 && lines[0].contains("filled in from the sensor"), "\(lines)")
      #expect(lines[0].contains("08:07"), "\(lines)")
      #expect(try await leftOut("--since", "2026-05-04T08:06").count == 1)
      #expect(try await leftOut("--since", "2026-05-04T08:08").isEmpty)
      #expect(try await leftOut("--kind", "insulin").isEmpty)
      // The finger stick that is left out stays in the store.
      #expect(try StoreFile(program.store).count("reading") == 5)
    }
  }
}
