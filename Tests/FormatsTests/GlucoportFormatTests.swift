// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import TestArchives
import Testing

@testable import Formats

@Suite struct GlucoportFormatTests {
  /// The columns of an export, without those that are calculated from other columns.
  private static let names = [
    "item", "kind", "time", "device_time", "utc_offset", "offset_source", "value", "unit", "range",
    "threshold",
    "marks", "vendor", "model", "serial", "format", "position_kind", "position", "value_bucket", "occurrence",
    "guid",
    "entry_guid", "fields", "deleted",
  ]
  private static let header = names.joined(separator: ",")
  private static let reading =
    "reading,smbg,2026-03-30T07:30:00Z,2026-03-30T09:30:00,+02:00,zone,121,mg/dL,,,,"
    + "Abbott,Libre,SN-1,libreview,time,1774863000,67,0,,,,"

  private func read(_ rows: String...) throws -> (readings: [Reading], rejections: [Rejection], end: InputEnd)
  {
    try ScratchFile(([Self.header] + rows).joined(separator: "\n") + "\n").readings()
  }

  private func changed(_ column: String, to value: String) -> String {
    var cells = Self.reading.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if let place = Self.names.firstIndex(of: column) { cells[place] = value }
    return cells.joined(separator: ",")
  }

  @Test func theColumnsOfAGlucoportExportAreThoseInTheManual() {
    #expect(
      GlucoportColumns.names == [
        "item", "kind", "time", "device_time", "utc_offset", "offset_source", "value", "unit", "value_mgdl",
        "value_mmoll", "range", "threshold", "marks", "withdrawn", "vendor", "model", "serial", "format",
        "position_kind", "position", "value_bucket", "occurrence", "guid", "entry_guid", "fields",
        "provenance", "deleted",
      ])
    let onRequest = GlucoportColumn.allCases.filter(\.isOnRequest).map(\.name)
    #expect(onRequest == ["value_mgdl", "value_mmoll"])
  }

  /// A spreadsheet may have changed the cells of a derived column in any way.
  @Test(arguments: ["true", "false", "", "7", "TRUE", "=A1"])
  func aGlucoportColumnDerivedFromOthersIsNotRead(_ cell: String) throws {
    let plain = try read(Self.reading)
    let extra = ",value_mgdl,value_mmoll,withdrawn"
    let file = try ScratchFile(
      Self.header + extra + "\n" + Self.reading + ",\(cell),\(cell),\(cell)" + "\n")
    let result = try file.readings()
    #expect(
      result.rejections.isEmpty && result.readings.map(\.measurement) == plain.readings.map(\.measurement))
    #expect(result.readings.map(\.marks) == plain.readings.map(\.marks))
  }

  @Test func aReadingIsUnchangedAfterGlucoportExportAndImport() throws {
    let reading = try #require(try read(changed("occurrence", to: "3")).readings.first)
    #expect(reading.occurrence == 3 && reading.occurrenceIsStated)
    #expect(reading.placement == Placement(utcOffset: 7200, source: .zone))
    #expect(reading.position == reading.deviceTime.seconds && reading.valueBucket == 67)
  }

  @Test func glucoportCSVAndNDJSONGiveTheSameItems() throws {
    let folder = Repository.samples.appending(path: "glucoport")
    let items = try ["everything.csv", "everything.ndjson"].map { name in
      try Rendering.lines(of: folder.appending(path: name), options: Rendering.options()).dropFirst().map {
        line in
        line.replacing(/^\{"(line|rejected)":\d+,/, with: "")
      }
    }
    #expect(items[0] == items[1] && items[0].count > 15)
  }

  @Test(arguments: [
    ("kind", "cgm"), ("device_time", "2026-03-30 9:3"), ("device_time", "2026-03-30T09:30:00Z"),
    ("utc_offset", "+2"), ("utc_offset", ""), ("utc_offset", "+02:60"), ("offset_source", "guessed"),
    ("value", ""),
    ("value", "x"), ("value", "1e300"), ("value", "-5"), ("unit", "mg"), ("range", "low"),
    ("marks", "unheard-of"),
    ("position_kind", "place"), ("position", ""), ("position", "1774863001"), ("value_bucket", "66"),
    ("occurrence", "-1"),
    ("occurrence", "99999999999"), ("item", "thing"),
  ])
  func anInvalidCellOfAGlucoportExportIsRejected(_ column: String, _ value: String) throws {
    let result = try read(changed(column, to: value), Self.reading)
    #expect(result.readings.count == 1 && result.rejections.map(\.line) == [2])
  }

  @Test func aRepeatedGlucoportHeaderWithAnotherOrderIsUsed() throws {
    let reversed = Self.names.reversed().joined(separator: ",")
    let row = Self.reading.split(separator: ",", omittingEmptySubsequences: false).reversed().joined(
      separator: ",")
    let result = try read(Self.reading, reversed, row)
    #expect(result.readings.count == 2 && result.rejections.isEmpty)
  }

  @Test func aTextGuardedAgainstFormulasIsReadWithoutTheGuard() throws {
    for (cell, model) in [("'=1+1", "=1+1"), ("''=1+1", "'=1+1"), ("'plain", "'plain"), ("'", "'")] {
      let lines = try ScratchFile(Self.header + "\n" + changed("model", to: cell) + "\n").lines()
      #expect(lines.last?.contains("\"device\":\"Abbott|\(model)|SN-1\"") == true)
    }
  }

  @Test(arguments: ["=1+1", "'=1+1", "''-1", "+A", "@A", "\tA", "'plain", "plain", "'", ""])
  func aGuardedTextIsNotAFormulaAndIsReadBackUnchanged(_ text: String) {
    let guarded = GlucoportColumns.guarding(text, in: .model)
    #expect(guarded.first.map { "=+-@\t".contains($0) } != true)
    #expect(GlucoportColumns.unguarding(guarded) == text)
  }

  @Test(arguments: [
    (GlucoportColumn.utcOffset, "+02:00"), (.utcOffset, "-05:00"), (.valueBucket, "-1"), (.value, "-1"),
  ])
  func offsetsAndNumbersAreNotGuardedAgainstFormulas(_ column: GlucoportColumn, _ text: String) {
    #expect(GlucoportColumns.guarding(text, in: column) == text)
  }

  @Test func aTruncatedLastLineOfAGlucoportExportProducesNoItem() throws {
    let text = Self.header + "\n" + Self.reading + "\n"
    // A row that lacks only empty cells at its end is complete, so only shorter pieces of the row are tested.
    let filled = Self.reading.reversed().drop { $0 == "," }.count
    for length in 1..<filled {
      let result = try ScratchFile(text + Self.reading.prefix(length)).readings()
      #expect(result.readings.count == 1 && result.end != .whole, "\(length)")
    }
    #expect(try ScratchFile(text + Self.reading).readings().readings.count == 2)
  }

  @Test func aTruncatedDeletedRecordIsNotReadAsAnExistingOne() throws {
    let row =
      "record,note,,2026-03-30T09:30:00,Z,stated,,,,,,,,,,,,,,g-1,,\"{\"\"text\"\":\"\"a\"\"}\",true"
    let file = { (text: String) in try ScratchFile(Self.header + "\n" + text).lines() }
    #expect(try file(row + "\n").last?.contains("\"deleted\":true") == true)
    for lost in 1...4 { #expect(try file(String(row.dropLast(lost))).count == 1) }
  }

  private static let digest = String(repeating: "0f", count: 32)

  /// Changes of an attachment's fields after which its line is rejected. Nil removes the field.
  @Test(
    arguments: [
      ("name", nil), ("name", .number(7)), ("type", nil), ("type", .flag(true)), ("type", .words(["a"])),
      ("size", nil), ("size", .text("1")), ("size", .number(-1)), ("size", .number(0.5)),
      ("size", .number(1e20)),
      ("sha256", nil), ("sha256", .number(5)), ("sha256", .text("../../x")), ("sha256", .text("")),
      ("sha256", .text(String(repeating: "0F", count: 32))), ("sha256", .text(digest + "0")),
      ("sha256", .text(String(digest.dropLast()) + "g")),
    ] as [(String, FieldValue?)])
  func anInvalidAttachmentInAGlucoportExportIsRejected(_ name: String, _ value: FieldValue?) throws {
    var fields = RecordFields([
      "name": .text("x"), "type": .text("text/plain"), "size": .number(0), "sha256": .text(Self.digest),
      "text": .text("a word about it"),
    ])
    #expect(try read(Self.attachment(fields)).rejections == [])
    fields[name] = value
    let rejections = try read(Self.attachment(fields)).rejections
    #expect(rejections.map(\.line) == [2] && rejections.first?.reason.contains("'\(name)'") == true)
    #expect(try read(Self.attachment(fields, deleted: true)).rejections.count == 1)
  }

  @Test func aDeletedAttachmentWithoutFieldsIsNotRejected() throws {
    #expect(try read(Self.attachment(RecordFields(), deleted: true)).rejections == [])
  }

  private static func attachment(_ fields: RecordFields, deleted: Bool = false) -> String {
    let quoted = fields.json.replacing("\"", with: "\"\"")
    return "record,attachment,,2026-03-30T09:30:00,Z,stated,,,,,,,,,,,,,,g-1,e-1,\"\(quoted)\",\(deleted)"
  }

  // MARK: Identity inside another format

  @Test func aGlucoportIdentityInAnObjectOfAnotherFormatRestoresTheReading() throws {
    let prefix = "glucoport."
    let text = """
      {"sgv":121,"glucoport":{"kind":"cbg","device_time":"2026-03-30T09:30:00","utc_offset":"+02:00",\
      "offset_source":"stated","vendor":"Dexcom","model":"G6","serial":"8A","format":"clarity","position_kind":"tick",\
      "position":-7,"value_bucket":0,"occurrence":2}}
      """
    let columns = GlucoportColumns.names.map { prefix + $0 }
    let reader = JSONReader(
      TextBuffer(ReplaySource(head: Array(text.utf8), rest: nil), name: ""), columns: columns)
    var identity = GlucoportIdentity(columns: columns, prefix: prefix)
    #expect(identity.isComplete)
    guard case .row(let row) = try reader.next() else { throw Failure(.badInput, "no row") }
    var out = try BatchBuilder(format: "nightscout", options: Rendering.options())
    let value = Logbook.Measurement.value(Quantity(121, .milligramsPerDecilitre))
    guard case .reading(let reading) = identity.reading(from: row, measurement: value, into: &out) else {
      throw Failure(.badInput, "no reading")
    }
    #expect(
      reading.positionKind == .tick && reading.position == -7 && reading.occurrence == 2
        && reading.measurement == value)
    #expect(out.batch.devices == [Device(vendor: "Dexcom", model: "G6", serial: "8A", format: "clarity")])
  }

  // MARK: Fields

  @Test func recordFieldsAreUnchangedAfterGlucoportExportAndImport() throws {
    let fields = RecordFields([
      "text": .text("a\"b\\c\n\u{1}ü🍎"), "units": .number(0.1), "big": .number(1e20), "small": .number(1e-7),
      "flag": .flag(false), "tags": .words(["b", "a"]), "none": .words([]), "": .text(""),
    ])
    let back = fields.json.withField { RecordFields(json: $0) }
    #expect(back?.json == fields.json)
  }

  @Test(arguments: [
    "", "[]", "{", "{\"a\":1", "{\"a\":1}x", "{\"a\":1,}", "{\"a\":{}}", "{\"a\":null}", "{\"a\":[1]}",
    "{\"a\":[\"b\"",
    "{\"a\":1,\"a\":2}", "{a:1}", "{\"a\" 1}", "{\"a\":+1}", "{\"a\":1e999}", "{\"a\":tru}",
    "{\"a\":[\"b\",]}", "nul",
  ])
  func aTextThatIsNotAJSONObjectOfFieldsIsRejected(_ text: String) {
    #expect(text.withField { RecordFields(json: $0) } == nil)
  }
}

/// Tests records of any valid size, and messages about larger ones.
@Suite struct RecordSizeTests {
  private static func note(_ text: String, _ number: Int = 1) -> String {
    #"{"item":"record","kind":"note","time":"2026-03-30T07:30:00Z","device_time":"2026-03-30T09:30:00","#
      + #""utc_offset":"+02:00","offset_source":"stated","#
      + #""guid":"30000000-0000-4000-8000-00000000000\#(number)","fields":{"text":"\#(text)"},"deleted":false}"#
  }

  @Test(arguments: [70_000, 200_000, 1 << 20]) func aGlucoportExportOfASingleLongRecordIsRead(_ length: Int)
    throws
  {
    let line = Self.note(String(repeating: "x", count: length))
    for text in [line, line + "\n", "[" + line + "]"] {
      let export = try TextExport(text)
      #expect(export.records.map { $0.fields["text"] } == [.text(String(repeating: "x", count: length))])
      #expect(export.rejections.isEmpty)
    }
    let packed = try TextExport(bytes: Deflate.gzip(Array(line.utf8)))
    #expect(packed.records.count == 1)
  }

  @Test func anInvalidRecordOfAGlucoportExportIsRejectedWithItsReason() throws {
    let long = String(repeating: "x", count: (1 << 20) + 1)
    let lines = [Self.note("good", 1), Self.note(#"a\u0000b"#, 2), Self.note(long, 3), Self.note("too", 4)]
    let export = try TextExport(lines.joined(separator: "\n"))
    #expect(export.records.map { $0.fields["text"] } == [.text("good"), .text("too")])
    #expect(export.rejections.map(\.line) == [2, 3])
    #expect(export.rejections[0].reason.contains("U+0000"))
    #expect(export.rejections[1].reason.contains("longer than 1 MiB"))
  }

  @Test func aTextWithANULCharacterInAnExportOfAnotherProgramIsRejected() throws {
    let items = [#"x\u0000y"#, "z"].enumerated().map { index, name in
      #"{"type":"food","id":"\#(index)","guid":"g\#(index)","deviceId":"Meter-1","time":"2026-05-06T1\#(index):37:00.000Z","#
        + #""deviceTime":"2026-05-06T0\#(index):37:00","timezoneOffset":-600,"name":"\#(name)","#
        + #""nutrition":{"carbohydrate":{"net":42,"units":"grams"}}}"#
    }
    let export = try TextExport("[" + items.joined(separator: ",") + "]")
    #expect(export.records.count == 1, "\(export.recordTexts) \(export.rejections)")
    #expect(export.rejections.count == 1 && export.rejections[0].reason.contains("U+0000"))
  }
}
