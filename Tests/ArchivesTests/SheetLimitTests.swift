// SPDX-License-Identifier: Apache-2.0

import Logbook
import TestArchives
import Testing

@testable import Archives

/// Tests limits of what spreadsheets declare in addition to their cells, each with the largest count that is
/// read. Also tests kinds of spreadsheets that few programs write.
@Suite struct SheetLimitTests {
  private func refusal(_ bytes: [UInt8]) throws -> String? {
    do {
      _ = try SheetFile(bytes).text()
      return nil
    } catch let failure as Failure {
      #expect(failure.category == .badInput)
      return failure.message
    }
  }

  private func xlsx(_ parts: (path: String, text: String)...) throws -> [UInt8] {
    var writer = SpreadsheetWriter([.init("A", [[.text("a"), .number("1")]])])
    writer.parts = parts
    return try writer.xlsx()
  }

  private func ods(_ content: String) throws -> [UInt8] {
    var writer = SpreadsheetWriter([])
    writer.parts = [("content.xml", content)]
    return try writer.ods()
  }

  private static func row(_ text: String, _ more: String = "") -> String {
    "<table:table-row\(more)><table:table-cell office:value-type=\"string\"><text:p>\(text)</text:p></table:table-cell>"
      + "</table:table-row>"
  }

  private static func table(_ rows: String) -> String {
    SpreadsheetWriter.content(#"<table:table table:name="A">\#(rows)</table:table>"#)
  }

  // MARK: Counts

  /// Each format has a different number, since formats with equal numbers replace one another.
  @Test(arguments: [(0, nil), (1, "more than 65536 number formats")])
  func aWorkbookMayHave65536NumberFormats(_ excess: Int, _ reason: String?) throws {
    let formats = (0..<65_536 + excess).map { #"<numFmt numFmtId="\#($0)" formatCode="0"/>"# }.joined()
    let message = try refusal(xlsx(("xl/styles.xml", "<styleSheet>\(formats)</styleSheet>")))
    #expect(message == reason.map { "archive.zip:xl/styles.xml: \($0)" })
  }

  @Test(arguments: [(0, nil), (1, "more than 65536 cell formats")])
  func aWorkbookMayHave65536CellFormats(_ excess: Int, _ reason: String?) throws {
    let formats = String(repeating: "<xf/>", count: 65_536 + excess)
    let styles = "<styleSheet><cellXfs>\(formats)</cellXfs></styleSheet>"
    let message = try refusal(xlsx(("xl/styles.xml", styles)))
    #expect(message == reason.map { "archive.zip:xl/styles.xml: \($0)" })
  }

  @Test(arguments: [(0, nil), (1, "too many relationships")])
  func aFileInsideASpreadsheetMayHave4096Relationships(_ excess: Int, _ reason: String?) throws {
    let count = 4 * Spreadsheet.maxSheets - 1 + excess
    let others = (0..<count).map { #"<Relationship Id="x\#($0)" Type="t/image" Target="i"/>"# }.joined()
    let document =
      #"<Relationship Id="r" Type="t/officeDocument" Target="xl/workbook.xml"/>"#
    let message = try refusal(xlsx(("_rels/.rels", "<Relationships>\(document)\(others)</Relationships>")))
    #expect(message == reason.map { "archive.zip:_rels/.rels: \($0)" })
  }

  @Test(arguments: [(0, nil), (1, "too many styles")])
  func aDocumentWithMoreThan4096StylesOfHiddenSheetsIsRefused(_ excess: Int, _ reason: String?) throws {
    let styles = (0..<4 * Spreadsheet.maxSheets - 1 + excess).map {
      #"<style:style style:name="s\#($0)"><style:table-properties table:display="false"/></style:style>"#
    }
    // The document already has one style of a hidden sheet.
    let start = "<office:automatic-styles>"
    let content = Self.table(Self.row("a")).replacing(start, with: start + styles.joined())
    let message = try refusal(ods(content))
    #expect(message == reason.map { "archive.zip:content.xml: \($0)" })
  }

  // MARK: Lengths

  @Test func aRowThatIsRepeatedPastTheEndOfASheetIsRefused() throws {
    let first = Self.row("a")
    let past = Self.row("b", #" table:number-rows-repeated="1048576""#)
    #expect(try refusal(ods(Self.table(first + past)))?.hasSuffix("rows are more than 1048576") == true)
    let within = Self.row("b", #" table:number-rows-repeated="3""#)
    #expect(try SheetFile(ods(Self.table(first + within))).text() == "\"a\"\nb\nb\nb\n")
  }

  @Test func writingARepeatedRowStopsWhenTheCallerWantsNoMore() throws {
    var pieces = 0
    let rows = Self.row("b", #" table:number-rows-repeated="1000000""#)
    try SheetFile(ods(Self.table(rows))).write { _ in
      pieces += 1
      return false
    }
    #expect(pieces == 1)
  }

  @Test func odsAttributeValuesAndRepeatedBlanksCountForTheTextLimit() throws {
    let longest = String(repeating: "x", count: 256 << 10)
    func cell(_ value: String, _ text: String) -> String {
      "<table:table-row><table:table-cell office:value-type=\"string\" office:string-value=\"\(value)\">"
        + "<text:p>\(text)</text:p></table:table-cell></table:table-row>"
    }
    let reason = "a text is longer than 256 KiB"
    #expect(try refusal(ods(Self.table(cell(longest, ""))))?.hasSuffix(reason) == nil)
    #expect(try refusal(ods(Self.table(cell(longest + "x", ""))))?.hasSuffix(reason) == true)
    let blanks = String(repeating: #"<text:s text:c="1024"/>"#, count: 256)
    #expect(try refusal(ods(Self.table(cell("a", blanks))))?.hasSuffix(reason) == nil)
    #expect(try refusal(ods(Self.table(cell("a", blanks + "<text:s/>"))))?.hasSuffix(reason) == true)
    #expect(try refusal(ods(Self.table(cell("a", blanks + "<text:tab/>"))))?.hasSuffix(reason) == true)
  }

  // MARK: Forms

  @Test(arguments: [
    (0, CellForm.number), (9, .number), (13, .number), (14, .date), (17, .date), (18, .time), (21, .time),
    (22, .dateTime), (23, .number), (36, .date), (45, .time), (46, .duration), (47, .time), (49, .number),
    (58, .date), (59, .number), (-1, .number),
  ]) func theNumberOfABuiltInExcelFormatDeterminesTheFormOfACell(_ id: Int, _ form: CellForm) {
    #expect(NumberFormats.form(ofBuiltIn: id) == form)
  }

  @Test func aRelationshipPathNeverLeadsOutOfTheSpreadsheetArchive() {
    func path(_ target: String) -> String { RelationshipReader.path(target, from: "xl/worksheets") }
    #expect(path("../styles.xml") == "xl/styles.xml")
    #expect(path("./Sheet1.XML") == "xl/worksheets/sheet1.xml")
    #expect(path("/xl/workbook.xml") == "xl/workbook.xml")
    #expect(path("../../../../etc/passwd") == "etc/passwd")
  }

  @Test func thePhoneticGuideOfATextInsideACellIsLeftOut() throws {
    let cell =
      #"<c r="A1" t="inlineStr"><is><t>血糖</t><rPh sb="0" eb="2"><t>けっとう</t></rPh><r><t>値</t></r></is></c>"#
    let text = try SheetFile(SpreadsheetWriter([.init("A", [[.xml(cell)]])]).xlsx()).text()
    #expect(text == "\"血糖値\"\n")
  }

  @Test func aColumnAfterTheLetterZHasTwoLetters() throws {
    let dates: [SpreadsheetWriter.Cell] = [
      .serial("46117.5", .dayFirst), .text("04-13-2026 08:10"), .serial("46143.5", .dayFirst),
      .text("04-14-2026 9:10"),
    ]
    func column(_ place: Int) throws -> String? {
      let rows = dates.map { Array(repeating: SpreadsheetWriter.Cell.empty, count: place) + [$0] }
      let file = try SheetFile(SpreadsheetWriter([.init("A", rows)]).xlsx())
      _ = try file.text()
      return file.findings?.exchangedDates
    }
    #expect(try [25, 26, 53, 701, 702].map { try column($0) } == ["Z", "AA", "BB", "ZZ", "AAA"])
  }

  @Test func anODSTextCellWithoutParagraphsIsReadFromItsValue() throws {
    let cell =
      #"<table:table-row><table:table-cell office:value-type="string" office:string-value="a"/></table:table-row>"#
    #expect(try SheetFile(ods(Self.table(cell))).text() == "\"a\"\n")
  }

  @Test func aByteOrderMarkBeforeXMLIsSkipped() {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let prolog = XMLProlog(mark + Array("<?xml version=\"1.0\"?><!-- a --><plist/>".utf8))
    #expect(prolog.rootElement == "plist" && prolog.isComplete)
    // After other content, the bytes of a byte order mark are text, so there is no root element.
    #expect(XMLProlog(Array("<!-- a -->".utf8) + mark + Array("<plist/>".utf8)).rootElement == nil)
  }

  @Test(arguments: [
    "<!DOCTYPE", "<!DOCTYPE a [", "<!DOCTYPE a [<!-- ]>", "<!DOCTYPE a [] ", "<!DOCTYPE a [<!ENTITY",
  ])
  func anXMLDocumentTypeWithoutItsEndLeavesThePrologIncomplete(_ text: String) {
    let prolog = XMLProlog(Array(text.utf8))
    #expect(!prolog.isComplete && prolog.documentType == nil)
    #expect(prolog.declaresEntities == text.contains("ENTITY"))
  }
}
