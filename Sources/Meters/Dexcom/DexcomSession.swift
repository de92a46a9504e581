// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Commands to a Dexcom receiver. Only the commands that read, and the one that sets the display's clock, are defined.
/// Others erase the receiver, switch it off, or make it unusable.
final class DexcomSession {
  enum Command: UInt8 {
    case ping = 0x0A
    case firmwareHeader = 0x0B
    case pageRange = 0x10
    case pages = 0x11
    case displayOffset = 0x1D
    case setDisplayOffset = 0x1E
    case systemTime = 0x22
  }

  /// Tidepool's driver waits one second for an answer.
  private static let milliseconds = 2000
  private static let attempts = 3
  /// A transfer carries 64 bytes, so that the longest answer has 34 transfers. Noise may precede it.
  private static let maxTransfers = 256
  private static let nextMilliseconds = 1000
  private static let maxPages: UInt32 = 10_000
  /// The largest number of pages in one recorded answer.
  private static let pagesAtOnce: UInt32 = 4

  private let meter: MeterConnection

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Sends a command, again if the answer is damaged, and returns the payload of the answer.
  func request(_ command: Command, _ payload: [UInt8] = [], doing: String) throws -> [UInt8] {
    do {
      for _ in 0..<Self.attempts {
        // Data of an interrupted session may still arrive.
        _ = try meter.perform(.discard, within: Self.milliseconds)
        try meter.send(
          DexcomPacket(code: command.rawValue, payload: payload).bytes, within: Self.milliseconds)
        guard let answer = try answer() else { continue }
        return try Self.payload(of: answer, doing: doing)
      }
    } catch let error as TransportError {
      throw Failure(error, doing: doing)
    }
    throw Failure(.protocolViolation, "\(doing): the receiver's answer is damaged; retry")
  }

  /// Requests one number.
  func number<Number: FixedWidthInteger>(_ command: Command, _: Number.Type, doing: String) throws -> Number {
    guard let number = try request(command, doing: doing).littleEndian(Number.self, at: 0) else {
      throw Failure(.protocolViolation, "\(doing): the receiver's answer is too short")
    }
    return number
  }

  /// The first and last page of a partition; nil for an empty one.
  func range(_ partition: DexcomPartition) throws -> ClosedRange<UInt32>? {
    let doing = "asking for the size of the receiver's memory"
    let answer = try request(.pageRange, [partition.rawValue], doing: doing)
    guard let first = answer.littleEndian(UInt32.self, at: 0),
      let last = answer.littleEndian(UInt32.self, at: 4)
    else { throw Failure(.protocolViolation, "\(doing): the receiver's answer is too short") }
    if first == .max, last == .max { return nil }
    guard first <= last, last - first < Self.maxPages else {
      throw Failure(.protocolViolation, "\(doing): the receiver reports an impossible range of pages")
    }
    return first...last
  }

  /// The pages of a range in order; nil for a page with a damaged header.
  func pages(_ range: ClosedRange<UInt32>, _ partition: DexcomPartition, onPage: () -> Void) throws
    -> [DexcomPage?]
  {
    var pages: [DexcomPage?] = []
    var next: UInt32? = range.lowerBound
    while let first = next {
      let count = min(Self.pagesAtOnce, range.upperBound - first + 1)
      let doing = "reading page \(first) of part \(partition.rawValue) of the memory"
      let payload = [partition.rawValue] + first.littleEndianBytes + [UInt8(truncatingIfNeeded: count)]
      let answer = try request(.pages, payload, doing: doing)
      guard answer.count == Int(count) * DexcomPage.size else {
        throw Failure(.protocolViolation, "\(doing): the receiver sent another number of bytes")
      }
      for index in 0..<count {
        let page = DexcomPage(answer.dropFirst(Int(index) * DexcomPage.size).prefix(DexcomPage.size))
        guard page.map({ $0.number == first + index && $0.partition == partition.rawValue }) ?? true else {
          throw Failure(.protocolViolation, "\(doing): the receiver sent another page")
        }
        pages.append(page)
        onPage()
      }
      next = range.upperBound - first < Self.pagesAtOnce ? nil : first + Self.pagesAtOnce
    }
    return pages
  }
}

extension DexcomSession {
  /// The next packet, assembled from transfers of any size; nil if it is damaged.
  private func answer() throws(TransportError) -> DexcomPacket? {
    var received: [UInt8] = []
    for _ in 0..<Self.maxTransfers {
      let bytes = try meter.receive(
        maxBytes: 4096, within: received.isEmpty ? Self.milliseconds : Self.nextMilliseconds)
      guard !bytes.isEmpty else { throw .timedOut }
      received += bytes
      switch DexcomPacket.find(in: received) {
      case .packet(let packet): return packet
      case .broken: return nil
      case .incomplete: continue
      }
    }
    return nil
  }

  private static let refusals: [UInt8: String] = [
    2: "it was not understood", 3: "it knows no such command", 4: "it knows no such parameter",
    5: "the packet was incomplete", 6: "it has an internal error", 7: "it is in another mode",
  ]

  private static func payload(of answer: DexcomPacket, doing: String) throws -> [UInt8] {
    if answer.code == 1 { return answer.payload }
    let reason = refusals[answer.code] ?? "result \(answer.code)"
    throw Failure(.protocolViolation, "\(doing): the receiver refused: \(reason)")
  }
}
