// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Report

/// How a picture is drawn.
struct PlotOptions: ParsableArguments {
  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Flag(help: "Describe the picture in words, for screen readers.")
  var plain = false

  func validate() throws {
    if ascii, plain { throw ValidationError("Use only one of --ascii and --plain.") }
  }

  var signs: PlotSigns { PlotSigns(isASCII: ascii) }

  /// The width of the terminal, or 80.
  static var columns: Int { Host.terminalColumns(STDOUT_FILENO) }
}
