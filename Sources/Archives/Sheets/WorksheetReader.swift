// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads one sheet of an XLSX file (ECMA-376 part 1, 18.3).
final class WorksheetReader: XMLPart {
  /// The columns that a sheet can have, `A` to `XFD`.
  private static let maxColumns = 16_384

  private enum CellType { case number, shared, text, boolean, error, date }

  private var writer: SheetWriter
  private let strings: SharedStrings?
  private let forms: [CellForm]
  private let is1904: Bool
  private var isInData = false
  private var isInCell = false
  private var isInline = false
  /// Whether the cell has a formula and, so far, no value.
  private var lacksValue = false
  private var phoneticDepth = 0
  private var row = 0
  private var column = -1
  private var type = CellType.number
  private var style = 0

  /// The numbers of errors and of formulas without a value, and the column with swapped dates, in the part of
  /// the sheet that was read.
  var findings: SheetFindings { SheetFindings(writer) }

  /// - Parameters:
  ///   - name: the sheet, for messages.
  ///   - forms: the forms of cells, by the number of their style.
  ///   - is1904: whether days count from 1904.
  init(
    name: String, strings: SharedStrings?, forms: [CellForm], is1904: Bool, sink: @escaping SheetText.Sink
  ) {
    (self.strings, self.forms, self.is1904) = (strings, forms, is1904)
    writer = SheetWriter(sink)
    super.init(name: name)
  }

  /// Passes the buffered text to the sink. Call this after the whole file was read.
  func complete() throws {
    attempt { _ = try writer.text.flush() }
    try check()
  }

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    guard isInData else {
      isInData = name.isLocally("sheetData")
      return
    }
    if isInCell, name.isLocally("c") || name.isLocally("row") {
      fail(
        "row \(row): a cell begins inside another cell; open the workbook in a spreadsheet program, save it again and import that file"
      )
    } else if name.isLocally("c") {
      startCell(attributes)
    } else if name.isLocally("v") {
      if isInCell, !isInline { capture() }
      lacksValue = false
    } else if name.isLocally("f") {
      lacksValue = isInCell
    } else if name.isLocally("row") {
      startRow(attributes)
    } else if name.isLocally("is") {
      isInline = isInCell
      capture()
      endCapture()
    } else if name.isLocally("t") {
      if isInline, phoneticDepth == 0 { captureMore() }
    } else if name.isLocally("rPh") {
      phoneticDepth += 1
    }
  }

  override func end(_ name: XMLName) {
    guard isInData else { return }
    if name.isLocally("v") || name.isLocally("t") {
      endCapture()
    } else if name.isLocally("c") {
      attempt { try endCell() }
    } else if name.isLocally("row") {
      attempt {
        if try !writer.text.endRow() { finish() }
      }
    } else if name.isLocally("is") {
      isInline = false
    } else if name.isLocally("rPh") {
      phoneticDepth -= 1
    } else if name.isLocally("sheetData") {
      isInData = false
    }
  }

  private func startRow(_ attributes: XMLAttributes) {
    row += 1
    attributes.each { name, value in
      if name.is("r") { row = Int(String(cString: value)) ?? 0 }
    }
    column = -1
    attempt { try writer.text.beginRow(row) }
  }

  private func startCell(_ attributes: XMLAttributes) {
    var next = column + 1
    (type, style, isInCell, isInline, lacksValue) = (.number, 0, true, false, false)
    attributes.each { name, value in
      if name.is("r") {
        next = Self.column(value)
      } else if name.is("s") {
        style = Int(String(cString: value)) ?? 0
      } else if name.is("t") {
        type = Self.type(value)
      }
    }
    guard next > column, next < Self.maxColumns, row > 0 else {
      return fail("cells of row \(row) are out of order, or beyond column XFD")
    }
    column = next
    capture()
    endCapture()
  }

  /// The column of a cell such as `AB17`, from 0; -1 for other text.
  private static func column(_ reference: UnsafePointer<CChar>) -> Int {
    var (value, place) = (0, 0)
    while place < 4 {
      let letter = UInt8(bitPattern: reference[place])
      guard (0x41...0x5A).contains(letter) else { break }
      value = value * 26 + Int(letter - 0x40)
      place += 1
    }
    return value - 1
  }

  private static func type(_ text: UnsafePointer<CChar>) -> CellType {
    switch (UInt8(bitPattern: text[0]), UInt8(bitPattern: text[0] == 0 ? 0 : text[1])) {
    case (UInt8(ascii: "s"), 0): .shared
    case (UInt8(ascii: "s"), _), (UInt8(ascii: "i"), _): .text
    case (UInt8(ascii: "b"), _): .boolean
    case (UInt8(ascii: "e"), _): .error
    case (UInt8(ascii: "d"), _): .date
    default: .number
    }
  }

  private func endCell() throws {
    guard isInCell else { return }
    isInCell = false
    let value = captured
    if lacksValue { return try writer.addFormula(column: column) }
    guard !value.isEmpty || type == .error else { return }
    try value.withUnsafeBufferPointer { try add($0) }
  }

  private func add(_ value: UnsafeBufferPointer<UInt8>) throws {
    switch type {
    case .number:
      let form = style >= 0 && style < forms.count ? forms[style] : .number
      try writer.add(number: value, form: form, is1904: is1904, column: column)
    case .shared:
      let number = Int(String(decoding: value, as: UTF8.self)) ?? -1
      let place = column
      let isThere = try strings?.withText(number) { try writer.add(text: $0, column: place) } ?? false
      if !isThere { throw SheetProblem("a cell of row \(row) names a text that is not there") }
    case .text:
      var text = Array(value)
      EscapedText.unescape(&text)
      try text.withUnsafeBufferPointer { try writer.add(text: $0, column: column) }
    case .boolean: try writer.add(boolean: value.first == UInt8(ascii: "1"), column: column)
    case .error: writer.addError()
    case .date: try writer.add(isoDate: value, showsTime: value.count > 10, column: column)
    }
  }
}
