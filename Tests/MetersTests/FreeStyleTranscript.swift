// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Meters

/// Builds sessions with a FreeStyle meter from the texts that host and meter send.
struct FreeStyleTranscript {
  var transcript = Transcript(driver: "freestyle", vendorID: 0x1A61, productID: 0, startedAt: 0)
  var textType: UInt8 = 0x60

  /// - Parameter begun: whether the session already contains the exchange that starts it.
  init(begun: Bool = true) {
    guard begun else { return }
    silence()
    host([0x01, 0x00])
    meter([0x71, 0x01, 0x01])
  }

  /// A reply with the checksum of its message.
  static func reply(_ message: [UInt8]) -> [UInt8] {
    message + Array("CKSM:\(digits(message))\r\nCMD OK\r\n".utf8)
  }

  /// A reply with a table, the number and the checksum of its rows, and the checksum of the whole message.
  static func table(_ rows: [String]) -> [UInt8] {
    if rows.isEmpty { return reply(Array("Log Empty\r\n".utf8)) }
    let body = rows.flatMap { Array("\($0)\r\n".utf8) }
    return reply(body + Array("\(rows.count),\(digits(body))\r\n".utf8))
  }

  static func digits(_ bytes: [UInt8]) -> String {
    let text = String(bytes.reduce(0) { $0 + Int($1) }, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 8 - text.count)) + text
  }

  mutating func host(_ bytes: [UInt8]) { step(.send(bytes), .success([])) }

  /// A report, padded as if with bytes of an earlier report.
  mutating func meter(_ bytes: [UInt8]) {
    step(.receive(maxBytes: 64), .success(bytes + [UInt8](repeating: 0x2C, count: max(0, 64 - bytes.count))))
  }

  mutating func silence() { fail(.timedOut) }

  mutating func fail(_ error: TransportError) { step(.receive(maxBytes: 64), .failure(error)) }

  mutating func command(_ text: String) {
    let bytes = Array("\(text)\r\n".utf8)
    host([textType, UInt8(bytes.count)] + bytes)
  }

  /// The reply in reports of this many bytes, after a keep-alive.
  mutating func answer(_ reply: [UInt8], piece: Int = 62) {
    meter([0x22, 0x01, 0x03])
    for start in stride(from: 0, to: reply.count, by: piece) {
      let part = reply[start..<min(start + piece, reply.count)]
      meter([0x60, UInt8(part.count)] + part)
    }
  }

  mutating func exchange(_ text: String, _ message: String) {
    command(text)
    answer(Self.reply(Array("\(message)\r\n".utf8)))
  }

  /// The requests with which every FreeStyle driver begins, and the answers to them.
  mutating func identify(_ serialCommand: String, _ serial: String) {
    exchange(serialCommand, serial)
    exchange("$swver?", "1.40\r\n0")
    exchange("$date?", "8,27,14")
    exchange("$time?", "13,22")
  }

  private mutating func step(_ exchange: LinkOperation, _ result: Result<[UInt8], TransportError>) {
    transcript.steps.append(Transcript.Step(milliseconds: 0, exchange: exchange, result: result))
  }
}
