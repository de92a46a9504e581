// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters

extension [UInt8] {
  /// The bytes of hexadecimal text with blanks between them, as facts about meters are printed; `*` and a number
  /// repeat the byte before them.
  init(printed text: String) {
    self = text.split(separator: " ").flatMap { word in
      let parts = word.split(separator: "*")
      return [UInt8](
        repeating: UInt8(parts.first ?? "", radix: 16) ?? 0,
        count: parts.count > 1 ? Int(parts[1]) ?? 0 : 1)
    }
  }
}

/// The steps of a talk, written down by a test.
struct WrittenTalk {
  private(set) var steps: [Transcript.Step] = []

  mutating func add(_ exchange: Exchange, _ result: Result<[UInt8], TransportError> = .success([])) {
    steps.append(Transcript.Step(milliseconds: steps.count, exchange: exchange, result: result))
  }

  mutating func send(_ bytes: [UInt8]) { add(.send(bytes)) }

  mutating func receive(_ bytes: [UInt8]) { add(.receive(most: 64), .success(bytes)) }

  mutating func receive(_ error: TransportError) { add(.receive(most: 64), .failure(error)) }

  /// A transport that replays the talk.
  var replayed: ReplayedTransport {
    var transcript = Transcript(driver: "", vendorID: 0, productID: 0, startedAt: 0)
    transcript.steps = steps
    return ReplayedTransport(transcript)
  }
}

/// Random bytes from a seed, by SplitMix64.
struct SeededBytes: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// The bytes with a few of them changed, left out or put in.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &self) {
      let place = Int.random(in: 0...bytes.count, using: &self)
      let byte = UInt8.random(in: 0...255, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0: bytes.insert(byte, at: place)
      case 1 where place < bytes.count: bytes.remove(at: place)
      case 2: bytes = Array(bytes[..<place])
      case _ where place < bytes.count: bytes[place] = byte
      default: break
      }
    }
    return bytes
  }
}
