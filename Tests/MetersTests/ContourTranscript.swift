// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Meters

/// Builds sessions with a Contour from the texts of records.
struct ContourTranscript {
  var transcript = Transcript(driver: "contour", vendorID: 0x1A79, productID: 0x7410, startedAt: 0)

  static let eot: UInt8 = 0x04
  static let enq: UInt8 = 0x05
  static let ack: UInt8 = 0x06
  static let nak: UInt8 = 0x15

  /// A session in which the meter is silent until the driver wakes it. Then the meter sends these answers.
  init(opening answers: [[UInt8]]) {
    silence()
    host([Self.eot])
    for answer in answers { meter(answer) }
  }

  /// The frame of a record, with its checksum.
  static func frame(_ number: Int, _ text: String, isLast: Bool = false) -> [UInt8] {
    let inner = [UInt8(0x30 + number % 8)] + Array(text.utf8) + [0x0D, isLast ? 0x03 : 0x17]
    let sum = inner.reduce(0) { ($0 + Int($1)) % 256 }
    let digits = Array("0123456789ABCDEF".utf8)
    return [0x02] + inner + [digits[sum / 16], digits[sum % 16], 0x0D, 0x0A]
  }

  /// The frame of a documented example, with the documented checksum.
  static func printed(_ text: String, _ checksum: String, isLast: Bool = false) -> [UInt8] {
    [0x02] + Array(text.utf8) + [0x0D, isLast ? 0x03 : 0x17] + Array(checksum.utf8) + [0x0D, 0x0A]
  }

  /// A header of a Contour Next Link, with a count and optional other settings.
  static func header(
    _ settings: String = "A=1^C=41^U=0^V=20600", processing: String = "", count: Int = 0
  ) -> String {
    #"H|\^&||BEVQVM|Bayer6200^01.22\01.13^6201- C36847^0000-|\#(settings)|\#(count)|||||\#(processing)|1|201305081509"#
  }

  mutating func host(_ bytes: [UInt8]) {
    step(.send([0, 0, 0, UInt8(bytes.count)] + bytes), .success([]))
  }

  mutating func host(_ text: String) { host(Array(text.utf8)) }

  /// One message of the meter, split into reports of 64 bytes.
  mutating func meter(_ message: [UInt8]) {
    for start in stride(from: 0, to: message.count, by: 60) {
      let payload = message[start..<min(start + 60, message.count)]
      let report = Array("ABC".utf8) + [UInt8(payload.count)] + payload
      raw(report + [UInt8](repeating: 0, count: 64 - report.count))
    }
  }

  mutating func raw(_ report: [UInt8]) { step(.receive(maxBytes: 64), .success(report)) }

  mutating func silence() { fail(.timedOut) }

  mutating func fail(_ error: TransportError) { step(.receive(maxBytes: 64), .failure(error)) }

  /// A byte from the host, and the frame with which the meter answers.
  mutating func exchange(_ byte: UInt8, _ answer: [UInt8]) {
    host([byte])
    meter(answer)
  }

  private mutating func step(_ exchange: LinkOperation, _ result: Result<[UInt8], TransportError>) {
    transcript.steps.append(Transcript.Step(milliseconds: 0, exchange: exchange, result: result))
  }

  /// A session with a meter that holds these records, one in each frame.
  static func whole(_ records: [String], settings: String = "A=1^C=41^U=0^V=20600") -> ContourTranscript {
    let count = records.count
    var session = ContourTranscript(opening: [
      [eot] + frame(1, header(settings, count: count)) + [enq]
    ])
    session.exchange(ack, frame(1, header(settings, processing: "P", count: count)))
    session.exchange(ack, frame(2, "P|1"))
    for (index, record) in records.enumerated() { session.exchange(ack, frame(3 + index, record)) }
    session.exchange(ack, frame(3 + count, "L|1||N", isLast: true))
    session.exchange(ack, [eot])
    return session
  }
}

/// A driver's session, replayed from a transcript.
struct ReplayedSession {
  let transport: ReplayedTransport
  let connection: MeterConnection

  init(_ transcript: Transcript, _ driver: any MeterDriver.Type, product: UInt16? = nil, now: Int64 = 0)
    throws
  {
    transport = ReplayedTransport(transcript)
    let id = product ?? transcript.productID
    let model = driver.models.first { $0.productID == id }
    guard let model else { throw Failure(.badInput, "no model with this id") }
    connection = MeterConnection(transport, model: model, now: { now })
  }
}
