// SPDX-License-Identifier: Apache-2.0

import Archives

/// Reads elements of XML as rows. Before that, the document type is replaced by blanks, since it may not be
/// well-formed; see `XMLProlog`.
final class ElementReader: RowSource {
  private let text: TextBuffer
  private let scanner: XMLScanner
  private let fields: UnsafeMutablePointer<Field>
  private let columnCount: Int
  private var values = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)
  private var nextRow = 0
  /// The number of bytes passed to the parser. `windowStart` is the number of bytes before the start of the
  /// window.
  private var fed: Int64 = 0
  private var windowStart: Int64 = 0
  private var hasProlog = false
  private var stop: (line: Int64, reason: String)?
  private var isAtEnd = false

  init(_ text: TextBuffer, _ shape: ElementShape) {
    self.text = text
    scanner = XMLScanner(shape)
    columnCount = shape.columnCount
    fields = .allocate(capacity: max(columnCount, 1))
  }

  deinit {
    fields.deallocate()
    values.deallocate()
  }

  func next() throws -> RowOutcome {
    while true {
      if let found = scanner.row(nextRow) {
        nextRow += 1
        return .row(row(found))
      }
      if let stop { return .end(truncation: (stop.line, stop.reason)) }
      if isAtEnd { return .end(truncation: nil) }
      if try !fill() { return .paused }
    }
  }

  /// Passes the next piece of the input to the parser. Returns false if a pipe has no bytes at the moment.
  private func fill() throws -> Bool {
    let kept = scanner.neededFrom
    text.start += Int(kept - windowStart)
    windowStart = kept
    if text.end - text.start >= TextBuffer.longestItem {
      stop = (0, "an element is longer than 8 MiB")
      return true
    }
    switch try text.fill() {
    case .paused: return false
    case .end: isAtEnd = true
    case .bytes: break
    }
    if !hasProlog, !readProlog() { return true }
    if stop != nil { return true }
    let unread = Int(fed - windowStart)
    let piece = UnsafeBufferPointer(
      start: text.base + text.start + unread, count: text.end - text.start - unread)
    fed += Int64(piece.count)
    if let reason = scanner.feed(piece, isLast: isAtEnd) { stop = reason }
    nextRow = 0
    keepValues()
    return true
  }

  /// Replaces the document type by blanks, so that line numbers and positions do not change. Returns false
  /// while it is incomplete.
  private func readProlog() -> Bool {
    let window = UnsafeBufferPointer(start: text.base + text.start, count: text.end - text.start)
    let prolog = XMLProlog(window)
    if !prolog.isComplete, !isAtEnd, window.count < XMLProlog.maxLength { return false }
    hasProlog = true
    guard prolog.isComplete || window.count < XMLProlog.maxLength else {
      stop = (1, "what is in front of the XML is longer than 1 MiB")
      return true
    }
    guard !prolog.declaresEntities else {
      stop = (1, "the XML declares entities, which no export does")
      return true
    }
    for index in prolog.documentType ?? 0..<0 where text.base[text.start + index] != 0x0A {
      text.base[text.start + index] = 0x20
    }
    return true
  }

  /// Copies the values of the rows, so that fields stay valid until the next piece.
  private func keepValues() {
    scanner.withValues { found in
      if found.count > values.count {
        values.deallocate()
        values = .allocate(capacity: found.count * 2)
      }
      _ = values.update(fromContentsOf: found)
    }
  }

  private func row(_ found: XMLScanner.FoundRow) -> Row {
    let base = UnsafePointer(values.baseAddress ?? text.base)
    for column in 0..<columnCount {
      let place = scanner.value(found, column)
      (fields + column).initialize(
        to: place.map { Field(start: base + $0.start, count: $0.count, shape: .quoted) } ?? .absent)
    }
    let start = text.start + Int(found.source.lowerBound - windowStart)
    return Row(
      fields: UnsafeBufferPointer(start: fields, count: columnCount), line: found.line, isUnterminated: false,
      source: UnsafeBufferPointer(start: text.base + start, count: found.source.count))
  }
}
