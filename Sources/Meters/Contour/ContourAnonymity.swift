// SPDX-License-Identifier: Apache-2.0

import Logbook

extension ContourDriver: AnonymisingDriver {
  static func anonymise(_ transcript: Transcript) throws -> Transcript {
    // A single byte controls the session. A command may hold anything.
    var stream = try ReceivedStream(
      transcript, payload: { ContourReport.payload($0)?.indices }, allows: { $0.count == 5 })
    var anonymity = ContourAnonymity()
    try anonymity.replaceFrames(in: &stream.bytes)
    return stream.transcript()
  }
}

/// Removes personal data from frames and recomputes their checksums. Lengths stay the same, so that frames and reports
/// keep theirs.
private struct ContourAnonymity {
  private var numbers = StandInNumbers()

  mutating func replaceFrames(in bytes: inout [UInt8]) throws {
    var index = 0
    while index < bytes.count {
      if bytes[index] != ContourByte.startOfText {
        guard Self.control.contains(bytes[index]) else { throw ReceivedStream.notUnderstood }
        index += 1
        continue
      }
      guard let end = bytes[index...].firstIndex(of: 0x0A), let frame = ContourFrame(bytes[index...end])
      else {
        throw ReceivedStream.notUnderstood
      }
      let text = try replaced(frame.text)
      guard text.count == frame.text.count else { throw ReceivedStream.notUnderstood }
      bytes.replaceSubrange(index + 2..<index + 2 + text.count, with: text)
      let sum = ContourFrame.checksum(bytes[index + 1...end - 4])
      let digits = Array("0123456789ABCDEF".utf8)
      bytes.replaceSubrange(end - 3..<end - 1, with: [digits[Int(sum >> 4)], digits[Int(sum & 15)]])
      index = end + 1
    }
  }

  /// The bytes that occur outside of frames.
  private static let control: Set<UInt8> = [
    ContourByte.enquiry, ContourByte.endOfTransmission, ContourByte.acknowledge, ContourByte.refuse,
  ]

  private mutating func replaced(_ text: [UInt8]) throws -> [UInt8] {
    var fields = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map(Array.init)
    switch fields[0] {
    case Array("H".utf8) where fields.count > 4: fields[4] = Self.withoutSerial(fields[4])
    case Array("R".utf8) where fields.count > 3: fields[3] = numbers.next(like: fields[3])
    // If a meter stored the patient's name, it would be after the second field.
    case Array("P".utf8) where fields.count <= 2: break
    case Array("L".utf8): break
    default: throw ReceivedStream.notUnderstood
    }
    return Array(fields.joined(separator: [UInt8(ascii: "|")]))
  }

  /// The field of the product, with zeros for personal parts. In the third component the serial number follows the dash;
  /// in later components the id of the radio does.
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
}
