// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters

/// A talk with a meter, written as lines: `> 51 24` hands over, `< 51 24` comes, `! ` nothing comes in time.
enum HexTalk {
  /// The steps in these lines.
  static func steps(_ text: String) -> [Transcript.Step] {
    text.split(separator: "\n").compactMap { line in
      let words = line.drop { $0 == " " }
      let bytes = hex(words.dropFirst())
      return switch words.first {
      case ">": step(.send(bytes), .success([]))
      case "<": step(.receive(most: 1024), .success(bytes))
      case "!": step(.receive(most: 1024), .failure(.timedOut))
      default: nil
      }
    }
  }

  static func step(_ exchange: Exchange, _ result: Result<[UInt8], TransportError>) -> Transcript.Step {
    Transcript.Step(milliseconds: 0, exchange: exchange, result: result)
  }

  /// A transport that plays these steps.
  static func replay(_ steps: [Transcript.Step]) -> ReplayedTransport {
    var transcript = Transcript(driver: "", vendorID: 0, productID: 0, startedAt: 0)
    transcript.steps = steps
    return ReplayedTransport(transcript)
  }

  /// A connection over these steps to the first model of a driver.
  static func meter(
    _ driver: any MeterDriver.Type, _ steps: [Transcript.Step], now: Int64 = 1_800_000_000
  ) -> (MeterConnection, ReplayedTransport) {
    let transport = replay(steps)
    return (MeterConnection(transport, model: driver.models[0]) { now }, transport)
  }

  /// The bytes in hexadecimal digits, whatever else stands between them.
  static func hex(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

/// Numbers that a seed fixes, so that a failure can be repeated.
struct SeededBytes: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// These bytes with some changed, dropped or added.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &self) {
      let place = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0 where !bytes.isEmpty: bytes.remove(at: place)
      case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
      case 2: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &self)))
      default: if !bytes.isEmpty { bytes[place] = UInt8.random(in: 0...255, using: &self) }
      }
    }
    return bytes
  }
}
