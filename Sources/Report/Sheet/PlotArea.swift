// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The rectangle of a picture in which glucose values are drawn over a day.
struct PlotArea: Sendable {
  let left: Double
  let top: Double
  let right: Double
  let bottom: Double
  /// The upper end of the scale, in mg/dL. The lower end is 0.
  let highest: Double

  /// The upper end of the scale for a picture whose values are at most `highest`. It is at least 250 mg/dL in
  /// steps of 50, or 14 mmol/L in steps of 2.
  ///
  /// The upper end is at most 650 mg/dL or 36 mmol/L, since meters show up to 600 mg/dL (33.3 mmol/L). A
  /// higher value is drawn at the edge.
  static func end(_ highest: Double, _ unit: GlucoseUnit, least: Double = 250) -> Double {
    // The scale ends above the highest value, which must not be drawn at the edge.
    let highest = highest * 1.03
    if unit == .milligramsPerDecilitre { return min(650, max(least, (highest / 50).rounded(.up) * 50)) }
    let factor = Quantity.milligramsPerDecilitreInMillimole
    return min(36, max((least / factor / 2).rounded(.up) * 2, (highest / factor / 2).rounded(.up) * 2))
      * factor
  }

  func x(_ part: Double) -> Double { left + min(1, max(0, part)) * (right - left) }

  func y(_ milligrams: Double) -> Double {
    bottom - min(1, max(0, milligrams / highest)) * (bottom - top)
  }

  /// Draws the target range as an area.
  func band(_ targets: Targets, _ glucose: GlucoseText, on drawing: inout Drawing) {
    let (high, low) = (y(glucose.milligrams(targets.high)), y(glucose.milligrams(targets.low)))
    drawing.rectangle(left, high, right - left, low - high, fill: .band)
  }

  /// Draws the limits of the ranges: solid for the target, dashed for the others. Limits above the scale are
  /// left out.
  func limits(
    _ targets: Targets, _ glucose: GlucoseText, width: Double = 0.9, labels font: Drawing.Font? = nil,
    on drawing: inout Drawing
  ) {
    let solid = [targets.low, targets.high]
    let dashed = [targets.lowest, targets.highest].compactMap(\.self)
    for limit in solid + dashed where glucose.milligrams(limit) < highest {
      let place = y(glucose.milligrams(limit))
      let isTarget = solid.contains(limit)
      drawing.line(
        left, place, right, place,
        Drawing.Stroke(
          ink: isTarget ? .limit : .line, width: isTarget ? width : width * 0.7,
          dashes: isTarget ? [] : [3, 2]))
    }
    guard let font else { return }
    let limits = ([targets.highest, targets.high, targets.low, targets.lowest] as [Targets.Limit?])
      .compactMap(\.self)
      .filter { glucose.milligrams($0) < highest * 0.97 }
    let places = [top] + limits.map { y(glucose.milligrams($0)) } + [bottom]
    let texts = [glucose.number(highest)] + limits.map(glucose.limit) + ["0"]
    let apart = ReportPage.spreadApart(places, by: font.size + 0.5, from: top, to: bottom)
    for (place, text) in zip(apart, texts) {
      drawing.text(text, left - 4, place + font.size * 0.36, font, .text, .end)
    }
  }

  /// Draws the limits of the target range as thin lines with their values at the left, for small pictures.
  func targetLimits(
    _ targets: Targets, _ glucose: GlucoseText, width: Double, labels font: Drawing.Font?,
    on drawing: inout Drawing
  ) {
    let limits = [targets.high, targets.low]
    let places = limits.map { y(glucose.milligrams($0)) }
    for place in places {
      drawing.line(left, place, right, place, Drawing.Stroke(ink: .limit, width: width))
    }
    guard let font else { return }
    for (limit, place) in zip(limits, ReportPage.spreadApart(places, by: 6, from: top, to: bottom)) {
      drawing.text(glucose.limit(limit), left - 3, place + 2.2, font, .text, .end)
    }
  }

  /// Draws a thin line at each hour, and the hour below.
  func hours(_ hours: [(part: Double, text: String)], _ font: Drawing.Font, on drawing: inout Drawing) {
    for hour in hours {
      let place = x(hour.part)
      drawing.line(place, top, place, bottom, Drawing.Stroke(ink: .grid, width: 0.4))
      drawing.text(hour.text, place, bottom + font.size + 2, font, .text, .middle)
    }
  }

  /// Every third hour of a day of 24 hours, or every sixth in a narrow picture.
  static func usualHours(_ width: Double) -> [(part: Double, text: String)] {
    stride(from: 0, through: 24, by: width < Sheet.width ? 6 : 3).map { hour in
      (part: Double(hour) / 24, text: hour < 10 ? "0\(hour)" : "\(hour)")
    }
  }

  func frame(on drawing: inout Drawing) {
    drawing.rectangle(left, top, right - left, bottom - top, stroke: Drawing.Stroke(ink: .line, width: 0.6))
  }
}

/// Draws the curve of a day, with the areas between the curve and the target range filled.
struct DayLine {
  let day: DayCurve
  let area: PlotArea
  let targets: Targets
  let glucose: GlucoseText
  var width = 1.0
  /// The minimum distance between two samples on the curve, in points of the drawing. Some of the samples
  /// that are closer are left out.
  var detail = 0.4

  func x(_ instant: Int64) -> Double { area.x(day.part(instant)) }

  func point(_ dot: DayCurve.Dot) -> (x: Double, y: Double) { (x(dot.instant), area.y(dot.level.milligrams)) }

  /// Draws a line where the clock changed on a journey.
  func clockChanges(on drawing: inout Drawing) {
    for change in day.clockChanges {
      let x = x(change.instant)
      drawing.line(x, area.top, x, area.bottom, Drawing.Stroke(ink: .text, width: 0.6, dashes: [1, 2]))
    }
  }

  func draw(on drawing: inout Drawing) {
    clockChanges(on: &drawing)
    for run in day.runs {
      fill(run, .below, limit: targets.low, on: &drawing) { $0 <= .low }
      fill(run, .above, limit: targets.high, on: &drawing) { $0 >= .high }
    }
    for run in day.runs {
      let points = thinned(run.map(point))
      drawing.path(points, stroke: Drawing.Stroke(ink: .curve, width: width))
      // The curve of such a narrow run cannot be seen, so its values are drawn as dots, too.
      guard let first = points.first, let last = points.last, last.x - first.x < 1.5 else { continue }
      for point in points { drawing.circle(point.x, point.y, 1.1, fill: .curve) }
    }
  }

  func dots(_ radius: Double, on drawing: inout Drawing) {
    for scan in day.scans.map(point) {
      drawing.circle(scan.x, scan.y, radius, stroke: Drawing.Stroke(ink: .text, width: 0.6))
    }
    for stick in day.sticks.map(point) {
      drawing.circle(stick.x, stick.y, radius, fill: .text, stroke: Drawing.Stroke(ink: .paper, width: 0.4))
    }
  }

  /// Fills the areas between the curve and a limit, where the curve is outside the target range.
  private func fill(
    _ run: ArraySlice<DayCurve.Dot>, _ ink: Ink, limit: Targets.Limit, on drawing: inout Drawing,
    _ isBeyond: (GlucoseBand) -> Bool
  ) {
    let floor = area.y(glucose.milligrams(limit))
    var points: [(x: Double, y: Double)] = []
    func close() {
      if let first = points.first, let last = points.last, last.x > first.x {
        drawing.path([(first.x, floor)] + thinned(points) + [(last.x, floor)], fill: ink)
      }
      points = []
    }
    for dot in run {
      if isBeyond(targets.band(of: dot.level)) { points.append(point(dot)) } else { close() }
    }
    close()
  }

  /// Keeps only the first, lowest, highest and last of several points that are too close to be distinguished.
  private func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
    var (kept, start): ([(x: Double, y: Double)], Int) = ([], 0)
    while start < points.count {
      var end = start + 1
      while end < points.count, points[end].x - points[start].x < detail { end += 1 }
      let group = points[start..<end]
      if group.count <= 3 {
        kept += group
      } else if let first = group.first, let last = group.last, let low = group.min(by: { $0.y < $1.y }),
        let high = group.max(by: { $0.y < $1.y })
      {
        kept += [first] + [low, high].sorted { $0.x < $1.x } + [last]
      }
      start = end
    }
    return kept
  }
}
