// SPDX-License-Identifier: Apache-2.0

import Archives

/// Reads a nested value in one cell: JSON, or the notation of dictionaries and lists in Python, which tools
/// based on pandas write.
///
/// Creating the strings is slow, so this reader is used only for rows of diaries, which are few.
struct NestedText {
  private static let deepestNesting = 16
  private static let maxMembers = 256

  private let field: Field
  private var position = 0
  private var members: [String: String] = [:]

  /// The texts, numbers and words in a cell by their dotted names: `0.code`, `carbohydrate.net`. An item of a
  /// list is named by its number. Text after a syntax error is left out.
  static func members(of field: Field) -> [String: String] {
    var reader = NestedText(field: field)
    _ = reader.value(named: "", depth: 0)
    return reader.members
  }

  /// The items of a list of texts, or the text itself if it is not a list.
  static func texts(in field: Field) -> [String] {
    let field = field.trimmed
    if field.isEmpty { return [] }
    guard field[0] == UInt8(ascii: "[") else { return [field.text] }
    let members = members(of: field)
    return (0..<members.count).compactMap { members[String($0)] }
  }

  private init(field: Field) { self.field = field }

  private mutating func skipBlanks() {
    while position < field.count, field[position] <= 0x20 { position += 1 }
  }

  private mutating func consume(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard position < field.count, field[position] == byte else { return false }
    position += 1
    return true
  }

  /// Parses a value. Adds the texts, numbers and words in it to `members` by their dotted names.
  ///
  /// - Returns: false at a syntax error.
  private mutating func value(named name: String, depth: Int) -> Bool {
    guard depth < Self.deepestNesting, members.count < Self.maxMembers else { return false }
    if consume(UInt8(ascii: "{")) {
      return items(of: name, close: UInt8(ascii: "}"), haveKeys: true, depth: depth)
    }
    if consume(UInt8(ascii: "[")) {
      return items(of: name, close: UInt8(ascii: "]"), haveKeys: false, depth: depth)
    }
    if consume(UInt8(ascii: "(")) {
      return items(of: name, close: UInt8(ascii: ")"), haveKeys: false, depth: depth)
    }
    guard let text = plain() else { return false }
    if let text = text.value { members[name] = text }
    return true
  }

  private mutating func items(of name: String, close: UInt8, haveKeys: Bool, depth: Int) -> Bool {
    var index = 0
    while !consume(close) {
      var key = String(index)
      if haveKeys {
        guard let text = plain()?.value, consume(UInt8(ascii: ":")) else { return false }
        key = text
      }
      guard value(named: name.isEmpty ? key : name + "." + key, depth: depth + 1) else { return false }
      index += 1
      if consume(close) { return true }
      guard consume(UInt8(ascii: ",")) else { return false }
    }
    return true
  }

  /// Parses a quoted string, a number or a word. The value is nil for `null` and `None`; the result is nil
  /// for a syntax error.
  private mutating func plain() -> (value: String?, Void)? {
    skipBlanks()
    guard position < field.count else { return nil }
    let quote = field[position]
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { return string(quote).map { ($0, ()) } }
    let start = position
    while position < field.count, !Self.ends.contains(field[position]) { position += 1 }
    guard position > start else { return nil }
    let word = field.slice(start, position).text
    return (word == "null" || word == "None" ? nil : word, ())
  }

  private static let ends = Set(",:{}[]()\"' \t\r\n".utf8)

  private mutating func string(_ quote: UInt8) -> String? {
    let start = position + 1
    position = start
    while position < field.count, field[position] != quote {
      position += field[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < field.count else { return nil }
    let source = field.slice(start, position)
    position += 1
    guard source.bytes.contains(UInt8(ascii: "\\")) else { return source.text }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: source.count) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      let count = resolveEscapes(source, into: base)
      return Field(start: UnsafePointer(base), count: count, shape: .quoted).text
    }
  }
}

/// Reads the objects of a list as rows, if the list is a cell of a larger object.
enum NestedObjects {
  /// Calls `body` with a row for each object of the list in a cell.
  ///
  /// - Parameters:
  ///   - columns: the members to find.
  ///   - line: the line of the larger object, from which the lines of the rows are counted.
  static func forEach(
    in field: Field, columns: [String], line: Int64, _ body: (Row) -> Void
  ) throws {
    guard field.shape == .composite else { return }
    let text = TextBuffer(
      ReplaySource(head: Array(field.bytes), rest: nil), name: "", capacity: max(4096, field.count + 65536))
    let reader = JSONReader(text, columns: columns)
    while true {
      switch try reader.next() {
      case .row(let row):
        body(
          Row(fields: row.fields, line: line + row.line - 1, isUnterminated: false, source: row.source))
      case .rejected: continue
      case .paused, .end: return
      }
    }
  }
}
