// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Commands to a OneTouch Ultra2, and the lines of its answers.
final class Ultra2Session {
  /// The first command after the meter wakes is often lost, and a meter that is not ready answers with a zero.
  private static let attempts = 5
  /// A recorded Ultra took about 3.5 seconds to answer the first command.
  private static let beginMilliseconds = 4000
  private static let silenceMilliseconds = 2000
  /// The meter pauses between the lines of a dump.
  private static let lineMilliseconds = 5000
  /// The characters of a line follow each other immediately.
  private static let nextMilliseconds = 1000
  /// Above the size of the largest memory, 999 records.
  private static let maxDrained = 100_000

  private let meter: MeterConnection
  private var received: [UInt8] = []

  init(_ meter: MeterConnection) { self.meter = meter }

  /// Sends a command, again if no valid answer arrives, and returns the text of the first line.
  ///
  /// - Parameter start: the first characters of the answer.
  func request(_ command: String, starting start: String, doing: String) throws -> String {
    var fault = Failure(.protocolViolation, "\(doing): the meter's answer is damaged; retry")
    for _ in 0..<Self.attempts {
      do {
        received = []
        _ = try meter.perform(.discard, within: Self.beginMilliseconds)
        try meter.send([0x11, 0x0D] + Array("DM\(command)".utf8) + [0x0D])
        let text = try nextLine(within: Self.beginMilliseconds).flatMap(Ultra2Line.text)
        if let text, text.hasPrefix(start) { return text }
      } catch {
        fault = Failure(error, doing: doing)
        if error != .timedOut { throw fault }
      }
    }
    throw fault
  }

  /// The text of the next line; nil if it is damaged.
  func line(doing: String) throws -> String? {
    do {
      return try nextLine(within: Self.lineMilliseconds).flatMap(Ultra2Line.text)
    } catch {
      throw Failure(error, doing: doing)
    }
  }

  /// Discards pending data until the meter is silent.
  func drain(doing: String) throws {
    var drained = 0
    do {
      while drained < Self.maxDrained {
        drained += max(1, try meter.receive(maxBytes: 1024, within: Self.silenceMilliseconds).count)
      }
    } catch .timedOut {
    } catch {
      throw Failure(error, doing: doing)
    }
    received = []
  }
}

extension Ultra2Session {
  /// The next line without its end; nil if it is too long, or if it is the single zero that means "not ready".
  private func nextLine(within milliseconds: Int) throws(TransportError) -> ArraySlice<UInt8>? {
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        let line = received[..<end]
        received = Array(received[(end + 1)...])
        return line.last == 0x0D ? line.dropLast() : line
      }
      guard received.count <= Ultra2Line.maxBytes, received != [0] else {
        received = []
        return nil
      }
      let bytes = try meter.receive(
        maxBytes: 256, within: received.isEmpty ? milliseconds : Self.nextMilliseconds)
      guard !bytes.isEmpty else { throw .timedOut }
      received += bytes
    }
  }
}
