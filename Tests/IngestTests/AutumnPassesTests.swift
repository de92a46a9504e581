// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore
import Testing

/// Tests sensor tables with both passes of the hour that clocks repeat in autumn. Three of four values are
/// equal in both passes.
@Suite struct AutumnPassesTests {
  private struct Row: Hashable {
    let shown: Int64
    let value: Int64

    var text: String { "\(DeviceTime(seconds: shown).text.prefix(16).replacing("T", with: " ")),\(value)\n" }
  }

  /// Twelve hours around the time when clocks in Madrid are set back, in the order of measurement.
  ///
  /// - Parameter differing: the number of the four values that differ between the two passes of the hour.
  private static func rows(differing: Int64 = 1) throws -> [Row] {
    let start = try #require(DeviceTime(text: "2025-10-25T22:01:00")).seconds
    return (0..<48 as Range<Int64>).map { index in
      let isSecond = index >= 20
      let inHour = index - (isSecond ? 20 : 16)
      let isInHour = (0..<4).contains(inHour)
      let value =
        isInHour ? 100 + inHour * 3 + (isSecond && inHour < differing ? 40 : 0) : 120 + index * 7 % 30
      return Row(shown: start + index * 900 - (isSecond ? 3600 : 0), value: value)
    }
  }

  private static func table(_ rows: [Row]) -> String {
    "time,historic glucose (mg/dL)\n" + rows.map(\.text).joined()
  }

  private func counts(_ bench: ImportBench, _ rows: [Row]) throws -> [Int] {
    let counts = try bench.run(
      bench.file("table.csv", Self.table(rows).utf8), zone: "Europe/Madrid", words: ["--kind", "cbg"]
    ).counts
    return [counts.newReadings, counts.knownReadings, counts.repeatedReadings, counts.changedReadings]
  }

  @Test(arguments: [false, true])
  func equalValuesOfARepeatedHourAreStoredTwiceIfTheRowOrderProvesTwoPasses(isNewestFirst: Bool) throws {
    let rows = try isNewestFirst ? Self.rows().reversed() : Self.rows()
    let bench = try ImportBench()
    #expect(try counts(bench, rows) == [48, 0, 0, 0])
    #expect(try counts(bench, rows) == [0, 48, 0, 0])
    #expect(try counts(bench, rows.reversed()) == [0, 48, 0, 0])
    #expect(try bench.number("SELECT count(*) FROM readings") == 48)
    // The three equal values of the second pass are stored an hour later. The differing value gets the same
    // time as its first occurrence.
    #expect(try bench.number("SELECT count(DISTINCT time) FROM readings") == 47)
    let second =
      "SELECT device_time, value FROM readings WHERE time >= '2025-10-26T01:00' AND time < '2025-10-26T02:00'"
    #expect(
      try bench.rows(second + " ORDER BY 1") == [
        "2025-10-26T02:16:00|103.0", "2025-10-26T02:31:00|106.0", "2025-10-26T02:46:00|109.0",
      ])
    #expect(try counts(bench, rows.sorted { $0.shown < $1.shown }) == [0, 45, 3, 0])
  }

  @Test func aTableSortedByShownTimeStoresEqualValuesOfARepeatedHourOnce() throws {
    let rows = try Self.rows()
    let sorted = rows.sorted { ($0.shown, $0.value) < ($1.shown, $1.value) }
    let bench = try ImportBench()
    #expect(try counts(bench, sorted) == [45, 0, 3, 0])
    // A table in the order of measurement proves that there were two passes, so the three equal values are
    // added.
    #expect(try counts(bench, rows) == [3, 45, 0, 0])
    #expect(try counts(bench, sorted) == [0, 45, 3, 0])
    #expect(try bench.number("SELECT count(*) FROM readings") == 48)
  }

  @Test func aRepeatedBlockOfRowsIsNotTakenForASecondPassOfARepeatedHour() throws {
    let equal = try Self.rows(differing: 0)
    #expect(try counts(ImportBench(), equal) == [44, 0, 4, 0])
    // First a later row separates the two passes. Then the rows of the hour are in random order.
    let rows = try Self.rows()
    let (hour, rest) = (Array(rows[16..<24]), rows[..<16] + rows[24...])
    #expect(try counts(ImportBench(), rest + hour[..<4] + [rows[24]] + hour[4...]) == [45, 0, 4, 0])
    let mixed = [0, 5, 1, 4, 2, 7, 3, 6].map { hour[$0] }
    #expect(try counts(ImportBench(), rows[..<16] + mixed + rows[24...]) == [45, 0, 3, 0])
  }

  @Test func theSecondPassOfARepeatedHourInALaterExportIsAdded() throws {
    let rows = try Self.rows()
    let bench = try ImportBench()
    #expect(try counts(bench, Array(rows[..<21])) == [21, 0, 0, 0])
    #expect(try counts(bench, rows) == [27, 21, 0, 0])
    #expect(try counts(bench, Array(rows[..<21])) == [0, 21, 0, 0])
  }
}
