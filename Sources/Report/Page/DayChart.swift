// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The picture of a day on a page.
struct DayChart {
  private static let curveHeight = 130
  private static let laneHeight = 18

  let day: DayCurve
  let targets: Targets
  let glucose: GlucoseText
  /// The same for all days, so that they can be compared.
  let scale: GlucoseScale

  private var area: ChartArea { ChartArea(height: Self.curveHeight, scale: scale) }

  /// - Parameter id: an id that no other picture of the page has.
  func picture(_ id: String, title: String, description: String) -> Markup {
    let floor = area.bottom + 2 * Self.laneHeight
    let hours = day.hours.filter { $0.hour.isMultiple(of: 3) }.map { hour in
      (part: part(hour.instant), text: hour.hour < 10 ? "0\(hour.hour)" : "\(hour.hour)")
    }
    let content =
      area.ground(targets, glucose) + area.hours(hours, under: floor) + curves + dots
      + lane(.insulin, "insulin", "U", area.bottom + Self.laneHeight - 4) { $0.units }
      + lane(.food, "food", "g", area.bottom + 2 * Self.laneHeight - 4) { $0.carbohydrates }
    return SVG.picture(
      id, width: ChartArea.width, height: floor + 20, title: title, description: description, content)
  }

  private func part(_ instant: Int64) -> Double {
    Double(instant - day.period.start) / Double(max(1, day.period.end - day.period.start))
  }

  private func point(_ dot: DayCurve.Dot) -> (x: Int, y: Int) {
    (area.x(part(dot.instant)), area.y(dot.level.milligrams))
  }

  private var curves: String {
    var svg = ""
    for run in day.runs {
      svg += stretches(run, "below", limit: targets.low) { $0 <= .low }
      svg += stretches(run, "above", limit: targets.high) { $0 >= .high }
    }
    for run in day.runs { svg += SVG.path("curve", SVG.outline(SVG.thinned(run.map(point)))) }
    return svg
  }

  /// The areas between the curve and a limit that it crosses.
  private func stretches(
    _ run: ArraySlice<DayCurve.Dot>, _ name: String, limit: Targets.Limit, _ isBeyond: (GlucoseBand) -> Bool
  ) -> String {
    let floor = area.y(glucose.milligrams(limit))
    var (svg, points): (String, [(x: Int, y: Int)]) = ("", [])
    func close() {
      guard let first = points.first, let last = points.last, last.x > first.x else {
        points = []
        return
      }
      let outline = [(x: first.x, y: floor)] + SVG.thinned(points) + [(x: last.x, y: floor)]
      svg += SVG.path(name, SVG.outline(outline, isClosed: true))
      points = []
    }
    for dot in run {
      if isBeyond(targets.band(of: dot.level)) { points.append(point(dot)) } else { close() }
    }
    close()
    return svg
  }

  private var dots: String {
    let scans = day.scans.map(point).map { SVG.circle("scan", $0.x, $0.y, 3) }
    let sticks = day.sticks.map(point).map { SVG.circle("stick", $0.x, $0.y, 4) }
    return (scans + sticks).joined()
  }

  /// Amounts, each at its time: always a mark, and the number if the previous one leaves space.
  private func lane(
    _ kind: RecordKind, _ name: String, _ unit: String, _ y: Int, _ amount: (DayEvent) -> Double?
  ) -> String {
    var svg = SVG.text("end", area.left - 5, y, unit)
    var free = area.left
    for event in day.events where event.kind == kind && !event.isBasalRate {
      guard let amount = amount(event) else { continue }
      let x = area.x(part(event.instant))
      svg += SVG.rectangle(name, x - 1, y - 10, 3, 11)
      let text = glucose.plain(amount)
      let width = text.count * 7 + 4
      if x >= free, x + 4 + width <= area.right + 8 {
        svg += SVG.text("", x + 4, y, text)
        free = x + 4 + width
      }
    }
    return svg
  }
}
