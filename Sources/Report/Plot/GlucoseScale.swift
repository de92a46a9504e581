// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The scale of glucose values in a picture: from 40 to 300 mg/dL, or to 400 or 600 if there are higher
/// values. In mmol/L it is from 2 to 17, 22 or 34. A value outside the scale is drawn at the edge.
package struct GlucoseScale: Hashable, Sendable {
  /// The lowest value, in mg/dL.
  package let bottom: Double
  /// The highest value, in mg/dL.
  package let top: Double

  /// The scale for values up to `highest`, in mg/dL.
  package init(highest: Double, _ unit: GlucoseUnit) {
    if unit == .milligramsPerDecilitre {
      (bottom, top) = (40, highest > 400 ? 600 : highest > 300 ? 400 : 300)
    } else {
      let factor = Quantity.milligramsPerDecilitreInMillimole
      (bottom, top) = (2 * factor, (highest > 22.25 * factor ? 34 : highest > 17 * factor ? 22 : 17) * factor)
    }
  }

  /// The position of a value: 0 at the bottom, 1 at the top.
  package func part(_ milligrams: Double) -> Double { min(1, max(0, (milligrams - bottom) / (top - bottom))) }

  /// The index of the row that contains a value, from 0 at the top, if the scale has `count` rows.
  package func place(_ milligrams: Double, of count: Int) -> Int {
    Int(((1 - part(milligrams)) * Double(count - 1)).rounded())
  }
}

/// A picture with axes for glucose and for a day.
struct PlotFrame: Sendable {
  /// The number of columns left of the picture.
  static let gutter = 6
  static let minColumns = 40
  static let maxColumns = 160

  let signs: PlotSigns
  let glucose: GlucoseText
  let targets: Targets
  let scale: GlucoseScale
  let columns: Int
  let rows: Int

  /// - Parameter columns: the width of the whole line.
  init(
    _ signs: PlotSigns, _ glucose: GlucoseText, _ targets: Targets, highest: Double, columns: Int, rows: Int
  ) {
    (self.signs, self.glucose, self.targets) = (signs, glucose, targets)
    scale = GlucoseScale(highest: highest, glucose.unit)
    self.columns = min(Self.maxColumns, max(Self.minColumns, columns)) - Self.gutter
    self.rows = max(6, rows)
  }

  func row(_ milligrams: Double) -> Int { scale.place(milligrams, of: rows * 4) / 4 }

  /// A canvas on which the limits of the target range are drawn.
  func canvas() -> PlotCanvas {
    var canvas = PlotCanvas(columns: columns, rows: rows, signs)
    for limit in [targets.low, targets.high] {
      for column in 0..<columns { canvas.ground(signs.limit, column: column, row: row(of: limit), .axis) }
    }
    return canvas
  }

  /// The lines of a canvas with the values on the left, and the hours below.
  func lines(_ canvas: PlotCanvas, hours: [(column: Int, text: String)]) -> [PlotLine] {
    var labels: [Int: String] = [0: glucose.number(scale.top)]
    let limits = [targets.highest, targets.lowest, targets.high, targets.low]
    for limit in limits.compactMap(\.self) { labels[row(of: limit)] = glucose.limit(limit) }
    let body = (0..<rows).map { row in
      var line = margin(labels[row] ?? "", labels[row] == nil ? signs.wall : signs.mark)
      line.append(canvas.line(row))
      return line
    }
    return body + axis(hours)
  }

  /// A right-aligned text in the gutter, and the sign between it and the picture.
  func margin(_ label: String, _ sign: Character) -> PlotLine {
    var line = PlotLine(String(repeating: " ", count: max(0, Self.gutter - 2 - label.count)) + label + " ")
    line.append(String(sign), .axis)
    return line
  }

  private func row(of limit: Targets.Limit) -> Int { row(glucose.milligrams(limit)) }

  private func axis(_ hours: [(column: Int, text: String)]) -> [PlotLine] {
    var floor = margin("", signs.corner)
    let ticks = Set(hours.map(\.column))
    floor.append(
      String((0..<columns).map { ticks.contains($0) ? signs.tick : signs.floor }), .axis)
    var labels = PlotLine(String(repeating: " ", count: Self.gutter))
    labels.append(row(of: hours.map { ($0.column, $0.text, nil) }))
    return [floor, labels]
  }

  /// A line in which each text begins at its column, or further to the right if earlier texts leave no space.
  /// If texts are left out, the line ends with their number.
  func row(of items: [(column: Int, text: String, role: PlotRole?)]) -> PlotLine {
    var (line, used, left) = (PlotLine(), 0, 0)
    for (index, item) in items.enumerated() {
      let start = min(max(item.column, used == 0 ? 0 : used + 1), max(0, columns - item.text.count))
      // If further texts follow, space is reserved for the number of those that are left out.
      let reserve = index + 1 < items.count ? 4 : 0
      guard left == 0, start >= (used == 0 ? 0 : used + 1),
        start + item.text.count + (start > item.column ? reserve : 0) <= columns
      else {
        left += 1
        continue
      }
      line.append(String(repeating: " ", count: start - used))
      line.append(item.text, item.role)
      used = start + item.text.count
    }
    if left > 0, used + 2 + String(left).count <= columns { line.append(" +\(left)") }
    return line
  }
}
