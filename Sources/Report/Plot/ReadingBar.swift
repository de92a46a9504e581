// SPDX-License-Identifier: Apache-2.0

/// One value as a small bar of fixed width, with an arrow if it is outside of the target range.
package enum ReadingBar {
  /// The width of a bar with its arrow.
  package static let columns = 12
  private static let cells = 10
  private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// The bar of a level: its length is the value up to 300 mg/dL, in eighths of a cell, or in ASCII in whole
  /// cells.
  package static func line(_ level: GlucoseLevel, _ targets: Targets, _ signs: PlotSigns) -> PlotLine {
    let band = targets.band(of: level)
    let part = min(1, max(0, level.milligrams / 300))
    let steps = max(1, Int((part * Double(cells * 8)).rounded()))
    let text =
      signs.isASCII
      ? String(repeating: "=", count: max(1, (steps + 4) / 8))
      : String(repeating: "█", count: steps / 8) + (steps % 8 > 0 ? String(eighths[steps % 8 - 1]) : "")
    var line = PlotLine()
    line.append(text, .band(band))
    line.append(String(repeating: " ", count: columns - 1 - text.count))
    line.append(arrow(band, signs), .band(band))
    return line
  }

  private static func arrow(_ band: GlucoseBand, _ signs: PlotSigns) -> String {
    switch band {
    case .veryLow, .low: signs.isASCII ? "v" : "↓"
    case .target: " "
    case .high, .veryHigh: signs.isASCII ? "^" : "↑"
    }
  }
}
