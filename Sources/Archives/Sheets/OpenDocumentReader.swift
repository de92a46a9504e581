// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads `content.xml` of an ODS file (OpenDocument 1.3 part 3, 9.1): the names of its sheets, or one sheet.
final class OpenDocumentReader: XMLPart {
  private enum CellType { case empty, number, text, boolean, error, date, time }

  /// The names of the sheets read so far, and whether they are hidden.
  private(set) var sheets: [(name: String, isHidden: Bool)] = []
  private(set) var isSpreadsheet = false
  /// The index of the sheet to read, from 0; nil to read only the names of all sheets.
  private let wanted: Int?
  private var writer: SheetWriter?
  private var hiddenStyles: Set<String> = []
  private var style: String?
  private var tableDepth = 0
  private var row = 1
  private var rowCount = 1
  private var column = 0
  private var cellDepth = 0
  private var cellCount = 1
  private var type = CellType.empty
  private var value: [UInt8] = []
  /// The number of open comments, drawings or tables inside the cell; their text is not part of the cell.
  private var skippedDepth = 0
  private var paragraphs = 0
  private var isInParagraph = false

  /// The numbers of errors and of formulas without a value, and the column with swapped dates, in the part of
  /// the sheet that was read.
  var findings: SheetFindings { SheetFindings(writer) }

  /// Reads the names of all sheets.
  init(namesOf name: String) {
    wanted = nil
    super.init(name: name)
  }

  init(sheet: Int, name: String, sink: @escaping SheetText.Sink) {
    wanted = sheet
    writer = SheetWriter(sink)
    super.init(name: name)
  }

  /// Passes the buffered text to the sink. Call this after the whole file was read.
  func complete() throws {
    attempt { _ = try writer?.text.flush() }
    try check()
  }

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    if tableDepth > 0 {
      // Cells of other sheets are skipped.
      if writer == nil || sheets.count - 1 != wanted { return }
      if cellDepth > 0 {
        startInCell(name, attributes)
      } else if name.is("table:table-cell") || name.is("table:covered-table-cell") {
        startCell(attributes)
      } else if name.is("table:table-row") {
        startRow(attributes)
      }
    } else if name.is("table:table"), isSpreadsheet {
      startTable(attributes)
    } else if name.is("office:spreadsheet") {
      isSpreadsheet = true
    } else if name.is("style:style") {
      style = attributes.text("style:name")
    } else if name.is("style:table-properties"), attributes.text("table:display") == "false", let style {
      guard hiddenStyles.count < 4 * Spreadsheet.maxSheets else { return fail("too many styles") }
      hiddenStyles.insert(style)
    }
  }

  override func end(_ name: XMLName) {
    if cellDepth > 0 {
      endInCell(name)
    } else if tableDepth > 0, depth + 1 == tableDepth {
      tableDepth = 0
      if sheets.count - 1 == wanted { finish() }
    } else if tableDepth > 0, sheets.count - 1 == wanted, name.is("table:table-row") {
      endRow()
    }
  }

  private func startTable(_ attributes: XMLAttributes) {
    guard sheets.count < Spreadsheet.maxSheets else {
      return fail("more than \(Spreadsheet.maxSheets) sheets")
    }
    let style = attributes.text("table:style-name") ?? ""
    sheets.append((attributes.text("table:name") ?? "", hiddenStyles.contains(style)))
    tableDepth = depth
  }

  private func startRow(_ attributes: XMLAttributes) {
    rowCount = max(1, attributes.text("table:number-rows-repeated").flatMap { Int($0) } ?? 1)
    column = 0
    // Programs repeat an empty row up to the end of the sheet, so there may be more rows than the maximum.
    // Such rows are skipped.
    attempt { if row <= SheetText.maxRows { try writer?.text.beginRow(row) } }
  }

  private func endRow() {
    attempt {
      if row <= SheetText.maxRows, try writer?.text.endRow(times: rowCount) == false { return finish() }
      row = min(row &+ min(rowCount, SheetText.maxRows), SheetText.maxRows + 1)
    }
  }

  private func startCell(_ attributes: XMLAttributes) {
    cellDepth = depth
    (type, cellCount, paragraphs, skippedDepth, isInParagraph) = (.empty, 1, 0, 0, false)
    value.removeAll(keepingCapacity: true)
    capture()
    endCapture()
    var isError = false
    attributes.each { name, text in
      if name.is("office:value-type") {
        type = Self.type(String(cString: text))
      } else if name.is("calcext:value-type") {
        isError = String(cString: text) == "error"
      } else if name.is("table:number-columns-repeated") {
        cellCount = max(1, Int(String(cString: text)) ?? 1)
      } else if name.is("office:value") || name.is("office:date-value") || name.is("office:time-value")
        || name.is("office:boolean-value") || name.is("office:string-value")
      {
        value = Array(String(cString: text).utf8)
      }
    }
    if isError { type = .error }
    if value.count > Self.longestText { fail("a text is longer than 256 KiB") }
  }

  private static func type(_ name: String) -> CellType {
    switch name {
    case "float", "percentage", "currency": .number
    case "date": .date
    case "time": .time
    case "boolean": .boolean
    case "string": .text
    default: .empty
    }
  }

  private func startInCell(_ name: XMLName, _ attributes: XMLAttributes) {
    if skippedDepth > 0 || name.is("office:annotation") || name.is("table:table") || name.is("draw:frame")
      || name.is("text:ruby-text")
    {
      skippedDepth += 1
      endCapture()
    } else if name.is("text:p") {
      if paragraphs > 0 { append(0x0A) }
      paragraphs += 1
      isInParagraph = true
      captureMore()
    } else if name.is("text:s") {
      let count = attributes.text("text:c").flatMap { Int($0) } ?? 1
      append(0x20, count: min(max(count, 1), 1024))
    } else if name.is("text:tab") {
      append(0x09)
    } else if name.is("text:line-break") {
      append(0x0A)
    }
  }

  private func endInCell(_ name: XMLName) {
    if depth + 1 == cellDepth {
      cellDepth = 0
      endCapture()
      attempt { try endCell() }
    } else if skippedDepth > 0 {
      skippedDepth -= 1
      if skippedDepth == 0, isInParagraph { captureMore() }
    } else if name.is("text:p") {
      isInParagraph = false
      endCapture()
    }
  }

  private func endCell() throws {
    let first = column
    column = min(column &+ min(cellCount, SheetText.maxColumns), 4 * SheetText.maxColumns)
    let shown = captured
    if type == .error { writer?.addError() }
    // Empty cells are skipped before the number of rows is checked, since empty rows may exceed the maximum.
    guard type != .error, !(value.isEmpty && shown.isEmpty) else { return }
    guard row <= SheetText.maxRows else { throw SheetProblem("rows are more than \(SheetText.maxRows)") }
    for place in first..<min(column, max(first + 1, SheetText.maxColumns)) {
      try value.withUnsafeBufferPointer { value in
        try shown.withUnsafeBufferPointer { try add(value, shown: $0, column: place) }
      }
    }
  }

  private func add(
    _ value: UnsafeBufferPointer<UInt8>, shown: UnsafeBufferPointer<UInt8>, column: Int
  ) throws {
    if value.isEmpty || type == .empty { return try writer?.add(text: shown, column: column) ?? () }
    switch type {
    case .number: try writer?.add(number: value, form: .number, is1904: false, column: column)
    case .date:
      // A value at midnight omits the time of day, so the displayed text decides whether the cell has a time
      // of day.
      let showsTime = value.count > 10 || shown.contains(UInt8(ascii: ":"))
      try writer?.add(isoDate: value, showsTime: showsTime, column: column)
    case .time: try writer?.add(duration: value, column: column)
    case .boolean: try writer?.add(boolean: value.first == UInt8(ascii: "t"), column: column)
    case .text: try writer?.add(text: shown.isEmpty ? value : shown, column: column)
    case .empty, .error: break
    }
  }

}
