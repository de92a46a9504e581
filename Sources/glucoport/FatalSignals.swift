// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import USBTransport

/// The signals by which the system ends a program, with the reason that the program then gives.
///
/// The system sends SIGXCPU at the limit of processor time that it gave the program, and again for each further second. It sends
/// SIGBUS where it cannot read or write a page of a file in memory: SQLite has the index of a store's log there.
enum FatalSignals {
  /// Prints why the program ends, and ends it. A command that ends in order after SIGTERM does so at the limit of processor time,
  /// too.
  static func watch(printsJSON: Bool) {
    SignalFlag.prepare()
    var (limit, disk) = (sigaction(), sigaction())
    if printsJSON {
      limit.__sigaction_handler.sa_handler = { FatalSignals.endAtLimit($0, FatalSignals.limitObject) }
      disk.__sigaction_handler.sa_handler = { _ in FatalSignals.end(.inputOutput, FatalSignals.diskObject) }
    } else {
      limit.__sigaction_handler.sa_handler = { FatalSignals.endAtLimit($0, FatalSignals.limitSentence) }
      disk.__sigaction_handler.sa_handler = { _ in FatalSignals.end(.inputOutput, FatalSignals.diskSentence) }
    }
    sigaction(SIGXCPU, &limit, nil)
    sigaction(SIGBUS, &disk, nil)
  }

  // Computed, since a handler may not make what does not exist yet; the texts themselves are in the program's file.
  private static var limitSentence: StaticString {
    "glucoport: the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again\n"
  }

  private static var limitObject: StaticString {
    """
    {"error":"the limit of processor time is reached; raise it (ulimit -St, LimitCPU= of systemd) and try again",\
    "status":152,"hint":"raise it (ulimit -St, LimitCPU= of systemd) and try again"}

    """
  }

  private static var diskSentence: StaticString {
    "glucoport: the disk failed below a file that is in memory; look for its errors with dmesg, and try again\n"
  }

  private static var diskObject: StaticString {
    """
    {"error":"the disk failed below a file that is in memory; look for its errors with dmesg, and try again",\
    "status":74,"hint":"look for its errors with dmesg, and try again"}

    """
  }

  // MARK: - In the handlers

  private static func endAtLimit(_ number: Int32, _ text: StaticString) {
    let isFirst = SignalFlag.raise(number)
    if isFirst || !SignalFlag.isRaised { say(text) }
    if !isFirst { _exit(ExitStatus.outOfTime.rawValue) }
  }

  private static func end(_ status: ExitStatus, _ text: StaticString) {
    say(text)
    _exit(status.rawValue)
  }

  private static func say(_ text: StaticString) {
    write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }
}
