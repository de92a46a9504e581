// SPDX-License-Identifier: Apache-2.0

/// The reason why reading JSON stopped at this position.
enum JSONStop: Error {
  /// The window ends inside an item; more bytes are needed.
  case needsMore
  case malformed(String)
}

/// Moves over JSON text in a window of bytes. It checks only as much grammar as it needs to find the ends of
/// values.
///
/// `JSONScanner` is the strict reader of whole texts in memory. This cursor is for exports, which may be
/// larger than the memory. A window can end anywhere in an export, and most members are only skipped.
struct JSONCursor {
  static let deepestNesting = 64

  let base: UnsafeMutablePointer<UInt8>
  let end: Int
  /// Whether no bytes follow the window.
  let isFinal: Bool
  var position: Int

  init(_ text: TextBuffer) {
    base = text.base
    end = text.end
    isFinal = text.isAtEnd
    position = text.start
  }

  /// Moves to the next byte that is not a blank; nil at the end of the window.
  @inline(__always)
  mutating func skipBlanks() -> UInt8? {
    while position < end {
      switch base[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      // Between joined files there may be a byte order mark, or the end-of-file mark of old systems. Both are
      // skipped.
      case 0xEF where position + 2 < end && base[position + 1] == 0xBB && base[position + 2] == 0xBF:
        position += 3
      case 0x1A: position += 1
      default: return base[position]
      }
    }
    return nil
  }

  /// Moves to the next byte that is not a blank.
  @inline(__always)
  mutating func peek() throws(JSONStop) -> UInt8 {
    guard let byte = skipBlanks() else { throw .needsMore }
    return byte
  }

  /// Reads a key and its colon, and moves to the value. Returns the position of the key's bytes.
  mutating func key() throws(JSONStop) -> Range<Int> {
    guard try peek() == UInt8(ascii: "\"") else { throw .malformed("a key is expected") }
    let start = position + 1
    try skipString()
    let range = start..<position - 1
    guard try peek() == UInt8(ascii: ":") else { throw .malformed("a ':' is missing after a key") }
    position += 1
    _ = try peek()
    return range
  }

  /// Moves past the value at the position and reads it.
  ///
  /// - Returns: its bytes without quotes, and whether it holds escapes. `null` counts as absent.
  mutating func value(depth: Int) throws(JSONStop) -> (field: Field, isEscaped: Bool) {
    let start = position
    switch try peek() {
    case UInt8(ascii: "\""):
      let isEscaped = try skipString()
      return (Field(start: base + start + 1, count: position - start - 2, shape: .quoted), isEscaped)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try skipComposite(depth: depth)
      return (Field(start: base + start, count: position - start, shape: .composite), false)
    default:
      while position < end, isBare(base[position]) { position += 1 }
      if position == end, !isFinal { throw .needsMore }
      guard position > start else { throw .malformed("a value is expected") }
      let field = Field(start: base + start, count: position - start, shape: .bare)
      return (field.equals("null") ? .absent : field, false)
    }
  }

  /// Moves past the value at the position.
  @inline(__always)
  mutating func skipValue(depth: Int) throws(JSONStop) {
    if base[position] == UInt8(ascii: "\"") {
      try skipString()
    } else {
      _ = try value(depth: depth)
    }
  }

  /// Moves past `{"$numberLong":"…"}` and similar objects, in which mongoexport wraps numbers, times and ids.
  ///
  /// - Returns: the wrapped value; nil, without moving, for any other object.
  mutating func extendedValue(depth: Int, isInner: Bool = false) throws(JSONStop) -> (
    field: Field, isEscaped: Bool
  )? {
    let start = position
    position += 1
    if try peek() == UInt8(ascii: "\"") {
      let key = try key()
      if base[key.lowerBound] == UInt8(ascii: "$"), depth < Self.deepestNesting {
        var wrapped: (field: Field, isEscaped: Bool)?
        // A wrapped date may contain a wrapped number; no other values are nested. Without this limit,
        // hostile nested objects would be read again at each level.
        if !isInner, base[position] == UInt8(ascii: "{") {
          wrapped = try extendedValue(depth: depth + 1, isInner: true)
        }
        let value = if let wrapped { wrapped } else { try value(depth: depth + 1) }
        if try peek() == UInt8(ascii: "}") {
          position += 1
          return value
        }
      }
    }
    position = start
    return nil
  }

  /// Moves past the string whose opening quote is at the position. Returns whether it holds escapes.
  @discardableResult
  mutating func skipString() throws(JSONStop) -> Bool {
    var isEscaped = false
    var next = position + 1
    while next < end {
      if end - next >= 8 {
        let distance = Self.distanceToSign(UnsafeRawPointer(base + next).loadUnaligned(as: UInt64.self))
        next += distance
        if distance == 8 { continue }
      }
      let byte = base[next]
      if byte == UInt8(ascii: "\"") {
        position = next + 1
        return isEscaped
      }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        next += 1
      }
      next += 1
    }
    throw .needsMore
  }

  /// The number of bytes before the first quote or backslash in the eight bytes. A borrow of the subtraction
  /// affects only the bytes after a match, so the first match is always correct.
  @inline(__always)
  private static func distanceToSign(_ bytes: UInt64) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let word = UInt64(littleEndian: bytes)
    let quotes = word ^ (ones &* 0x22)
    let escapes = word ^ (ones &* 0x5C)
    let signs = ((quotes &- ones) & ~quotes | (escapes &- ones) & ~escapes) & (ones &* 0x80)
    return signs.trailingZeroBitCount >> 3
  }

  private mutating func skipComposite(depth: Int) throws(JSONStop) {
    var open = 0
    while position < end {
      switch base[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open += 1
        if depth + open > Self.deepestNesting { throw .malformed("values are nested deeper than 64") }
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        open -= 1
        position += 1
        if open == 0 { return }
      case UInt8(ascii: "\""): try skipString()
      default: position += 1
      }
    }
    throw .needsMore
  }

  private func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// Resolves the escapes of a JSON string (RFC 8259 §7); a lone surrogate becomes U+FFFD.
///
/// - Returns: the number of bytes written, which is never more than `source` has.
func resolveEscapes(_ source: Field, into out: UnsafeMutablePointer<UInt8>) -> Int {
  var (from, to) = (0, 0)
  while from < source.count {
    guard source[from] == UInt8(ascii: "\\"), from + 1 < source.count else {
      out[to] = source[from]
      (from, to) = (from + 1, to + 1)
      continue
    }
    let code = source[from + 1]
    from += 2
    guard code == UInt8(ascii: "u") else {
      out[to] =
        switch code {
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: code
        }
      to += 1
      continue
    }
    var scalar = hexadecimal(source, at: from) ?? 0xFFFD
    from = min(from + 4, source.count)
    if scalar >= 0xD800, scalar < 0xDC00, from + 1 < source.count, source[from] == UInt8(ascii: "\\"),
      source[from + 1] == UInt8(ascii: "u"), let low = hexadecimal(source, at: from + 2), low >= 0xDC00,
      low < 0xE000
    {
      scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
      from += 6
    }
    for byte in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? .init() {
      out[to] = byte
      to += 1
    }
  }
  return to
}

private func hexadecimal(_ source: Field, at index: Int) -> UInt32? {
  guard index + 4 <= source.count else { return nil }
  return UInt32(source.slice(index, index + 4).text, radix: 16)
}
