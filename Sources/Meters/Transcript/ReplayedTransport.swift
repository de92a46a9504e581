// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A transport that answers from a transcript. The driver must send the same requests as in the recording.
public final class ReplayedTransport: Transport {
  private let steps: [Transcript.Step]
  private var next = 0

  /// A replay from the first step.
  public init(_ transcript: Transcript) { steps = transcript.steps }

  /// Whether every step was replayed.
  package var isExhausted: Bool { next == steps.count }

  /// The recorded time of the latest replayed step, in milliseconds since the session began.
  package var milliseconds: Int { next > 0 ? steps[next - 1].milliseconds : 0 }

  /// Returns the recorded answer; fails for another request, or for one after the last step.
  public func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard next < steps.count else { throw .failed("the transcript ends at exchange \(next)") }
    let step = steps[next]
    guard Self.agree(step.exchange, exchange) else {
      throw .failed("exchange \(next + 1) of the transcript differs from what the driver sends")
    }
    next += 1
    return try step.result.get()
  }

  /// Whether two exchanges are the same. The maximum number of received bytes may differ if the answer fits.
  private static func agree(_ recorded: LinkOperation, _ asked: LinkOperation) -> Bool {
    switch (recorded, asked) {
    case (.receive, .receive): true
    case (.feature(let id, _), .feature(let other, _)): id == other
    case (.controlIn(let request, _), .controlIn(let other, _)): request == other
    case (.command(let bytes, _), .command(let other, _)): bytes == other
    default: recorded == asked
    }
  }
}
