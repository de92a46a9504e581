// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension Transcript {
  /// The maximum length of a line in bytes: a SCSI command with data in both directions.
  static let maxLineBytes = 2 * 2 * TranscriptLine.maxBytes + 256

  /// Parses the text of a transcript.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - name: the file's name, for messages.
  /// - Throws: `Failure` of `.badInput` with `name:line:` for anything that glucoport-transcript(5) does not
  ///   describe.
  public init(bytes: [UInt8], named name: String) throws(Failure) {
    var reader = TranscriptReader(name: name)
    guard bytes.last == 0x0A else {
      let line = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).count
      throw Failure(.badInput, "\(name):\(line): the transcript is truncated in this line; record it again")
    }
    for line in bytes.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false) {
      try reader.read(line)
    }
    self = try reader.finish()
  }
}

/// Reads a transcript line by line: the head in its order, then the steps.
private struct TranscriptReader {
  private let name: String
  private var number = 0
  private var head: [Substring] = []
  private var transcript: Transcript?
  /// Whether the head has the line of Bluetooth in place of USB ids.
  private var isBluetooth = false
  /// The number of steps read, and the time of the latest one.
  private var (count, milliseconds) = (0, 0)

  init(name: String) { self.name = name }

  mutating func read(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    number += 1
    guard bytes.count <= Transcript.maxLineBytes else { throw refusal("the line is too long") }
    if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { return }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      throw refusal("invalid character")
    }
    let line = Substring(decoding: bytes, as: UTF8.self)
    if transcript == nil { return try readHead(line) }
    if line == "anonymised", count == 0, transcript?.isAnonymised == false {
      transcript?.isAnonymised = true
    } else if line.hasPrefix("link "), count == 0, transcript?.link == nil, transcript?.isAnonymised == false
    {
      guard let link = MeterLink.Kind(rawValue: String(line.dropFirst(5))), link != .bluetooth else {
        let links = MeterLink.Kind.allCases.filter { $0 != .bluetooth }.map(\.rawValue).joined(
          separator: ", ")
        throw refusal("a link must be one of \(links)")
      }
      transcript?.link = link
    } else {
      try readStep(line)
    }
  }

  func finish() throws(Failure) -> Transcript {
    guard let transcript else { throw refusal("the transcript ends before its first exchange") }
    return transcript
  }

  private mutating func readHead(_ line: Substring) throws(Failure) {
    let names = [Transcript.title, "driver ", "usb ", "started "]
    if head.count == 2 { isBluetooth = line == Transcript.bluetooth }
    let wanted = head.count == 2 && isBluetooth ? Transcript.bluetooth : names[head.count]
    guard line.hasPrefix(wanted), head.count > 0 || line == wanted else {
      throw refusal(
        head.isEmpty
          ? "this is not a transcript, or of an unknown version: the first line must be '\(wanted)'"
          : "a line with '\(wanted)…' is expected here")
    }
    head.append(line.dropFirst(wanted.count))
    switch head.count {
    case 2: try checkDriver(head[1])
    case 3: _ = try ids(head[2])
    case 4:
      let ids = try ids(head[2])
      var transcript = Transcript(
        driver: String(head[1]), vendorID: ids.vendor, productID: ids.product, startedAt: try time(head[3]))
      if isBluetooth { transcript.link = .bluetooth }
      self.transcript = transcript
    default: break
    }
  }

  private mutating func readStep(_ line: Substring) throws(Failure) {
    guard count < Transcript.maxSteps else {
      throw refusal("a transcript has at most \(Transcript.maxSteps) exchanges")
    }
    var words = TranscriptLine(line)
    let step: Transcript.Step
    do {
      step = try words.step()
    } catch {
      throw refusal(error.reason)
    }
    guard step.milliseconds >= milliseconds else {
      throw refusal("the time is earlier than that of the previous exchange")
    }
    (count, milliseconds) = (count + 1, step.milliseconds)
    transcript?.steps.append(step)
  }

  private func checkDriver(_ text: Substring) throws(Failure) {
    let isName = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7A)
    }
    guard isName, !text.isEmpty, text.utf8.count <= 40 else { throw refusal("invalid driver id") }
  }

  private func ids(_ text: Substring) throws(Failure) -> (vendor: UInt16, product: UInt16) {
    if isBluetooth { return (0, 0) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 && $0.allSatisfy(\.isHexDigit) }),
      let vendor = UInt16(parts[0], radix: 16), let product = UInt16(parts[1], radix: 16)
    else { throw refusal("USB ids are two numbers of four hexadecimal digits, such as 1a79:7410") }
    return (vendor, product)
  }

  private func time(_ text: Substring) throws(Failure) -> Int64 {
    guard let time = DeviceTime(text: text.dropLast()), text == time.text + "Z" else {
      throw refusal("a time such as 2026-05-06T18:30:00Z is expected")
    }
    return time.seconds
  }

  private func refusal(_ reason: String) -> Failure { Failure(.badInput, "\(name):\(number): \(reason)") }
}

/// Parses the words of one line of a transcript from left to right.
private struct TranscriptLine {
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
    case "read-value": .readValue(try characteristic())
    case "subscribe": .subscribe(try characteristic())
    case "notification": .notification
    case "record-access": .recordAccess(try recordAccess())
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
    case "not-paired": .notPaired
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

  private mutating func characteristic() throws(Refusal) -> GlucoseCharacteristic {
    guard let characteristic = GlucoseCharacteristic(rawValue: try hexadecimal(4)) else {
      throw Refusal("no driver uses this characteristic")
    }
    return characteristic
  }

  private mutating func recordAccess() throws(Refusal) -> RecordAccess {
    guard let request = RecordAccess(bytes: try bytes()) else {
      throw Refusal("no driver sends this request for records")
    }
    return request
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
