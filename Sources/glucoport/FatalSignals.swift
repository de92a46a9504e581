// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import USBTransport

/// Handles signals with which the system ends a program, so that the program states the reason.
///
/// The system sends SIGXCPU when the program reaches its limit of processor time, and again for each further
/// second. It sends SIGBUS when it cannot read or write a page of a file that is mapped to memory. SQLite
/// maps the index of a store's write-ahead log in this way.
enum FatalSignals {
  /// Installs handlers that print why the program ends, and end it. At the limit of processor time, a command
  /// that handles SIGTERM stops as it does after SIGTERM.
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

  // These are computed properties of static texts. A signal handler must not initialise anything, and static
  // texts are part of the program's file.
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
    if isFirst || !SignalFlag.isRaised { writeToStandardError(text) }
    if !isFirst { _exit(ExitStatus.outOfTime.rawValue) }
  }

  private static func end(_ status: ExitStatus, _ text: StaticString) {
    writeToStandardError(text)
    _exit(status.rawValue)
  }

  private static func writeToStandardError(_ text: StaticString) {
    write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }
}
