// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
  /// Reads a string.
  package mutating func string() throws(JSONError) -> String {
    let (range, isEscaped) = try stringRange()
    return try string(range, isEscaped: isEscaped)
  }

  func string(_ range: Range<Int>, isEscaped: Bool) throws(JSONError) -> String {
    isEscaped ? try unescaped(range) : try text(range)
  }

  /// The text of bytes that contain no escapes. Nearly all texts are ASCII, which needs no check for valid
  /// UTF-8.
  private func text(_ range: Range<Int>) throws(JSONError) -> String {
    if isASCII(range) { return String(decoding: bytes[range], as: UTF8.self) }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw error("the string is not UTF-8")
    }
    return text
  }

  func isASCII(_ range: Range<Int>) -> Bool {
    // An index loop is used, since an iterator would take most of the time in an unoptimised build, which the
    // tests use.
    var index = range.lowerBound
    while index < range.upperBound {
      if bytes[index] >= 0x80 { return false }
      index += 1
    }
    return true
  }

  /// Reads a string or `null`.
  package mutating func optionalString() throws(JSONError) -> String? {
    consume(word: "null") ? nil : try string()
  }

  /// Reads a string of ASCII letters without escapes, and returns the value that `words` lists for it.
  @inlinable @inline(__always)
  package mutating func word<Value>(_ words: [(word: StaticString, value: Value)]) throws(JSONError) -> Value
  {
    let (range, _) = try stringRange()
    for (word, value) in words where isEqual(range, word) { return value }
    throw error("unknown word")
  }

  @inlinable @inline(__always) func isEqual(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where bytes[range.lowerBound + index] != word.utf8Start[index] {
      return false
    }
    return true
  }

  @usableFromInline mutating func stringRange() throws(JSONError) -> (Range<Int>, isEscaped: Bool) {
    try expect("\"")
    let start = place
    var isEscaped = false
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""):
        place += 1
        return (start..<place - 1, isEscaped)
      case UInt8(ascii: "\\"):
        isEscaped = true
        place += 2
      case 0..<0x20: throw error("a control character inside a string")
      default: place += 1
      }
    }
    throw error("a string without its end")
  }

  /// The text of bytes that contain escapes. The result is collected as bytes, since joining texts one by one
  /// takes time that grows with the square of their number.
  private func unescaped(_ range: Range<Int>) throws(JSONError) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(range.count)
    var plain = range.lowerBound
    var next = range.lowerBound
    while next < range.upperBound {
      guard bytes[next] == UInt8(ascii: "\\") else {
        next += 1
        continue
      }
      out.append(contentsOf: bytes[plain..<next])
      let (scalar, length) = try escape(at: next, before: range.upperBound)
      if scalar.isASCII {
        out.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        out.append(contentsOf: UTF8.encode(scalar) ?? .init())
      }
      next += length
      plain = next
    }
    out.append(contentsOf: bytes[plain..<next])
    // Each escape must be a whole character. It cannot complete a character whose first bytes are outside the
    // escape.
    guard let text = String(validating: out, as: UTF8.self) else { throw error("the string is not UTF-8") }
    return text
  }

  /// The character of the escape at `start` (RFC 8259 §7), and its length in bytes.
  private func escape(at start: Int, before end: Int) throws(JSONError) -> (Unicode.Scalar, length: Int) {
    guard start + 1 < end else { throw error("an escape without its end") }
    switch bytes[start + 1] {
    case UInt8(ascii: "\""): return ("\"", 2)
    case UInt8(ascii: "\\"): return ("\\", 2)
    case UInt8(ascii: "/"): return ("/", 2)
    case UInt8(ascii: "b"): return ("\u{8}", 2)
    case UInt8(ascii: "f"): return ("\u{C}", 2)
    case UInt8(ascii: "n"): return ("\n", 2)
    case UInt8(ascii: "r"): return ("\r", 2)
    case UInt8(ascii: "t"): return ("\t", 2)
    case UInt8(ascii: "u"):
      let unit = try hexadecimal(at: start + 2, before: end)
      if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
      guard unit < 0xDC00, start + 7 < end, bytes[start + 6] == UInt8(ascii: "\\"),
        bytes[start + 7] == UInt8(ascii: "u")
      else { throw error("half of a surrogate pair") }
      let low = try hexadecimal(at: start + 8, before: end)
      guard low >= 0xDC00, low < 0xE000,
        let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      else { throw error("half of a surrogate pair") }
      return (scalar, 12)
    default: throw error("invalid escape")
    }
  }

  private func hexadecimal(at start: Int, before end: Int) throws(JSONError) -> UInt32 {
    guard start + 4 <= end else { throw error("an escape without four hexadecimal digits") }
    var value: UInt32 = 0
    for index in start..<start + 4 {
      let digit: UInt8 =
        switch bytes[index] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): bytes[index] - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): bytes[index] - 0x57
        case UInt8(ascii: "A")...UInt8(ascii: "F"): bytes[index] - 0x37
        default: throw error("an escape without four hexadecimal digits")
        }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// Reads a Boolean.
  package mutating func flag() throws(JSONError) -> Bool {
    if consume(word: "true") { return true }
    guard consume(word: "false") else { throw error("true or false is expected") }
    return false
  }

  /// Reads a whole number without a fraction and an exponent.
  @inlinable @inline(__always) package mutating func integer() throws(JSONError) -> Int64 {
    _ = peek()
    let start = place
    var isNegative = false
    if place < bytes.count, bytes[place] == UInt8(ascii: "-") {
      isNegative = true
      place += 1
    }
    var value: Int64 = 0
    let digits = place
    while place < bytes.count, bytes[place] &- 0x30 <= 9 {
      value = value &* 10 &+ Int64(bytes[place] &- 0x30)
      place += 1
    }
    guard place > digits, place - digits <= 18 else {
      place = start
      throw error("a whole number is expected")
    }
    return isNegative ? -value : value
  }

  /// Reads a finite number.
  package mutating func number() throws(JSONError) -> Double {
    _ = peek()
    let start = place
    while place < bytes.count, Self.isPartOfNumber(bytes[place]) { place += 1 }
    let text = bytes[start..<place]
    if let plain = Self.plainNumber(text) { return plain }
    guard place > start, text.count <= 64, text.first != UInt8(ascii: "+"), text.first != UInt8(ascii: "."),
      let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite
    else {
      place = start
      throw error("a number is expected")
    }
    return value
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// The number in a text of up to 15 digits with at most one point; nil for other texts. Such digits are
  /// exact in a Double, and so is the power of ten that divides them. Therefore the quotient is the nearest
  /// Double.
  private static func plainNumber(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Double? {
    var digits: UInt64 = 0
    var (count, fraction, isNegative) = (0, -1, false)
    for (index, byte) in text.enumerated() {
      if byte &- 0x30 <= 9 {
        digits = digits &* 10 &+ UInt64(byte &- 0x30)
        count += 1
        if fraction >= 0 { fraction += 1 }
      } else if byte == UInt8(ascii: "."), fraction < 0, count > 0 {
        fraction = 0
      } else if byte == UInt8(ascii: "-"), index == 0 {
        isNegative = true
      } else {
        return nil
      }
    }
    guard count > 0, count <= 15, fraction != 0 else { return nil }
    let value = fraction > 0 ? Double(digits) / powersOfTen[fraction] : Double(digits)
    return isNegative ? -value : value
  }

  private static let powersOfTen: [Double] = (0...15).map { (0..<$0).reduce(1.0) { power, _ in power * 10 } }

  /// Reads a shown time, exactly `YYYY-MM-DDThh:mm:ss`.
  package mutating func deviceTime() throws(JSONError) -> DeviceTime {
    let (range, _) = try stringRange()
    return try deviceTime(range)
  }

  /// Reads an instant in UTC, such as `2026-05-06T16:30:00Z`; returns its UTC seconds.
  package mutating func instant() throws(JSONError) -> Int64 {
    let (range, _) = try stringRange()
    guard let last = range.last, bytes[last] == UInt8(ascii: "Z") else {
      throw error("an instant is expected, such as 2026-05-06T16:30:00Z")
    }
    return try deviceTime(range.dropLast()).seconds
  }

  private func deviceTime(_ range: Range<Int>) throws(JSONError) -> DeviceTime {
    let start = range.lowerBound
    guard range.count == 19, bytes[start + 4] == UInt8(ascii: "-"), bytes[start + 7] == UInt8(ascii: "-"),
      bytes[start + 10] == UInt8(ascii: "T"), bytes[start + 13] == UInt8(ascii: ":"),
      bytes[start + 16] == UInt8(ascii: ":"),
      let century = twoDigits(start), let year = twoDigits(start + 2), let month = twoDigits(start + 5),
      let day = twoDigits(start + 8), let hour = twoDigits(start + 11), let minute = twoDigits(start + 14),
      let second = twoDigits(start + 17),
      let time = DeviceTime(
        year: century * 100 + year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { throw error("a shown time is expected, such as 2026-05-06T18:30:00") }
    return time
  }

  /// Reads an offset, `Z`, `±hh:mm` or `±hh:mm:ss`, in seconds east of Greenwich.
  package mutating func utcOffset() throws(JSONError) -> Int32 {
    let (range, _) = try stringRange()
    let start = range.lowerBound
    if range.count == 1, bytes[start] == UInt8(ascii: "Z") { return 0 }
    guard range.count == 6 || range.count == 9,
      bytes[start] == UInt8(ascii: "+") || bytes[start] == UInt8(ascii: "-"),
      bytes[start + 3] == UInt8(ascii: ":"), range.count == 6 || bytes[start + 6] == UInt8(ascii: ":"),
      let hours = twoDigits(start + 1), let minutes = twoDigits(start + 4),
      let seconds = range.count == 9 ? twoDigits(start + 7) : 0, hours < 24, minutes < 60, seconds < 60
    else { throw error("an offset is expected, such as +02:00") }
    let size = Int32(hours * 3600 + minutes * 60 + seconds)
    return bytes[start] == UInt8(ascii: "-") ? -size : size
  }

  private func twoDigits(_ index: Int) -> Int? {
    let (tens, ones) = (bytes[index] &- 0x30, bytes[index + 1] &- 0x30)
    return tens <= 9 && ones <= 9 ? Int(tens) * 10 + Int(ones) : nil
  }
}
