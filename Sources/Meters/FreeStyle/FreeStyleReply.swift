// SPDX-License-Identifier: Apache-2.0

/// The answer to a text command: `message CKSM:hhhhhhhh CRLF CMD OK CRLF`. The digits are the sum of the
/// message's bytes.
enum FreeStyleReply: Hashable {
  /// The command succeeded. The message consists of bytes, since a meter may truncate a text within a
  /// character.
  case done([UInt8])
  /// The meter does not know or does not allow the command.
  case refused
  /// The answer is complete, but the checksum is wrong: reports were lost.
  case damaged

  private static let success = Array("CMD OK\r\n".utf8)
  private static let failure = Array("CMD Fail!\r\n".utf8)
  private static let checksumName = Array("CKSM:".utf8)
  /// The length of the line with the checksum: `CKSM:`, eight digits and CR LF.
  private static let checksumLength = 15

  /// Parses an answer; nil until its end has arrived.
  init?(_ bytes: [UInt8]) {
    if bytes.hasEnd(Self.failure) {
      self = .refused
      return
    }
    guard bytes.hasEnd(Self.success) else { return nil }
    let start = bytes.count - Self.success.count - Self.checksumLength
    guard start >= 0, bytes[start...].starts(with: Self.checksumName),
      bytes[(start + 13)...].starts(with: [0x0D, 0x0A]),
      let sum = hexadecimal(bytes[start + 5..<start + 13]), sum == checksum(bytes[..<start])
    else {
      self = .damaged
      return
    }
    self = .done(Array(bytes[..<start]))
  }

  /// The checksum of these bytes as the meter writes it: eight hexadecimal digits.
  static func digits(of bytes: [UInt8]) -> [UInt8] {
    let digits = String(checksum(bytes[...]) & 0xFFFF_FFFF, radix: 16, uppercase: true)
    return Array((String(repeating: "0", count: 8 - digits.count) + digits).utf8)
  }
}

/// The rows of an answer to `$result?`, `$history?` or `$arresult?`. After the rows, the answer has a line
/// with their number and checksum.
struct FreeStyleDump: Hashable {
  /// The rows as received.
  let rows: [FreeStyleRow]

  /// Parses a message; nil if the number or the checksum of its rows differs from the stated one.
  init?(_ message: [UInt8]) {
    if message == Array("Log Empty\r\n".utf8) {
      rows = []
      return
    }
    guard message.hasEnd([0x0D, 0x0A]) else { return nil }
    let body = message.dropLast(2)
    let lastLine = body.lastLineStart
    let parts = body[lastLine...].split(separator: 0x2C, omittingEmptySubsequences: false)
    guard parts.count == 2, let count = decimal(parts[0]), let sum = hexadecimal(parts[1]),
      sum == checksum(message[..<lastLine])
    else { return nil }
    rows = message[..<lastLine].lines.map(FreeStyleRow.init)
    guard rows.count == count else { return nil }
  }
}

/// One row of a dump: fields between commas, texts between quotation marks.
struct FreeStyleRow: Hashable {
  /// The row as received.
  let text: String
  /// The row's fields with their quotation marks.
  let fields: [[UInt8]]

  init(_ bytes: ArraySlice<UInt8>) {
    text = String(decoding: bytes, as: UTF8.self)
    var fields: [[UInt8]] = [[]]
    var isQuoted = false
    for byte in bytes {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: ","), !isQuoted {
        fields.append([])
      } else {
        fields[fields.count - 1].append(byte)
      }
    }
    self.fields = fields
  }

  var count: Int { fields.count }

  /// The text of a field; empty past the end of the row.
  func text(_ index: Int) -> String {
    guard fields.indices.contains(index) else { return "" }
    return String(decoding: fields[index].filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
  }

  /// Whether a field is between quotation marks.
  func isQuoted(_ index: Int) -> Bool {
    fields.indices.contains(index) && fields[index].first == UInt8(ascii: "\"")
  }

  /// The whole number in a field; nil for anything else.
  func number(_ index: Int) -> Int? {
    let text = text(index)
    let isNegative = text.hasPrefix("-")
    return decimal(Array(text.utf8)[(isNegative ? 1 : 0)...]).map { isNegative ? -$0 : $0 }
  }
}

/// The sum of these bytes. No message is long enough to overflow it.
private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 &+ UInt64($1) } }

/// The number of exactly eight upper-case hexadecimal digits.
private func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
  guard digits.count == 8 else { return nil }
  var number: UInt64 = 0
  for digit in digits {
    switch digit {
    case 0x30...0x39: number = number << 4 | UInt64(digit - 0x30)
    case 0x41...0x46: number = number << 4 | UInt64(digit - 0x41 + 10)
    default: return nil
    }
  }
  return number
}

/// The number of one to ten decimal digits.
private func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
  guard (1...10).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
}

extension [UInt8] {
  fileprivate func hasEnd(_ end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}

extension ArraySlice<UInt8> {
  /// The index at which the last line begins.
  fileprivate var lastLineStart: Int {
    var index = endIndex
    while index > startIndex {
      if index - 2 >= startIndex, self[index - 1] == 0x0A, self[index - 2] == 0x0D { return index }
      index -= 1
    }
    return startIndex
  }

  /// The lines that end with CRLF. A text may contain a bare LF.
  fileprivate var lines: [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = startIndex
    for index in indices where self[index] == 0x0A && index > start && self[index - 1] == 0x0D {
      lines.append(self[start..<index - 1])
      start = index + 1
    }
    return lines
  }
}

/// A HID report of FreeStyle meters: a type, a length, and at most 62 bytes. The rest of the report holds
/// bytes of earlier reports and is ignored.
struct FreeStyleReport: Hashable {
  /// The number of bytes that one report carries.
  static let maxPayload = 62
  /// The type of the report that begins a session; the answer is `ready`.
  static let begin: UInt8 = 0x01
  /// The type of a report that carries a part of a text.
  static let text: UInt8 = 0x60
  /// The type of text reports in the manufacturer's software, and the only one known to work with a Libre
  /// Pro.
  static let vendorText: UInt8 = 0x21
  /// A report that keeps the session alive. It may arrive between any two other reports, and is ignored.
  static let keepAlive: UInt8 = 0x22
  /// The answer to a message of a type that the meter does not know.
  static let unknownType: UInt8 = 0x30
  /// The type of answers about encryption. A meter that requires an encrypted session answers all texts with
  /// this type.
  static let encryption: UInt8 = 0x33
  /// The answer to `begin`.
  static let ready: UInt8 = 0x71

  let type: UInt8
  let payload: [UInt8]

  /// A report with this payload of at most `maxPayload` bytes.
  init(_ type: UInt8, _ payload: [UInt8] = []) {
    self.type = type
    self.payload = Array(payload.prefix(Self.maxPayload))
  }

  /// Parses a report; nil if it is shorter than it states.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[1] <= Self.maxPayload, bytes.count >= 2 + Int(bytes[1]) else { return nil }
    type = bytes[0]
    payload = Array(bytes[2..<2 + Int(bytes[1])])
  }

  /// The report as sent, without padding.
  var bytes: [UInt8] { [type, UInt8(truncatingIfNeeded: payload.count)] + payload }
}
