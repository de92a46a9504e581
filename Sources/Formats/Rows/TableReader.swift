// SPDX-License-Identifier: Apache-2.0

import Archives

/// Splits delimited text into rows (RFC 4180, with tolerance). Quotes may be missing, a quoted cell may hold
/// a single quote, and lines may end in LF, CR or CRLF.
final class TableReader: RowSource {
  /// The maximum number of columns of a row. `longestCell` is the maximum length of a quoted cell in bytes.
  static let maxColumns = 1024
  static let longestCell = 1 << 20

  private let text: TextBuffer
  private let delimiter: UInt8
  private let linesAreRows: Bool
  private let hasQuotes: Bool
  private let fields: UnsafeMutablePointer<Field>
  private var line: Int64 = 1
  private var columnsWithDoubledQuotes: [Int] = []
  private var copies: UnsafeMutablePointer<UInt8>
  private var copiesCapacity = 4096
  /// Whether the rest of a rejected line is skipped next.
  private var isSkipping = false
  /// The number of bytes from the start of the window in which a search found no closing quote. A quoted cell
  /// that starts in them must close on its own line. Otherwise the long search would be repeated for each
  /// such cell.
  private var unclosedBytes = 0

  /// - Parameters:
  ///   - linesAreRows: whether line numbers count rows, so that line ends inside cells are not counted.
  ///   - hasQuotes: whether a quote starts a quoted cell; otherwise it is an ordinary character.
  init(_ text: TextBuffer, delimiter: UInt8, linesAreRows: Bool = false, hasQuotes: Bool = true) {
    self.text = text
    self.delimiter = delimiter
    self.linesAreRows = linesAreRows
    self.hasQuotes = hasQuotes
    fields = .allocate(capacity: Self.maxColumns)
    copies = .allocate(capacity: copiesCapacity)
  }

  deinit {
    fields.deallocate()
    copies.deallocate()
  }

  func next() throws -> RowOutcome {
    while true {
      switch isSkipping ? skipLine() : scan() {
      case .found(let outcome): return outcome
      case .nothing: continue
      case .needsMore:
        if !isSkipping, text.end - text.start >= TextBuffer.longestItem {
          isSkipping = true
          // The line may be very long because a quote in it is never closed. The search must not go as far
          // again for each further line.
          unclosedBytes = text.end - text.start
          return .rejected(line: line, reason: "the line is longer than 8 MiB")
        }
        switch try isSkipping ? text.fill() : text.fillForItem() {
        case .bytes, .end: continue
        case .paused: return .paused
        }
      }
    }
  }

  private enum Scan {
    case found(RowOutcome)
    /// An empty line, or the rest of a rejected line, was skipped.
    case nothing
    case needsMore
  }

  /// Reads one row from the window. On `.needsMore` no byte is consumed, and the row is read again with more
  /// bytes.
  private func scan() -> Scan {
    let base = text.base
    let end = text.end
    let from = text.start
    if from == end { return text.isAtEnd ? .found(.end(truncation: nil)) : .needsMore }
    var position = from
    var column = 0
    var innerLines: Int64 = 0
    columnsWithDoubledQuotes.removeAll(keepingCapacity: true)
    // Joined files may have a byte order mark before a line. It is skipped.
    while position + 2 < end, base[position] == 0xEF, base[position + 1] == 0xBB, base[position + 2] == 0xBF {
      position += 3
    }
    while true {
      guard column < Self.maxColumns else {
        return reject(at: position, innerLines: innerLines, reason: "more than \(Self.maxColumns) columns")
      }
      // Blanks before a cell are skipped. A tab is a blank only if it is not the delimiter.
      while position < end, base[position] == 0x20 || (base[position] == 0x09 && delimiter != 0x09) {
        position += 1
      }
      if hasQuotes, position < end, base[position] == 0x22 {
        let linesBefore = innerLines
        switch quotedCell(from: position + 1, column: column, innerLines: &innerLines) {
        case .closed(let next): position = next
        case .open: return endRowAtOpenQuote(at: position, innerLines: linesBefore)
        case .needsMore: return .needsMore
        }
      } else {
        let cell = position
        while position < end {
          let byte = base[position]
          if byte == delimiter || byte == 0x0A || byte == 0x0D { break }
          position += 1
        }
        if position == end, !text.isAtEnd { return .needsMore }
        var last = position
        while last > cell, base[last - 1] == 0x20 || base[last - 1] == 0x09 { last -= 1 }
        (fields + column).initialize(to: Field(start: base + cell, count: last - cell, shape: .bare))
      }
      column += 1
      if position < end, base[position] == delimiter {
        position += 1
        if position == end, !text.isAtEnd { return .needsMore }
        continue
      }
      break
    }
    // A CR at the very end of the window may be the first half of CRLF, so more bytes are needed.
    if position < end, base[position] == 0x0D, position + 1 == end, !text.isAtEnd { return .needsMore }
    return finishRow(from: from, to: position, columns: column, innerLines: innerLines)
  }

  private func finishRow(from: Int, to position: Int, columns: Int, innerLines: Int64) -> Scan {
    let (base, end) = (text.base, text.end)
    let isUnterminated = position == end
    if !columnsWithDoubledQuotes.isEmpty { halveQuotes(rowLength: position - from) }
    var next = position
    if next < end, base[next] == 0x0D { next += 1 }
    if next < end, base[next] == 0x0A, next == position || base[next - 1] == 0x0D { next += 1 }
    let row = Row(
      fields: UnsafeBufferPointer(start: fields, count: columns), line: line,
      isUnterminated: isUnterminated,
      source: UnsafeBufferPointer(start: base + from, count: position - from))
    consume(to: next)
    line += (linesAreRows ? 0 : innerLines) + (isUnterminated ? 0 : 1)
    if columns == 1, fields[0].trimmed.isEmpty { return .nothing }
    return .found(.row(row))
  }

  private enum Quoted {
    case closed(next: Int)
    case open
    case needsMore
  }

  /// Reads a quoted cell, starting after its opening quote. Doubled quotes are replaced later, when the whole
  /// row was read, so a row that must be read again has unchanged bytes.
  private func quotedCell(from: Int, column: Int, innerLines: inout Int64) -> Quoted {
    let base = text.base
    let end = min(text.end, from + Self.longestCell)
    let mayHoldLines = from - text.start > unclosedBytes
    var position = from
    var doubled = 0
    while position < end {
      let byte = base[position]
      if byte == 0x22 {
        if position + 1 == text.end {
          if !text.isAtEnd { return .needsMore }
        } else if base[position + 1] == 0x22 {
          doubled += 1
          position += 2
          continue
        }
        var after = position + 1
        while after < text.end, base[after] == 0x20 || (base[after] == 0x09 && delimiter != 0x09) {
          after += 1
        }
        if after == text.end, !text.isAtEnd { return .needsMore }
        if after == text.end || base[after] == delimiter || base[after] == 0x0A || base[after] == 0x0D {
          store(from: from, to: position, column: column, doubled: doubled)
          return .closed(next: after)
        }
        // Some programs do not escape a quote inside a quoted cell, so this quote is part of the text.
      } else if byte == 0x0A || (byte == 0x0D && (position + 1 == text.end || base[position + 1] != 0x0A)) {
        if !mayHoldLines { return .open }
        innerLines += 1
      }
      position += 1
    }
    return text.isAtEnd || text.end >= from + Self.longestCell ? .open : .needsMore
  }

  private func store(from: Int, to: Int, column: Int, doubled: Int) {
    (fields + column).initialize(to: Field(start: text.base + from, count: to - from, shape: .quoted))
    if doubled > 0 { columnsWithDoubledQuotes.append(column) }
  }

  /// Replaces the cells with doubled quotes by copies with single quotes. The bytes of the window do not
  /// change, since an incomplete row is read again. Also, a rejected row is shown as it was in the input.
  private func halveQuotes(rowLength: Int) {
    if rowLength > copiesCapacity {
      copies.deallocate()
      copies = .allocate(capacity: rowLength)
      copiesCapacity = rowLength
    }
    var used = 0
    for column in columnsWithDoubledQuotes {
      let cell = fields[column]
      let copy = copies + used
      var (from, to) = (0, 0)
      while from < cell.count {
        copy[to] = cell[from]
        from += cell[from] == 0x22 && from + 1 < cell.count && cell[from + 1] == 0x22 ? 2 : 1
        to += 1
      }
      fields[column] = Field(start: copy, count: to, shape: .quoted)
      used += to
    }
  }

  /// Ends the row at a quote that is never closed. The rest of its line is not a row, but the next line may
  /// be one.
  private func endRowAtOpenQuote(at position: Int, innerLines: Int64) -> Scan {
    let scanned = min(text.end, position + 1 + Self.longestCell)
    let rest = UnsafeBufferPointer(start: text.base + position, count: scanned - position)
    if text.isAtEnd, scanned == text.end, !rest.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
      consume(to: text.end)
      return .found(.end(truncation: (line + innerLines, "the last line is truncated inside a quoted cell")))
    }
    let isKnown = position - text.start < unclosedBytes
    let outcome = reject(
      at: position, innerLines: innerLines, reason: "a quote that is opened here is never closed")
    if !isKnown { unclosedBytes = scanned - position }
    return outcome
  }

  /// Rejects the current row, and skips the rest of the line from this position on.
  private func reject(at position: Int, innerLines: Int64, reason: String) -> Scan {
    consume(to: position)
    line += innerLines
    isSkipping = true
    return .found(.rejected(line: line, reason: reason))
  }

  /// Skips the rest of a rejected line.
  private func skipLine() -> Scan {
    var position = text.start
    while position < text.end, text.base[position] != 0x0A, text.base[position] != 0x0D { position += 1 }
    consume(to: position)
    let isHalf = position < text.end && text.base[position] == 0x0D && position + 1 == text.end
    if position == text.end || isHalf, !text.isAtEnd { return .needsMore }
    isSkipping = false
    guard position < text.end else { return .nothing }
    let isPair = !isHalf && text.base[position] == 0x0D && text.base[position + 1] == 0x0A
    consume(to: position + (isPair ? 2 : 1))
    line += 1
    return .nothing
  }

  /// Moves the start of the window.
  @inline(__always) private func consume(to position: Int) {
    if unclosedBytes > 0 { unclosedBytes = max(0, unclosedBytes - (position - text.start)) }
    text.start = position
  }
}
