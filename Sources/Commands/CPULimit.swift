// SPDX-License-Identifier: Apache-2.0

import Glibc
import USBTransport

/// The end of the program at the limit of processor time that the system gave it. The system sends SIGXCPU there, and once
/// more for each further second until it kills the process.
enum CPULimit {
  /// Says at the limit why the program ends, and ends it. A command that ends in order after SIGTERM does so here, too.
  static func watch(printsJSON: Bool) {
    SignalFlag.prepare()
    var action = sigaction()
    if printsJSON {
      action.__sigaction_handler.sa_handler = { CPULimit.end($0, CPULimit.object) }
    } else {
      action.__sigaction_handler.sa_handler = { CPULimit.end($0, CPULimit.sentence) }
    }
    sigaction(SIGXCPU, &action, nil)
  }

  // Computed, since a handler may not make what does not exist yet; the text itself is in the program's file.
  private static var sentence: StaticString {
    "glucoport: the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again\n"
  }

  private static var object: StaticString {
    """
    {"error":"the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again",\
    "status":152,"hint":"raise it (ulimit -St, LimitCPU= of systemd) and try again"}

    """
  }

  /// Runs in the handler of the signal.
  private static func end(_ number: Int32, _ text: StaticString) {
    let isFirst = SignalFlag.raise(number)
    if isFirst || !SignalFlag.isRaised { write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount) }
    if !isFirst { _exit(ExitStatus.outOfTime.rawValue) }
  }
}
