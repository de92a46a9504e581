// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters

extension [UInt8] {
  /// The bytes of hexadecimal text with blanks between them, as in documents about meters. `*` and a number repeat the
  /// preceding byte.
  init(printed text: String) {
    self = text.split(separator: " ").flatMap { word in
      let parts = word.split(separator: "*")
      return [UInt8](
        repeating: UInt8(parts.first ?? "", radix: 16) ?? 0,
        count: parts.count > 1 ? Int(parts[1]) ?? 0 : 1)
    }
  }
}

/// The steps of a session, written by a test.
struct WrittenSession {
  private(set) var steps: [Transcript.Step] = []

  mutating func add(_ exchange: LinkOperation, _ result: Result<[UInt8], TransportError> = .success([])) {
    steps.append(Transcript.Step(milliseconds: steps.count, exchange: exchange, result: result))
  }

  mutating func send(_ bytes: [UInt8]) { add(.send(bytes)) }

  mutating func receive(_ bytes: [UInt8]) { add(.receive(maxBytes: 64), .success(bytes)) }

  mutating func receive(_ error: TransportError) { add(.receive(maxBytes: 64), .failure(error)) }

  /// A transport that replays the session.
  var replayed: ReplayedTransport {
    var transcript = Transcript(driver: "", vendorID: 0, productID: 0, startedAt: 0)
    transcript.steps = steps
    return ReplayedTransport(transcript)
  }
}
