// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The picture of a day for a terminal. It has the curve of the sensor with the target range, finger sticks
/// and scans on it, and insulin and carbohydrates below.
package struct DayPlot: Sendable {
  private let day: DayCurve
  private let targets: Targets
  private let glucose: GlucoseText
  private let signs: PlotSigns
  private let frame: PlotFrame

  /// - Parameters:
  ///   - columns: the width of the terminal; at least 40 are used, and at most 160.
  ///   - rows: the height of the curve.
  package init(
    _ day: DayCurve, _ targets: Targets, _ glucose: GlucoseText, _ signs: PlotSigns, columns: Int,
    rows: Int = 12
  ) {
    (self.day, self.targets, self.glucose, self.signs) = (day, targets, glucose, signs)
    let highest = (day.sensor + day.sticks + day.scans).map(\.level.milligrams).max() ?? 0
    frame = PlotFrame(signs, glucose, targets, highest: highest, columns: columns, rows: rows)
  }

  /// The lines, none of them wider than the terminal.
  package var lines: [PlotLine] {
    var canvas = frame.canvas()
    for run in day.runs { draw(run, on: &canvas) }
    for dot in day.scans { put(signs.scan, dot, on: &canvas) }
    for dot in day.sticks { put(signs.stick, dot, on: &canvas) }
    return frame.lines(canvas, hours: hours) + eventLines + legend
  }

  private func draw(_ run: ArraySlice<DayCurve.Dot>, on canvas: inout PlotCanvas) {
    var last: (x: Int, y: Int)?
    for dot in run {
      let place = (
        x: column(dot.instant, of: canvas.width),
        y: frame.scale.rowIndex(dot.level.milligrams, of: canvas.height)
      )
      canvas.line(from: last ?? place, to: place, .band(targets.band(of: dot.level)))
      last = place
    }
  }

  private func put(_ sign: Character, _ dot: DayCurve.Dot, on canvas: inout PlotCanvas) {
    canvas.top(
      sign, column: column(dot.instant, of: frame.columns), row: frame.row(dot.level.milligrams),
      .band(targets.band(of: dot.level)))
  }

  private func column(_ instant: Int64, of count: Int) -> Int {
    min(count - 1, max(0, Int(day.part(instant) * Double(count))))
  }

  /// Every third hour of the day, or every sixth if there is little space.
  private var hours: [(column: Int, text: String)] {
    let step = frame.columns >= 54 ? 3 : 6
    return day.hours(every: step, apart: 3.5 / Double(frame.columns)).map { hour in
      let text = hour.hour < 10 ? "0\(hour.hour)" : "\(hour.hour)"
      return (column(hour.instant, of: frame.columns), text)
    }
  }

  private var eventLines: [PlotLine] {
    let insulin = day.events.filter { $0.kind == .insulin && !$0.isBasalRate }.compactMap { event in
      event.units.map {
        (column(event.instant, of: frame.columns), glucose.plain($0), PlotRole.insulin as PlotRole?)
      }
    }
    let food = day.events.filter { $0.kind == .food }.compactMap { event in
      event.carbohydrates.map {
        (column(event.instant, of: frame.columns), glucose.plain($0), PlotRole.food as PlotRole?)
      }
    }
    return [("U", insulin), ("g", food)].filter { !$0.1.isEmpty }.map { label, items in
      var line = frame.margin(label, signs.wall)
      line.append(frame.row(of: items))
      return line
    }
  }

  private var legend: [PlotLine] {
    let parts = [
      (day.sensor.isEmpty, "\(signs.curve) sensor"), (day.sticks.isEmpty, "\(signs.stick) finger stick"),
      (day.scans.isEmpty, "\(signs.scan) scan"),
    ].filter { !$0.0 }.map(\.1)
    return Wrapping.lines(parts, columns: frame.columns + PlotFrame.gutter).map { PlotLine($0) }
  }
}

/// The profile by the time of day for a terminal. The median is a curve. The middle half and the middle nine
/// tenths of the readings are two fillings.
package struct ProfilePlot: Sendable {
  private let profile: Profile
  private let signs: PlotSigns
  private let frame: PlotFrame

  /// - Parameter columns: the width of the terminal; at least 40 are used, and at most 160.
  package init(
    _ profile: Profile, _ targets: Targets, _ glucose: GlucoseText, _ signs: PlotSigns, columns: Int,
    rows: Int = 12
  ) {
    (self.profile, self.signs) = (profile, signs)
    let highest = profile.points.compactMap { $0.percentiles?.last }.max() ?? 0
    frame = PlotFrame(signs, glucose, targets, highest: highest, columns: columns, rows: rows)
  }

  /// The lines of the picture, each within the width of the terminal. If there is no profile, one line states
  /// the reason.
  package var lines: [PlotLine] {
    if let shortage = profile.shortage {
      return [PlotLine(signs.plain("24-hour profile — (\(shortage.text))"))]
    }
    var canvas = frame.canvas()
    for column in 0..<frame.columns {
      guard let values = values(at: Double(column) + 0.5) else { continue }
      fill(column, values[0], values[4], signs.tails, on: &canvas)
      fill(column, values[1], values[3], signs.quartiles, on: &canvas)
    }
    var last: Int?
    for x in 0..<canvas.width {
      let y = values(at: (Double(x) + 0.5) / 2).map { frame.scale.rowIndex($0[2], of: canvas.height) }
      if let y { canvas.line(from: (x, last ?? y), to: (x, y), .median) }
      last = y
    }
    let step = frame.columns >= 54 ? 3 : 6
    let hours = stride(from: 0, through: 24, by: step).map { hour in
      (column: min(frame.columns - 1, hour * frame.columns / 24), text: hour < 10 ? "0\(hour)" : "\(hour)")
    }
    return frame.lines(canvas, hours: hours) + legend
  }

  private func fill(
    _ column: Int, _ low: Double, _ high: Double, _ sign: Character, on canvas: inout PlotCanvas
  ) {
    for row in frame.row(high)...max(frame.row(high), frame.row(low)) {
      canvas.ground(sign, column: column, row: row, .spread)
    }
  }

  /// The percentiles at a position between the columns, linear between the points of the profile; nil in a
  /// gap.
  private func values(at column: Double) -> [Double]? {
    let count = profile.points.count
    let place = column / Double(frame.columns) * Double(count)
    let index = min(count - 1, Int(place))
    guard let first = profile.points[index].percentiles,
      let second = profile.points[(index + 1) % count].percentiles
    else { return nil }
    return zip(first, second).map { $0 + ($1 - $0) * (place - Double(index)) }
  }

  private var legend: [PlotLine] {
    let parts = [
      "\(signs.curve) median", "\(signs.quartiles) half of the readings", "\(signs.tails) nine of ten",
    ]
    return Wrapping.lines(parts, columns: frame.columns + PlotFrame.gutter).map { PlotLine($0) }
  }
}

extension Profile {
  /// The profile in sentences, for screen readers: one sentence for every third hour.
  package func words(_ glucose: GlucoseText) -> [String] {
    if let shortage { return ["24-hour profile: none (\(shortage.text))."] }
    let lines = stride(from: 0, to: points.count, by: points.count / 8).map { index -> String in
      let point = points[index]
      let time = "At \(clock(Int64(point.minute) * 60))"
      guard let values = point.percentiles else { return "\(time): too few readings." }
      let numbers = values.map(glucose.number)
      return
        "\(time): median \(numbers[2]), half of the readings from \(numbers[1]) to \(numbers[3]), nine of ten from \(numbers[0]) to \(numbers[4])."
    }
    return ["24-hour profile in \(glucose.unit.name):"] + lines
  }
}

/// The time of day as `HH:MM`, from seconds since midnight or civil seconds.
func clock(_ seconds: Int64) -> String {
  let minutes = ((seconds / 60) % 1440 + 1440) % 1440
  let (hour, minute) = (minutes / 60, minutes % 60)
  return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
}

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
  package func rowIndex(_ milligrams: Double, of count: Int) -> Int {
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

  func row(_ milligrams: Double) -> Int { scale.rowIndex(milligrams, of: rows * 4) / 4 }

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
