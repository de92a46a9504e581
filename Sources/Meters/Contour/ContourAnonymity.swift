// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ContourDriver: AnonymisingDriver {
  static func anonymise(_ transcript: Transcript) throws -> Transcript {
    var stream = try RecordedStream(transcript)
    var anonymity = ContourAnonymity()
    try anonymity.replaceFrames(in: &stream.bytes)
    return stream.transcript()
  }
}

/// Takes the person out of frames, and makes their checksums again. What stands there instead depends on its place
/// and its length alone, so that nothing can be told back; lengths stay, so that frames and reports keep theirs.
private struct ContourAnonymity {
  private var values = 0

  mutating func replaceFrames(in bytes: inout [UInt8]) throws {
    var index = 0
    while index < bytes.count {
      if bytes[index] != ContourByte.startOfText {
        guard Self.control.contains(bytes[index]) else { throw Self.notUnderstood }
        index += 1
        continue
      }
      guard let end = bytes[index...].firstIndex(of: 0x0A), let frame = ContourFrame(bytes[index...end])
      else {
        throw Self.notUnderstood
      }
      let text = try replaced(frame.text)
      guard text.count == frame.text.count else { throw Self.notUnderstood }
      bytes.replaceSubrange(index + 2..<index + 2 + text.count, with: text)
      let sum = ContourFrame.checksum(bytes[index + 1...end - 4])
      let digits = Array("0123456789ABCDEF".utf8)
      bytes.replaceSubrange(end - 3..<end - 1, with: [digits[Int(sum >> 4)], digits[Int(sum & 15)]])
      index = end + 1
    }
  }

  /// The bytes that stand outside of frames.
  private static let control: Set<UInt8> = [
    ContourByte.enquiry, ContourByte.endOfTransmission, ContourByte.acknowledge, ContourByte.refuse,
  ]

  private static let notUnderstood = Failure(
    .protocolViolation,
    "anonymising the transcript: a part of it is not understood, and might tell who the person is; nothing was written"
  )

  private mutating func replaced(_ text: [UInt8]) throws -> [UInt8] {
    var fields = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map(Array.init)
    switch fields[0] {
    case Array("H".utf8) where fields.count > 4: fields[4] = Self.withoutSerial(fields[4])
    case Array("R".utf8) where fields.count > 3: fields[3] = nextValue(like: fields[3])
    // A meter that kept the patient's name would do so behind the second field.
    case Array("P".utf8) where fields.count <= 2: break
    case Array("L".utf8): break
    default: throw Self.notUnderstood
    }
    return Array(fields.joined(separator: [UInt8(ascii: "|")]))
  }

  /// The product with its parts: behind the dash of the third stands the serial number, and behind those that follow
  /// the radio's id.
  private static func withoutSerial(_ field: [UInt8]) -> [UInt8] {
    var parts = field.split(separator: UInt8(ascii: "^"), omittingEmptySubsequences: false).map(Array.init)
    for place in parts.indices.dropFirst(2) {
      let start = parts[place].firstIndex(of: UInt8(ascii: "-")).map { $0 + 1 } ?? 0
      for index in start..<parts[place].count where parts[place][index] != UInt8(ascii: " ") {
        parts[place][index] = UInt8(ascii: "0")
      }
    }
    return Array(parts.joined(separator: [UInt8(ascii: "^")]))
  }

  /// Digits that count up, as many as there were; a decimal point stays where it is.
  private mutating func nextValue(like field: [UInt8]) -> [UInt8] {
    let count = field.count { (0x30...0x39).contains($0) }
    let number =
      switch count {
      case ...1: 5
      case 2: 60 + values % 40
      default: 100 + values % 100
      }
    values += 1
    var digits = Array(String(number).utf8)[...]
    return field.map { byte in
      guard (0x30...0x39).contains(byte) else { return byte }
      return digits.popFirst() ?? UInt8(ascii: "0")
    }
  }
}

/// All that a meter sent in a recorded talk as one stream, and the way back into its reports.
private struct RecordedStream {
  var bytes: [UInt8] = []
  private var original: Transcript
  private var places: [(step: Int, index: Int)] = []

  /// - Throws: `Failure` for a talk with anything in it but reports.
  init(_ transcript: Transcript) throws {
    original = transcript
    for (number, step) in transcript.steps.enumerated() {
      switch (step.exchange, step.result) {
      case (.receive, .failure): break
      case (.receive, .success(let report)): try take(report, of: number)
      // One byte that steers the talk; a command may hold anything.
      case (.send(let report), _) where report.count == 5: break
      default:
        throw Failure(
          .protocolViolation,
          "anonymising the transcript: exchange \(number + 1) is none of reading a Contour; nothing was written"
        )
      }
    }
  }

  private mutating func take(_ report: [UInt8], of step: Int) throws {
    guard let payload = ContourReport.payload(report) else {
      throw Failure(
        .protocolViolation,
        "anonymising the transcript: the report of exchange \(step + 1) is damaged; nothing was written")
    }
    bytes += payload
    places += payload.indices.map { (step, $0) }
    // Behind the payload stands what the meter sent before.
    let blank =
      Array(report[..<payload.endIndex]) + Array(repeating: 0, count: report.count - payload.endIndex)
    original.steps[step].result = .success(blank)
  }

  /// The talk with these bytes in its reports.
  func transcript() -> Transcript {
    var transcript = original
    var reports: [Int: [UInt8]] = [:]
    for (byte, place) in zip(bytes, places) {
      if reports[place.step] == nil, case .success(let report) = original.steps[place.step].result {
        reports[place.step] = report
      }
      reports[place.step]?[place.index] = byte
    }
    for (step, report) in reports { transcript.steps[step].result = .success(report) }
    return transcript
  }
}
