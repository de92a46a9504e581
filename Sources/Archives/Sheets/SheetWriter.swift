// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes the cells of a sheet by their type; used for XLSX and ODS.
struct SheetWriter {
  var text: SheetText
  /// The number of cells with an error such as `#N/A`; they are empty in the text.
  private(set) var errorCount = 0
  /// The number of cells with a formula without its value; they are `=?` in the text.
  private(set) var formulaCount = 0
  private(set) var dates = DateColumns()
  private var cell: [UInt8] = []
  /// The columns in which a date with a time of day occurred. If a later date in such a column has no time of
  /// day, midnight is written.
  private var hasTimes = [Bool](repeating: false, count: SheetText.maxColumns)

  init(_ sink: @escaping SheetText.Sink) {
    text = SheetText(sink)
  }

  mutating func addError() { errorCount += 1 }

  /// Adds a cell with a formula whose value the program did not write. An empty cell would hide the formula.
  mutating func addFormula(column: Int) throws {
    formulaCount += 1
    try addCell(column) { $0.append(contentsOf: "=?".utf8) }
  }

  mutating func add(text bytes: UnsafeBufferPointer<UInt8>, column: Int) throws {
    dates.observe(text: bytes, column: column)
    try text.add(bytes, column: column, isText: true)
  }

  mutating func add(boolean: Bool, column: Int) throws {
    try addCell(column) { $0.append(contentsOf: (boolean ? "TRUE" : "FALSE").utf8) }
  }

  /// Adds a numeric cell as its number format shows it, such as a date.
  mutating func add(
    number: UnsafeBufferPointer<UInt8>, form: CellForm, is1904: Bool, column: Int
  ) throws {
    guard form != .number, let serial = SheetNumber.value(number),
      let time = SheetTime(serial: serial, decimals: SheetNumber.decimals(number), is1904: is1904)
    else { return try addCell(column) { SheetNumber.append(number, to: &$0) } }
    switch form {
    case .time: try addCell(column) { SheetTime.append(clock: time.seconds, to: &$0) }
    case .duration:
      let seconds = Int((serial * Double(SheetTime.secondsOfDay)).rounded())
      try addCell(column) { SheetTime.append(clock: seconds, to: &$0) }
    case .date: try add(time, showsTime: false, column: column)
    case .dateTime, .number: try add(time, showsTime: true, column: column)
    }
  }

  /// Adds a date in ISO 8601; other text is added unchanged.
  mutating func add(
    isoDate bytes: UnsafeBufferPointer<UInt8>, showsTime: Bool, column: Int
  ) throws {
    guard let time = SheetTime(iso: bytes) else { return try add(text: bytes, column: column) }
    try add(time, showsTime: showsTime, column: column)
  }

  /// Adds a time of day or a duration in ISO 8601; other text is added unchanged.
  mutating func add(duration bytes: UnsafeBufferPointer<UInt8>, column: Int) throws {
    guard let seconds = SheetTime.seconds(ofDuration: bytes) else {
      return try add(text: bytes, column: column)
    }
    try addCell(column) { SheetTime.append(clock: seconds, to: &$0) }
  }

  /// Keeps the time of day of a number even if its format shows only a date: some programs write times with a
  /// format for dates.
  private mutating func add(_ time: SheetTime, showsTime: Bool, column: Int) throws {
    let place = min(column, SheetText.maxColumns - 1)
    if showsTime || time.seconds != 0 { hasTimes[place] = true }
    let withTime = hasTimes[place]
    dates.observe(time, column: column)
    try addCell(column) { time.append(to: &$0, withTime: withTime) }
  }

  private mutating func addCell(_ column: Int, _ write: (inout [UInt8]) -> Void) throws {
    cell.removeAll(keepingCapacity: true)
    write(&cell)
    try cell.withUnsafeBufferPointer { try text.add($0, column: column, isText: true) }
  }
}

/// Converts numbers of sheets to text as people type them.
private enum SheetNumber {
  /// The number of decimal digits that a binary number represents exactly. Further digits in a text come from
  /// a conversion.
  private static let exactDigits = 15

  /// The value of a text; nil if it is not a number.
  static func value(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count <= 64, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
      return nil
    }
    return number
  }

  /// The number of digits after the point.
  static func decimals(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
    return text[(point + 1)...].prefix { $0 &- 0x30 <= 9 }.count
  }

  /// Appends a plain decimal number unchanged, and any other number as the shortest text of the same value:
  /// programs store 5.6 as `5.5999999999999996`. Other text stays unchanged.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    if isPlain(text) { return out.append(contentsOf: text) }
    guard let number = value(text) else { return out.append(contentsOf: text) }
    out.append(contentsOf: plainNumber(number).utf8)
  }

  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var (digits, points) = (0, 0)
    for (place, byte) in text.enumerated() {
      switch byte {
      case 0x30...0x39: digits += digits > 0 || byte != 0x30 ? 1 : 0
      case UInt8(ascii: "."): points += 1
      case UInt8(ascii: "-") where place == 0: break
      default: return false
      }
    }
    return digits <= exactDigits && points <= 1
  }
}

/// Finds columns in which a program swapped day and month. A program that opens a text file in the wrong
/// order reads 04/05 as the wrong date, and leaves 04/13 as text.
struct DateColumns {
  private struct SheetColumn {
    var hasDates = false
    /// Whether a date has a day above 12.
    var hasLateDays = false
    /// The number of texts that are a valid date in only one order of day and month.
    var unambiguousDates = 0
  }

  /// The minimum of `unambiguousDates` for a swapped column: a single such text may be in a title above the
  /// table.
  private static let minTexts = 2
  private var columns = [SheetColumn](repeating: SheetColumn(), count: SheetText.maxColumns)

  mutating func observe(_ date: SheetTime, column: Int) {
    guard column < columns.count, !columns[column].hasLateDays else { return }
    columns[column].hasDates = true
    columns[column].hasLateDays = date.dayOfMonth > 12
  }

  mutating func observe(text: UnsafeBufferPointer<UInt8>, column: Int) {
    guard text.count >= 8, text[0] &- 0x30 <= 9, column < columns.count, Self.isUnambiguousDate(text) else {
      return
    }
    columns[column].unambiguousDates += 1
  }

  /// The first column, from 0, in which a program swapped day and month; nil if there is none. It has dates,
  /// none of them after the 12th of a month, and texts that are dates.
  var exchanged: Int? {
    columns.firstIndex { $0.hasDates && !$0.hasLateDays && $0.unambiguousDates >= Self.minTexts }
  }

  /// Whether a text begins with a date that is valid in only one order of day and month, such as 13/04/2026
  /// or 04-13-26. With dots the order is always the same.
  private static func isUnambiguousDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var numbers: [Int] = []
    var place = 0
    while numbers.count < 2 {
      let start = place
      var number = 0
      while place < text.count, place - start < 2, text[place] &- 0x30 <= 9 {
        number = number * 10 + Int(text[place] &- 0x30)
        place += 1
      }
      guard place > start, place < text.count,
        text[place] == UInt8(ascii: "/") || text[place] == UInt8(ascii: "-")
      else { return false }
      numbers.append(number)
      place += 1
    }
    let (smaller, larger) = (min(numbers[0], numbers[1]), max(numbers[0], numbers[1]))
    return (1...12).contains(smaller) && (13...31).contains(larger) && place < text.count
      && text[place] &- 0x30 <= 9
  }
}

/// Facts about a sheet that its text does not show, for warnings.
package struct SheetFindings {
  /// The number of cells with an error such as `#N/A`; they are empty in the text.
  package let errorCount: Int
  /// The number of cells with a formula without its value; they are `=?` in the text.
  package let formulaCount: Int
  /// The letters of a column in which a program swapped day and month of some dates; nil if there is none.
  package let exchangedDates: String?

  init(_ writer: SheetWriter?) {
    errorCount = writer?.errorCount ?? 0
    formulaCount = writer?.formulaCount ?? 0
    exchangedDates = writer?.dates.exchanged.map(Self.letters)
  }

  private static func letters(_ column: Int) -> String {
    let last = String(UnicodeScalar(UInt8(0x41 + column % 26)))
    return column < 26 ? last : letters(column / 26 - 1) + last
  }
}
