// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import SeededRandom

extension [UInt8] {
  /// The bytes of hexadecimal text with blanks between them, as in documents about meters. `*` and a number
  /// repeat the preceding byte.
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

/// Makes frames that were not recorded. Their checksums are calculated bit by bit, independently of the
/// drivers.
enum SheetFrame {
  /// The frame of a OneTouch meter with this link byte and printed payload.
  static func frame(_ payload: String, link: UInt8 = 0) -> [UInt8] {
    let payload = [UInt8](printed: payload)
    let body = [0x02, UInt8(payload.count + 6), link] + payload + [0x03]
    return body + checksum(body, initial: 0xFFFF)
  }

  /// The packet of a Dexcom receiver.
  static func packet(_ code: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let length = payload.count + 6
    let body = [0x01, UInt8(length & 0xFF), UInt8(length >> 8), code] + payload
    return body + checksum(body, initial: 0)
  }

  /// A page of a Dexcom receiver with these records, which include their checksums.
  static func page(
    _ partition: UInt8, revision: UInt8, number: UInt8, _ records: [[UInt8]], count: UInt8? = nil
  ) -> [UInt8] {
    let header =
      [0, 0, 0, 0, count ?? UInt8(records.count), 0, 0, 0, partition, revision, number]
      + [UInt8](repeating: 0, count: 15)
    let data = records.flatMap { $0 }
    return header + checksum(header, initial: 0) + data + [UInt8](repeating: 0xFF, count: 500 - data.count)
  }

  /// Bytes followed by the checksum of a Dexcom record.
  static func record(_ bytes: [UInt8]) -> [UInt8] { bytes + checksum(bytes, initial: 0) }

  private static func checksum(_ bytes: [UInt8], initial: UInt16) -> [UInt8] {
    var register = initial
    for bit in bytes.flatMap({ byte in (0..<8).map { byte >> (7 - $0) & 1 } }) {
      let carries = UInt16(bit) != register >> 15
      register = register << 1 ^ (carries ? 0x1021 : 0)
    }
    return [UInt8(register & 0xFF), UInt8(register >> 8)]
  }
}

extension SeededGenerator {
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

/// A meter whose first answer is slow: a driver with a shorter timeout receives no answer.
final class SlowFirstAnswer: Transport {
  private let transport: any Transport
  private let delay: Int
  private var hasAnswered = false

  init(_ transport: any Transport, milliseconds: Int) {
    self.transport = transport
    delay = milliseconds
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    if case .receive = exchange, !hasAnswered {
      guard milliseconds > delay else { throw .timedOut }
      hasAnswered = true
    }
    return try transport.perform(exchange, within: milliseconds)
  }
}
