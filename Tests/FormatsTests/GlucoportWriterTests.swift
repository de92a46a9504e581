// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Formats

/// Compares the lines of an export with the cells of each item.
@Suite struct GlucoportWriterTests {
  private static let texts = [
    "", "Abbott", "a,b", "\"quoted\"", "=1+1", "'=1", "@x", "two\r\nlines", "line\u{2028}", "é,\u{301}",
    "q\"\u{308}", "tab\t", "\u{7F}",
    "日本", "-5",
  ]

  private static func items(_ random: inout SeededGenerator) -> [GlucoportItem] {
    (0..<400).map { number in
      number % 5 == 0 ? .record(record(number, &random)) : .reading(reading(&random))
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    texts.randomElement(using: &random) ?? ""
  }

  private static func placement(_ random: inout SeededGenerator) -> Placement {
    Placement(
      utcOffset: [0, 3600, -12_600, 1172].randomElement(using: &random) ?? 0,
      source: OffsetSource.allCases.randomElement(using: &random) ?? .stated)
  }

  private static func measurement(_ random: inout SeededGenerator) -> Logbook.Measurement {
    let unit = GlucoseUnit.allCases.randomElement(using: &random) ?? .milligramsPerDecilitre
    let limit = [nil, 20, 2.2].randomElement(using: &random) ?? nil
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .low(below: limit, unit)
    case 1: return .high(above: limit, unit)
    default: return .value(Quantity(Double(Int.random(in: 1...6000, using: &random)) / 10, unit))
    }
  }

  private static func reading(_ random: inout SeededGenerator) -> GlucoportReading {
    GlucoportReading(
      device: Device(
        vendor: text(&random), model: text(&random), serial: text(&random), format: text(&random)),
      kind: ReadingKind.allCases.randomElement(using: &random) ?? .cbg,
      deviceTime: DeviceTime(seconds: Int64.random(in: 1_761_400_000...1_761_600_000, using: &random)),
      placement: placement(&random), measurement: measurement(&random),
      marks: ReadingMarks(
        rawValue: Bool.random(using: &random) ? 0 : UInt16.random(in: 0..<4096, using: &random)),
      isWithdrawn: Bool.random(using: &random),
      positionKind: PositionKind.allCases.randomElement(using: &random) ?? .time,
      position: Int64.random(in: -1000...2_000_000_000_000, using: &random),
      valueBucket: Int64.random(in: -2...300, using: &random),
      occurrence: Int64.random(in: 0...2, using: &random))
  }

  private static func record(_ number: Int, _ random: inout SeededGenerator) -> GlucoportRecord {
    GlucoportRecord(
      guid: "g\(number)", kind: .note, entryGuid: number % 2 == 0 ? nil : "e\(number)",
      deviceTime: DeviceTime(seconds: 1_761_440_000 + Int64(number)), placement: placement(&random),
      fields: #"{"text":\#(jsonText(text(&random)))}"#,
      provenance: number % 4 == 0 ? nil : Provenance(format: "test", source: text(&random)),
      isDeleted: number % 3 == 0)
  }

  private static func cell(_ text: String) -> String {
    let marks: Set<Unicode.Scalar> = [",", "\"", "\r", "\n", "\u{2028}"]
    guard text.unicodeScalars.contains(where: marks.contains) else { return text }
    let doubled = text.utf8.flatMap { $0 == UInt8(ascii: "\"") ? [$0, $0] : [$0] }
    return "\"" + String(decoding: doubled, as: UTF8.self) + "\""
  }

  @Test(arguments: [false, true], [false, true])
  func aWrittenCSVLineHasTheTextsOfItsCells(_ inBothUnits: Bool, _ isSpreadsheetSafe: Bool) {
    var random = SeededGenerator(seed: 7)
    let columns = GlucoportColumn.allCases.filter { inBothUnits || !$0.isOnRequest }
    var writer = GlucoportWriter(.csv(isSpreadsheetSafe: isSpreadsheetSafe), inBothUnits: inBothUnits)
    for item in Self.items(&random) {
      let cells = GlucoportCells(item, inBothUnits: inBothUnits)
      let texts = columns.map { column in
        isSpreadsheetSafe ? GlucoportColumns.guarding(cells.text(column), in: column) : cells.text(column)
      }
      var line: [UInt8] = []
      writer.append(item, to: &line)
      #expect(String(decoding: line, as: UTF8.self) == texts.map(Self.cell).joined(separator: ",") + "\r\n")
    }
  }

  @Test(arguments: [false, true])
  func aWrittenNDJSONLineIsTheObjectOfItsCells(_ inBothUnits: Bool) throws {
    var random = SeededGenerator(seed: 8)
    var writer = GlucoportWriter(.ndjson, inBothUnits: inBothUnits)
    for item in Self.items(&random) {
      var line: [UInt8] = []
      writer.append(item, to: &line)
      let object = try OrderedJSON.text(GlucoportCells(item, inBothUnits: inBothUnits))
      #expect(String(decoding: line, as: UTF8.self) == object + "\n")
    }
  }

  /// The writer uses the end of a line again for a reading that differs only in times and numbers. It must
  /// not do so for any other difference.
  @Test(arguments: [false, true])
  func aUsedWriterWritesTheSameLinesAsANewWriter(_ isJSON: Bool) throws {
    var random = SeededGenerator(seed: 9)
    let form = isJSON ? GlucoportWriter.Form.ndjson : .csv(isSpreadsheetSafe: false)
    var writer = GlucoportWriter(form)
    for number in 0..<600 {
      let item = GlucoportItem.reading(Self.variant(number % 12, &random))
      var (line, first): ([UInt8], [UInt8]) = ([], [])
      writer.append(item, to: &line)
      // A new writer has no line to use again.
      var other = GlucoportWriter(form)
      other.append(item, to: &first)
      #expect(String(decoding: line, as: UTF8.self) == String(decoding: first, as: UTF8.self))
    }
  }

  /// A reading with random times and numbers. A number from 1 to 11 in `part` also changes one other part of
  /// the reading.
  private static func variant(_ part: Int, _ random: inout SeededGenerator) -> GlucoportReading {
    func text(_ number: Int, _ text: String) -> String { part == number ? "other" : text }
    return GlucoportReading(
      device: Device(
        vendor: text(1, "v"), model: text(2, "m"), serial: text(3, "s"), format: text(4, "f")),
      kind: part == 5 ? .scan : .smbg,
      deviceTime: DeviceTime(seconds: Int64.random(in: -1_000_000...1_761_600_000, using: &random)),
      placement: Placement(utcOffset: part == 6 ? -12_600 : 3600, source: part == 7 ? .zone : .stated),
      measurement: .value(
        Quantity(
          Double(Int.random(in: 0...6000, using: &random)) / (part % 2 == 0 ? 10 : 7),
          part == 8 ? .millimolesPerLitre : .milligramsPerDecilitre)),
      marks: part == 9 ? [.fasting, .manual] : [], isWithdrawn: part == 10,
      positionKind: part == 11 ? .tick : .time,
      position: Int64.random(in: -1000...2_000_000_000_000, using: &random),
      valueBucket: Int64.random(in: -2...300, using: &random),
      occurrence: Int64.random(in: 0...2, using: &random))
  }

  /// Swift considers the two texts of a pair equal, but their bytes differ. The pairs have different or equal
  /// lengths, and in the last one a text is ASCII.
  @Test(
    arguments: [("e\u{301}", "\u{E9}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("K", "\u{212A}")],
    [Logbook.Measurement.low(below: nil, .millimolesPerLitre), .value(Quantity(5.5, .millimolesPerLitre))])
  func devicesWithEquivalentUnicodeNamesKeepTheirBytes(
    _ names: (one: String, other: String), _ measurement: Logbook.Measurement
  ) {
    let (one, other) = names
    #expect(one == other)
    for form in [GlucoportWriter.Form.ndjson, .csv(isSpreadsheetSafe: false)] {
      var writer = GlucoportWriter(form)
      for serial in [one, other, one, other] {
        let reading = GlucoportReading(
          device: Device(vendor: "T", model: "M", serial: serial, format: "test"), kind: .cbg,
          deviceTime: DeviceTime(seconds: 0), placement: Placement(utcOffset: 0, source: .stated),
          measurement: measurement, marks: [], isWithdrawn: false, positionKind: .time, position: 0,
          valueBucket: 0, occurrence: 0)
        var line: [UInt8] = []
        writer.append(.reading(reading), to: &line)
        #expect(line.split(whereSeparator: { $0 < 0x30 }).contains { $0.elementsEqual(serial.utf8) })
      }
    }
  }
}
