// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests the export of a phone whose clock was set back on a journey. Four times occur twice, and at one of
/// them both values are equal.
@Suite struct ClockSetBackTests {
  private static let sample = "libreview/libreview-clock-set-back.csv"

  private static func lines() throws -> [String] {
    let text = try String(contentsOf: ImportBench.samples.appending(path: sample), encoding: .utf8)
    return text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
  }

  private static func stored(_ bench: ImportBench) throws -> [String] {
    try bench.rows("SELECT kind, device_time, value FROM readings ORDER BY 1, 2, 3")
  }

  @Test func readingsBeforeAndAfterAClockWasSetBackAreStoredAndReported() throws {
    let bench = try ImportBench()
    let report = try bench.importSample(Self.sample)
    #expect(report.counts.newReadings == 13 && report.counts.repeatedReadings == 1)
    #expect(report.counts.changedReadings == 0)
    let day = "2025-09-20: two different sensor values at each of 3 times from 16:00 to 16:30"
    #expect(report.warnings.filter { $0.hasPrefix(day) && $0.contains("clock was set back") }.count == 1)
    #expect(
      try bench.rows("SELECT device_time, value FROM readings WHERE marks LIKE '%clock-set-back%' ORDER BY 1")
        == ["2025-09-20T16:00:00|109.0", "2025-09-20T16:15:00|112.0", "2025-09-20T16:30:00|114.0"])
    let again = try bench.importSample(Self.sample)
    #expect(again.counts.newReadings == 0 && again.counts.knownReadings == 13)
    #expect(!again.warnings.contains { $0.hasPrefix("2025-09-20") })
  }

  /// Without seconds, two values can have the same minute, although the clock was not set back.
  @Test func twoDifferentSensorValuesInOneMinuteAreTwoReadings() throws {
    let bench = try ImportBench()
    let rows = ["19:20;115;", "19:20;116;", "19:20;115;", "19:25;116;", "19:40;;120", "19:40;;122"]
    let text = "DAY;TIME;UDT_CGMS;BG_LEVEL\n" + rows.map { "14.05.2026;\($0)\n" }.joined()
    let report = try bench.run(bench.file("sidiary.csv", text.utf8))
    #expect(report.counts.newReadings == 5 && report.counts.repeatedReadings == 1)
    #expect(report.counts.changedReadings == 0)
    let again = try bench.run(bench.file("again.csv", text.utf8)).counts
    #expect(again.newReadings == 0 && again.knownReadings == 5 && again.changedReadings == 0)
    #expect(try bench.rows("SELECT count(*) FROM readings WHERE marks LIKE '%clock-set-back%'") == ["0"])
  }

  /// Splits an export into two overlapping parts at every second row, and imports the parts in both orders.
  @Test func overlappingExportsAcrossAClockSetBackGiveTheSameStoreInAnyOrder() throws {
    let lines = try Self.lines()
    let whole = try ImportBench()
    try whole.importSample(Self.sample)
    let (head, rows) = (lines[..<2], lines[2...])
    for end in stride(from: 4, to: rows.count, by: 2) {
      let parts = [rows.prefix(end), rows.suffix(rows.count - end + 3)].map { part in
        (head + part).joined(separator: "\n") + "\n"
      }
      for order in [parts, parts.reversed()] {
        let bench = try ImportBench()
        for (index, part) in order.enumerated() {
          let report = try bench.run(bench.file("\(end)-\(index).csv", part.utf8))
          #expect(report.counts.changedReadings == 0, "\(end)")
        }
        #expect(try Self.stored(bench) == Self.stored(whole), "\(end)")
      }
    }
  }
}
