// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A transport that records every exchange with another one, including failed ones.
///
/// Each is recorded when it ends, so that the transcript of an interrupted session holds everything before the
/// interruption.
package final class RecordingTransport: Transport {
  private let transport: any Transport
  private let milliseconds: () -> Int
  private let note: (Transcript.Step) throws -> Void
  private var count = 0

  /// Records the exchanges of a transport.
  ///
  /// - Parameters:
  ///   - milliseconds: the time since the session began.
  ///   - note: stores a step; if it throws, the exchange fails.
  package init(
    _ transport: any Transport, milliseconds: @escaping () -> Int,
    note: @escaping (Transcript.Step) throws -> Void
  ) {
    self.transport = transport
    self.milliseconds = milliseconds
    self.note = note
  }

  /// Performs the exchange, records it, and returns its result.
  package func perform(_ exchange: LinkOperation, within limit: Int) throws(TransportError) -> [UInt8] {
    let result: Result<[UInt8], TransportError>
    do {
      result = .success(try transport.perform(exchange, within: limit))
    } catch {
      result = .failure(error)
    }
    guard count < Transcript.maxSteps else { throw .failed("the transcript is full") }
    count += 1
    do {
      try note(Transcript.Step(milliseconds: milliseconds(), exchange: exchange, result: result))
    } catch {
      throw .failed("the transcript cannot be written: \(error)")
    }
    return try result.get()
  }
}
