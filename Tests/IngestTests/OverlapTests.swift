// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore
import SeededRandom
import Testing

/// Tests that overlapping exports give the same store, whatever the order of their imports.
@Suite struct OverlapTests {
  private struct Row {
    let time: DeviceTime
    let milligrams: Int
  }

  /// Sensor readings of a day around the hour that clocks in Madrid repeat. Some minutes also have a finger
  /// stick.
  private func rows(_ generator: inout SeededGenerator) throws -> [Row] {
    let start = try #require(DeviceTime(text: "2025-10-25T18:00:00")).seconds
    var rows: [Row] = []
    for index in 0..<Int64.random(in: 60...160, using: &generator) {
      let time = DeviceTime(seconds: start + index * 300)
      let milligrams = Int.random(in: 40...400, using: &generator)
      rows.append(Row(time: time, milligrams: milligrams))
      if Int.random(in: 0..<8, using: &generator) == 0 {
        rows.append(Row(time: time, milligrams: milligrams + 30))
      }
    }
    return rows
  }

  private func export(_ rows: ArraySlice<Row>, inMillimoles: Bool) -> String {
    let lines = rows.map { row in
      let quantity = Quantity(Double(row.milligrams), .milligramsPerDecilitre)
      let value = inMillimoles ? quantity.displayed(in: .millimolesPerLitre) : String(row.milligrams)
      return "\(row.time.text),smbg,\(value)\n"
    }
    return "time,kind,\(inMillimoles ? "glucose (mmol/L)" : "glucose (mg/dL)")\n" + lines.joined()
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func overlappingExportsInAnyOrderGiveTheSameStoreAsOneExport(_ seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let rows = try rows(&generator)
    let whole = try ImportBench()
    try whole.run(whole.file("all.csv", export(rows[...], inMillimoles: false).utf8))
    let split = try ImportBench()
    var pieces: [String] = []
    var start = 0
    while start < rows.count {
      let end = min(rows.count, start + Int.random(in: 10...40, using: &generator))
      let inMillimoles = Bool.random(using: &generator)
      pieces.append(export(rows[max(0, start - 8)..<end], inMillimoles: inMillimoles))
      start = end
    }
    for (index, piece) in (pieces + pieces).shuffled(using: &generator).enumerated() {
      let report = try split.run(split.file("\(index).csv", piece.utf8))
      #expect(report.counts.changedReadings == 0, "seed \(seed)")
    }
    let columns =
      "\(ImportBench.device), \(ImportBench.identity), r.occurrence, r.device_time, coalesce(r.stated_offset, r.derived_offset)"
    let stored = try split.readings(columns)
    #expect(try stored == whole.readings(columns), "seed \(seed)")
    #expect(!stored.isEmpty)
  }
}
