// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The profile by the time of day for a terminal: the median as a curve, and the middle half and the middle
/// nine tenths of the readings as two fillings.
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
      let y = values(at: (Double(x) + 0.5) / 2).map { frame.scale.place($0[2], of: canvas.height) }
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
