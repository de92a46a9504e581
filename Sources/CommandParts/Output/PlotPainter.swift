// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore
package import Report

/// Turns the pictures of plots into text for standard output, with colours if it is a terminal that supports
/// them.
package struct PlotPainter {
  let hasColours: Bool

  /// The painter for standard output. It uses colours on a terminal, unless `NO_COLOR` is set (no-color.org).
  package static var standardOutput: PlotPainter {
    let isCapable = Host.isTerminal(STDOUT_FILENO) && Host.environment("TERM").map { $0 != "dumb" } ?? false
    return PlotPainter(hasColours: isCapable && Host.environment("NO_COLOR") == nil)
  }

  /// A line of a picture as text. Without colours, the blanks at its end are removed.
  package func text(_ line: PlotLine) -> String {
    guard hasColours else { return line.text }
    return line.pieces.map { piece in
      guard let role = piece.role else { return piece.text }
      return "\u{1B}[\(Self.code(role))m\(piece.text)\u{1B}[0m"
    }.joined()
  }

  /// The ECMA-48 parameters that start the colour of a role.
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

/// The bars that follow the values in a list.
package struct ListBars {
  private let signs: PlotSigns
  private let painter = PlotPainter.standardOutput

  /// With `isASCII`, the bars consist only of ASCII characters, otherwise of block characters.
  package init(isASCII: Bool) { signs = PlotSigns(isASCII: isASCII) }

  /// The bar for a reading. If it has no glucose value, the text consists of blanks of the same width.
  func text(_ reading: StoredReading) -> String {
    guard reading.kind != .ketone, let level = GlucoseLevel(reading.measurement, of: reading.kind) else {
      return String(repeating: " ", count: ReadingBar.columns)
    }
    let line = ReadingBar.line(level, .standard, signs)
    let text = painter.text(line)
    return painter.hasColours ? text : text + String(repeating: " ", count: ReadingBar.columns - text.count)
  }
}
