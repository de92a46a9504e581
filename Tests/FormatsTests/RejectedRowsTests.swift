// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests the rejected rows that `--rejects` saves, so that a person can correct and import them.
@Suite struct RejectedRowsTests {
  /// The rejections of an input, each with the header of its batch.
  private static func rejections(of text: String) throws -> [(header: String?, rejection: Rejection)] {
    let file = try ScratchFile(text)
    var reader = try InputReader(path: file.url.path, options: Rendering.options())
    var found: [(header: String?, rejection: Rejection)] = []
    var goesOn = true
    while goesOn {
      var batch = IngestBatch()
      goesOn = try reader.read(into: &batch)
      found += batch.rejections.map { (reader.header, $0) }
    }
    return found
  }

  /// A table with one row: the first row of a sample, with another unit, date and value.
  private static func mySugr(_ unit: String, _ date: String, _ value: String) throws -> String {
    let url = Repository.samples.appending(path: "mysugr/mysugr-mgdl-en.csv")
    let lines = try String(contentsOf: url, encoding: .utf8).split(whereSeparator: \.isNewline).prefix(2)
    try #require(lines.count == 2 && lines[1].contains("\"154\""))
    return lines[0].replacing("(mg/dL)", with: "(\(unit))") + "\n"
      + lines[1].replacing("Aug 7, 2025", with: date).replacing("\"154\"", with: "\"\(value)\"") + "\n"
  }

  @Test func aRejectedRowIsWrittenWithTheHeaderAboveIt() throws {
    let text =
      try Self.mySugr("mg/dL", "Feb 30, 2025", "48") + Self.mySugr("mmol/L", "Feb 30, 2025", "5.6")
    let found = try Self.rejections(of: text)
    #expect(found.map { $0.header?.contains("mg/dL") } == [true, false])
    #expect(found.map { $0.rejection.source.contains("\"48\"") } == [true, false])
  }

  @Test func savedRejectedRowsKeepTheirOrder() throws {
    let text =
      "time,glucose mg/dL\n2026-05-01 07:00,101\ntime,glucose mmol/L\n2026-05-01 08:00,12.5\n"
      + "2026-05-01 09:00,13.5\n"
    let lines = try Self.rejections(of: text).map(\.rejection.line)
    #expect(lines == lines.sorted() && lines.count >= 2, "\(lines)")
  }

  /// Up to forty lines above a header are skipped. In the middle of a file, such lines may be rows of another
  /// table, so they are reported as rejected.
  @Test func rowsOfAnotherTableAboveAHeaderAreReportedAsRejected() throws {
    let libreView = try String(
      contentsOf: Repository.samples.appending(path: "libreview/libreview-mmol-en-21-columns.csv"),
      encoding: .utf8)
    let text = try Self.mySugr("mg/dL", "Feb 3, 2025", "148") + libreView
    let sources = try Self.rejections(of: text).map(\.rejection.source)
    #expect(sources.contains { $0.contains("148") }, "\(sources)")
  }

  @Test func aRejectedRowIsSavedCompletelyOrNotAtAll() throws {
    for (length, isKept) in [(6_000, true), (100_000, false)] {
      let note = String(repeating: "x", count: length)
      let text =
        "time,glucose mg/dL,note\n2026-05-01 07:00,102,\n2026-05-01 12:00,103,\n2026-05-01 25:00,101,\(note)\n"
      let row = try #require(try Self.rejections(of: text).first)
      #expect(row.rejection.source.count == (isKept ? "2026-05-01 25:00,101,".count + length : 0))
    }
  }

  // MARK: The cost of a rejected row

  /// The processor time, in seconds, to read a table of 20,000 rows: the minimum of five runs.
  private static func seconds(_ row: (Int) -> String, rejected: Int) throws -> Double {
    let rows = (0..<20_000).map { $0 < 100 ? good($0) : row($0) }
    let file = try ScratchFile("time,glucose (mg/dL),device\n" + rows.joined())
    var least = Double.infinity
    for _ in 0..<5 {
      let start = threadSeconds()
      let found = try file.readings()
      least = min(least, threadSeconds() - start)
      #expect(found.rejections.count == rejected)
    }
    return least
  }

  private static func good(_ row: Int) -> String {
    "\(DeviceTime(seconds: 1_700_000_000 + Int64(row) * 300).text),\(90 + row % 71),Example G6\n"
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// If each rejected row were compared with all known headers, a million bad rows would take minutes.
  @Test(arguments: [
    "2026-13-45 99:00:00,120,Example G6\n", "n/a,120,Example G6\n", "2026-05-06 10:00,abc,Example G6\n",
  ])
  func aRejectedRowTakesLittleMoreWorkThanAValidOne(_ row: String) throws {
    let good = try Self.seconds(Self.good, rejected: 0)
    #expect(try Self.seconds({ _ in row }, rejected: 19_900) < 8 * good)
  }
}
