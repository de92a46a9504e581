// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension Transcript {
  /// The longest line: a SCSI command with data in both directions.
  static let maxLineBytes = 2 * 2 * TranscriptLine.maxBytes + 256

  /// Parses the text of a transcript.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - name: the file's name, for messages.
  /// - Throws: `Failure` of `.badInput` with `name:line:` for anything that glucoport-transcript(5) does not describe.
  public init(bytes: [UInt8], named name: String) throws(Failure) {
    var reader = TranscriptReader(name: name)
    guard bytes.last == 0x0A else {
      let line = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).count
      throw Failure(.badInput, "\(name):\(line): the transcript is truncated in this line; record it again")
    }
    for line in bytes.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false) {
      try reader.take(line)
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
  /// The number of steps read, and the time of the latest one.
  private var (count, milliseconds) = (0, 0)

  init(name: String) { self.name = name }

  mutating func take(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    number += 1
    guard bytes.count <= Transcript.maxLineBytes else { throw refusal("the line is too long") }
    if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { return }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      throw refusal("invalid character")
    }
    let line = Substring(decoding: bytes, as: UTF8.self)
    if transcript == nil { return try takeHead(line) }
    if line == "anonymised", count == 0, transcript?.isAnonymised == false {
      transcript?.isAnonymised = true
    } else if line.hasPrefix("link "), count == 0, transcript?.link == nil, transcript?.isAnonymised == false
    {
      guard let link = MeterLink.Kind(rawValue: String(line.dropFirst(5))) else {
        let links = MeterLink.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw refusal("a link must be one of \(links)")
      }
      transcript?.link = link
    } else {
      try takeStep(line)
    }
  }

  func finish() throws(Failure) -> Transcript {
    guard let transcript else { throw refusal("the transcript ends before its first exchange") }
    return transcript
  }

  private mutating func takeHead(_ line: Substring) throws(Failure) {
    let names = [Transcript.title, "driver ", "usb ", "started "]
    let wanted = names[head.count]
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
      transcript = Transcript(
        driver: String(head[1]), vendorID: ids.vendor, productID: ids.product, startedAt: try time(head[3]))
    default: break
    }
  }

  private mutating func takeStep(_ line: Substring) throws(Failure) {
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
