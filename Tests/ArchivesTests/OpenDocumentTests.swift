// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TestArchives
import Testing

/// Tests the text that is made from a sheet of an ODS file.
@Suite struct OpenDocumentTests {
  private func file(_ tables: String) throws -> SheetFile {
    var writer = SpreadsheetWriter([])
    writer.parts = [("content.xml", SpreadsheetWriter.content(tables))]
    return try SheetFile(writer.ods())
  }

  private func text(_ rows: String) throws -> String {
    try file(#"<table:table table:name="A">\#(rows)</table:table>"#).text()
  }

  private func cell(_ cell: String) throws -> String {
    let row = "<table:table-row>\(Self.word("a"))\(cell)</table:table-row>"
    return String(try text(row).dropFirst(4).dropLast())
  }

  private static func word(_ text: String, _ more: String = "") -> String {
    #"<table:table-cell office:value-type="string"\#(more)><text:p>\#(text)</text:p></table:table-cell>"#
  }

  @Test func anODSTableHasTheSameTextAsTheSameXLSXTable() throws {
    let rows: [[SpreadsheetWriter.Cell]] = [
      [.text("time"), .text("value, note")], [.empty, .number("5.60"), .boolean(true), .error("#DIV/0!")], [],
      [.text("x")],
    ]
    let writer = SpreadsheetWriter([.init("A", rows)])
    let (one, other) = (try SheetFile(writer.ods()), try SheetFile(writer.xlsx()))
    #expect(try one.text() == other.text())
    #expect(one.errors == 1 && other.errors == 1)
    #expect(try one.text() == "\"time\",\"value, note\"\n,5.60,TRUE\n\nx,,\n")
  }

  @Test(arguments: [
    ("2026-05-01T08:10:00", "01.05.26", "2026-05-01 08:10:00"),
    ("2026-05-01T08:09:59.999999999", "01.05.26 08:10", "2026-05-01 08:10:00"),
    ("2026-12-31T23:59:59.5", "x", "2027-01-01 00:00:00"), ("2026-05-01", "01.05.26", "2026-05-01"),
    // Midnight, for which the value omits the time of day.
    ("2026-05-01", "01.05.26 00:00", "2026-05-01 00:00:00"), ("2026-05-01T08:10", "x", "2026-05-01 08:10:00"),
    ("2026-13-01", "x", "2026-13-01"), ("2026-05-01T24:00:00", "x", "2026-05-01T24:00:00"),
  ]) func anODSDateIsReadFromItsValueNotItsDisplayedText(_ value: String, _ shown: String, _ expected: String)
    throws
  {
    guard case .xml(let date) = SpreadsheetWriter.date(value, shown: shown) else { return }
    #expect(try cell(date) == expected)
  }

  @Test(arguments: [
    ("PT08H10M00S", "08:10:00"), ("PT8H9M59.999999S", "08:10:00"), ("PT26H00M00S", "26:00:00"),
    ("PT90M", "01:30:00"), ("P1DT1H", "P1DT1H"), ("PT8H9", "PT8H9"), ("PT12345678H", "PT12345678H"),
  ]) func anODSTimeOfDayIsReadFromItsValueNotItsDisplayedText(_ value: String, _ expected: String) throws {
    let time =
      #"<table:table-cell office:value-type="time" office:time-value="\#(value)"><text:p>8 Uhr</text:p></table:table-cell>"#
    #expect(try cell(time) == expected)
  }

  @Test func spacesAndParagraphsInAnODSCellAreKept() throws {
    let text =
      #"<table:table-cell><text:p>a<text:s text:c="2"/><text:span>b</text:span><text:tab/>c</text:p> <text:p>d<text:line-break/>e</text:p></table:table-cell>"#
    #expect(try cell(text) == "\"a  b\tc\nd\ne\"")
  }

  @Test func commentsAndDrawingsOfAnODSSheetAreLeftOut() throws {
    let comment = "<office:annotation><text:p>secret</text:p></office:annotation>"
    let frame = "<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>"
    #expect(try cell("<table:table-cell>\(comment)<text:p>a\(frame)b</text:p></table:table-cell>") == "ab")
    #expect(try cell("<table:table-cell>\(comment)</table:table-cell>" + Self.word("x")) == ",x")
  }

  @Test func repeatedODSCellsAndRowsAreWrittenOut() throws {
    let cells = Self.word("x", #" table:number-columns-repeated="3""#)
    let empty = #"<table:table-cell table:number-columns-repeated="2"/>"#
    let rows = """
      <table:table-header-rows><table:table-row table:number-rows-repeated="2">\(cells)\(empty)\(Self.word("y"))\
      </table:table-row></table:table-header-rows>\
      <table:table-row table:number-rows-repeated="2">\(empty)</table:table-row>\
      <table:table-row>\(Self.word("z"))</table:table-row>
      """
    #expect(try text(rows) == "\"x\",x,x,,,y\n\"x\",x,x,,,y\n\n\nz,,,,,\n")
  }

  @Test func repeatedEmptyODSCellsAtTheEndOfASheetAreNotWritten() throws {
    let rows = """
      <table:table-row>\(Self.word("a"))<table:table-cell table:number-columns-repeated="16383"/></table:table-row>\
      <table:table-row table:number-rows-repeated="1048575"><table:table-cell/></table:table-row>\
      <table:table-row table:number-rows-repeated="9223372036854775807"><table:table-cell/></table:table-row>\
      <table:table-row><table:table-cell/></table:table-row>
      """
    #expect(try text(rows) == "\"a\"\n")
  }

  @Test func eachODSSheetIsReadSeparately() throws {
    let tables = ["A", "B", "C"].map { name in
      #"<table:table table:name="\#(name)" table:style-name="\#(name == "B" ? "hidden" : "x")"><table:table-row>\#(Self.word(name))</table:table-row></table:table>"#
    }
    let file = try file(tables.joined())
    #expect(try file.spreadsheet().sheets.map(\.isHidden) == [false, true, false])
    #expect(try (0..<3).map { try file.text($0) } == ["\"A\"\n", "\"B\"\n", "\"C\"\n"])
  }

  @Test func anODSFileThatIsEncryptedOrNotASpreadsheetIsRefusedWithTheReason() throws {
    var writer = SpreadsheetWriter(csv: "a,b\n")
    writer.parts = [("META-INF/manifest.xml", "<manifest:manifest><manifest:encryption-data/>")]
    #expect(try SheetFile(writer.ods()).refusal?.contains("encrypted") == true)
    writer.parts = [("mimetype", "application/vnd.oasis.opendocument.text")]
    #expect(try SheetFile(writer.ods()).refusal?.contains("not a spreadsheet") == true)
    writer.parts = [("mimetype", "application/epub+zip")]
    #expect(try SheetFile(writer.ods()).kind == nil)
    writer.parts = [("xl/workbook.bin", "x")]
    #expect(try SheetFile(writer.xlsx()).refusal?.contains("XLSB") == true)
    writer.parts = [("xl/workbook.xml", "<document/>")]
    #expect(try SheetFile(writer.xlsx()).refusal?.contains("not a spreadsheet") == true)
    #expect(try SheetFile(ZipWriter.archive([("a.csv", "a,b\n")])).kind == nil)
  }
}
