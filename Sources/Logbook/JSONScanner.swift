// SPDX-License-Identifier: Apache-2.0

/// Reads JSON from other programs strictly, in one pass and without building a tree.
///
/// The text may be hostile: nesting is bounded, every number is checked, and nothing outside the bytes is
/// read.
@usableFromInline package struct JSONScanner {
  static let deepestNesting = 32

  @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline var place = 0
  @usableFromInline var depth = 0

  /// The offset of the next byte.
  package var offset: Int { place }

  /// A scanner of bytes. The bytes must outlive the scanner.
  @inlinable package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Reads a whole text with `read`. Any further text after the value is an error.
  @inlinable package static func read<Value>(
    _ text: [UInt8], _ read: (inout JSONScanner) throws(JSONError) -> Value
  ) throws(JSONError) -> Value {
    try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in
      var scanner = JSONScanner(bytes)
      let value = try read(&scanner)
      guard scanner.peek() == nil else { throw scanner.error("more text follows the value") }
      return value
    }
  }

  /// Reads a value with `read`, and also returns its original text.
  package mutating func withText<Value>(
    of read: (inout JSONScanner) throws(JSONError) -> Value
  ) throws(JSONError) -> (value: Value, text: String) {
    _ = peek()
    let start = place
    let value = try read(&self)
    return (value, String(decoding: bytes[start..<place], as: UTF8.self))
  }

  /// An error at the current offset.
  @usableFromInline package func error(_ reason: String) -> JSONError {
    JSONError(offset: place, reason: reason)
  }

  /// The next byte after blanks, without moving past it; nil at the end.
  @inlinable @inline(__always) package mutating func peek() -> UInt8? {
    while place < bytes.count {
      switch bytes[place] {
      case 0x20, 0x0A, 0x0D, 0x09: place += 1
      default: return bytes[place]
      }
    }
    return nil
  }

  /// Moves past the next character if it is `sign`, and returns whether it was.
  @inlinable @inline(__always) package mutating func consume(_ sign: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: sign) else { return false }
    place += 1
    return true
  }

  /// Moves past the next character, or throws if it is not `sign`.
  @inlinable @inline(__always) package mutating func expect(_ sign: Unicode.Scalar) throws(JSONError) {
    guard consume(sign) else { throw error("'\(sign)' is expected") }
  }

  /// Moves past a word such as `null` if it is next, and returns whether it was.
  package mutating func consume(word: StaticString) -> Bool {
    _ = peek()
    guard place + word.utf8CodeUnitCount <= bytes.count else { return false }
    for index in 0..<word.utf8CodeUnitCount where bytes[place + index] != word.utf8Start[index] {
      return false
    }
    place += word.utf8CodeUnitCount
    return true
  }

  /// Reads an object. For each name, `member` reads the value and returns true, or returns false to have it
  /// skipped.
  package mutating func object(
    _ member: (String, inout JSONScanner) throws(JSONError) -> Bool
  ) throws(JSONError) {
    try enter("{")
    if consume("}") { return leave() }
    repeat {
      let name = try string()
      try expect(":")
      if try !member(name, &self) { try skip() }
    } while consume(",")
    try expect("}")
    leave()
  }

  /// Reads an array. `item` reads each element, in order.
  package mutating func array(_ item: (inout JSONScanner) throws(JSONError) -> Void) throws(JSONError) {
    try enter("[")
    if consume("]") { return leave() }
    repeat { try item(&self) } while consume(",")
    try expect("]")
    leave()
  }

  private mutating func enter(_ sign: Unicode.Scalar) throws(JSONError) {
    try expect(sign)
    depth += 1
    if depth > Self.deepestNesting { throw error("values are nested deeper than \(Self.deepestNesting)") }
  }

  private mutating func leave() { depth -= 1 }

  /// Skips a value of any type.
  package mutating func skip() throws(JSONError) {
    switch peek() {
    case UInt8(ascii: "{"): try object { _, _ in false }
    case UInt8(ascii: "["): try array { (scanner) throws(JSONError) in try scanner.skip() }
    case UInt8(ascii: "\""):
      let (range, isEscaped) = try stringRange()
      if isEscaped || !isASCII(range) { _ = try string(range, isEscaped: isEscaped) }
    default:
      if consume(word: "null") || consume(word: "true") || consume(word: "false") { return }
      _ = try number()
    }
  }
}
