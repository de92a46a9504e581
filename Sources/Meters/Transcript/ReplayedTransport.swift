// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A transport that answers from a transcript: the driver has to ask what was asked then.
public final class ReplayedTransport: Transport {
  private let steps: [Transcript.Step]
  private var next = 0

  /// A replay from the first step.
  public init(_ transcript: Transcript) { steps = transcript.steps }

  /// Whether every step was asked for.
  package var isExhausted: Bool { next == steps.count }

  /// The recorded time of the last step that was asked for, in milliseconds since the session began.
  package var milliseconds: Int { next > 0 ? steps[next - 1].milliseconds : 0 }

  /// Gives what came then; fails where the driver asks something else, or more.
  public func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard next < steps.count else { throw .failed("the transcript ends at exchange \(next)") }
    let step = steps[next]
    guard Self.agree(step.exchange, exchange) else {
      throw .failed("exchange \(next + 1) of the transcript differs from what the driver sends")
    }
    next += 1
    return try step.result.get()
  }

  /// How many bytes a driver would have taken at most does not matter, as long as they fit.
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
