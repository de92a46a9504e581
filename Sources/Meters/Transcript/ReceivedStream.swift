// SPDX-License-Identifier: Apache-2.0

import Logbook

/// All that a meter sent in a recorded session as one stream, and the way back into its packets.
struct ReceivedStream {
  /// What the packets carried, in order.
  var bytes: [UInt8] = []
  /// What was sent to the meter, and how many bytes had come before.
  private(set) var commands: [(sent: [UInt8], start: Int)] = []

  private var original: Transcript
  private var places: [(step: Int, index: Int)] = []

  /// - Parameters:
  ///   - payload: where a packet carries bytes of the stream; nil for a damaged one.
  ///   - allows: whether a packet that was sent is one that reports nothing of the person.
  /// - Throws: `Failure` for a session with anything else in it.
  init(
    _ transcript: Transcript, payload: ([UInt8]) -> Range<Int>?, allows: ([UInt8]) -> Bool
  ) throws(Failure) {
    original = transcript
    for (number, step) in transcript.steps.enumerated() {
      switch (step.exchange, step.result) {
      case (.receive, .failure): break
      case (.receive, .success(let packet)): try take(packet, payload(packet), of: number)
      case (.send(let packet), _) where allows(packet): commands.append((packet, bytes.count))
      default:
        throw Failure(
          .protocolViolation,
          "anonymising the transcript: exchange \(number + 1) does not belong to reading a meter; nothing was written"
        )
      }
    }
  }

  /// The session with these bytes in its packets.
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

  /// What to say of a session whose bytes are not all understood.
  static let notUnderstood = Failure(
    .protocolViolation,
    "anonymising the transcript: a part of it is not understood and may contain personal data; nothing was written"
  )

  private mutating func take(_ packet: [UInt8], _ payload: Range<Int>?, of step: Int) throws(Failure) {
    guard let payload, payload.upperBound <= packet.count else {
      throw Failure(
        .protocolViolation,
        "anonymising the transcript: the packet of exchange \(step + 1) is damaged; nothing was written")
    }
    bytes += packet[payload]
    places += payload.map { (step, $0) }
    // Behind the payload is what the meter sent before.
    let rest = [UInt8](repeating: 0, count: packet.count - payload.upperBound)
    original.steps[step].result = .success(packet[..<payload.upperBound] + rest)
  }
}

/// What replaces a measurement: it depends on its place and its length alone, so that nothing can be derived.
struct StandInNumbers {
  private var count = 0

  /// Digits that count up, as many as there were; whatever else there is stays where it is.
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

  /// The same text with a zero for each letter and digit.
  static func blank(_ text: some Sequence<UInt8>) -> [UInt8] {
    text.map { byte in
      let isLetter = (0x41...0x5A).contains(byte & 0xDF)
      return isLetter || digits.contains(byte) || byte >= 0x80 ? UInt8(ascii: "0") : byte
    }
  }

  private static let digits: ClosedRange<UInt8> = 0x30...0x39
}
