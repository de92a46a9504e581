// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Ingest
import Logbook
import LogbookStore
import SeededRandom
import Testing

/// Tests files with unsorted rows.
@Suite struct UnsortedImportTests {
  private struct Stop: Error {}
  private static let header = "time,kind,glucose (mg/dL),device"

  /// Rows of two kinds and two devices. 700 rows occur twice, two values round to the same tenth of mmol/L,
  /// and one row in a repeated hour has an invalid value.
  private static let rows: [String] = {
    var rows = (0..<45_000).map { row in
      let time = DeviceTime(seconds: 1_735_689_600 + Int64(row) * 600).text
      return "\(time),\(row % 4 == 0 ? "smbg" : "cbg"),\(60 + row % 200),\(row % 3 == 0 ? "first" : "second")"
    }
    rows += rows.prefix(700)
    rows += ["2025-11-01T10:00:30,smbg,103.4,first", "2025-11-01T10:00:30,smbg,103,first"]
    rows += ["2025-10-26T02:30:00,cbg,abc,first"]
    return rows
  }()

  private func export(seed: UInt64) -> Data {
    var random = SeededGenerator(seed: seed)
    return Data(([Self.header] + Self.rows.shuffled(using: &random)).joined(separator: "\n").utf8 + [10])
  }

  private func stored(_ bench: ImportBench) throws -> [String] {
    try bench.readings(
      ImportBench.identity, "r.occurrence", ImportBench.value, "r.device_time",
      "coalesce(r.stated_offset, r.derived_offset)",
      "r.offset_source",
      "r.marks", "d.model")
  }

  @Test(arguments: Seeds.share(of: Seeds.first(2), every: 2))
  func aShuffledFileProducesTheSameStoreAsASortedFile(seed: UInt64) throws {
    let ordered = try ImportBench()
    let text = ([Self.header] + Self.rows).joined(separator: "\n") + "\n"
    let expected = try ordered.run(ordered.file("a.csv", text.utf8)).counts
    let shuffled = try ImportBench()
    let path = try shuffled.file("a.csv", export(seed: seed))
    let counts = try shuffled.run(path).counts
    #expect(try stored(shuffled) == stored(ordered), "seed \(seed)")
    #expect(counts.newReadings == expected.newReadings && counts.rejected == 1)
    #expect(counts.repeatedReadings == 700 && counts.changedReadings == 0)
    #expect(counts.newByKind == expected.newByKind && counts.ambiguousTimes == expected.ambiguousTimes)
    #expect(counts.firstTime == expected.firstTime && counts.lastTime == expected.lastTime)
    let content = try shuffled.content()
    #expect(try shuffled.run(path).counts.newReadings == 0)
    #expect(try shuffled.content() == content)
  }

  @Test func aReversedFileProducesTheSameStoreAsASortedFile() throws {
    let (ordered, reversed) = (try ImportBench(), try ImportBench())
    let text = ([Self.header] + Self.rows).joined(separator: "\n") + "\n"
    let expected = try ordered.run(ordered.file("a.csv", text.utf8)).counts
    let turned = ([Self.header] + Self.rows.reversed()).joined(separator: "\n") + "\n"
    let path = try reversed.file("a.csv", turned.utf8)
    let counts = try reversed.run(path).counts
    #expect(try stored(reversed) == stored(ordered))
    #expect(counts.newReadings == expected.newReadings && counts.repeatedReadings == 700)
    #expect(counts.firstTime == expected.firstTime && counts.lastTime == expected.lastTime)
    #expect(try reversed.run(path).counts.newReadings == 0)
  }

  @Test func aStrictImportOfAShuffledFileWithARejectionStoresNothing() throws {
    let bench = try ImportBench()
    let path = try bench.file("a.csv", export(seed: 3))
    #expect(throws: RejectedInput.self) { try bench.run(path, isStrict: true) }
    #expect(try bench.number("SELECT count(*) FROM reading") == 0)
  }

  @Test func anImportStoppedByTooManyRejectionsKeepsTheRowsBeforeThem() throws {
    let bench = try ImportBench()
    var rows = String(decoding: export(seed: 4), as: UTF8.self)
    rows += String(repeating: "2025-10-26T02:30:00,cbg,abc,first\n", count: 10)
    let path = try bench.file("a.csv", rows.utf8)
    let stopped = try #require(throws: RejectedInput.self) { try bench.run(path, maxRejections: 5) }
    #expect(stopped.failure.message.contains("what was read before is stored"))
    #expect(try bench.number("SELECT count(*) FROM reading") > 40_000)
    #expect(try bench.rows("SELECT outcome FROM ingest") == ["failed"])
  }

  /// A table in which every column can be recognised at once, so that the program reads no row twice.
  private static func diary(seed: UInt64) -> Data {
    var random = SeededGenerator(seed: seed)
    let rows = (0..<45_000).map { row in
      let time = DeviceTime(seconds: 1_735_689_600 + Int64(row) * 600).text
      let day = time.prefix(10).split(separator: "-").reversed().joined(separator: ".")
      return "\(day);\(time.dropFirst(11).prefix(5));\(60 + row % 200);"
    }
    let header = "DAY;TIME;UDT_CGMS;BG_LEVEL"
    return Data(([header] + rows.shuffled(using: &random)).joined(separator: "\n").utf8 + [10])
  }

  @Test func unsortedRowsFromAPipeAreStoredBatchByBatch() throws {
    let bench = try ImportBench()
    let path = try bench.file("a.csv", Self.diary(seed: 5))
    let pipe = Pipe()
    let writer = Thread {
      do {
        try pipe.fileHandleForWriting.write(contentsOf: Data(contentsOf: URL(filePath: path)))
        try pipe.fileHandleForWriting.close()
      } catch {
        // If a write fails, the reader gets fewer rows than expected, and the test fails.
      }
    }
    writer.start()
    let options = try ExportOptions(zone: bench.store.timezone(), now: 1_795_219_200)
    let reader = try InputReader(
      descriptor: dup(pipe.fileHandleForReading.fileDescriptor), name: "-", options: options)
    var stored: [Int] = []
    let session = ImportSession(
      clock: { 1 },
      onProgress: { counts, _ in stored.append(counts.newReadings) })
    let report = try session.run(reader) { bench.store }
    #expect(report.counts.newReadings == 45_000)
    #expect(stored.first ?? 0 > 0, "the first batch is stored when the next is read")
  }
}
