// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The deadlines of exchanges, and interruption of the program.
final class Watch {
  /// The instant by which an exchange must end.
  struct Deadline {
    fileprivate let instant: ContinuousClock.Instant
  }

  /// The total time of exchanges after an interruption: enough to end a session of every protocol.
  static let graceMilliseconds = 1000

  /// A signal immediately before a wait does not interrupt it, so each wait is short.
  private static let longestWaitMilliseconds = 50

  private let isInterrupted: () -> Bool
  private var graceEnd: ContinuousClock.Instant?

  /// - Parameter isInterrupted: polled at each deadline and each wait.
  init(isInterrupted: @escaping () -> Bool) { self.isInterrupted = isInterrupted }

  /// The deadline of an exchange that begins now.
  ///
  /// - Throws: `.interrupted`, once after an interruption, and always after the time for ending the session has passed.
  func deadline(_ milliseconds: Int) throws(TransportError) -> Deadline {
    try checkInterruption()
    let end = ContinuousClock.now + .milliseconds(max(0, milliseconds))
    return Deadline(instant: min(end, graceEnd ?? end))
  }

  /// The number of milliseconds of the next wait, at least 1.
  ///
  /// - Throws: `.timedOut` after the deadline, or `.interrupted`.
  func wait(until deadline: Deadline) throws(TransportError) -> Int {
    try checkInterruption()
    let left = deadline.instant - .now
    guard left > .zero else { throw .timedOut }
    let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
    return Int(min(max(1, milliseconds), Int64(Self.longestWaitMilliseconds)))
  }

  private func checkInterruption() throws(TransportError) {
    guard isInterrupted() else { return }
    if let graceEnd {
      guard graceEnd > .now else { throw .interrupted }
      return
    }
    graceEnd = .now + .milliseconds(Self.graceMilliseconds)
    throw .interrupted
  }
}
