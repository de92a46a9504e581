// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Whether SIGINT or SIGTERM arrived, for programs that end in an orderly way.
///
/// This is the only global state of this room, since a signal handler can access nothing else. It is one atomic number,
/// which a handler may write at any moment.
package enum SignalFlag {
  private static let raised = Atomic<Int32>(0)

  /// Makes SIGINT and SIGTERM raise the flag instead of ending the process.
  ///
  /// - Parameter endsOnSecond: whether a second signal of the same number ends the process immediately. Use false while
  ///   a session with a meter must be ended properly.
  package static func watch(endsOnSecond: Bool = false) {
    _ = raised.load(ordering: .relaxed)
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    for number in [SIGINT, SIGTERM] {
      sigaddset(&unblocked, number)
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { SignalFlag.raised.store($0, ordering: .relaxed) }
      action.sa_flags = endsOnSecond ? Int32(truncatingIfNeeded: SA_RESETHAND) : 0
      // Without SA_RESTART, so that a wait for a meter is interrupted at once.
      sigaction(number, &action, nil)
    }
    // The parent may have blocked them: a process inherits the signal mask of the thread that starts it.
    sigprocmask(SIG_UNBLOCK, &unblocked, nil)
  }

  /// Whether a signal arrived since `watch`.
  package static var isRaised: Bool { signal != nil }

  /// The signal that arrived, or nil.
  package static var signal: Int32? {
    let number = raised.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }
}
