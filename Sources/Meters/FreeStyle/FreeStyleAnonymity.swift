// SPDX-License-Identifier: Apache-2.0

import Logbook

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
