// SPDX-License-Identifier: Apache-2.0

import Logbook

extension RecordFields {
  static let maxFields = 256
  static let maxWords = 1024

  /// The fields from the JSON object that `json` writes: numbers, texts, flags and lists of words, nothing
  /// else.
  ///
  /// - Returns: nil when the text is no such object, or holds more than it.
  init?(json field: Field) {
    var cursor = JSONCursor(field)
    var values: [String: FieldValue] = [:]
    do {
      guard try cursor.peek() == UInt8(ascii: "{") else { return nil }
      cursor.position += 1
      if try cursor.peek() == UInt8(ascii: "}") {
        cursor.position += 1
      } else {
        repeat {
          let key = try cursor.keyText()
          guard values[key] == nil, values.count < Self.maxFields, let value = try cursor.fieldValue() else {
            return nil
          }
          values[key] = value
        } while try cursor.passes(before: UInt8(ascii: "}"))
      }
    } catch {
      return nil
    }
    guard cursor.isAtEnd else { return nil }
    self.init(values)
  }
}

extension JSONCursor {
  /// Moves over the bytes of one field.
  fileprivate init(_ field: Field) {
    // Safe: a cursor reads only.
    base = UnsafeMutablePointer(mutating: field.start)
    end = field.count
    isFinal = true
    position = 0
  }

  /// Whether nothing but blanks is left.
  fileprivate var isAtEnd: Bool {
    var rest = self
    do throws(JSONStop) {
      _ = try rest.peek()
      return false
    } catch {
      return true
    }
  }

  /// Passes a comma, or the closing sign; true for the comma.
  fileprivate mutating func passes(before closing: UInt8) throws(JSONStop) -> Bool {
    let byte = try peek()
    guard byte == UInt8(ascii: ",") || byte == closing else { throw .malformed("a ',' is expected") }
    position += 1
    return byte != closing
  }

  fileprivate mutating func keyText() throws(JSONStop) -> String {
    guard try peek() == UInt8(ascii: "\"") else { throw .malformed("a key is expected") }
    guard let text = try text() else { throw .malformed("a key is expected") }
    guard try peek() == UInt8(ascii: ":") else { throw .malformed("a ':' is missing behind a key") }
    position += 1
    return text
  }

  /// The string at the position without its quotes and escapes; nil for another value.
  private mutating func text() throws(JSONStop) -> String? {
    _ = try peek()
    let (field, isEscaped) = try value(depth: 1)
    guard field.shape == .quoted else { return nil }
    guard isEscaped else { return field.text }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: field.count) { copy in
      guard let start = copy.baseAddress else { return "" }
      let count = resolveEscapes(field, into: start)
      return Field(start: start, count: count, shape: .quoted).text
    }
  }

  /// A number, text, flag or list of words; nil for anything else.
  fileprivate mutating func fieldValue() throws(JSONStop) -> FieldValue? {
    switch try peek() {
    case UInt8(ascii: "\""): return try text().map { .text($0) }
    case UInt8(ascii: "["): return try words().map { .words($0) }
    case UInt8(ascii: "{"): return nil
    default:
      let (field, _) = try value(depth: 1)
      if field.equals("true") { return .flag(true) }
      if field.equals("false") { return .flag(false) }
      guard field.shape == .bare, field[0] != UInt8(ascii: "+") else { return nil }
      return field.jsonNumber.map { .number($0) }
    }
  }

  private mutating func words() throws(JSONStop) -> [String]? {
    position += 1
    if try peek() == UInt8(ascii: "]") {
      position += 1
      return []
    }
    var words: Set<String> = []
    repeat {
      guard words.count < RecordFields.maxWords, let word = try text() else { return nil }
      words.insert(word)
    } while try passes(before: UInt8(ascii: "]"))
    return words.sorted()
  }
}
