// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import SeededRandom
import Testing

/// Tests tables whose last line has no line end. The last row is read if it is surely complete, and a value
/// that may have lost digits is never stored.
@Suite struct LastLineTests {
  private static let samples = Repository.sampleExports.filter { path in
    [".csv", ".tsv", ".txt"].contains { path.hasSuffix($0) } && !path.contains("utf16")
      && !path.contains("cut")
  }

  /// Samples whose last line is always doubtful: the only row, a single text, or a value with possible
  /// further digits.
  private static let unsure: Set<String> = [
    "clarity/clarity-mgdl-ja.csv", "clarity/clarity-resaved-date-time.csv",
    "clarity/clarity-resaved-without-index.csv", "cronometer/biometrics.csv", "generic/month-names-fr.csv",
    "glooko/manual-insulin-de.csv",
    "juggluco/amounts.tsv", "lingo/lingo-mgdl-repeated-hour.csv", "sibionics/sensor-mgdl-pt.csv",
  ]

  private static func export(_ bytes: [UInt8], _ given: ExportOptions, isComplete: Bool = false) throws
    -> TextExport
  {
    try TextExport(bytes: bytes) { options in
      options = given
      options.lastLineIsComplete = isComplete
    }
  }

  private static func options(_ path: String, _ bytes: [UInt8]) throws -> ExportOptions {
    var options = try Rendering.options(besides: Repository.samples.appending(path: path))
    // A truncated table may be too short to show the interval of a sensor, so the kind inferred from the
    // complete table is given.
    let kind = try export(bytes, options).decision("kind").flatMap { $0.hasSuffix("(inferred)") ? $0 : nil }
    if let name = kind?.split(separator: " ").first { options.kind = ReadingKind(name: name) ?? options.kind }
    return options
  }

  private static func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
    Array(bytes[..<((bytes.lastIndex { $0 != 0x0A && $0 != 0x0D } ?? -1) + 1)])
  }

  @Test(arguments: samples) func aSampleWithoutItsLastLineEndHasTheSameItems(_ path: String) throws {
    let bytes = try TextExport.sample(path)
    let given = try Self.options(path, bytes)
    let whole = try Self.export(bytes, given, isComplete: true)
    let bare = try Self.export(Self.withoutLineEnd(bytes), given)
    // If the last row is rejected, it may be truncated, so that `bare` may have another end than `whole`.
    let isRejected = whole.rejections.contains { rejection in
      if case .unterminated(rejection.line, _) = bare.end { true } else { false }
    }
    if bare.end != whole.end, !isRejected { #expect(Self.unsure.contains(path), "\(bare.end)") }
    let said = try Self.export(Self.withoutLineEnd(bytes), given, isComplete: true)
    for other in bare.end == whole.end ? [bare, said] : [said] {
      #expect(other.readingTexts == whole.readingTexts)
      #expect(other.recordTexts == whole.recordTexts)
      #expect(other.end == whole.end)
    }
  }

  @Test(arguments: Seeds.share(of: samples, every: 4))
  func aTruncatedLastLineNeverProducesADifferentValue(_ path: String) throws {
    let bytes = Self.withoutLineEnd(try TextExport.sample(path))
    let given = try Self.options(path, bytes)
    let whole = try Self.export(bytes, given, isComplete: true)
    let start = (bytes.lastIndex(of: 0x0A) ?? -1) + 1
    let isLong = ProcessInfo.processInfo.environment["GLUCOPORT_MORE_SEEDS"] != nil
    let step = isLong ? 1 : max(1, (bytes.count - start) / 16)
    for length in stride(from: bytes.count - 1, through: start + 1, by: -step) {
      // A truncation inside a doubled quote leaves one quote, which looks like the end of the text.
      if bytes[length] == UInt8(ascii: "\"") { continue }
      let cut: TextExport
      do {
        cut = try Self.export(Array(bytes.prefix(length)), given)
      } catch is Failure {
        // The remaining bytes may lack the header, or a last row that shows the unit or the order of day and
        // month.
        continue
      }
      // If only one row remains, no earlier row shows how long complete cells are.
      guard cut.readings.count + cut.records.count > 1 else { continue }
      #expect(cut.readingTexts.isSubset(of: whole.readingTexts), "cut to \(length) bytes")
      #expect(cut.recordTexts.isSubset(of: whole.recordTexts), "cut to \(length) bytes")
    }
  }

  // MARK: The rule, point by point

  private static let sensor =
    "time,glucose mg/dL\n2026-03-01 08:00,118\n2026-03-01 08:05,121\n2026-03-01 08:10,125\n"
  private static let decimals = "time,glucose mmol/L\n2026-03-01 08:00,10.1\n2026-03-01 08:05,9.8\n"
  private static let spread = "time,glucose mmol/L\n2026-03-01 08:00,10.1\n2026-03-01 08:05,9\n"
  private static let low =
    "time,glucose mg/dL\n2026-03-01 08:00,61\n2026-03-01 08:05,58\n2026-03-01 08:10,55\n"
  private static let timeLast = "glucose mg/dL,time\n118,2026-03-01 08:00\n121,2026-03-01 08:05\n"
  private static let serial =
    "time,glucose mg/dL,serial\n2026-03-01 08:00,118,AB1234\n2026-03-01 08:05,121,AB1234\n"
  private static let dose =
    "time,glucose mg/dL,note\n2026-03-01 08:00,118,\"a\"\n2026-03-01 08:05,121,\"b\"\n"

  @Test(arguments: [
    (sensor, "2026-03-01 08:15,131"), (decimals, "2026-03-01 08:10,9.0"), (spread, "2026-03-01 08:10,9.4"),
    (low, "2026-03-01 08:15,53"), (timeLast, "125,2026-03-01 08:10"), (serial, "2026-03-01 08:10,125,AB1234"),
    (serial, "2026-03-01 08:10,125,AB"), (serial, "2026-03-01 08:10,125,CD5678"),
  ])
  func aLastLineThatIsCertainlyCompleteIsRead(_ head: String, _ last: String) throws {
    let export = try TextExport(head + last)
    #expect(export.readings.count == head.split(separator: "\n").count && export.end == .whole)
    #expect(export.devices.count == (last.hasSuffix("CD5678") ? 2 : 1))
  }

  @Test(arguments: [
    (sensor, "2026-03-01 08:15,13"), (sensor, "2026-03-01 08:15,1"), (sensor, "2026-03-01 08:15,"),
    (sensor, "2026-03-01 08:1"), (decimals, "2026-03-01 08:10,12"), (decimals, "2026-03-01 08:10,9."),
    (spread, "2026-03-01 08:10,7"), (low, "2026-03-01 10:15,53"), (timeLast, "125,2026-03-01 08:1"),
    (serial, "2026-03-01 08:10,125,CD"), (serial, "2026-03-01 08:10,125,"), (serial, "2026-03-01 08:10,125"),
    (serial, "2026-03-01 08:10,12"),
  ])
  func aDoubtfulLastLineIsOnlyStoredIfAPersonConfirmsIt(_ head: String, _ last: String) throws {
    let rows = head.split(separator: "\n").count - 1
    let export = try TextExport(head + last)
    #expect(export.readings.count == rows && export.rejections.isEmpty)
    guard case .unterminated(let line, let detail) = export.end else {
      Issue.record("\(export.end)")
      return
    }
    #expect(line == rows + 2 && detail.hasPrefix("the last line has no line end and "))
    #expect(try TextExport(head + last) { $0.lastLineIsComplete = true }.end == .whole)
  }

  @Test func aLastTextThatMayBeTruncatedIsLeftOutAndItsReadingKept() throws {
    let change = { (options: inout ExportOptions) in
      options.columns = ["time": "time", "value": "glucose mg/dL", "note": "note"]
    }
    let cut = try TextExport(Self.dose + "2026-03-01 08:10,125,half a", change: change)
    #expect(cut.readings.count == 3 && cut.records.count == 2 && cut.isTruncated)
    let known = try TextExport(Self.dose + "2026-03-01 08:10,125,\"half a note\"", change: change)
    #expect(known.readings.count == 3 && known.records.count == 3 && !known.isTruncated)
  }

  @Test func aTwoDigitLastValueAtTheEndOfADiskBlockIsDoubtful() throws {
    let last = "2026-03-01 08:15,53"
    let filler = String(repeating: "x", count: 4096 - Self.low.utf8.count - last.utf8.count - 2)
    let text = Self.low.replacing("time,glucose mg/dL\n", with: "time,glucose mg/dL,\(filler)\n") + last
    #expect(text.utf8.count == 4095)
    #expect(try TextExport(text).end == .whole)
    let block = try TextExport(text.replacing(filler, with: filler + "x"))
    #expect(block.readings.count == 3)
    guard case .unterminated(_, let detail) = block.end else {
      Issue.record("\(block.end)")
      return
    }
    #expect(detail.contains("4096 bytes"))
  }

  /// The reader keeps the last rows in memory to compare them with the last line, even if the input is long.
  @Test func theLastLineOfALongTableIsJudgedByTheLastRows() throws {
    let rows = (0..<30_000).map { (index: Int64) -> String in
      "\(DeviceTime(seconds: 1_700_000_000 + index * 300).text),12\(index % 10).5\n"
    }
    let text = "time,glucose mg/dL\n" + rows.joined()
    let time = DeviceTime(seconds: 1_700_000_000 + 30_000 * 300).text
    #expect(try TextExport(text + "\(time),131").readings.count == 30_000)
    let whole = try TextExport(text + "\(time),131.5")
    #expect(whole.readings.count == 30_001 && whole.end == .whole)
  }
}
