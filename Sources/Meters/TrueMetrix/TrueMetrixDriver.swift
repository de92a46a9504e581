// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Trividia TRUE METRIX, TRUE METRIX GO and AIR, in their docks: text in HID reports.
///
/// The session follows a capture of the vendor's program and Tidepool's program. Only Tidepool states how the
/// meter reports its clock, so a meter that does not answer this request is read, too. Only the capture shows
/// how to set the clock.
struct TrueMetrixDriver: MeterDriver {
  static let id = "true-metrix"
  static let name = "Trividia TRUE METRIX, GO, AIR"
  static let canSetClock = true
  static let models = [
    MeterModel("TRUE METRIX", vendorID: 0x1F41, productID: 0x0000, link: .hid),
    MeterModel("TRUE METRIX", vendorID: 0x1F41, productID: 0x0003, link: .hid),
  ]

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    return try identify(dock, meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    var identity = try identify(dock, meter)
    try meter.onIdentity(identity)
    let records = try dock.download()
    identity.count = records.count
    var contents = MeterContents(identity)
    var unknownTags: [String: Int] = [:]
    for (index, text) in records.enumerated() {
      switch TrueMetrixRecord.parse(text) {
      case .success(let record):
        contents.add(record)
        if let tag = record.unknownTag { unknownTags[tag, default: 0] += 1 }
      case .failure(let rejection):
        contents.rejections.append(
          Rejection(line: Int64(index + 1), reason: rejection.reason, source: text))
      }
    }
    for (tag, count) in unknownTags.sorted(by: { $0.key < $1.key }) {
      contents.warnings.append(
        counted(count, "reading has", "readings have") + " the tag \(tag), whose meaning is unknown; "
          + "it may mean a test of control solution; each of them has a note with the tag")
    }
    if identity.clock == nil { contents.warnings.append("the meter does not report its time") }
    contents.readings.markClockSetBackInEitherOrder()
    return contents
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    try dock.wake()
    let p = time.parts
    let digits = [p.second, p.minute, p.hour, p.day, p.month, p.year % 100, p.year / 100]
      .map { ($0 < 10 ? "0" : "") + String($0) }.joined()
    _ = try dock.request("P41", answer: "p*", doing: doing)
    _ = try dock.request("Q" + digits, answer: "q*", doing: doing)
  }
}

extension TrueMetrixDriver {
  private func identify(_ dock: TrueMetrixDock, _ meter: MeterConnection) throws -> MeterIdentity {
    let doing = "asking the meter for its identity"
    try dock.wake()
    let model = try dock.request("I", answer: "i", doing: doing)
    let serial = try dock.request("Z1", answer: "z1", doing: doing)
    let version = try dock.request("V", answer: "v", doing: doing)
    let clock = try dock.requestIfKnown("T", answer: "t", doing: "asking the meter for its clock")
    return MeterIdentity(
      device: Device(vendor: "Trividia", model: Self.product(model), serial: serial, format: Self.id),
      firmware: version, clock: clock.flatMap(Self.time).map(meter.compareClock))
  }

  private static func product(_ code: String) -> String {
    switch code {
    case "MR2": "TRUE METRIX"
    case "RC2": "TRUE METRIX GO"
    case "BLU": "TRUE METRIX AIR"
    default: "TRUE METRIX \(code)"
    }
  }

  /// The time that twelve digits state: second, minute, hour, day, month and year, with two digits each.
  private static func time(_ digits: String) -> DeviceTime? {
    let values = digits.utf8.map { Int($0) - 0x30 }
    guard values.count == 12, values.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let pairs = stride(from: 0, to: 12, by: 2).map { values[$0] * 10 + values[$0 + 1] }
    return DeviceTime(
      year: 2000 + pairs[5], month: pairs[4], day: pairs[3], hour: pairs[2], minute: pairs[1],
      second: pairs[0])
  }
}

extension MeterContents {
  fileprivate mutating func add(_ record: TrueMetrixRecord) {
    readings.append(record.reading)
    guard !record.remark.isEmpty else { return }
    records.append(
      MeterRecord(.note, at: record.reading.deviceTime, RecordFields(["tags": .words([record.remark])])))
  }
}

/// The dock that holds a meter. It forwards messages, split into reports of up to eight characters.
struct TrueMetrixDock {
  /// The maximum number of reports in one answer. A download has at most 1000 records of 20 characters, in
  /// the worst case with one character per report.
  private static let maxReports = 50_000
  private static let tries = 3
  /// The time to wait for a greeting. In a capture, a meter was woken twice, and each time its greeting
  /// arrived after 2.35 seconds.
  private static let greetingMilliseconds = 5000
  private static let answerMilliseconds = 2000

  private let meter: MeterConnection

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Wakes the meter.
  ///
  /// Between the attempts the meter is not switched off, since it would then start to wake again. Nothing is
  /// discarded, since the greeting may be late.
  func wake() throws {
    let doing = "waking the meter"
    try drain(doing: doing)
    for _ in 0..<Self.tries {
      try send("^", doing: doing)
      if try reply("^*", within: Self.greetingMilliseconds, skipsBroken: true, doing: doing) != nil { return }
    }
    throw Failure(
      .unavailable, "\(doing): no answer from the dock; put the meter into it and retry")
  }

  /// Sends a request, again if no valid answer arrives.
  ///
  /// - Returns: the answer without the characters that identify it.
  func request(_ request: String, answer: String, doing: String) throws -> String {
    guard let content = try requestIfKnown(request, answer: answer, doing: doing) else {
      throw Failure(
        .protocolViolation,
        "\(doing): the meter does not answer; take it out of the dock, put it back and retry")
    }
    return content
  }

  /// Sends a request that some meters may not know; nil if no valid answer arrives.
  func requestIfKnown(_ request: String, answer: String, doing: String) throws -> String? {
    for _ in 0..<Self.tries {
      try send(request, doing: doing)
      if let content = try reply(answer, doing: doing) { return String(content.dropFirst(answer.count)) }
    }
    return nil
  }

  /// Returns all records as text, newest first, after a check of their checksum.
  func download() throws -> [String] {
    let doing = "reading the meter's memory"
    for attempt in 0..<Self.tries {
      if attempt > 0 { try drain(doing: doing) }
      try send("G", doing: doing)
      if let records = try records(doing: doing) { return records }
    }
    throw Failure(
      .protocolViolation,
      "\(doing): the data does not match its checksum; take the meter out of the dock, put it back and retry"
    )
  }

  /// Switches the meter off, without waiting for an answer.
  func sleep() {
    do throws(TransportError) {
      try meter.send(Self.report("_"), within: 1000)
    } catch {
      // A meter that was removed from the dock is off as well, so this failure is ignored.
    }
  }
}

extension TrueMetrixDock {
  /// A report to the meter: the type A0, the length, the characters.
  private static func report(_ content: String) -> [UInt8] {
    let message = TrueMetrixMessage.bytes(content)
    return [0xA0, UInt8(truncatingIfNeeded: message.count)] + message
  }

  private func send(_ content: String, doing: String) throws {
    do {
      try meter.send(Self.report(content))
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// The characters of one report; nil after the timeout.
  private func receive(within milliseconds: Int, doing: String) throws -> ArraySlice<UInt8>? {
    do throws(TransportError) {
      let report = try meter.receive(maxBytes: 64, within: milliseconds)
      return report.dropFirst().prefix(Int(report.first ?? 0))
    } catch .timedOut {
      return nil
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Discards the rest of an earlier session.
  private func drain(doing: String) throws {
    for _ in 0..<Self.maxReports where try receive(within: 200, doing: doing) == nil { return }
  }

  /// The first message that begins with these characters; nil after the timeout, or for a damaged message
  /// that is not skipped.
  private func reply(
    _ start: String, within milliseconds: Int = answerMilliseconds, skipsBroken: Bool = false, doing: String
  ) throws -> String? {
    var bytes: [UInt8] = []
    for _ in 0..<100 {
      guard let characters = try receive(within: milliseconds, doing: doing) else { return nil }
      bytes += characters
      while let message = TrueMetrixMessage.next(in: &bytes) {
        switch message {
        case .content(let content) where content.hasPrefix(start): return content
        case .content: continue
        case .broken:
          guard skipsBroken else { return nil }
        }
      }
    }
    return nil
  }

  /// The records of one download; nil if a record is damaged, or if their checksum is wrong.
  private func records(doing: String) throws -> [String]? {
    var bytes: [UInt8] = []
    var records: [String] = []
    for _ in 0..<Self.maxReports {
      guard let characters = try receive(within: Self.answerMilliseconds, doing: doing) else { return nil }
      bytes += characters
      while let message = TrueMetrixMessage.next(in: &bytes) {
        guard case .content(let content) = message else { return nil }
        if content.hasPrefix("g5") {
          records.append(String(content.dropFirst(2)))
          meter.reportProgress(records.count, of: nil)
        } else if content.hasPrefix("x1") {
          return UInt16(content.dropFirst(2), radix: 16) == TrueMetrixRecord.checksum(records) ? records : nil
        }
      }
    }
    return nil
  }
}
