// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests generated copies, in full size, of pairs of exports that people made.
@Suite struct ReexportTests {
  private func time(_ text: String) throws -> Int64 { try #require(DeviceTime(text: text)).seconds }

  private func outcome(_ counts: IngestCounts) -> [Int] {
    [counts.newReadings, counts.knownReadings, counts.changedReadings, counts.rejected]
  }

  private func records(_ counts: IngestCounts) -> [Int] {
    [counts.newRecords, counts.updatedRecords, counts.keptRecords]
  }

  // MARK: Clarity

  private struct Estimate {
    let time: DeviceTime
    let tick: Int
    var milligrams: Int
  }

  /// Clarity sorts by the displayed time, so the two passes of a repeated hour alternate.
  private func clarity(_ rows: some Sequence<Estimate>, hasTicks: Bool = true) -> String {
    let header =
      "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Event Subtype,Patient Info,Device Info,Source Device ID,"
      + "Glucose Value (mg/dL),Insulin Value (u),Carb Value (grams),Duration (hh:mm:ss),"
      + "Glucose Rate of Change (mg/dL/min)"
      + (hasTicks ? ",Transmitter Time (Long Integer),Transmitter ID" : "")
    let sorted = rows.sorted { ($0.time, $0.tick) < ($1.time, $1.tick) }
    let lines = sorted.enumerated().map { index, row in
      "\(index + 1),\(row.time.text),EGV,,,,Android G6,\(row.milligrams),,,,"
        + (hasTicks ? ",\(row.tick),8AAAA1" : "")
    }
    return ([header] + lines).joined(separator: "\n") + "\n"
  }

  @Test(arguments: [false, true]) func twoClarityExportsOfOverlappingDaysStoreEachReadingOnce(
    _ isReversed: Bool
  ) throws {
    let start = try time("2026-04-10T12:00:11")
    let all = (0..<1116).map { index in
      Estimate(
        time: DeviceTime(seconds: start + Int64(index) * 300), tick: 7573 + index * 300,
        milligrams: 100 + index * 37 % 90)
    }
    let first = all[..<828]
    var second = all[255...]
    for index in 255..<255 + 386 { second[index].milligrams += 1 }
    #expect(second.count == 861)
    let bench = try ImportBench()
    let paths = [
      try bench.file("a.csv", clarity(first).utf8), try bench.file("b.csv", clarity(second).utf8),
    ]
    let counts = try (isReversed ? [paths[1], paths[0]] : paths).map { try bench.run($0).counts }
    #expect(outcome(counts[0]) == [isReversed ? 861 : 828, 0, 0, 0])
    #expect(outcome(counts[1]) == [isReversed ? 255 : 288, 187, 386, 0])
    #expect(try bench.number("SELECT count(*) FROM reading") == 1116)
    #expect(try bench.number("SELECT count(*) FROM revision") == 386)
    for path in paths { #expect(try bench.run(path).counts.newReadings == 0) }
  }

  /// 412 readings over the night in which Madrid repeats an hour.
  private func autumn() throws -> [Estimate] {
    let start = try time("2025-10-25T08:00:10")
    let change = try time("2025-10-26T03:00:00")
    return (0..<412).map { index in
      let shown = start + Int64(index) * 300
      return Estimate(
        time: DeviceTime(seconds: shown < change ? shown : shown - 3600), tick: 50_000 + index * 300,
        milligrams: 70 + index * 53 % 200)
    }
  }

  @Test func theRepeatedHourOfOverlappingExportsKeepsAllReadings() throws {
    let all = try autumn()
    let bench = try ImportBench()
    let paths = [
      try bench.file("a.csv", clarity(all[..<300]).utf8), try bench.file("b.csv", clarity(all[150...]).utf8),
      try bench.file("all.csv", clarity(all).utf8),
    ]
    #expect(outcome(try bench.run(paths[0]).counts) == [300, 0, 0, 0])
    #expect(outcome(try bench.run(paths[1]).counts) == [112, 150, 0, 0])
    #expect(outcome(try bench.run(paths[2]).counts) == [0, 412, 0, 0])
    #expect(try bench.number("SELECT count(DISTINCT time) FROM readings") == 412)
    let step = "SELECT max(unixepoch(time)) - min(unixepoch(time)) FROM readings"
    #expect(try bench.number(step) == 411 * 300)
  }

  @Test func theRepeatedHourWithoutTicksKeepsAllReadings() throws {
    let bench = try ImportBench()
    let path = try bench.file("all.csv", clarity(try autumn(), hasTicks: false).utf8)
    #expect(outcome(try bench.run(path).counts) == [412, 0, 0, 0])
    #expect(outcome(try bench.run(path).counts) == [0, 412, 0, 0])
  }

  // MARK: mySugr

  private struct Entry {
    let time: DeviceTime
    var tags = ["Hjemme", "Arbejde"]
    var tenths: Int
    var units = 4
    var note = ""
  }

  private func mySugr(_ entries: [Entry]) throws -> String {
    let sample = ImportBench.samples.appending(path: "mysugr/reexport-a.csv")
    let header = try String(contentsOf: sample, encoding: .utf8).prefix { !$0.isNewline }
    let lines = entries.reversed().map { entry in
      let text = entry.time.text
      let parts = text.prefix(10).split(separator: "-")
      var cells = Array(repeating: "", count: 25)
      cells[0] = "\(parts[2])-\(parts[1])-\(parts[0])"
      cells[1] = String(text.suffix(8))
      cells[2] = entry.tags.joined(separator: ",")
      cells[3] = "\(entry.tenths / 10),\(entry.tenths % 10)"
      cells[4] = "\(entry.units)"
      cells[17] = entry.note
      return cells.map { "\"\($0)\"" }.joined(separator: ",")
    }
    return ([String(header)] + lines).joined(separator: "\n") + "\n"
  }

  @Test func aMySugrReexportUpdatesEntriesAndHidesCorrectedValues() throws {
    let start = try time("2026-03-14T08:15:00")
    let all = (0..<500).map { index in
      Entry(time: DeviceTime(seconds: start + Int64(index) * 7200), tenths: 45 + index * 7 % 90)
    }
    var second = all
    for index in 0..<40 { second[index * 10].units = 6 }
    for index in 0..<30 { second[index * 10 + 1].note = "rettet" }
    for index in 0..<200 { second[index].tags.reverse() }
    for index in 0..<12 { second[index * 10 + 2].tenths += 1 }
    let bench = try ImportBench()
    let paths = [
      try bench.file("a.csv", mySugr(Array(all[..<400])).utf8), try bench.file("b.csv", mySugr(second).utf8),
    ]
    let first = try bench.run(paths[0]).counts
    #expect(outcome(first) == [400, 0, 0, 0])
    #expect(first.newRecords == 800)
    let counts = try bench.run(paths[1]).counts
    #expect(outcome(counts) == [112, 388, 0, 0])
    #expect(records(counts) == [200, 70, 0])
    #expect(counts.correctedReadings == 12)
    let hidden =
      "SELECT count(*) FROM record WHERE kind = 'withdrawal' AND json_extract(fields, '$.hidden')"
    #expect(try bench.number(hidden) == 12)
    let content = try bench.content()
    for path in paths + [paths[1], paths[0]] {
      let again = try bench.run(path).counts
      #expect(outcome(again) == [0, again.readings, 0, 0])
      #expect(records(again).prefix(2) == [0, 0])
      #expect(again.correctedReadings == 0)
    }
    #expect(try bench.content() == content)
  }
}
