// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The picture of a day for a terminal: the curve of the sensor with the target range, finger sticks and
/// scans on it, insulin and carbohydrates below.
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
        y: frame.scale.place(dot.level.milligrams, of: canvas.height)
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
