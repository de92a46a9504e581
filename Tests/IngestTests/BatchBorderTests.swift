// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ingest
import Logbook
import LogbookStore
import Testing

@testable import Formats

/// Tests inputs in which a batch ends between two readings with the same time. In some tests, the process is
/// killed at this border.
@Suite struct BatchBorderTests {
  private struct Kill: Error {}

  /// A table with `count` rows before `places`, so that a batch ends within `places`. Its first row has an
  /// invalid value.
  private func export(_ places: [(time: String, value: String)], before count: Int) -> [UInt8] {
    var text = "time,kind,glucose (mg/dL)\n2025-01-01T00:00:00,cbg,abc\n"
    for row in 0..<count {
      let time = DeviceTime(seconds: 1_735_689_600 + Int64(row) * 60)
      text += "\(time.text),cbg,\(60 + row % 200)\n"
    }
    for place in places { text += "\(place.time),\(place.value)\n" }
    return Array(text.utf8)
  }

  /// Sensor readings in the hour that clocks in Madrid repeat, from both passes.
  private var repeatedHour: [(time: String, value: String)] {
    (0..<24).map { ("2025-10-26T02:\(String(format: "%02d", $0 % 12 * 5)):00,cbg", "\(100 + $0)") }
  }

  /// Both values are 5.7 mmol/L when they are rounded to one decimal. The larger value comes first.
  private let oneTenth = [("2025-11-01T10:00:00,smbg", "103.4"), ("2025-11-01T10:00:00,smbg", "103")]

  private func stored(_ bench: ImportBench) throws -> [String] {
    try bench.rows(
      "SELECT partition, position, series, value_bucket, occurrence, value FROM reading ORDER BY 1, 2, 3, 4, 5"
    )
  }

  private func expectRerunIsWhole(_ places: [(time: String, value: String)], cut: Int) throws {
    // The batch size includes the rejected first row, so there is one row less.
    let before = IngestBatch.size - 1 - cut
    let bytes = export(places, before: before)
    let whole = try ImportBench()
    let counts = try whole.run(whole.file("a.csv", bytes)).counts
    #expect(counts.newReadings == before + places.count)
    #expect(counts.changedReadings == 0)
    let killed = try ImportBench()
    let path = try killed.file("a.csv", bytes)
    #expect(throws: Kill.self) { try killed.run(path, onRejection: { _, _ in throw Kill() }) }
    #expect(try killed.number("SELECT count(*) FROM reading") > 0, "the first batch is stored")
    #expect(try stored(killed) != stored(whole))
    let rerun = try killed.run(path).counts
    #expect(rerun.changedReadings == 0)
    #expect(try stored(killed) == stored(whole))
  }

  @Test(arguments: [1, 12, 13, 23]) func anImportKilledWithinARepeatedHourIsCompletedByItsRerun(_ cut: Int)
    throws
  {
    try expectRerunIsWhole(repeatedHour, cut: cut)
  }

  @Test func anImportKilledBetweenValuesThatRoundToEqualNumbersIsCompletedByARerun() throws {
    try expectRerunIsWhole(oneTenth, cut: 1)
  }

  @Test func valuesThatAreEqualWhenRoundedToTenthsAreOrderedBySizeAcrossBatches() throws {
    let bench = try ImportBench()
    try bench.run(bench.file("a.csv", export(oneTenth, before: IngestBatch.size - 2)))
    #expect(
      try bench.rows("SELECT value, occurrence FROM reading JOIN series ON id = series WHERE kind = 1")
        == ["103.0|0", "103.4|1"])
  }
}
