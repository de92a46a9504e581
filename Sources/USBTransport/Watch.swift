// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The time that an exchange has, and whether the program is to end meanwhile.
final class Watch {
  /// When an exchange has to be over.
  struct Deadline {
    fileprivate let instant: ContinuousClock.Instant
  }

  /// How long the exchanges behind an interruption may take in all: enough for the good-bye of every protocol.
  static let graceMilliseconds = 1000

  /// A signal that arrives just before a wait begins does not wake it, so no single wait is longer.
  private static let longestWaitMilliseconds = 50

  private let isInterrupted: () -> Bool
  private var graceEnd: ContinuousClock.Instant?

  /// A watch that asks this each time it is looked at.
  init(isInterrupted: @escaping () -> Bool) { self.isInterrupted = isInterrupted }

  /// When an exchange that begins at this moment has to be over.
  ///
  /// - Throws: `.interrupted`, once when the program is to end, and always when the time for the good-bye is used up.
  func deadline(_ milliseconds: Int) throws(TransportError) -> Deadline {
    try checkInterruption()
    let end = ContinuousClock.now + .milliseconds(max(0, milliseconds))
    return Deadline(instant: min(end, graceEnd ?? end))
  }

  /// How many milliseconds to wait in one go, at least one.
  ///
  /// - Throws: `.timedOut` when the time is over, or `.interrupted`.
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
