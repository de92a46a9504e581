// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests `glucoport latest` with the built program.
@Suite(.timeLimit(.minutes(10)))
struct LatestTests {
  private static let header = "time,device,kind,value,unit\n"

  /// A line of a reading some minutes before the present.
  private static func row(_ minutesAgo: Int, _ value: String, kind: String = "cbg", device: String = "A")
    -> String
  {
    let time = DeviceTime(seconds: Int64(Date().timeIntervalSince1970) - Int64(minutesAgo) * 60).text
    return "\(time)Z,\(device),\(kind),\(value),mg/dL\n"
  }

  private func program(_ rows: String) async throws -> Program {
    let program = try Program()
    let path = try program.write(Self.header + rows, to: "rows.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "UTC", path)
    #expect(imported.status == 0, "\(imported.errors)")
    return program
  }

  @Test func latestShowsTheNewestSensorValueWithItsAgeAndTrend() async throws {
    let program = try await program(Self.row(20, "100") + Self.row(13, "100") + Self.row(3, "115"))
    let line = try await program.run("latest")
    #expect(line.status == 0 && line.errors == "", "\(line)")
    #expect(
      line.output.hasPrefix("115 mg/dL ↗ · ") && line.output.contains(" min ago · sensor · "),
      "\(line.output)")
    let object = try #require(try await program.run("latest", "--json").objects().first)
    #expect(object["value"] as? Double == 115 && object["unit"] as? String == "mg/dL", "\(object)")
    #expect(object["trend"] as? String == "rising-slowly" && object["change"] as? Double == 15, "\(object)")
    #expect(object["change_seconds"] as? Int == 600 && object["kind"] as? String == "cbg", "\(object)")
    let age = try #require(object["age_seconds"] as? Int)
    // The program may have waited for the processor, so a much higher age is accepted.
    #expect((180..<7000).contains(age), "\(age)")
    let converted = try await program.run("latest", "--unit", "mmol/L")
    #expect(converted.output.hasPrefix("6.4 mmol/L ↗ · "), "\(converted.output)")
  }

  @Test func latestShowsANewerFingerStickWithoutATrend() async throws {
    let program = try await program(Self.row(13, "100") + Self.row(8, "90") + Self.row(2, "80", kind: "smbg"))
    let line = try await program.run("latest")
    #expect(line.output.hasPrefix("80 mg/dL · ") && line.output.contains(" · finger stick · "), "\(line)")
  }

  @Test func latestComputesNoTrendFromAnotherSensor() async throws {
    let program = try await program(Self.row(8, "90") + Self.row(3, "150", device: "B"))
    let object = try #require(try await program.run("latest", "--json").objects().first)
    #expect(object["trend"] is NSNull && object["change"] is NSNull, "\(object)")
  }

  @Test func latestIgnoresFutureReadingsAndScans() async throws {
    let rows = Self.row(5, "90") + Self.row(1, "70", kind: "scan") + Self.row(-60, "200")
    let line = try await program(rows).run("latest")
    #expect(line.output.hasPrefix("90 mg/dL · "), "\(line)")
  }

  @Test func latestWithoutReadingsEndsWithStatus66() async throws {
    let program = try Program()
    let absent = try await program.run("latest")
    #expect(absent.status == 66 && absent.output == "", "\(absent)")
    let added = try await program.run("record", "add", "note", "x", "--quiet")
    #expect(added.status == 0)
    let empty = try await program.run("latest")
    #expect(empty.status == 66 && empty.errors.contains("no sensor value or finger stick"), "\(empty)")
  }
}
