// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A driver that can remove personal data from a transcript.
///
/// Serial numbers and values are inside frames with checksums, and often span packets. Only the driver knows
/// the frames, so only it can replace their content and recompute the checksums. A transcript with unknown
/// frames is refused.
package protocol AnonymisingDriver: MeterDriver {
  /// The same session with another serial number and other values, which do not depend on the original ones.
  /// Times, order, lengths, units and marks stay the same.
  ///
  /// - Throws: `Failure` if a part of the transcript is not understood, since it might hold personal data.
  static func anonymise(_ transcript: Transcript) throws -> Transcript
}

extension Transcript {
  /// The same session without personal data, if the driver supports it.
  ///
  /// - Throws: `Failure` of `.usage` if the driver does not support it.
  package func anonymised(by driver: any MeterDriver.Type) throws -> Transcript {
    guard let driver = driver as? any AnonymisingDriver.Type else {
      throw Failure(
        .usage,
        "the driver '\(driver.id)' cannot anonymise a transcript, because it cannot recalculate the meter's checksums; "
          + "record without --anonymise, and do not share the file")
    }
    var transcript = try driver.anonymise(self)
    transcript.isAnonymised = true
    return transcript
  }
}

/// Joins everything that a meter sent in a recorded session, and writes it back into the packets.
struct ReceivedStream {
  /// The payloads of the packets in order.
  var bytes: [UInt8] = []
  /// The packets sent to the meter, each with the number of bytes received before it.
  private(set) var commands: [(sent: [UInt8], start: Int)] = []

  private var original: Transcript
  private var places: [(step: Int, index: Int)] = []

  /// - Parameters:
  ///   - payload: the range of a packet that belongs to the stream; nil for a damaged packet.
  ///   - allows: whether a packet sent to the meter is known to hold no personal data.
  /// - Throws: `Failure` for a session with other content.
  init(
    _ transcript: Transcript, payload: ([UInt8]) -> Range<Int>?, allows: ([UInt8]) -> Bool
  ) throws(Failure) {
    original = transcript
    for (number, step) in transcript.steps.enumerated() {
      switch (step.exchange, step.result) {
      case (.receive, .failure): break
      case (.receive, .success(let packet)): try add(packet, payload(packet), of: number)
      case (.send(let packet), _) where allows(packet): commands.append((packet, bytes.count))
      default:
        throw Failure(
          .protocolViolation,
          "anonymising the transcript: exchange \(number + 1) does not belong to reading a meter; nothing was written"
        )
      }
    }
  }

  /// The session with the current bytes in its packets.
  func transcript() -> Transcript {
    var transcript = original
    var packets: [Int: [UInt8]] = [:]
    for (byte, place) in zip(bytes, places) {
      if packets[place.step] == nil, case .success(let packet) = original.steps[place.step].result {
        packets[place.step] = packet
      }
      packets[place.step]?[place.index] = byte
    }
    for (step, packet) in packets { transcript.steps[step].result = .success(packet) }
    return transcript
  }

  /// The error for a session that is only partly understood.
  static let notUnderstood = Failure(
    .protocolViolation,
    "anonymising the transcript: a part of it is not understood and may contain personal data; nothing was written"
  )

  private mutating func add(_ packet: [UInt8], _ payload: Range<Int>?, of step: Int) throws(Failure) {
    guard let payload, payload.upperBound <= packet.count else {
      throw Failure(
        .protocolViolation,
        "anonymising the transcript: the packet of exchange \(step + 1) is damaged; nothing was written")
    }
    bytes += packet[payload]
    places += payload.map { (step, $0) }
    // The bytes after the payload become zeros, since they may repeat earlier data of the meter.
    let rest = [UInt8](repeating: 0, count: packet.count - payload.upperBound)
    original.steps[step].result = .success(packet[..<payload.upperBound] + rest)
  }
}

/// Replacements of measurements. They depend only on position and length, so that nothing can be derived from
/// them.
struct StandInNumbers {
  private var count = 0

  /// Replaces the digits by those of the next number in an ascending sequence, and keeps other characters.
  mutating func next(like field: [UInt8]) -> [UInt8] {
    let length = field.count { Self.digits.contains($0) }
    let number =
      switch length {
      case ...1: 5
      case 2: 60 + count % 40
      default: 100 + count % 100
      }
    count += 1
    var digits = Array(String(number).utf8)[...]
    return field.map { byte in
      guard Self.digits.contains(byte) else { return byte }
      return digits.popFirst() ?? UInt8(ascii: "0")
    }
  }

  /// The same text with a zero in place of each letter and digit.
  static func blank(_ text: some Sequence<UInt8>) -> [UInt8] {
    text.map { byte in
      let isLetter = (0x41...0x5A).contains(byte & 0xDF)
      return isLetter || digits.contains(byte) || byte >= 0x80 ? UInt8(ascii: "0") : byte
    }
  }

  private static let digits: ClosedRange<UInt8> = 0x30...0x39
}
