// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests repeated exports of the same data, generated in full size like the exports of real people.
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

  /// A Clarity export sorts rows by the displayed time. So rows of the two passes of a repeated hour
  /// alternate.
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

  // MARK: Glooko

  /// A ZIP archive of Glooko contains these three tables, and each table is imported as a separate input.
  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
  func mealsOfOneMinuteInTwoTablesOfGlookoAreSeparateRecords(_ order: [Int]) throws {
    let title = "Name:Kim,Date Range:2026-05-01 - 2026-05-10\n"
    func rows(_ cells: String) -> String { (1...9).map { "2026-05-0\($0) 07:10,\(cells)\n" }.joined() }
    let bench = try ImportBench()
    let tables = try [
      "Timestamp,Insulin Type,Blood Glucose Input (mg/dL),Carbs Input (g),Carbs Ratio,Insulin Delivered (U)\n"
        + rows("Normal,0,45,10,4.5"),
      "Timestamp,KH (g)\n" + rows("20"),
      "Timestamp,Name,KH (g),Fett,Eiweiß,Kalorien\n" + rows("Oats,35,7,8,230"),
    ].enumerated().map { try bench.file("\($0.offset).csv", (title + $0.element).utf8) }
    for index in order {
      #expect(records(try bench.run(tables[index]).counts) == [index == 0 ? 18 : 9, 0, 0])
    }
    for table in tables { #expect(records(try bench.run(table).counts) == [0, 0, 0]) }
    func grams(_ source: String) throws -> Int {
      try bench.number(
        """
        SELECT coalesce(sum(json_extract(fields, '$.carbs')), 0) FROM record
        WHERE kind = 'food' AND provenance_source = '\(source)'
        """)
    }
    #expect(try ["pump", "carbs", "diary"].map(grams) == [405, 180, 315])
    // A later export of one table has a corrected meal. This export changes only the record that came from
    // the same table.
    let rest = rows("20").split(separator: "\n").dropFirst().joined(separator: "\n")
    let corrected = try bench.file(
      "3.csv", (title + "Timestamp,KH (g)\n2026-05-01 07:10,25\n" + rest + "\n").utf8)
    #expect(records(try bench.run(corrected).counts) == [0, 1, 0])
    #expect(try ["pump", "carbs", "diary"].map(grams) == [405, 185, 315])
  }

  // MARK: mySugr

  /// Three days of entries in New York, as apps with and without the column `Timezone` write them.
  private func mySugr(_ zone: String?, days: ClosedRange<Int> = 9...11) throws -> String {
    let sample = try String(
      contentsOf: ImportBench.samples.appending(path: "mysugr/mysugr-mgdl-en-time-zones.csv"), encoding: .utf8
    )
    let names = try #require(sample.split(separator: "\n").first).split(separator: ",").dropLast(3)
    let header = names.joined(separator: ",") + (zone == nil ? "" : ",\"Timezone\"")
    let rows = days.reversed().map { day in
      (0..<25).map { [0: "\"Mar \(day), 2026\"", 1: "8:10:00 AM", 3: "131", 4: "6.5", 11: "45"][$0] ?? "" }
        .joined(separator: ",") + (zone.map { ",\($0)" } ?? "")
    }
    return ([header] + rows).joined(separator: "\n") + "\n"
  }

  /// The shown times are equal, so the identities are equal as well, in whichever order the exports come.
  @Test(arguments: [false, true]) func mySugrExportsWithAndWithoutTimeZonesStoreEachEntryOnce(
    _ isReversed: Bool
  ) throws {
    let bench = try ImportBench()
    let old = try bench.file("a.csv", try mySugr(nil).utf8)
    let new = try bench.file("b.csv", try mySugr("America/New_York", days: 9...12).utf8)
    let paths = isReversed ? [new, old] : [old, new]
    let counts = try paths.map { try bench.run($0).counts }
    #expect(
      counts.map(outcome) == (isReversed ? [[4, 0, 0, 0], [0, 3, 0, 0]] : [[3, 0, 0, 0], [1, 3, 0, 0]]))
    #expect(counts.map(records) == (isReversed ? [[8, 0, 0], [0, 0, 0]] : [[6, 0, 0], [2, 6, 0]]))
    #expect(try bench.number("SELECT count(*) FROM reading") == 4)
    #expect(try bench.number("SELECT count(*) FROM record WHERE kind IN ('insulin', 'food')") == 8)
    // The later export has the zone of each row, so its doses and meals are at the right instants.
    #expect(
      try bench.rows("SELECT DISTINCT utc_offset FROM record WHERE kind IN ('insulin', 'food')") == ["-14400"]
    )
    for path in paths {
      let again = try bench.run(path).counts
      #expect(again.newReadings == 0 && again.newRecords == 0)
    }
  }

  /// An unknown zone places the rows like a program that does not read the column.
  @Test func theSameMySugrEntriesInAnUnknownTimeZoneAreStoredOnce() throws {
    let bench = try ImportBench()
    for zone in ["Sample/Zone", "America/New_York", "Sample/Zone"] {
      try bench.run(try bench.file("c.csv", try mySugr(zone).utf8))
    }
    #expect(try bench.number("SELECT count(*) FROM reading") == 3)
    #expect(try bench.number("SELECT count(*) FROM record WHERE kind IN ('insulin', 'food')") == 6)
  }

  /// Two doses at one shown time in different zones are at different instants.
  @Test func equalMySugrEntriesInTwoTimeZonesAreTwoRecords() throws {
    let bench = try ImportBench()
    let east = try mySugr("Asia/Tokyo")
    let west = try mySugr("America/New_York").split(separator: "\n").dropFirst().joined(separator: "\n")
    let path = try bench.file("d.csv", (east + west + "\n").utf8)
    for expected in [[12, 0, 0], [0, 0, 0]] { #expect(records(try bench.run(path).counts) == expected) }
  }

  // MARK: Equal rows

  /// Two equal rows may be two injections in one minute, or one row that the export repeats. So the import
  /// prints a warning.
  @Test func equalRowsOfNewDosesAndMealsCauseAWarning() throws {
    let head =
      "Glucose Data,Generated on,02-06-2026 10:00 UTC,Generated by,Ada Example\nDevice,Serial Number,Device Timestamp,"
      + "Record Type,Historic Glucose mg/dL,Scan Glucose mg/dL,Non-numeric Rapid-Acting Insulin,"
      + "Rapid-Acting Insulin (units),Non-numeric Food,Carbohydrates (grams),Carbohydrates (servings),"
      + "Non-numeric Long-Acting Insulin,Long-Acting Insulin (units),Notes,Strip Glucose mg/dL,Ketone mmol/L,"
      + "Meal Insulin (units),Correction Insulin (units),User Change Insulin (units)\n"
    func dose(_ day: Int, _ units: Int) -> String {
      "FreeStyle LibreLink,S-1,1\(day)-03-2026 22:00,4,,,,,,,,,\(units),,,,,,\n"
    }
    func note(_ day: Int) -> String {
      "FreeStyle LibreLink,S-1,1\(day)-03-2026 22:00,6,,,,,,,,,,a walk,,,,,\n"
    }
    let bench = try ImportBench()
    func warnings(_ rows: String) throws -> [String] {
      try bench.run(try bench.file("export.csv", (head + rows).utf8)).warnings.filter { $0.contains("equal") }
    }
    #expect(try warnings(dose(4, 50) + dose(4, 30) + note(4) + note(4)) == [])
    let found = try warnings(dose(4, 50) + dose(5, 50) + dose(5, 50) + dose(5, 50))
    #expect(found.count == 1 && found[0].hasPrefix("2 rows of new doses or meals equal an earlier row"))
    // If the store already has the items, a repetition of them causes no warning. Exports that grow repeat
    // all earlier rows.
    #expect(try warnings(dose(4, 50) + dose(5, 50) + dose(5, 50) + dose(6, 10)) == [])
    #expect(try bench.number("SELECT count(*) FROM record WHERE kind = 'insulin'") == 4)
  }

  /// 412 readings that include the night in which clocks in Madrid repeat an hour.
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

  @Test func theRepeatedHourInOverlappingExportsKeepsAllReadings() throws {
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

  @Test func aRepeatedHourWithoutCountersKeepsAllReadings() throws {
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

  @Test func aMySugrReexportUpdatesEntriesAndHidesTheValuesThatItReplaces() throws {
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
