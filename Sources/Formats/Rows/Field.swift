// SPDX-License-Identifier: Apache-2.0

import Glibc

/// One cell of a row or one value of a JSON object: bytes of the text buffer, valid until the next row.
///
/// Blanks around an unquoted cell are not part of it; quotes and escapes are resolved.
struct Field {
  enum Shape: UInt8 { case absent, bare, quoted, composite }

  let start: UnsafePointer<UInt8>
  let count: Int
  let shape: Shape

  /// An empty field, for a column that a row does not have.
  static var absent: Field { Field(start: ("" as StaticString).utf8Start, count: 0, shape: .absent) }

  /// A field with a fixed text, for a column that the rows do not have.
  static func fixed(_ text: StaticString) -> Field {
    Field(start: text.utf8Start, count: text.utf8CodeUnitCount, shape: .bare)
  }

  @inline(__always) var isEmpty: Bool { count == 0 }

  @inline(__always) subscript(index: Int) -> UInt8 {
    assert(index >= 0 && index < count)
    return start[index]
  }

  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

  /// The field as text. Bytes that are not UTF-8 are read as Windows-1252, the only other encoding of these
  /// files.
  var text: String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var repaired = String.UnicodeScalarView()
    for byte in bytes { repaired.append(DecodingSource.windows1252[Int(byte)]) }
    return String(repaired)
  }

  /// The text in lower case with inner blanks as one space, as headers are compared.
  ///
  /// Only the first `maxNameBytes` of a longer text are folded.
  var folded: String { foldedHeader(slice(0, min(count, Self.maxNameBytes)).text) }

  /// The maximum number of bytes of a column's name, a time or a number. A cell can have megabytes, and
  /// folding all of it would take long.
  static let maxNameBytes = 4096

  @inline(__always) func equals(_ other: StaticString) -> Bool {
    count == other.utf8CodeUnitCount && memcmp(start, other.utf8Start, count) == 0
  }

  /// Whether the field equals the text, ignoring the case of ASCII letters.
  func equalsFolded(_ other: StaticString) -> Bool {
    guard count == other.utf8CodeUnitCount else { return false }
    for index in 0..<count where start[index] | 0x20 != other.utf8Start[index] | 0x20 { return false }
    return true
  }

  func starts(with prefix: StaticString) -> Bool {
    count >= prefix.utf8CodeUnitCount && memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
  }

  func hasSameBytes(as other: Field) -> Bool {
    count == other.count && memcmp(start, other.start, count) == 0
  }

  func hasSameBytes(as other: [UInt8]) -> Bool {
    count == other.count
      && other.withUnsafeBytes { memcmp(start, $0.baseAddress ?? UnsafeRawPointer(start), count) == 0 }
  }

  /// The field without blanks at its ends: space, tab, no-break spaces and byte order marks.
  var trimmed: Field {
    var (from, to) = (0, count)
    while from < to, let width = blankWidth(at: from, before: to) { from += width }
    while to > from, let width = blankWidthEnding(at: to, after: from) { to -= width }
    return from == 0 && to == count ? self : Field(start: start + from, count: to - from, shape: shape)
  }

  /// The bytes from `from` up to `to`.
  func slice(_ from: Int, _ to: Int) -> Field {
    assert(from >= 0 && from <= to && to <= count)
    return Field(start: start + from, count: to - from, shape: shape)
  }

  private func blankWidth(at index: Int, before end: Int) -> Int? {
    switch start[index] {
    case 0x20, 0x09, 0x0D, 0x0A: 1
    case 0xC2 where end - index >= 2 && start[index + 1] == 0xA0: 2
    case 0xE2 where end - index >= 3 && start[index + 1] == 0x80 && start[index + 2] == 0xAF: 3
    case 0xEF where end - index >= 3 && start[index + 1] == 0xBB && start[index + 2] == 0xBF: 3
    default: nil
    }
  }

  private func blankWidthEnding(at end: Int, after from: Int) -> Int? {
    if let width = blankWidth(at: end - 1, before: end) { return width }
    if end - from >= 2, blankWidth(at: end - 2, before: end) == 2 { return 2 }
    if end - from >= 3, blankWidth(at: end - 3, before: end) == 3 { return 3 }
    return nil
  }
}

/// A header cell as it is compared: in lower case, with single blanks, and without quotes and byte order
/// marks. A byte order mark that was encoded twice is removed, too.
func foldedHeader(_ text: String) -> String {
  // Nearly every header is plain, and every format compares every cell of the first rows, so plain headers
  // have a faster function.
  if let plain = foldedPlainHeader(text) { return plain }
  // If a quote in a line above was not closed, the cell begins with the end of that line and the header's
  // first quote. That part is removed.
  let endOfOpenQuote = text.firstRange(of: "\n\"") ?? text.firstRange(of: "\r\n\"")
  let own = endOfOpenQuote.map { String(text[$0.upperBound...]) } ?? text
  let plain = own.replacing("ï»¿", with: "").filter { $0 != "\"" && $0 != "\u{FEFF}" }
  return plain.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
}

/// A header cell of ASCII and letters of Western Europe, folded in one pass over the bytes. Nil for any other
/// text, and for a cell that may include a line end.
private func foldedPlainHeader(_ text: String) -> String? {
  var text = text
  return text.withUTF8 { bytes in
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case 0x09...0x0D, 0x20:
        if byte == 0x0A, index < bytes.count, bytes[index] == 0x22 { return nil }
        if let last = out.last, last != 0x20 { out.append(0x20) }
      case 0x22: break
      case 0x41...0x5A: out.append(byte | 0x20)
      case 0xC3:
        let letter = bytes[index]
        index += 1
        out.append(byte)
        // The code of a capital is 32 less than that of its small letter, except for the multiplication sign
        // and ß.
        out.append(letter < 0x9F && letter != 0x97 ? letter | 0x20 : letter)
      case ..<0x80: out.append(byte)
      default: return nil
      }
    }
    if out.last == 0x20 { out.removeLast() }
    return String(decoding: out, as: UTF8.self)
  }
}

/// One row of a table, or one JSON object as a row of the columns that a format asked for.
struct Row {
  let fields: UnsafeBufferPointer<Field>
  /// The line on which the row starts, from 1.
  let line: Int64
  /// Whether no line end follows the row at the end of the input. Then it may be truncated.
  let isUnterminated: Bool
  /// The bytes of the row as they were in the input, for `--rejects`.
  let source: UnsafeBufferPointer<UInt8>

  @inline(__always) var count: Int { fields.count }

  /// The same row, as if a line end followed it.
  var closed: Row { Row(fields: fields, line: line, isUnterminated: false, source: source) }

  /// The field in this column; an absent one if the row is shorter.
  @inline(__always) subscript(column: Int) -> Field {
    column >= 0 && column < fields.count ? fields[column] : .absent
  }

  /// Whether every field from `column` on is empty.
  func isEmpty(from column: Int) -> Bool {
    for index in stride(from: column, to: fields.count, by: 1) where !fields[index].isEmpty { return false }
    return true
  }

  /// The number of cells without the empty ones at the end. A delimiter at the end of a line does not begin
  /// another cell.
  var filledCount: Int { (fields.lastIndex { !$0.trimmed.isEmpty } ?? -1) + 1 }

  /// Whether a cell after the first `maxCells` cells has content.
  @inline(__always) func exceeds(_ maxCells: Int) -> Bool { count > maxCells && filledCount > maxCells }

  /// The reason for which a row with more cells than its header is rejected. A part of a split cell is an
  /// additional cell, and the cells after it are under wrong names.
  static let tooManyCells =
    "more cells than the header has: a comma in a number or text without quotes?"
}
