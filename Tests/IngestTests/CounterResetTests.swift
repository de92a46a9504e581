// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests devices that were replaced or reset, so that their counters start from the beginning again.
@Suite struct CounterResetTests {
  private func desktop(_ rows: [(id: Int, time: String, millimoles: String)]) -> String {
    let header =
      "ID\tTime\tRecord Type\tHistoric Glucose (mmol/L)\tScan Glucose (mmol/L)\tNon-numeric Rapid-Acting Insulin\t"
      + "Rapid-Acting Insulin (units)\tNon-numeric Food\tCarbohydrates (grams)\t"
      + "Non-numeric Long-Acting Insulin\tLong-Acting Insulin (units)\tNotes\tStrip Glucose (mmol/L)\t"
      + "Ketone (mmol/L)\tMeal Insulin (units)\tCorrection Insulin (units)\tUser Change Insulin (units)\t"
      + "Previous Time\tUpdated Time"
    let lines = rows.map { "\($0.id)\t\($0.time)\t0\t\($0.millimoles)" + String(repeating: "\t", count: 15) }
    return (["Sample Person", header] + lines).joined(separator: "\n") + "\n"
  }

  private func clarity(_ rows: [(tick: Int, time: String, milligrams: Int)]) -> String {
    let header =
      "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Patient Info,Device Info,Source Device ID,"
      + "Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams),Duration (hh:mm:ss),"
      + "Glucose Rate of Change (mg/dL/min),Transmitter Time (Long Integer),Transmitter ID"
    let lines = rows.enumerated().map {
      "\($0.offset + 1),\($0.element.time),EGV,,,,Android G6,\($0.element.milligrams),,,,,\($0.element.tick),8AAAA1"
    }
    return ([header] + lines).joined(separator: "\n") + "\n"
  }

  @Test func anExportOfAReplacedReaderIsRefusedUntilItIsGivenADeviceName() throws {
    let bench = try ImportBench()
    let first = desktop([(1, "2016/11/15 00:04", "6.4"), (2, "2016/11/15 00:19", "6.2")])
    try bench.run(bench.file("a.txt", first.utf8))
    let content = try bench.content()
    // The row with the counter 1 has the same value as in the first export. Only its time shows that it is
    // another reading.
    let second = desktop([(1, "2018/03/01 08:00", "6.4"), (3, "2018/03/01 08:30", "7.0")])
    let path = try bench.file("b.txt", second.utf8)
    let failure = try #require(throws: Failure.self) { try bench.run(path) }
    #expect(failure.category == .badInput)
    #expect(failure.message.contains(":3: ") && failure.message.contains("--device"))
    #expect(try bench.content() == content)
    let named = try bench.run(path, words: ["--device", "Second reader"]).counts
    #expect(named.newReadings == 2)
    #expect(try bench.run(path, words: ["--device", "Second reader"]).counts.knownReadings == 2)
  }

  @Test func rowsOfAResetTransmitterAreRejectedIfTheStoreHasTheirCounters() throws {
    let bench = try ImportBench()
    let first = clarity([(600, "2026-01-10T08:00:00", 110), (900, "2026-01-10T08:05:00", 111)])
    try bench.run(bench.file("a.csv", first.utf8))
    let second = clarity([
      (600, "2026-04-10T08:00:00", 110), (901, "2026-04-10T08:05:00", 120), (900, "2026-01-10T09:05:00", 111),
    ])
    let report = try bench.run(bench.file("b.csv", second.utf8))
    #expect(report.counts.newReadings == 1)
    #expect(report.counts.knownReadings == 1)
    #expect(report.counts.changedReadings == 0)
    #expect(report.counts.rejected == 1)
    #expect(report.rejections.map(\.line) == [2])
    #expect(try bench.number("SELECT count(*) FROM rejection WHERE line = 2") == 1)
  }

  @Test func aReadingWithTheSameCounterInAnotherTimeZoneIsADuplicate() throws {
    let bench = try ImportBench()
    try bench.run(bench.file("a.csv", clarity([(600, "2026-01-10T08:00:00", 110)]).utf8))
    let moved = try bench.run(bench.file("b.csv", clarity([(600, "2026-01-11T09:00:00", 110)]).utf8))
    #expect(moved.counts.knownReadings == 1)
    #expect(moved.counts.rejected == 0)
  }
}
