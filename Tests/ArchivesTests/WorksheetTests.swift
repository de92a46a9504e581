// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TestArchives
import Testing

/// Tests the text that is made from a sheet of an XLSX file.
@Suite struct WorksheetTests {
  private typealias Cell = SpreadsheetWriter.Cell

  private func text(_ rows: [[SpreadsheetWriter.Cell]], is1904: Bool = false) throws -> String {
    var writer = SpreadsheetWriter([.init("A", rows)])
    writer.is1904 = is1904
    return try SheetFile(writer.xlsx()).text()
  }

  private func cell(_ cell: SpreadsheetWriter.Cell, is1904: Bool = false) throws -> String {
    String(try text([[.text("a"), cell]], is1904: is1904).dropFirst(4).dropLast())
  }

  @Test func spreadsheetRowsKeepTheirNumbersAndCellsTheirColumns() throws {
    let rows: [[SpreadsheetWriter.Cell]] = [
      [], [.text("time"), .text("value")], [], [.empty, .number("5.6"), .empty, .text("x")], [], [],
    ]
    #expect(try text(rows) == "\n\"time\",value\n\n,5.6,,x\n")
    #expect(try text([]) == "")
  }

  @Test func spreadsheetRowsAreFilledToTheWidthOfTheWidestRowBefore() throws {
    let far = Array(repeating: SpreadsheetWriter.Cell.empty, count: 128) + [.text("far")]
    let rows = [[.text("a")], [.text("b"), .text("c"), .text("d")], [.text("e")], far, [.text("f")]]
    let commas = String(repeating: ",", count: 128)
    #expect(try text(rows) == "\"a\"\nb,c,d\ne,,\n\(commas)far\nf,,\n")
  }

  @Test func spreadsheetTextIsQuotedWhereCSVRequiresIt() throws {
    #expect(try cell(.text(#"a "b", c"#)) == #""a ""b"", c""#)
    #expect(try cell(.text("two\nlines")) == "\"two\nlines\"")
    #expect(try cell(.text(" blank")) == "\" blank\"")
    #expect(try cell(.text("plain; text")) == "plain; text")
    #expect(try cell(.inline("a & <b>")) == "a & <b>")
  }

  @Test func aFirstCellThatLooksLikeAnotherFileTypeIsQuoted() throws {
    for start in ["[", "{", "<html", "BZh91", "%PDF"] {
      #expect(try text([[.text(start)]]) == "\"\(start)\"\n")
    }
  }

  @Test(arguments: [
    ("5.6", "5.6"), ("5.60", "5.60"), ("5.5999999999999996", "5.6"), ("142", "142"), ("-0.5", "-0.5"),
    ("0.30000000000000004", "0.30000000000000004"), ("1.7777E+12", "1777700000000"), ("1E2", "100"),
    ("100.33333333333333", "100.33333333333333"), ("000000000000000000.5", "000000000000000000.5"),
    ("1e999", "1e999"), ("x", "x"),
  ]) func aSpreadsheetNumberIsWrittenAsItWasTyped(_ stored: String, _ expected: String) throws {
    #expect(try cell(.number(stored)) == expected)
    #expect(try cell(.serial(stored, .unit)) == expected)
  }

  @Test(arguments: [
    ("46143.340277777781", SpreadsheetWriter.Style.dayFirst, "2026-05-01 08:10:00"),
    // The first number is 0.3 ms too early. The next two are midnight as two programs write it.
    ("46143.340277773", .dayFirst, "2026-05-01 08:10:00"), ("46143", .dayFirst, "2026-05-01 00:00:00"),
    ("46142.9999999999", .dayFirst, "2026-05-01 00:00:00"),
    ("46143", .date, "2026-05-01"), ("46143.5", .date, "2026-05-01 12:00:00"),
    ("0.340277777777778", .clock, "08:10:00"), ("46143.340277777781", .clock, "08:10:00"),
    ("1.0833333333333333", .duration, "26:00:00"), ("46143.5", .general, "46143.5"),
    ("60.5", .dayFirst, "1900-02-28 12:00:00"), ("61", .date, "1900-03-01"), ("1", .date, "1900-01-01"),
    ("-1", .date, "-1"), ("2958466", .date, "2958466"), ("x", .date, "x"),
  ]) func aDayNumberIsWrittenAsADateOrTimeByItsCellFormat(
    _ stored: String, _ style: SpreadsheetWriter.Style, _ expected: String
  ) throws {
    #expect(try cell(.serial(stored, style)) == expected)
  }

  @Test func daysOfA1904WorkbookAreCountedFrom1904() throws {
    #expect(try cell(.serial("44681.5", .dayFirst), is1904: true) == "2026-05-01 12:00:00")
    #expect(try cell(.serial("0", .date), is1904: true) == "1904-01-01")
  }

  @Test func midnightInAColumnOfTimesIsWrittenWithItsTimeOfDay() throws {
    let rows: [[SpreadsheetWriter.Cell]] = [
      [.text("t"), .text("d")], [.serial("46143.5", .date), .serial("46143", .date)],
      [.serial("46144", .date), .serial("46144", .date)],
    ]
    #expect(try text(rows) == "\"t\",d\n2026-05-01 12:00:00,2026-05-01\n2026-05-02 00:00:00,2026-05-02\n")
  }

  @Test func spreadsheetBooleansAreWrittenAsWordsAndErrorsAsEmptyCells() throws {
    let rows: [[SpreadsheetWriter.Cell]] = [[.text("a"), .boolean(true), .error("#N/A"), .boolean(false)]]
    let file = try SheetFile(SpreadsheetWriter([.init("A", rows)]).xlsx())
    #expect(try file.text() == "\"a\",TRUE,,FALSE\n")
    #expect(file.errors == 1)
  }

  @Test func aSpreadsheetFormulaIsWrittenAsItsResult() throws {
    #expect(try cell(.xml(#"<c r="B1" t="str"><f>A1&amp;"x"</f><v>ax</v></c>"#)) == "ax")
    #expect(try cell(.xml(#"<c r="B1"><f>1+1</f><v>2</v></c>"#)) == "2")
    // The result is an empty text.
    let empty = SpreadsheetWriter.Cell.xml(#"<c r="B1" t="str"><f>""</f><v></v></c>"#)
    #expect(try text([[.text("a"), empty, .text("c")]]) == "\"a\",,c\n")
  }

  @Test func aSpreadsheetFormulaWithoutItsResultIsNotReadAsAnEmptyCell() throws {
    let rows: [[SpreadsheetWriter.Cell]] = [
      [.xml(#"<c r="A1"><f>1+1</f></c>"#), .xml(#"<c r="B1"/>"#), .text("c")]
    ]
    #expect(try text(rows) == "\"=?\",,c\n")
  }

  @Test func spreadsheetDatesInISO8601AreReadAsTimes() throws {
    #expect(try cell(.xml(#"<c r="B1" t="d"><v>2026-05-01T08:10:00</v></c>"#)) == "2026-05-01 08:10:00")
    #expect(try cell(.xml(#"<c r="B1" t="d"><v>2026-05-01T08:10:00Z</v></c>"#)) == "2026-05-01T08:10:00Z")
    #expect(try cell(.xml(#"<c r="B1" t="d"><v>2026-02</v></c>"#)) == "2026-02")
  }

  @Test func formattedPartsOfATextAreJoinedWithoutTheirPhoneticGuide() throws {
    var writer = SpreadsheetWriter([.init("A", [[.xml(#"<c t="s"><v>0</v></c>"#)]])])
    writer.parts = [
      (
        "xl/sharedStrings.xml",
        "<sst><si><r><t>glu</t></r><r><t>cose</t></r><rPh><t>x</t></rPh><phoneticPr/></si></sst>"
      )
    ]
    #expect(try SheetFile(writer.xlsx()).text() == "\"glucose\"\n")
  }

  @Test func escapedControlCharactersInASpreadsheetAreDecoded() throws {
    #expect(try cell(.text("a_x000D_b_x005F_x000D_")) == "\"a\rb_x000D_\"")
    #expect(try cell(.text("a_x00g0_b_x")) == "a_x00g0_b_x")
  }

  @Test func spreadsheetCellsWithoutPositionsFollowOneAnother() throws {
    var writer = SpreadsheetWriter([.init("A", [])])
    writer.parts = [
      (
        "xl/worksheets/sheet0.xml",
        """
        <x:worksheet><x:sheetData><x:row><x:c><x:v>1</x:v></x:c><x:c><x:v>2</x:v></x:c></x:row>\
        <x:row><x:c><x:v>3</x:v></x:c></x:row></x:sheetData><x:v>4</x:v></x:worksheet>
        """
      )
    ]
    #expect(try SheetFile(writer.xlsx()).text() == "\"1\",2\n3,\n")
  }

  @Test func sheetsAreReadInTheOrderOfTheWorkbook() throws {
    var writer = SpreadsheetWriter([
      .init("Zwei", [[.text("z")]]), .init("a & b", [[.text("y")]], isHidden: true),
    ])
    let file = try SheetFile(writer.xlsx())
    let sheets = try file.spreadsheet().sheets
    #expect(sheets.map(\.name) == ["Zwei", "a & b"] && sheets.map(\.isHidden) == [false, true])
    #expect(try [file.text(0), file.text(1)] == ["\"z\"\n", "\"y\"\n"])
    let chart = #"<workbook><sheets><sheet name="C" sheetId="1" r:id="rS"/></sheets></workbook>"#
    writer.parts = [("xl/workbook.xml", chart)]
    #expect(try SheetFile(writer.xlsx()).spreadsheet().sheets.first?.refusal?.contains("chart") == true)
  }

  @Test(arguments: [
    (#"yyyy\-mm\-dd\ hh:mm"#, "2026-05-01 12:00:00"), ("m/d/yy", "2026-05-01 12:00:00"),
    ("[$-409]h:mm:ss AM/PM;@", "12:00:00"), ("mm:ss.000", "12:00:00"), ("[Red]0.0", "46143.5"),
    (#"0.0" day""#, "46143.5"), ("General", "46143.5"), ("@", "46143.5"),
    ("#,##0.00_);[Red](0.00)", "46143.5"),
    ("0.00E+00", "46143.5"), ("[hh]:mm", "1107444:00:00"), ("mmm", "2026-05-01 12:00:00"),
    (#"\d0"#, "46143.5"), ("General;[Red]yy", "46143.5"),
  ]) func theLettersOfACellFormatDetermineHowItsNumbersAreWritten(_ code: String, _ expected: String) throws {
    var writer = SpreadsheetWriter([.init("A", [[.text("a"), .serial("46143.5", .general)]])])
    let quoted = code.replacing("\"", with: "&quot;")
    writer.parts = [
      (
        "xl/styles.xml",
        """
        <styleSheet><numFmts><numFmt numFmtId="170" formatCode="\(quoted)"/></numFmts>\
        <cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>
        """
      )
    ]
    #expect(try SheetFile(writer.xlsx()).text() == "\"a\",\(expected)\n", "\(code)")
  }

  @Test func datesWithSwappedDayAndMonthAreFoundByTheTextsOfTheColumn() throws {
    let (early, late): (Cell, Cell) = (.serial("46117.5", .dayFirst), .serial("46143.5", .dayFirst))
    let beyond: Cell = .serial("46130.5", .dayFirst)
    func column(_ cells: [Cell]) throws -> String? {
      let file = try SheetFile(SpreadsheetWriter([.init("A", cells.map { [.empty, $0] })]).xlsx())
      _ = try file.text()
      return file.findings?.exchangedDates
    }
    for text in ["04-13-2026 08:10 AM", "13/04/2026 08:10", "4/13/26 8:10"] {
      #expect(try column([early, .text(text), late, .inline(text)]) == "B", "\(text)")
      // A day above 12 cannot have been swapped.
      #expect(try column([early, .text(text), beyond, .text(text)]) == nil)
      // A text above all dates may be a title, so it proves nothing.
      #expect(try column([.text(text), early, late]) == nil)
      #expect(try column([.text(text), .text(text)]) == nil)
    }
    for text in [
      "04-12-2026", "13.04.2026", "31-32-2026", "2026-04-13", "13/04", "13/00/2026", "142", "13-4-x",
    ] {
      #expect(try column([early, .text(text), .text(text), late]) == nil, "\(text)")
    }
  }

  @Test func sharedStringsAreFoundByTheirNumbers() throws {
    let texts = (0..<300).map { "\($0) " + String(repeating: "abcdefgh", count: $0 % 7 == 0 ? 9000 : 3000) }
    let rows = texts.indices.reversed().map { place -> [SpreadsheetWriter.Cell] in
      [.xml(#"<c t="s"><v>\#(place)</v></c>"#)]
    }
    var writer = SpreadsheetWriter([.init("A", rows)])
    writer.parts = [
      ("xl/sharedStrings.xml", "<sst>\(texts.map { "<si><t>\($0)</t></si>" }.joined())</sst>")
    ]
    let file = try SheetFile(writer.xlsx())
    let lines = try file.text().split(separator: "\n").map { String($0.replacing("\"", with: "")) }
    #expect(lines == Array(texts.reversed()))
  }
}
