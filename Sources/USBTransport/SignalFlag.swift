// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Whether SIGINT or SIGTERM came, for programs that end in order instead of at once.
///
/// The one global state of this room: a signal handler reaches nothing else. It is one atomic number, which a handler
/// may write at any moment.
package enum SignalFlag {
  private static let raised = Atomic<Int32>(0)

  /// From here on SIGINT and SIGTERM end nothing by themselves; they raise the flag.
  ///
  /// - Parameter endsOnSecond: whether a second signal of the same number ends the process at once. Not while a meter
  ///   must be ended properly.
  package static func watch(endsOnSecond: Bool = false) {
    _ = raised.load(ordering: .relaxed)
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    for number in [SIGINT, SIGTERM] {
      sigaddset(&unblocked, number)
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { SignalFlag.raised.store($0, ordering: .relaxed) }
      action.sa_flags = endsOnSecond ? Int32(truncatingIfNeeded: SA_RESETHAND) : 0
      // Without SA_RESTART, so that a wait for a meter wakes up at once.
      sigaction(number, &action, nil)
    }
    // A parent may have left them blocked: programs inherit the mask of the thread that starts them.
    sigprocmask(SIG_UNBLOCK, &unblocked, nil)
  }

  /// Whether a signal came since `watch`.
  package static var isRaised: Bool { signal != nil }

  /// The signal that came, or nil.
  package static var signal: Int32? {
    let number = raised.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }
}
