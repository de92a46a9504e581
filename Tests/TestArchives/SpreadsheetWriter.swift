// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes XLSX and ODS files for tests. A test can set every file in them.
package struct SpreadsheetWriter {
  package enum Cell {
    case text(String)
    /// The text is in the cell itself, and not in the shared texts of XLSX.
    case inline(String)
    case number(String)
    /// A day number of XLSX in a format of `Style`.
    case serial(String, Style)
    case boolean(Bool)
    case error(String)
    case empty
    /// The cell's element as it is in the file.
    case xml(String)
  }

  /// The number formats of the files, by their number in the styles of XLSX.
  package enum Style: Int, CaseIterable {
    case general, dayFirst, date, clock, duration, unit

    var format: String {
      switch self {
      case .general: #"numFmtId="0""#
      case .dayFirst: #"numFmtId="164""#
      case .date: #"numFmtId="14""#
      case .clock: #"numFmtId="20""#
      case .duration: #"numFmtId="165""#
      case .unit: #"numFmtId="166""#
      }
    }
  }

  package struct Sheet {
    package var name: String
    package var rows: [[Cell]]
    package var isHidden = false

    package init(_ name: String, _ rows: [[Cell]], isHidden: Bool = false) {
      (self.name, self.rows, self.isHidden) = (name, rows, isHidden)
    }
  }

  package var sheets: [Sheet]
  /// Whether days count from 1904.
  package var is1904 = false
  /// Files that replace others with the same path, or are added.
  package var parts: [(path: String, text: String)] = []

  package init(_ sheets: [Sheet]) { self.sheets = sheets }

  /// One sheet of texts: a table as CSV whose cells have no commas.
  package init(csv: String, sheet: String = "Sheet1") {
    let rows = csv.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map { Cell.text(String($0)) }
    }
    self.init([Sheet(sheet, rows)])
  }

  package func xlsx() throws -> [UInt8] { try ZipWriter.archive(replaced(xlsxParts())) }

  package func ods() throws -> [UInt8] { try ZipWriter.archive(replaced(odsParts())) }

  private func replaced(_ own: [(String, String)]) -> [(String, String)] {
    own.filter { part in !parts.contains { $0.path == part.0 } } + parts.map { ($0.path, $0.text) }
  }

  // MARK: XLSX

  /// The files of an XLSX file by their paths.
  package func xlsxParts() -> [(String, String)] {
    var strings: [String] = []
    var members = [
      ("[Content_Types].xml", "<Types/>"),
      ("_rels/.rels", Self.relations([("rId1", "officeDocument", "xl/workbook.xml")])),
      ("xl/workbook.xml", workbook),
      ("xl/styles.xml", Self.styles),
    ]
    var relations = [("rS", "sharedStrings", "sharedStrings.xml"), ("rF", "styles", "/xl/styles.xml")]
    for (index, sheet) in sheets.enumerated() {
      relations.append(("r\(index)", "worksheet", "worksheets/sheet\(index).xml"))
      members.append(("xl/worksheets/sheet\(index).xml", Self.worksheet(sheet, &strings)))
    }
    members.append(("xl/_rels/workbook.xml.rels", Self.relations(relations)))
    let items = strings.map { "<si><t>\(Self.escaped($0))</t></si>" }.joined()
    members.append(("xl/sharedStrings.xml", "<sst>\(items)</sst>"))
    return members
  }

  private var workbook: String {
    let entries = sheets.enumerated().map { index, sheet in
      let state = sheet.isHidden ? #" state="hidden""# : ""
      return
        #"<sheet name="\#(Self.escaped(sheet.name))" sheetId="\#(index + 1)"\#(state) r:id="r\#(index)"/>"#
    }
    let start = is1904 ? #"<workbookPr date1904="1"/>"# : ""
    return #"<workbook xmlns:r="urn:r">\#(start)<sheets>\#(entries.joined())</sheets></workbook>"#
  }

  private static func relations(_ relations: [(String, String, String)]) -> String {
    let items = relations.map {
      #"<Relationship Id="\#($0.0)" Type="http://example.test/relationships/\#($0.1)" Target="\#($0.2)"/>"#
    }
    return "<Relationships>\(items.joined())</Relationships>"
  }

  private static var styles: String {
    let formats = [(164, #"dd/mm/yyyy\ hh:mm"#), (165, "[h]:mm"), (166, #"0.0" mmol/L d""#)].map {
      #"<numFmt numFmtId="\#($0.0)" formatCode="\#(escaped($0.1))"/>"#
    }
    let cells = Style.allCases.map { "<xf \($0.format)/>" }
    return """
      <styleSheet><numFmts>\(formats.joined())</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>\
      <cellXfs>\(cells.joined())</cellXfs></styleSheet>
      """
  }

  private static func worksheet(_ sheet: Sheet, _ strings: inout [String]) -> String {
    var text = "<worksheet><sheetData>"
    for (index, row) in sheet.rows.enumerated() {
      text += #"<row r="\#(index + 1)">"#
      for (column, cell) in row.enumerated() {
        text += xlsx(cell, at: "\(letters(column))\(index + 1)", &strings)
      }
      text += "</row>"
    }
    return text + "</sheetData></worksheet>"
  }

  private static func xlsx(_ cell: Cell, at place: String, _ strings: inout [String]) -> String {
    switch cell {
    case .text(""), .empty: return ""
    case .text(let text):
      strings.append(text)
      return #"<c r="\#(place)" t="s"><v>\#(strings.count - 1)</v></c>"#
    case .inline(let text): return #"<c r="\#(place)" t="inlineStr"><is><t>\#(escaped(text))</t></is></c>"#
    case .number(let number): return #"<c r="\#(place)"><v>\#(number)</v></c>"#
    case .serial(let number, let style):
      return #"<c r="\#(place)" s="\#(style.rawValue)"><v>\#(number)</v></c>"#
    case .boolean(let value): return #"<c r="\#(place)" t="b"><v>\#(value ? 1 : 0)</v></c>"#
    case .error(let name): return #"<c r="\#(place)" t="e"><v>\#(name)</v></c>"#
    case .xml(let text): return text
    }
  }

  /// The letters of a column, from 0.
  package static func letters(_ column: Int) -> String {
    let last = String(UnicodeScalar(UInt8(0x41 + column % 26)))
    return column < 26 ? last : letters(column / 26 - 1) + last
  }

  // MARK: ODS

  /// The files of an ODS file by their paths.
  package func odsParts() -> [(String, String)] {
    let tables = sheets.map { sheet in
      let rows = sheet.rows.map { "<table:table-row>\($0.map(Self.ods).joined())</table:table-row>" }
      let style = sheet.isHidden ? #" table:style-name="hidden""# : ""
      return
        #"<table:table table:name="\#(Self.escaped(sheet.name))"\#(style)>\#(rows.joined())</table:table>"#
    }
    return [
      ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
      ("content.xml", Self.content(tables.joined())),
      ("META-INF/manifest.xml", "<manifest:manifest/>"),
    ]
  }

  /// `content.xml` with these tables.
  package static func content(_ tables: String) -> String {
    """
    <office:document-content><office:automatic-styles><style:style style:name="hidden">\
    <style:table-properties table:display="false"/></style:style></office:automatic-styles>\
    <office:body><office:spreadsheet>\(tables)</office:spreadsheet></office:body></office:document-content>
    """
  }

  private static func ods(_ cell: Cell) -> String {
    switch cell {
    case .empty, .text(""): "<table:table-cell/>"
    case .text(let text), .inline(let text):
      #"<table:table-cell office:value-type="string"><text:p>\#(escaped(text))</text:p></table:table-cell>"#
    case .serial(let days, .dayFirst), .serial(let days, .date): ods(date(of: days))
    case .number(let number), .serial(let number, _):
      #"<table:table-cell office:value-type="float" office:value="\#(number)"><text:p>~</text:p></table:table-cell>"#
    case .boolean(let value):
      #"<table:table-cell office:value-type="boolean" office:boolean-value="\#(value)"/>"#
    case .error(let name):
      #"<table:table-cell office:value-type="string" calcext:value-type="error"><text:p>\#(name)</text:p></table:table-cell>"#
    case .xml(let text): text
    }
  }

  /// The cell for a date that is given as the day number of a spreadsheet. ODS files store dates as text, not
  /// as numbers.
  private static func date(of days: String) -> Cell {
    let seconds = ((Double(days) ?? 0) - 25_569) * 86_400
    return date(DeviceTime(seconds: Int64(seconds.rounded())).text, shown: "~")
  }

  /// A date cell of ODS with the text that a spreadsheet program shows for it.
  package static func date(_ value: String, shown: String) -> Cell {
    .xml(
      #"<table:table-cell office:value-type="date" office:date-value="\#(value)"><text:p>\#(shown)</text:p></table:table-cell>"#
    )
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}
