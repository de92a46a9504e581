// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore
package import Report

/// Pictures as text for standard output, in colours where that is a terminal that has them.
package struct PlotPainter {
  let hasColours: Bool

  /// Colours for a terminal, unless `NO_COLOR` is set (no-color.org).
  package static var standardOutput: PlotPainter {
    let isCapable = Host.isTerminal(STDOUT_FILENO) && Host.environment("TERM").map { $0 != "dumb" } ?? false
    return PlotPainter(hasColours: isCapable && Host.environment("NO_COLOR") == nil)
  }

  /// The line as text; without colours, blanks at its end are removed as well.
  package func text(_ line: PlotLine) -> String {
    guard hasColours else { return line.text }
    return line.pieces.map { piece in
      guard let role = piece.role else { return piece.text }
      return "\u{1B}[\(Self.code(role))m\(piece.text)\u{1B}[0m"
    }.joined()
  }

  /// The ECMA-48 code that starts a colour.
  private static func code(_ role: PlotRole) -> String {
    switch role {
    case .band(.veryLow): "1;31"
    case .band(.low): "31"
    case .band(.target): "32"
    case .band(.high): "33"
    case .band(.veryHigh): "1;33"
    case .insulin: "36"
    case .food: "35"
    case .axis, .spread, .leftOut: "2"
    case .median: "1"
    }
  }
}

/// The bars of a list.
package struct ListBars {
  private let signs: PlotSigns
  private let painter = PlotPainter.standardOutput

  /// Bars of block characters, or only of ASCII.
  package init(isASCII: Bool) { signs = PlotSigns(isASCII: isASCII) }

  /// The bar of a reading; blanks for one without a glucose value.
  func text(_ reading: StoredReading) -> String {
    guard reading.kind != .ketone, let level = GlucoseLevel(reading.measurement, of: reading.kind) else {
      return String(repeating: " ", count: ReadingBar.columns)
    }
    let line = ReadingBar.line(level, .standard, signs)
    let text = painter.text(line)
    return painter.hasColours ? text : text + String(repeating: " ", count: ReadingBar.columns - text.count)
  }
}
