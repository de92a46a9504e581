// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import SeededRandom
import TestArchives
import Testing

/// Tests that malicious and damaged spreadsheets are refused.
@Suite struct SpreadsheetDamageTests {
  private func refusal(xlsx parts: [(String, String)]) -> String? {
    var writer = SpreadsheetWriter([.init("A", [[.text("a"), .number("1")]])])
    writer.parts = parts
    return #expect(throws: Failure.self) { _ = try SheetFile(writer.xlsx()).text() }?.message
  }

  private func refusal(sheet rows: String) -> String? {
    refusal(xlsx: [("xl/worksheets/sheet0.xml", "<worksheet><sheetData>\(rows)</sheetData></worksheet>")])
  }

  private func ods(_ rows: String) throws -> SheetFile {
    var writer = SpreadsheetWriter([])
    let table = #"<table:table table:name="A">\#(rows)</table:table>"#
    writer.parts = [("content.xml", SpreadsheetWriter.content(table))]
    return try SheetFile(writer.ods())
  }

  private static let word = #"<table:table-cell office:value-type="string"><text:p>\#(filler(2000))</text:p>"#

  private static func filler(_ count: Int) -> String { String(repeating: "x", count: count) }

  // MARK: Limits

  @Test func aSpreadsheetWithADocumentTypeIsRefused() throws {
    let type = #"<!DOCTYPE a [<!ENTITY b "ccccccccc">]>"#
    for path in [
      "_rels/.rels", "xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet0.xml",
    ] {
      let message = refusal(xlsx: [(path, "\(type)<a>&b;</a>")])
      #expect(message?.contains("document type") == true, "\(path): \(message ?? "")")
    }
  }

  @Test func aSpreadsheetWithElementsNestedTooDeepIsRefused() {
    let deep = String(repeating: "<a>", count: 5000)
    #expect(refusal(sheet: deep)?.contains("nested deeper than 64") == true)
  }

  @Test func aSpreadsheetTagOfMoreThan8MiBIsRefused() {
    let tag = "<row a=\"\(Self.filler(9 << 20))\"/>"
    #expect(refusal(sheet: tag)?.contains("a tag is longer than 8 MiB") == true)
  }

  @Test func aSpreadsheetTextAboveTheLimitIsRefused() {
    let text = Self.filler((256 << 10) + 1)
    #expect(refusal(sheet: #"<row><c t="str"><v>\#(text)</v></c></row>"#)?.contains("256 KiB") == true)
    #expect(
      refusal(xlsx: [("xl/sharedStrings.xml", "<sst><si><t>\(text)</t></si></sst>")])?.contains("256 KiB")
        == true)
  }

  @Test func moreSharedStringsThanTheMemoryLimitAllowsAreRefused() {
    // The text contains random digits, because a file that unpacks to hundreds of times its size is refused
    // earlier.
    var generator = SeededGenerator(seed: 1)
    let text = (0..<2048).map { _ in Self.filler(60) + "\(Int.random(in: 1000...9999, using: &generator))" }
      .joined()
    let strings = String(repeating: "<si><t>\(text)</t></si>", count: 512)
    let message = refusal(xlsx: [("xl/sharedStrings.xml", "<sst>\(strings)</sst>")])
    #expect(message?.contains("longer than 64 MiB; save the sheet as CSV") == true)
  }

  @Test func aRowThatRepeatsATextUntilItIsTooLongIsRefused() {
    let strings = "<sst><si><t>\(Self.filler(200_000))</t></si></sst>"
    let row = "<row>\(String(repeating: #"<c t="s"><v>0</v></c>"#, count: 50))</row>"
    let sheet = "<worksheet><sheetData>\(row)</sheetData></worksheet>"
    let message = refusal(xlsx: [("xl/sharedStrings.xml", strings), ("xl/worksheets/sheet0.xml", sheet)])
    #expect(message?.contains("row 1 is longer than 8 MiB") == true)
  }

  @Test func spreadsheetRowsRepeatedToGigabytesAreRefused() throws {
    let rows =
      #"<table:table-row table:number-rows-repeated="1048576">\#(Self.word)</table:table-cell></table:table-row>"#
    let file = try ods(rows)
    var count = 0
    let failure = #expect(throws: Failure.self) {
      try file.write { piece in
        count += piece.count
        return true
      }
    }
    #expect(failure?.message.contains("longer than 1 GiB") == true)
    #expect(count <= 1 << 30)
  }

  @Test func spreadsheetCellsRepeatedBeyondTheWidthOfTheTableAreNotWritten() throws {
    let cell =
      #"<table:table-cell office:value="1" office:value-type="float" table:number-columns-repeated="9999999"/>"#
    let file = try ods("<table:table-row>\(cell)\(cell)</table:table-row>")
    #expect(try file.text().count { $0 == "," } == 1024)
    let xlsx = SpreadsheetWriter([.init("A", [[.number("1"), .xml(#"<c r="XFD1"><v>2</v></c>"#)]])])
    #expect(try SheetFile(xlsx.xlsx()).text().count { $0 == "," } == 1024)
  }

  @Test func spreadsheetRowsAndCellsOutOfOrderOrRangeAreRefused() {
    let cell = #"<c r="A1"><v>1</v></c>"#
    for rows in [
      "<row r=\"0\"/>", "<row r=\"1048577\"/>", "<row r=\"-1\"/>", "<row r=\"99999999999999999999\"/>",
      "<row r=\"2\"/><row r=\"1\"/>", "<row>\(cell)\(cell)</row>", "<row><c r=\"XFE1\"/></row>",
      "<row><c r=\"1\"/></row>", "<row><c r=\"AAAAAAAAAAAAAAAAAAAAAA1\"/></row>", cell,
    ] {
      #expect(refusal(sheet: rows)?.contains("out of order") == true, "\(rows)")
    }
    let nested = refusal(sheet: #"<row r="3"><c><v>1</v><c><v>2</v></c></c></row>"#)
    #expect(
      nested?.contains("row 3: a cell begins inside another cell; open the workbook") == true,
      "\(nested ?? "")")
    #expect(refusal(sheet: #"<row><c t="s"><v>-1</v></c></row>"#)?.contains("not there") == true)
    #expect(refusal(sheet: #"<row><c t="s"><v>7</v></c></row>"#)?.contains("not there") == true)
  }

  @Test func moreRowsThanASpreadsheetCanHaveAreRefused() throws {
    let empty =
      #"<table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row>"#
    let full = "<table:table-row>\(Self.word)</table:table-cell></table:table-row>"
    let failure = #expect(throws: Failure.self) { try ods(empty + full).text() }
    #expect(failure?.message.contains("more than 1048576") == true)
  }

  @Test func aSpreadsheetWithTooManySheetsIsRefused() throws {
    let writer = SpreadsheetWriter((0...1024).map { .init("\($0)", []) })
    for bytes in [try writer.xlsx(), try writer.ods()] {
      let failure = #expect(throws: Failure.self) { try SheetFile(bytes) }
      #expect(failure?.message.contains("more than 1024 sheets") == true)
    }
  }

  @Test func aSpreadsheetThatUnpacksToFarTooMuchIsRefused() {
    #expect(refusal(sheet: String(repeating: " ", count: 20 << 20))?.contains("250 times") == true)
  }

  @Test func missingPartsOfASpreadsheetFileAreNamed() throws {
    var members = SpreadsheetWriter(csv: "a,b\n").xlsxParts()
    members.removeAll { $0.0.contains("sheet0") }
    let file = try SheetFile(ZipWriter.archive(members))
    let failure = #expect(throws: Failure.self) { try file.text() }
    #expect(failure?.message == "archive.zip:Sheet1: the sheet is missing in the file; save the file again")
    members.removeAll { $0.0.contains("workbook.xml.rels") }
    #expect(throws: Failure.self) { try SheetFile(ZipWriter.archive(members)) }
  }

  @Test func readingASpreadsheetStopsWhenTheCallerWantsNoMore() throws {
    let rows = (0..<60_000).map { [SpreadsheetWriter.Cell.number("\($0)")] }
    var pieces = 0
    try SheetFile(SpreadsheetWriter([.init("A", rows)]).xlsx()).write { _ in
      pieces += 1
      return false
    }
    #expect(pieces == 1)
  }

  // MARK: Damage

  private static let sample = SpreadsheetWriter([
    .init(
      "Readings",
      [
        [.text("time"), .text("glucose (mg/dL)"), .text("note")],
        [.serial("46143.340277777781", .dayFirst), .number("142"), .inline("a _x000D_ \"b\"")],
        [.text("2026-05-01"), .boolean(true), .error("#N/A")],
        [.serial("0.5", .clock), .serial("1.5", .duration), .empty, .number("5.5999999999999996")],
      ]),
    .init("Hidden", [[.text("x")]], isHidden: true),
  ])

  @Test(arguments: [true, false]) func aDamagedSpreadsheetNeverCrashesOrHangsTheReader(_ isXLSX: Bool) throws
  {
    let whole = isXLSX ? Self.sample.xlsxParts() : Self.sample.odsParts()
    for seed in 1...1500 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var members = whole
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0..<members.count, using: &generator)
        members[place].1 = Self.damaged(members[place].1, using: &generator)
      }
      do {
        let file = try SheetFile(ZipWriter.archive(members))
        guard case .spreadsheet(let spreadsheet) = file.kind else { continue }
        for place in spreadsheet.sheets.indices where spreadsheet.sheets[place].refusal == nil {
          let text = try file.text(place)
          #expect(text.utf8.count < 4 << 20, "seed \(seed)")
        }
      } catch let failure as Failure {
        #expect(failure.category == .badInput, "seed \(seed): \(failure.message)")
      }
    }
  }

  /// The text in which a part is changed, lost, doubled or moved.
  private static func damaged(_ text: String, using generator: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    guard !bytes.isEmpty else { return "<" }
    let from = Int.random(in: 0..<bytes.count, using: &generator)
    let to = min(bytes.count, from + Int.random(in: 1...80, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes[from] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1: bytes[from] = Array("<>/\"&;0123456789 -.AZsn".utf8).randomElement(using: &generator) ?? 0
    case 2: bytes.removeSubrange(from..<to)
    case 3: bytes.insert(contentsOf: bytes[from..<to], at: from)
    case 4: bytes.removeSubrange(from...)
    default:
      // A complete element is inserted, so that the XML stays well-formed.
      let words = [
        "<c/>", "<row/>", "<v>9</v>", "<t>_x0041_</t>", "<is/>", "<table:table-cell/>", "<text:s/>",
      ]
      let end = bytes[from...].firstIndex(of: UInt8(ascii: ">")) ?? from
      bytes.insert(
        contentsOf: (words.randomElement(using: &generator) ?? "").utf8, at: min(end + 1, bytes.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
