// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import Synchronization

/// The deadlines of exchanges, and interruption of the program.
final class Watch {
  /// The instant by which an exchange must end.
  struct Deadline {
    fileprivate let instant: ContinuousClock.Instant
  }

  /// The total time of exchanges after an interruption, in milliseconds. It is enough to end a session of
  /// every protocol.
  static let graceMilliseconds = 1000

  /// The maximum time of one wait, in milliseconds. It is short, since a signal that arrives immediately
  /// before a wait does not end the wait.
  private static let longestWaitMilliseconds = 50

  private let isInterrupted: () -> Bool
  private var graceEnd: ContinuousClock.Instant?

  /// - Parameter isInterrupted: polled whenever an exchange begins, and before each wait.
  init(isInterrupted: @escaping () -> Bool) { self.isInterrupted = isInterrupted }

  /// The deadline of an exchange that begins now.
  ///
  /// - Throws: `.interrupted` for the first exchange after an interruption. After that, exchanges can end the
  ///   session for `graceMilliseconds`, and later ones throw `.interrupted` again.
  func deadline(_ milliseconds: Int) throws(TransportError) -> Deadline {
    try checkInterruption()
    let end = ContinuousClock.now + .milliseconds(max(0, milliseconds))
    return Deadline(instant: min(end, graceEnd ?? end))
  }

  /// The number of milliseconds of the next wait, at least 1.
  ///
  /// - Throws: `.timedOut` after the deadline, or `.interrupted` as for `deadline(_:)`.
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

/// Whether SIGINT or SIGTERM arrived, for programs that end in an orderly way.
///
/// This is the only global state of this module, since a signal handler can access nothing else. The state is
/// one atomic number, since a handler may write at any moment.
package enum SignalFlag {
  private static let unwatched: Int32 = -1
  /// The first signal that arrived; 0 if none did, and -1 before `watch`.
  private static let raised = Atomic<Int32>(unwatched)

  /// Makes SIGINT and SIGTERM raise the flag instead of ending the process.
  ///
  /// - Parameter endsOnSecond: whether a second signal of the same number ends the process immediately. Use
  ///   false while a session with a meter must be ended properly.
  package static func watch(endsOnSecond: Bool = false) {
    // This first use creates the atomic number, which the signal handler must not do.
    _ = raised.compareExchange(expected: unwatched, desired: 0, ordering: .relaxed)
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    for number in [SIGINT, SIGTERM] {
      sigaddset(&unblocked, number)
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { SignalFlag.raised.store($0, ordering: .relaxed) }
      action.sa_flags = endsOnSecond ? Int32(truncatingIfNeeded: SA_RESETHAND) : 0
      // SA_RESTART is not set, so that a signal interrupts a wait for a meter at once.
      sigaction(number, &action, nil)
    }
    // The parent process may have blocked the signals, since a process inherits the signal mask of the thread
    // that starts it.
    sigprocmask(SIG_UNBLOCK, &unblocked, nil)
  }

  /// Whether a signal arrived since `watch`.
  package static var isRaised: Bool { signal != nil }

  /// The signal that arrived, or nil.
  package static var signal: Int32? {
    let number = raised.load(ordering: .relaxed)
    return number > 0 ? number : nil
  }

  /// Creates the atomic number of the flag, so that the handler of another signal can call `raise`.
  package static func prepare() { _ = raised.load(ordering: .relaxed) }

  /// Raises the flag from the handler of another signal. Returns false if `watch` was not called, or if the
  /// flag is already raised.
  package static func raise(_ number: Int32) -> Bool {
    raised.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged
  }
}
