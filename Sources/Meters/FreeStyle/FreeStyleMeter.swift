// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The shared part of the FreeStyle drivers: identity, clock, and reading of tables.
struct FreeStyleMeter {
  /// One table of the memory.
  struct Table {
    /// The command that requests the table.
    let command: String
    /// The index of the field with the record's number.
    let numberField: Int
    /// The indexes of the fields of a row that hold no personal data, such as its time and kind.
    let plainFields: @Sendable (FreeStyleRow) -> Set<Int>
    /// Adds one row of the table.
    let add: @Sendable (FreeStyleRow, inout FreeStyleMemory) -> Void
  }

  /// The driver's id.
  let driver: String
  /// The command that requests the serial number.
  let serialCommand: String
  /// The tables that make up the memory.
  let tables: [Table]

  /// The commands and the table of a meter that sends its strip tests as rows of `$result?`.
  static func strips(
    driver: String, plainFields: @escaping @Sendable (FreeStyleRow) -> Set<Int>,
    add: @escaping @Sendable (FreeStyleRow, inout FreeStyleMemory) -> Void
  ) -> FreeStyleMeter {
    FreeStyleMeter(
      driver: driver, serialCommand: "$serlnum?",
      tables: [Table(command: "$result?", numberField: 1, plainFields: plainFields, add: add)])
  }

  func identify(_ meter: MeterConnection, textType: UInt8) throws -> MeterIdentity {
    try identity(try opened(meter, textType), meter)
  }

  /// Reads the complete memory.
  func read(_ meter: MeterConnection, textType: UInt8) throws -> MeterContents {
    let session = try opened(meter, textType)
    let identity = try identity(session, meter)
    try meter.onIdentity(identity)
    var memory = FreeStyleMemory(identity)
    for table in tables {
      guard let rows = try session.dump(table.command) else {
        throw Failure(.protocolViolation, "reading the memory: the meter refuses \(table.command)")
      }
      memory.add(rows, numberedBy: table.numberField, table.add)
    }
    return memory.contents
  }

  /// Sets the clock, which has no seconds.
  func setClock(
    _ meter: MeterConnection, to time: DeviceTime, textType: UInt8
  ) throws {
    let parts = time.parts
    guard (2000...2099).contains(parts.year) else {
      throw Failure(.usage, "this meter accepts only the years 2000 to 2099")
    }
    let session = try opened(meter, textType)
    for command in [
      "$date,\(parts.month),\(parts.day),\(parts.year - 2000)", "$time,\(parts.hour),\(parts.minute)",
    ] {
      guard try session.perform(command) else {
        throw Failure(.protocolViolation, "setting the clock: the meter refuses it")
      }
    }
  }
}

extension FreeStyleMeter {
  private func opened(_ meter: MeterConnection, _ textType: UInt8) throws -> FreeStyleSession {
    let session = FreeStyleSession(meter, textType: textType)
    try session.open()
    return session
  }

  private func identity(_ session: FreeStyleSession, _ meter: MeterConnection) throws -> MeterIdentity {
    guard let serial = try session.request(serialCommand), !serial.isEmpty else {
      throw Failure(
        .protocolViolation, "asking for the serial number: the meter returned none; is it the right driver?")
    }
    let firmware = try session.request("$swver?") ?? ""
    let clock = try clock(session)
    return MeterIdentity(
      device: Device(vendor: "Abbott", model: meter.model.name, serial: serial, format: driver),
      firmware: firmware, clock: clock.map(meter.compareClock))
  }

  /// The time on the clock; nil if the clock was lost, which the meter shows by 255 in every field.
  private func clock(_ session: FreeStyleSession) throws -> DeviceTime? {
    guard let date = try session.request("$date?"), let time = try session.request("$time?") else {
      return nil
    }
    return FreeStyleRow(Array("\(date),\(time)".utf8)[...]).time(0)
  }
}

/// A driver for FreeStyle meters, defined by its serial command, its tables and the meaning of their rows.
protocol FreeStyleFamily: AnonymisingDriver {
  /// The commands and tables of the meter.
  static var meter: FreeStyleMeter { get }
  /// The type of the reports in which this model sends text.
  static func textType(_ model: MeterModel) -> UInt8
}

extension FreeStyleFamily {
  static var canSetClock: Bool { true }

  static func textType(_ model: MeterModel) -> UInt8 { FreeStyleReport.text }

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try Self.meter.identify(meter, textType: Self.textType(meter.model))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    try Self.meter.read(meter, textType: Self.textType(meter.model))
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    try Self.meter.setClock(meter, to: time, textType: Self.textType(meter.model))
  }

  static func anonymise(_ transcript: Transcript) throws -> Transcript { try meter.anonymise(transcript) }
}

/// One session with a FreeStyle meter. The protocol has no message that ends a session, so the next session
/// first discards what the meter still sends for the earlier one.
final class FreeStyleSession {
  /// The time to wait for a report. A meter sends one every few milliseconds, and other programs allow three
  /// to five seconds.
  private static let answerMilliseconds = 5000
  /// The silence after which no more data of an earlier session is expected.
  private static let silenceMilliseconds = 150
  /// The number of times that a command is tried. If a report of the answer is lost, the checksum is wrong.
  /// The same command then returns the same answer again.
  private static let maxTries = 3
  /// The maximum size of an answer in bytes. A Libre with three months of readings sends about 700 kB.
  private static let maxBytes = 8 << 20
  private static let maxReports = 400_000
  private static let maxDropped = 2000

  private let meter: MeterConnection
  private let textType: UInt8

  /// - Parameter textType: the type of reports that carry commands.
  init(_ meter: MeterConnection, textType: UInt8 = FreeStyleReport.text) {
    self.meter = meter
    self.textType = textType
  }

  func open() throws {
    let doing = "opening the session with the meter"
    for _ in 1...2 {
      try drain(doing)
      try send(FreeStyleReport(FreeStyleReport.begin), doing)
      if try awaitReady(doing) { return }
    }
    throw Failure(.timedOut, doing: doing)
  }

  /// The first line of the answer to a request; nil if the meter refuses.
  func request(_ command: String) throws -> String? {
    let message = try request(command) { $0 }
    return message.map { message in
      let line = message.split(separator: 0x0D, maxSplits: 1, omittingEmptySubsequences: false)[0]
      return String(decoding: line, as: UTF8.self)
    }
  }

  /// The rows of a table; nil if the meter refuses.
  func dump(_ command: String) throws -> [FreeStyleRow]? { try request(command, FreeStyleDump.init)?.rows }

  /// Sends a command without an answer; false if the meter refuses.
  func perform(_ command: String) throws -> Bool { try request(command) { $0 } != nil }
}

extension FreeStyleSession {
  /// Sends a command and returns the answer; nil if the meter refuses. After a damaged answer, the command is
  /// sent again.
  private func request<Answer>(_ command: String, _ read: ([UInt8]) -> Answer?) throws -> Answer? {
    let doing = "asking for \(command.filter { $0.isLetter })"
    for _ in 1...Self.maxTries {
      try send(FreeStyleReport(textType, Array("\(command)\r\n".utf8)), doing)
      switch try reply(doing) {
      case .refused: return nil
      case .done(let message):
        if let answer = read(message) { return answer }
      case .damaged: break
      }
      try drain(doing)
    }
    throw Failure(
      .protocolViolation,
      "\(doing): the answer came damaged \(Self.maxTries) times; plug the meter into another socket and retry"
    )
  }

  private func reply(_ doing: String) throws -> FreeStyleReply {
    var bytes: [UInt8] = []
    var rows = 0
    for _ in 0..<Self.maxReports {
      guard let report = try receive(Self.answerMilliseconds, doing) else {
        // If only the end of the answer is missing, the command is repeated. A meter that sent nothing is not
        // asked again.
        guard bytes.isEmpty else { return .damaged }
        throw Failure(.timedOut, doing: doing)
      }
      switch report.type {
      case FreeStyleReport.text:
        bytes += report.payload
        rows += report.payload.count { $0 == 0x0A }
        meter.reportProgress(rows, of: nil)
      case FreeStyleReport.unknownType, FreeStyleReport.encryption: throw refusal(report, doing)
      default: continue
      }
      if let reply = FreeStyleReply(bytes) { return reply }
      guard bytes.count <= Self.maxBytes else { break }
    }
    throw Failure(.protocolViolation, "\(doing): the meter sent more data than its memory can hold")
  }

  private func awaitReady(_ doing: String) throws -> Bool {
    for _ in 0..<Self.maxDropped {
      guard let report = try receive(Self.answerMilliseconds, doing) else { return false }
      switch report.type {
      case FreeStyleReport.ready: return true
      case FreeStyleReport.unknownType, FreeStyleReport.encryption: throw refusal(report, doing)
      default: continue
      }
    }
    return false
  }

  private func refusal(_ report: FreeStyleReport, _ doing: String) -> Failure {
    report.type == FreeStyleReport.encryption
      ? Failure(
        .protocolViolation,
        "\(doing): the reader wants an encrypted session, whose keys Abbott has not published")
      : Failure(.protocolViolation, "\(doing): the meter does not know the message; is it the right driver?")
  }

  private func send(_ report: FreeStyleReport, _ doing: String) throws {
    do {
      try meter.send(report.bytes)
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// The next report; nil after the timeout. A damaged report is replaced by a report without content, so the
  /// checksum of the answer shows that a report is missing.
  private func receive(_ milliseconds: Int, _ doing: String) throws -> FreeStyleReport? {
    do {
      let bytes = try meter.receive(maxBytes: 64, within: milliseconds)
      return FreeStyleReport(bytes) ?? FreeStyleReport(FreeStyleReport.keepAlive)
    } catch .timedOut {
      return nil
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Discards the rest of an earlier answer.
  private func drain(_ doing: String) throws {
    for _ in 0..<Self.maxDropped {
      guard try receive(Self.silenceMilliseconds, doing) != nil else { return }
    }
    throw Failure(.protocolViolation, "\(doing): the meter does not stop sending")
  }
}

extension FreeStyleMeter {
  /// The same session without personal data: serial number, values, doses and texts are replaced, and
  /// checksums are recomputed.
  func anonymise(_ transcript: Transcript) throws -> Transcript {
    let commands = Set(tables.map(\.command) + Self.plainCommands + [serialCommand])
    var stream = try ReceivedStream(
      transcript, payload: FreeStyleReport.textRange,
      allows: { sent in
        guard let report = FreeStyleReport(sent) else { return false }
        return report.type == FreeStyleReport.begin && report.payload.isEmpty
          || commands.contains(Self.command(report))
      })
    guard stream.commands.first?.start ?? stream.bytes.count == 0 else { throw ReceivedStream.notUnderstood }
    var numbers = StandInNumbers()
    for (index, command) in stream.commands.enumerated() {
      let next = stream.commands.indices.contains(index + 1) ? stream.commands[index + 1].start : nil
      let range = command.start..<(next ?? stream.bytes.count)
      guard !range.isEmpty, let report = FreeStyleReport(command.sent) else { continue }
      let reply = try replaced(Array(stream.bytes[range]), to: Self.command(report), &numbers)
      stream.bytes.replaceSubrange(range, with: reply)
    }
    return stream.transcript()
  }
}

extension FreeStyleMeter {
  /// Commands whose answers hold no personal data.
  private static let plainCommands = ["$swver?", "$date?", "$time?"]

  private static func command(_ report: FreeStyleReport) -> String {
    String(decoding: report.payload.prefix { $0 != 0x0D }, as: UTF8.self)
  }

  /// Replaces the personal data in a complete answer, and recomputes its checksum.
  private func replaced(
    _ reply: [UInt8], to command: String, _ numbers: inout StandInNumbers
  ) throws -> [UInt8] {
    switch FreeStyleReply(reply) {
    case .refused where !Self.isLong(reply): return reply
    case .done(let message):
      let text = try replacedMessage(message, to: command, &numbers)
      guard text.count == message.count else { throw ReceivedStream.notUnderstood }
      var reply = reply
      reply.replaceSubrange(..<text.count, with: text)
      // The checksum follows the text: `CKSM:` and eight digits.
      reply.replaceSubrange(text.count + 5..<text.count + 13, with: FreeStyleReply.digits(of: text))
      return reply
    default: throw ReceivedStream.notUnderstood
    }
  }

  /// Whether a refusal has more than its fixed words, so that it may hold personal data.
  private static func isLong(_ refusal: [UInt8]) -> Bool { refusal.count > "CMD Fail!\r\n".utf8.count + 15 }

  private func replacedMessage(
    _ message: [UInt8], to command: String, _ numbers: inout StandInNumbers
  ) throws -> [UInt8] {
    if Self.plainCommands.contains(command) { return message }
    if command == serialCommand { return StandInNumbers.blank(message) }
    guard let table = tables.first(where: { $0.command == command }), let dump = FreeStyleDump(message) else {
      throw ReceivedStream.notUnderstood
    }
    var rows: [UInt8] = []
    for row in dump.rows {
      let plain = table.plainFields(row)
      let fields = row.fields.enumerated().map { index, field in
        plain.contains(index) ? field : Self.replaced(field, &numbers)
      }
      rows += fields.joined(separator: [UInt8(ascii: ",")]) + [0x0D, 0x0A]
    }
    guard !dump.rows.isEmpty else { return message }
    return rows + Array("\(dump.rows.count),".utf8) + FreeStyleReply.digits(of: rows) + [0x0D, 0x0A]
  }

  /// The replacement of a field. Zero, which means no value, is kept, and so are the words for a value out of
  /// range.
  private static func replaced(_ field: [UInt8], _ numbers: inout StandInNumbers) -> [UInt8] {
    if field.allSatisfy({ $0 == UInt8(ascii: "0") }) || [Array("HI".utf8), Array("LO".utf8)].contains(field) {
      return field
    }
    return field.allSatisfy { (0x30...0x39).contains($0) }
      ? numbers.next(like: field) : StandInNumbers.blank(field)
  }
}

extension FreeStyleReport {
  /// The range of the text in a report; empty for a report of another type, nil for a damaged one.
  fileprivate static func textRange(_ bytes: [UInt8]) -> Range<Int>? {
    guard let report = FreeStyleReport(bytes) else { return nil }
    return 2..<2 + (report.type == text ? report.payload.count : 0)
  }
}
