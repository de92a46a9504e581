// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters

/// A session with a meter, written as lines: `> 51 24` is sent, `< 51 24` is received, `! ` means a timeout.
enum HexSession {
  /// The steps in these lines.
  static func steps(_ text: String) -> [Transcript.Step] {
    text.split(separator: "\n").compactMap { line in
      let words = line.drop { $0 == " " }
      let bytes = hex(words.dropFirst())
      return switch words.first {
      case ">": step(.send(bytes), .success([]))
      case "<": step(.receive(maxBytes: 1024), .success(bytes))
      case "!": step(.receive(maxBytes: 1024), .failure(.timedOut))
      default: nil
      }
    }
  }

  static func step(_ exchange: LinkOperation, _ result: Result<[UInt8], TransportError>) -> Transcript.Step {
    Transcript.Step(milliseconds: 0, exchange: exchange, result: result)
  }

  /// A transport that replays these steps.
  static func replay(_ steps: [Transcript.Step]) -> ReplayedTransport {
    var transcript = Transcript(driver: "", vendorID: 0, productID: 0, startedAt: 0)
    transcript.steps = steps
    return ReplayedTransport(transcript)
  }

  /// A connection that replays these steps, with the first model of a driver.
  static func meter(
    _ driver: any MeterDriver.Type, _ steps: [Transcript.Step], now: Int64 = 1_800_000_000
  ) -> (MeterConnection, ReplayedTransport) {
    let transport = replay(steps)
    return (MeterConnection(transport, model: driver.models[0]) { now }, transport)
  }

  /// The bytes of the hexadecimal digits; other characters are ignored.
  static func hex(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
