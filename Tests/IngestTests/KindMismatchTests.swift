// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests tables that do not state the kind of their readings, if some of these readings are already stored as
/// another kind.
@Suite struct KindMismatchTests {
  /// A table with readings at these minutes after 2026-05-01T00:00:00.
  private func table(_ minutes: some Sequence<Int>, header: String = "time,glucose (mg/dL)") -> String {
    let start = DeviceTime(text: "2026-05-01T00:00:00")?.seconds ?? 0
    return minutes.reduce(header + "\n") { text, minute in
      "\(text)\(DeviceTime(seconds: start + Int64(minute) * 60).text),\(90 + minute % 60)\n"
    }
  }

  private let short = [100, 105, 110]
  private let long = Array(stride(from: 0, to: 200, by: 5))

  @Test func aLongTableGuessedAsSensorValuesDoesNotRepeatStoredFingerSticks() throws {
    let bench = try ImportBench()
    #expect(try bench.run(bench.file("short.csv", table(short).utf8)).counts.newByKind == ["smbg": 3])
    let report = try bench.run(bench.file("long.csv", table(long).utf8))
    #expect(report.counts.newReadings == long.count - 3 && report.counts.rejected == 3)
    #expect(report.rejections.map(\.line) == [22, 23, 24])
    let reason = try #require(report.rejections.first?.reason)
    #expect(reason.contains("stored this value as smbg") && reason.contains("--kind smbg"))
    // A second import of the table rejects the same readings again.
    let again = try bench.run(bench.file("long2.csv", table(long + [200]).utf8))
    #expect(again.counts.newReadings == 1 && again.counts.knownReadings == long.count - 3)
    #expect(again.counts.rejected == 3)
  }

  @Test func aShortTableGuessedAsFingerSticksDoesNotRepeatStoredSensorValues() throws {
    let bench = try ImportBench()
    try bench.run(bench.file("long.csv", table(long).utf8))
    let report = try bench.run(bench.file("short.csv", table(short).utf8))
    #expect(report.counts.newReadings == 0 && report.counts.rejected == 3)
    let reason = try #require(report.rejections.first?.reason)
    #expect(reason.contains("stored this value as cbg") && reason.contains("--kind cbg"))
    let given = try bench.run(bench.file("given.csv", table(short).utf8), words: ["--kind", "cbg"])
    #expect(given.counts.knownReadings == 3 && given.counts.rejected == 0)
  }

  /// If a person or the header states the kind, the readings are stored, even if readings of another kind
  /// have the same times and values.
  @Test func readingsImportedWithAGivenKindAreStoredNextToThoseOfAnotherKind() throws {
    let bench = try ImportBench()
    try bench.run(bench.file("short.csv", table(short).utf8))
    let given = try bench.run(bench.file("long.csv", table(long).utf8), words: ["--kind", "cbg"])
    #expect(given.counts.newReadings == long.count && given.counts.rejected == 0)
    let named = try ImportBench()
    try named.run(named.file("short.csv", table(short).utf8))
    let header = "time,sensor glucose (mg/dL)"
    let report = try named.run(named.file("long.csv", table(long, header: header).utf8))
    #expect(report.counts.newReadings == long.count && report.counts.rejected == 0)
    // A third table does not state the kind. Its readings are stored as both kinds, so they are known.
    let both = try named.run(named.file("again.csv", table(short).utf8))
    #expect(both.counts.knownReadings == 3 && both.counts.rejected == 0)
  }

  @Test func readingsOfAnotherKindWithAnotherValueTimeOrDeviceAreStored() throws {
    let bench = try ImportBench()
    let sticks = "time,glucose (mg/dL)\n2026-05-01 01:40:00,300\n2026-05-01 01:41:00,101\n"
    try bench.run(bench.file("sticks.csv", sticks.utf8))
    try bench.run(bench.file("other.csv", table(short).utf8), words: ["--device", "Meter B"])
    let report = try bench.run(bench.file("long.csv", table(long).utf8))
    #expect(report.counts.newReadings == long.count && report.counts.rejected == 0)
  }

  @Test func aValueStoredAsAnotherKindIsRejectedEvenIfItsUnitDiffers() throws {
    let bench = try ImportBench()
    try bench.run(bench.file("one.csv", "time,glucose (mmol/L)\n2026-05-01 01:40:00,7.2\n".utf8))
    let report = try bench.run(bench.file("long.csv", table(long).utf8))
    #expect(report.counts.rejected == 1 && report.counts.newReadings == long.count - 1)
  }

  /// An app that writes to Apple Health does not state whether it has a sensor. Only a large number of values
  /// shows this.
  @Test func aLongerExportOfAnAppDoesNotStoreItsReadingsAsAnotherKind() throws {
    func export(_ minutes: some Sequence<Int>) -> String {
      let start = DeviceTime(text: "2026-05-01T00:00:00")?.seconds ?? 0
      let records = minutes.map { minute in
        let time = DeviceTime(seconds: start + Int64(minute) * 60).text.replacing("T", with: " ")
        return #"<Record type="HKQuantityTypeIdentifierBloodGlucose" sourceName="New app" unit="mg/dL" "#
          + #"startDate="\#(time) +0000" value="\#(90 + minute % 60)"/>"#
      }
      return "<HealthData>\(records.joined(separator: "\n"))</HealthData>"
    }
    let bench = try ImportBench()
    #expect(try bench.run(bench.file("short.xml", export(short).utf8)).counts.newByKind == ["smbg": 3])
    let report = try bench.run(bench.file("long.xml", export(long).utf8))
    #expect(report.counts.newByKind == ["cbg": long.count - 3] && report.counts.rejected == 3)
    let reason = try #require(report.rejections.first?.reason)
    #expect(
      reason.contains("stored this value as smbg")
        && reason.hasSuffix("undo that import, and import this input again"))
    let other = try ImportBench()
    try other.run(other.file("long.xml", export(long).utf8))
    let part = try other.run(other.file("short.xml", export(short).utf8))
    #expect(part.counts.newReadings == 0 && part.counts.rejected == 3)
    #expect(part.rejections.first?.reason.contains("stored this value as cbg") == true)
    #expect(part.rejections.first?.reason.contains("it stays as it is") == true)
  }
}
