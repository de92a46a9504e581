// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests rows of a live pipe that arrive after the first second, and columns that state the quality of a
/// value.
@Suite struct GenericLaterRowTests {
  private static func line(_ row: Int, _ cell: String) -> String {
    let time = DeviceTime(seconds: 1_777_600_000 + Int64(row) * 300).text
    return "\(time),\(100 + row % 40),\(cell)\n"
  }

  private static func table(_ column: String, _ cell: (Int) -> String) -> String {
    "time,glucose (mg/dL),\(column)\n" + (0..<40).map { line($0, cell($0)) }.joined()
  }

  /// The numbers of stored and rejected rows of a pipe that pauses after 20 rows.
  private static func live(_ column: String, _ cell: (Int) -> String) throws -> (stored: Int, rejected: Int) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let lines = table(column, cell).split(separator: "\n").map { $0 + "\n" }
    func send(_ lines: some Sequence<Substring>) throws {
      let bytes = Array(lines.joined().utf8)
      try #require(write(ends[1], bytes, bytes.count) == bytes.count)
    }
    try send(lines.prefix(21).map { Substring($0) })
    var options = try Rendering.options()
    (options.kind, options.zoneIsGiven) = (.cbg, true)
    var reader = try InputReader(descriptor: ends[0], name: "-", options: options)
    try send(lines.dropFirst(21).map { Substring($0) })
    close(ends[1])
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    return (batch.readings.count, batch.rejections.count)
  }

  @Test(arguments: [
    ("name", "Anna", "Bob"), ("room", "12", "14"), ("is_deleted", "0", "1"), ("status", "ok", "error"),
    ("timezone", "Europe/Berlin", "America/New_York"),
    ("TZ", "W. Europe Standard Time", "Eastern Standard Time"),
    ("quality", "good", "bad"),
  ])
  func aLaterRowOfALivePipeOfAnotherPersonZoneOrQualityIsRejected(
    _ column: String, _ first: String, _ later: String
  ) throws {
    let outcome = try Self.live(column) { $0 < 30 ? first : later }
    #expect(outcome.stored == 30 && outcome.rejected == 10, "\(column): \(outcome)")
    // A file with the same rows is checked as a whole before the import, and refused.
    let file = try ScratchFile(Self.table(column) { $0 < 30 ? first : later })
    #expect(try file.refusal { ($0.kind, $0.zoneIsGiven) = (.cbg, true) } != nil)
    let alike = try Self.live(column) { _ in first }
    #expect(alike.stored == 40 && alike.rejected == 0, "\(column)")
  }

  @Test(arguments: [
    ("name", "Breakfast", "Dinner"), ("status", "ok", "high"), ("timezone", "CET", "CEST"),
    ("Comment", "ok", "error"),
    ("mood", "good", "bad"), ("is_deleted", "0", "0"),
  ])
  func aLaterRowOfALivePipeWhoseOtherWordsNameNoPersonOrZoneIsRead(
    _ column: String, _ first: String, _ later: String
  )
    throws
  {
    let outcome = try Self.live(column) { $0 < 30 ? first : later }
    #expect(outcome.stored == 40 && outcome.rejected == 0, "\(column): \(outcome)")
  }

  @Test(arguments: [
    ("quality", "good", "bad"), ("signal", "ok", "lost"), ("sensor_status", "OK", "Questionable"),
    ("flag", "", "artifact"),
    ("filled", "0", "1"), ("mask", "0", "1"), ("was_missing", "false", "true"), ("observed", "1", "0"),
  ])
  func aTableWithMarksOfBadQualityIsRefusedUntilForcedOrFiltered(
    _ column: String, _ good: String, _ bad: String
  ) throws {
    let file = try ScratchFile(Self.table(column) { $0 % 7 == 3 ? bad : good })
    let message = try #require(try file.refusal(), "\(column)")
    #expect(message.contains("'\(column)'") && (message.contains("--force") || message.contains("--where")))
    #expect(try file.readings { $0.force = true }.readings.count == 40)
  }

  @Test(arguments: [
    ("quality", "good", "fair"), ("sleep_quality", "good", "bad"), ("mood", "good", "bad"), ("flag", "", "H"),
    ("signal", "ok", "strong"), ("filled", "0", "0"), ("Mask", "yes", "no"),
    ("Prescription filled", "1", "0"), ("observed", "morning", "noon"),
  ])
  func aTableWhoseWordsMarkNoBadQualityIsRead(_ column: String, _ one: String, _ other: String) throws {
    let file = try ScratchFile(Self.table(column) { $0 % 7 == 3 ? other : one })
    #expect(try file.readings().readings.count == 40)
  }

  @Test(arguments: ["Diet", "Sleep", "Meal", "Stimmung", "carbs"])
  func aColumnOfQualityDescribesTheColumnOnItsLeft(_ subject: String) throws {
    let file = try ScratchFile(Self.table("\(subject),Quality") { $0 % 7 == 3 ? "low,bad" : "low,good" })
    #expect(try file.readings().readings.count == 40)
    let other = try ScratchFile(Self.table("Arm,Quality") { $0 % 7 == 3 ? "low,bad" : "low,good" })
    #expect(try other.refusal()?.contains("'Quality'") == true)
  }
}
