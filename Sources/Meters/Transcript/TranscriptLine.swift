// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Parses the words of one line of a transcript from left to right.
struct TranscriptLine {
  /// Why a line is invalid, for people.
  struct Refusal: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// The maximum number of bytes of one exchange in one direction. A disk meter reads at most 64 KiB at once.
  static let maxBytes = 65536
  /// The maximum length of a session: one day.
  static let maxMilliseconds = 86_400_000

  /// The maximum number of characters of a word that a message quotes.
  private static let maxShown = 40

  private var words: ArraySlice<Substring>

  init(_ text: Substring) { words = text.split(separator: " ", omittingEmptySubsequences: false)[...] }

  /// Parses a complete line as a step.
  mutating func step() throws(Refusal) -> Transcript.Step {
    let milliseconds = try number(upTo: Self.maxMilliseconds, "milliseconds")
    let exchange = try exchange()
    let result = try result()
    guard let more = words.first else {
      return Transcript.Step(milliseconds: milliseconds, exchange: exchange, result: result)
    }
    throw Refusal(
      "'\(more.prefix(Self.maxShown))' follows the result of the exchange; write one exchange on each line, as in glucoport-transcript(5)"
    )
  }

  private mutating func exchange() throws(Refusal) -> LinkOperation {
    switch try word("the name of an exchange") {
    case "send": .send(try bytes())
    case "receive": .receive(maxBytes: try byteCount())
    case "feature": .feature(id: try hexadecimal(2), maxBytes: try byteCount())
    case "set-feature": .setFeature(try bytes())
    case "control-in": .controlIn(try request(), maxBytes: try byteCount())
    case "control-out": .controlOut(try request(), try bytes())
    case "command": .command(try bytes(), reads: try byteCount())
    case "command-writing": .commandWriting(try bytes(), try bytes())
    case "set-line": .setLine(try lineSettings())
    case "discard": .discard
    default: throw Refusal("unknown exchange")
    }
  }

  private mutating func result() throws(Refusal) -> Result<[UInt8], TransportError> {
    switch try word("= or !") {
    case "=": .success(try bytes())
    case "!": .failure(try error())
    default: throw Refusal("= or ! is missing after the exchange")
    }
  }

  private mutating func error() throws(Refusal) -> TransportError {
    switch try word("the name of an error") {
    case "timed-out": .timedOut
    case "unplugged": .unplugged
    case "stalled": .stalled
    case "overflow": .overflow
    case "unsupported": .unsupported
    case "interrupted": .interrupted
    case "failed": .failed(try rest())
    default: throw Refusal("unknown error")
    }
  }

  private mutating func word(_ what: String) throws(Refusal) -> Substring {
    guard let word = words.popFirst(), !word.isEmpty else { throw Refusal("\(what) is missing") }
    return word
  }

  private mutating func byteCount() throws(Refusal) -> Int {
    try number(upTo: Self.maxBytes, "the maximum number of bytes")
  }

  private mutating func number(upTo limit: Int, _ what: String) throws(Refusal) -> Int {
    let word = try word(what)
    guard word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(word), number <= limit else {
      throw Refusal("\(what): a number from 0 to \(limit) is expected")
    }
    return number
  }

  private mutating func hexadecimal<Number: FixedWidthInteger>(_ width: Int) throws(Refusal) -> Number {
    let word = try word("a number of \(width) hexadecimal digits")
    guard word.utf8.count == width, word.first != "+", word.first != "-",
      let number = Number(word, radix: 16)
    else { throw Refusal("a number of \(width) hexadecimal digits is expected") }
    return number
  }

  private mutating func request() throws(Refusal) -> ControlRequest {
    ControlRequest(
      type: try hexadecimal(2), request: try hexadecimal(2), value: try hexadecimal(4),
      index: try hexadecimal(4))
  }

  private mutating func lineSettings() throws(Refusal) -> LineSettings {
    let baud = UInt32(try number(upTo: 4_000_000, "the speed of the line"))
    let frame = Array(try word("the bits of the line, such as 8n1").utf8)
    guard frame.count == 3, let data = Self.digit(frame[0]), data == 7 || data == 8,
      let stop = Self.digit(frame[2]), stop == 1 || stop == 2
    else { throw Refusal("the bits of the line are expected, such as 8n1") }
    let parity: LineSettings.Parity
    switch frame[1] {
    case UInt8(ascii: "n"): parity = .none
    case UInt8(ascii: "o"): parity = .odd
    case UInt8(ascii: "e"): parity = .even
    default: throw Refusal("the parity of the line is n, o or e")
    }
    let flow = try word("the flow control of the line, none or rtscts,")
    guard flow == "none" || flow == "rtscts" else {
      throw Refusal("the flow control of the line is none or rtscts, not '\(flow.prefix(Self.maxShown))'")
    }
    return LineSettings(
      baud: baud, parity: parity, dataBits: data, stopBits: stop, hasHardwareFlowControl: flow == "rtscts")
  }

  private mutating func bytes() throws(Refusal) -> [UInt8] {
    let word = try word("bytes, or \(Transcript.nothing) for none")
    if word == Transcript.nothing { return [] }
    let digits = word.utf8
    guard digits.count.isMultiple(of: 2), digits.count <= Self.maxBytes * 2 else {
      throw Refusal("two hexadecimal digits for each byte are expected, for at most \(Self.maxBytes) bytes")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      guard let value = Self.digit(digit) else { throw Refusal("a byte has an invalid digit") }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  /// All remaining words, unescaped.
  private mutating func rest() throws(Refusal) -> String {
    let text = Array(words.joined(separator: " ").utf8)
    words = []
    var out: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index] != UInt8(ascii: "%") {
        out.append(text[index])
        index += 1
      } else if index + 2 < text.count, let high = Self.digit(text[index + 1]),
        let low = Self.digit(text[index + 2])
      {
        out.append(high << 4 | low)
        index += 3
      } else {
        throw Refusal("% must be followed by two hexadecimal digits")
      }
    }
    guard let words = String(validating: out, as: UTF8.self) else {
      throw Refusal("the text of the error is not UTF-8")
    }
    return words
  }

  /// The value of a hexadecimal digit; nil for other characters.
  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
