// SPDX-License-Identifier: Apache-2.0

/// The shares of the five ranges as one bar, lowest range first.
package struct RangeBar: Sendable {
  private let percents: [Double]
  private let texts: PercentTexts
  private let signs: PlotSigns
  private let targets: Targets

  /// The bar of a sensor's time; nil if there is too little data for percentages.
  package init?(_ ranges: [RangeFigures], _ targets: Targets, _ signs: PlotSigns) {
    let numbers = ranges.map { $0.percent.shortage == .notSeparate ? 0 : $0.percent.number }
    guard !numbers.contains(nil), numbers.count == GlucoseBand.allCases.count else { return nil }
    percents = numbers.compactMap(\.self)
    texts = PercentTexts(minutes: ranges)
    (self.signs, self.targets) = (signs, targets)
  }

  /// The bar, and below it the meaning and the percentage of each part.
  package func lines(columns: Int) -> [PlotLine] {
    var bar = PlotLine()
    for (band, count) in zip(GlucoseBand.allCases, Self.cells(percents, of: columns)) {
      bar.append(String(repeating: signs.filling(band), count: count), .band(band))
    }
    let parts = GlucoseBand.allCases.compactMap { band -> String? in
      guard band != .veryHigh || targets.highest != nil else { return nil }
      let name = band.name.replacing("_", with: " ")
      return "\(signs.filling(band)) \(name) \(texts[band]) %"
    }
    return [bar] + Wrapping.lines(parts, columns: columns).map { PlotLine($0) }
  }

  /// The number of cells of each part. It follows from the part's size, but is at least one if the size is
  /// not 0.
  static func cells(_ percents: [Double], of count: Int) -> [Int] {
    let sum = percents.reduce(0, +)
    guard sum > 0 else { return percents.map { _ in 0 } }
    let exact = percents.map { $0 / sum * Double(count) }
    var cells = exact.map { $0 > 0 ? max(1, Int($0)) : 0 }
    while cells.reduce(0, +) != count {
      let isShort = cells.reduce(0, +) < count
      // Changes the part whose number of cells differs most from its exact size. If two parts differ equally,
      // the first is changed.
      let candidates = cells.indices.filter { isShort ? exact[$0] > 0 : cells[$0] > 1 }
      guard
        let index = candidates.max(by: { left, right in
          let (a, b) = (exact[left] - Double(cells[left]), exact[right] - Double(cells[right]))
          return isShort ? a < b : a > b
        })
      else { break }
      cells[index] += isShort ? 1 : -1
    }
    return cells
  }
}

/// Splits text into lines of a width.
enum Wrapping {
  /// Puts texts into lines, with the separator between two texts. Each line has as many texts as fit.
  static func lines(_ parts: [String], columns: Int, separator: String = "   ") -> [String] {
    var lines: [String] = []
    for part in parts {
      if let last = lines.last, last.count + separator.count + part.count <= columns {
        lines[lines.count - 1] = last + separator + part
      } else {
        lines.append(part)
      }
    }
    return lines
  }

  /// A text, split at its blanks. A longer word is on a separate line.
  static func lines(_ text: String, columns: Int) -> [String] {
    lines(text.split(separator: " ").map(String.init), columns: columns, separator: " ")
  }
}

/// One value as a small bar of fixed width, with an arrow if it is outside of the target range.
package enum ReadingBar {
  /// The width of a bar with its arrow.
  package static let columns = 12
  private static let cells = 10
  private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// The bar of a level. Its length is the value, up to 300 mg/dL, in eighths of a cell. In ASCII, the length
  /// is in whole cells.
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
