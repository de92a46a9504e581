// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Shows the progress of long work, only on a terminal.
final class ProgressMeter {
  private let output: Output
  private let isShown: Bool
  private var hasWritten = false

  init(_ output: Output, isQuiet: Bool) {
    self.output = output
    isShown = !isQuiet && Host.isTerminal(STDERR_FILENO)
  }

  func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    hasWritten = true
    output.progress(text())
  }

  func clear() {
    if hasWritten { output.progress("") }
  }
}
