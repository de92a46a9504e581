// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One session with a Contour meter: the handshakes of ASTM E1381, with their limits.
final class ContourSession {
  /// The time to wait for an answer. Other programs allow five seconds; a meter needs only milliseconds.
  private static let answerMilliseconds = 5000
  /// The timeout for the first header and for the closing handshake.
  private static let handshakeMilliseconds = 2000
  /// The silence that ends a message. The reports of a message arrive 12 to 20 ms apart.
  private static let silenceMilliseconds = 60
  /// The number of times that a frame is requested again, by the manufacturer's rules.
  private static let maxRefusals = 6
  /// The maximum number of reports to receive for one token. A message has at most six reports.
  private static let maxReports = 64
  /// The maximum number of frames to receive, far above the 2000 results of the largest memory.
  private static let maxFrames = 20_000

  private let meter: MeterConnection
  private var stream = ContourStream()

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Wakes the meter and receives its first header. The meter then waits for an acknowledgement.
  ///
  /// A meter whose last session was interrupted responds to another byte than an idle meter does. So three
  /// bytes are sent in turn.
  func open() throws -> ContourHeader {
    let doing = "opening the session with the meter"
    try drain(doing)
    for byte in [ContourByte.endOfTransmission, ContourByte.wake, ContourByte.acknowledge] {
      try send([byte], doing)
      if let header = try awaitHeader(doing) { return header }
    }
    throw Failure(
      .protocolViolation,
      "\(doing): no header was received; wait ten seconds, or unplug the meter and plug it in again, and retry"
    )
  }

  /// Reads the memory, from the oldest result to the last record. The code of the last record states that the
  /// memory is complete.
  func readRecords(_ add: (ASTMRecord) throws -> Void) throws {
    var reader = FrameOrder()
    var reply = ContourByte.acknowledge
    for number in 1...Self.maxFrames {
      let doing = "reading frame \(number)"
      try send([reply], doing)
      switch try reader.judge(token(Self.answerMilliseconds, doing), doing) {
      case .answer(let byte):
        if byte == ContourByte.refuse { try drain(doing) }
        reply = byte
      case .record(let record) where record.type == "L":
        try checkEnd(record)
        return
      case .record(let record):
        try add(record)
        reply = ContourByte.acknowledge
      }
    }
    throw Failure(.protocolViolation, "reading the memory: the meter sent more data than its memory can hold")
  }

  /// Ends a complete session. The meter answers the last ACK with EOT. A Contour Next One responds only to
  /// NAK.
  func finish() {
    for byte in [ContourByte.acknowledge, ContourByte.refuse] {
      do {
        try send([byte], "ending the session")
        if try token(Self.handshakeMilliseconds, "ending the session") == .endOfTransmission { return }
      } catch {
        return  // All data has been received, so this failure is ignored.
      }
    }
  }

  /// Ends an incomplete session, so that the meter can be used.
  func abandon() {
    do {
      try send([ContourByte.endOfTransmission], "ending the session")
    } catch {
      return  // The earlier error is reported, and not this one.
    }
  }

  /// Continues from the first header to the state in which the meter accepts commands.
  func enterCommandMode() throws {
    let doing = "asking the meter to accept commands"
    for _ in 1...Self.maxRefusals {
      try send([ContourByte.refuse], doing)
      guard try token(Self.handshakeMilliseconds, doing) == .endOfTransmission else { continue }
      try send([ContourByte.enquiry], doing)
      guard try token(Self.handshakeMilliseconds, doing) == .acknowledge else { break }
      return
    }
    throw Failure(.protocolViolation, "\(doing): it does not; unplug it, plug it in again and retry")
  }

  /// Sends one command; returns whether the meter accepted it.
  func command(_ text: String, _ doing: String) throws -> Bool {
    try send(Array(text.utf8), doing)
    switch try token(Self.answerMilliseconds, doing) {
    case .acknowledge: return true
    case .refuse: return false
    case nil: throw Failure(.timedOut, doing: doing)
    default:
      throw Failure(.protocolViolation, "\(doing): the meter's answer is not part of its protocol")
    }
  }
}

extension ContourSession {
  private func send(_ bytes: [UInt8], _ doing: String) throws {
    do {
      try meter.send(ContourReport.pack(bytes))
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// The next token; nil after the timeout.
  private func token(_ milliseconds: Int, _ doing: String) throws -> ContourToken? {
    for _ in 0..<Self.maxReports {
      if let token = stream.next() { return token }
      guard let report = try receive(milliseconds, doing) else { return nil }
      guard let payload = ContourReport.payload(report) else {
        stream.clear()
        return .damaged
      }
      stream.add(payload)
    }
    stream.clear()
    return .damaged
  }

  private func receive(_ milliseconds: Int, _ doing: String) throws -> [UInt8]? {
    do {
      return try meter.receive(maxBytes: 64, within: milliseconds)
    } catch .timedOut {
      return nil
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Discards the rest of an earlier message.
  private func drain(_ doing: String) throws {
    stream.clear()
    for _ in 0..<Self.maxReports {
      guard try receive(Self.silenceMilliseconds, doing) != nil else { return }
    }
    throw Failure(.protocolViolation, "\(doing): the meter does not stop sending")
  }

  private func awaitHeader(_ doing: String) throws -> ContourHeader? {
    for _ in 0..<8 {
      switch try token(Self.handshakeMilliseconds, doing) {
      case .frame(let frame):
        guard let header = ContourHeader(ASTMRecord(frame.text)) else { continue }
        // A Contour Next Link sends the ENQ in its own report, so one more token is received.
        _ = try token(Self.silenceMilliseconds, doing)
        return header
      case .enquiry:
        // The meter still waits for an answer in an earlier session, so it gets an acknowledgement.
        try send([ContourByte.acknowledge], doing)
      case .damaged, nil:
        try drain(doing)
        return nil
      case .endOfTransmission, .acknowledge, .refuse: continue
      }
    }
    return nil
  }

  private func checkEnd(_ record: ASTMRecord) throws {
    guard record[3] == "N" else {
      throw Failure(
        .protocolViolation, "reading the memory: the meter ended it before it was whole; retry")
    }
  }
}

/// The frame that is expected next, and the answer to an unexpected one.
private struct FrameOrder {
  /// The reaction to a token.
  enum FrameReaction {
    case answer(UInt8)
    case record(ASTMRecord)
  }

  private static let maxRefusals = 6
  private var expected = 2
  private var hasRecords = false
  private var refusals = 0
  private var enquiries = 0
  private var isSilent = false

  mutating func judge(_ token: ContourToken?, _ doing: String) throws -> FrameReaction {
    switch token {
    case .frame(let frame): return try judge(frame, doing)
    case nil:
      // After a first silence, the frame is requested again, since only its end may be lost. After a second
      // silence, the meter counts as disconnected.
      guard !isSilent else { throw Failure(.timedOut, doing: doing) }
      isSilent = true
      return try refuse(doing)
    case .damaged, .acknowledge, .refuse: return try refuse(doing)
    case .enquiry:
      enquiries += 1
      guard enquiries <= Self.maxRefusals else { return try refuse(doing) }
      return .answer(enquiries % 2 == 1 ? ContourByte.acknowledge : ContourByte.refuse)
    case .endOfTransmission:
      throw Failure(.protocolViolation, "\(doing): the meter ended the session before its last record; retry")
    }
  }

  private mutating func judge(_ frame: ContourFrame, _ doing: String) throws -> FrameReaction {
    isSilent = false
    let record = ASTMRecord(frame.text)
    if !hasRecords, record.type == "H" {
      expected = 2
      return .answer(ContourByte.acknowledge)
    }
    if frame.number == (expected + 7) % 8, hasRecords {
      // The meter repeated the frame because the acknowledgement was lost.
      refusals += 1
      guard refusals <= Self.maxRefusals else { return try refuse(doing) }
      return .answer(ContourByte.acknowledge)
    }
    guard frame.number == expected else {
      throw Failure(.protocolViolation, "\(doing): the meter left a frame out; retry")
    }
    expected = (expected + 1) % 8
    hasRecords = true
    refusals = 0
    return .record(record)
  }

  private mutating func refuse(_ doing: String) throws -> FrameReaction {
    refusals += 1
    guard refusals <= Self.maxRefusals else {
      throw Failure(
        .protocolViolation,
        "\(doing): it came damaged \(Self.maxRefusals) times; unplug the meter, plug it in again and retry")
    }
    return .answer(ContourByte.refuse)
  }
}
