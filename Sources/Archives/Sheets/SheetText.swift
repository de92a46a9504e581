// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes the rows of a sheet as CSV with commas, in pieces. Line N is row N, so that messages name the row
/// that a person sees. A line break in a cell is kept, in quotes. Each row is at least as wide as the widest
/// row before it, as in CSV of spreadsheet programs. A sheet does not store empty cells at the end of a row.
struct SheetText {
  /// The maximum number of rows that office programs write.
  static let maxRows = 1 << 20
  static let maxBytes = 1 << 30
  static let longestRow = 8 << 20
  /// One more than the maximum number of columns of a table. A row of this width is later rejected, and the
  /// other rows are read.
  static let maxColumns = 1025
  /// The maximum width to which rows are padded. A wider row is an exception, and the rows after it are not
  /// padded to its width.
  private static let maxPadding = 128
  private static let pieceSize = 256 * 1024

  /// Receives a piece; returns false to stop.
  typealias Sink = (UnsafeRawBufferPointer) throws -> Bool

  private let sink: Sink
  private var bytes: [UInt8] = []
  private var flushed = 0
  /// The start of the current row in the buffer.
  private var rowStart = 0
  /// The number of complete lines.
  private var lines = 0
  private var row = 0
  /// The number of cells in the current row.
  private var columns = 0
  /// The width in cells to which a shorter row is padded.
  private var width = 0

  init(_ sink: @escaping Sink) {
    self.sink = sink
    bytes.reserveCapacity(2 * Self.pieceSize)
  }

  /// Begins a row by its number, from 1. Rows must be in order.
  mutating func beginRow(_ number: Int) throws(SheetProblem) {
    guard number > row, number <= Self.maxRows else {
      throw SheetProblem("rows are out of order, or more than \(Self.maxRows)")
    }
    (row, columns) = (number, 0)
  }

  /// Adds a cell in a column, from 0. Empty cells may be omitted.
  ///
  /// - Parameter isText: whether the cell may contain characters that need quotes.
  mutating func add(
    _ cell: UnsafeBufferPointer<UInt8>, column wanted: Int, isText: Bool
  ) throws(SheetProblem) {
    guard !cell.isEmpty else { return }
    let wanted = min(wanted, Self.maxColumns - 1)
    guard wanted >= columns else { return }
    let isFirst = columns == 0 && lines == 0
    if columns == 0 { startLine() }
    for _ in max(columns - 1, 0)..<wanted { bytes.append(UInt8(ascii: ",")) }
    columns = wanted + 1
    // The first cell is always quoted, so that its text never looks like the signature of another kind of
    // file.
    if isFirst || (isText && Self.needsQuotes(cell)) {
      appendQuoted(cell)
    } else {
      bytes.append(contentsOf: cell)
    }
    guard bytes.count - rowStart <= Self.longestRow else {
      throw SheetProblem("row \(row) is longer than 8 MiB")
    }
  }

  private mutating func startLine() {
    for _ in lines..<(row - 1) { bytes.append(0x0A) }
    rowStart = bytes.count
  }

  private static func needsQuotes(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in cell where byte == 0x2C || byte == 0x22 || byte == 0x0A || byte == 0x0D { return true }
    // Blanks at both ends belong to the text. Quotes preserve them.
    return cell.first == 0x20 || cell.last == 0x20
  }

  private mutating func appendQuoted(_ cell: UnsafeBufferPointer<UInt8>) {
    bytes.append(0x22)
    for byte in cell {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    bytes.append(0x22)
  }

  /// Ends the row.
  ///
  /// - Parameter count: how many times the row is repeated.
  /// - Returns: false if the sink stopped the writing.
  mutating func endRow(times count: Int = 1) throws -> Bool {
    guard columns > 0 else {
      row = min(row + min(count, Self.maxRows) - 1, Self.maxRows)
      return true
    }
    guard count <= Self.maxRows - row + 1 else {
      throw SheetProblem("rows are more than \(Self.maxRows)")
    }
    while columns < width {
      bytes.append(UInt8(ascii: ","))
      columns += 1
    }
    if columns <= Self.maxPadding { width = columns }
    let line = count > 1 ? Array(bytes[rowStart...]) : []
    bytes.append(0x0A)
    for _ in 1..<max(count, 1) {
      bytes.append(contentsOf: line)
      bytes.append(0x0A)
      if bytes.count >= Self.pieceSize, try !flush() { return false }
    }
    row += count - 1
    lines = row
    return bytes.count < Self.pieceSize ? true : try flush()
  }

  /// Passes the buffered bytes to the sink.
  ///
  /// - Returns: false if the sink stopped the writing.
  mutating func flush() throws -> Bool {
    flushed += bytes.count
    guard flushed <= Self.maxBytes else { throw SheetProblem("the text of a sheet is longer than 1 GiB") }
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes.isEmpty ? true : try bytes.withUnsafeBytes(sink)
  }
}

/// The reason why reading a sheet must stop.
struct SheetProblem: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
