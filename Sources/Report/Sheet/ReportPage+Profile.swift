// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

extension ReportPage {
  /// The box with the profile by the time of day.
  func profileBox(_ width: Double = Sheet.width, height: Double) -> Drawing {
    let note = width < Sheet.width ? "" : " · \(texts.sheet.profileNote)"
    var drawing = Drawing.box(texts.profile, width: width, height: height, note: contents.unit.name + note)
    let profile = contents.result.profile
    guard let profile, profile.shortage == nil else {
      drawing.reason(reason(profile?.shortage ?? .noReadings))
      return drawing
    }
    let highest = profile.points.compactMap { $0.percentiles?.last }.max() ?? 0
    let area = PlotArea(
      left: 30, top: Drawing.titleHeight + 8, right: width - 40, bottom: height - 16,
      highest: PlotArea.end(highest, contents.unit, least: 350))
    drawing.part(
      .figure(
        profileSentence(profile), x: 2, y: Drawing.titleHeight, width: width - 4, height: height - 17)
    ) { drawing in
      area.band(contents.targets, glucose, on: &drawing)
      let runs = Self.runs(profile)
      for run in runs { Self.areas(run, area, on: &drawing) }
      area.hours(PlotArea.usualHours(width), .plain, on: &drawing)
      area.limits(contents.targets, glucose, width: 1.1, labels: .plain, on: &drawing)
      for run in runs { Self.curves(run, area, on: &drawing) }
      area.frame(on: &drawing)
      if let last = runs.last?.last { Self.names(last.values, area, on: &drawing) }
    }
    return drawing
  }

  private func profileSentence(_ profile: Profile) -> String {
    let medians = profile.points.compactMap { point in point.percentiles.map { (point.minute, $0[2]) } }
    guard let low = medians.min(by: { $0.1 < $1.1 }), let high = medians.max(by: { $0.1 < $1.1 }) else {
      return texts.profile
    }
    return PageTexts.fill(
      texts.sheet.profileSentence, glucose.number(low.1), clock(Int64(low.0) * 60), glucose.number(high.1),
      clock(Int64(high.0) * 60), contents.unit.name)
  }

  private static func curve(
    _ run: [(minute: Int, values: [Double])], _ index: Int, _ area: PlotArea
  ) -> [(x: Double, y: Double)] {
    run.map { (area.x(Double($0.minute) / 1440), area.y($0.values[index])) }
  }

  private static func areas(
    _ run: [(minute: Int, values: [Double])], _ area: PlotArea, on drawing: inout Drawing
  ) {
    for (ink, low, high) in [(Ink.tails, 0, 4), (.half, 1, 3)] {
      drawing.path(curve(run, high, area) + curve(run, low, area).reversed(), fill: ink)
    }
  }

  private static func curves(
    _ run: [(minute: Int, values: [Double])], _ area: PlotArea, on drawing: inout Drawing
  ) {
    // The edge of each area has a line, so that a print in grey shows where the area ends.
    for index in [0, 4] {
      drawing.path(
        curve(run, index, area), stroke: Drawing.Stroke(ink: .curve, width: 0.5, dashes: [1.5, 1.5]))
    }
    for index in [1, 3] {
      drawing.path(curve(run, index, area), stroke: Drawing.Stroke(ink: .curve, width: 0.5))
    }
    drawing.path(curve(run, 2, area), stroke: Drawing.Stroke(ink: .text, width: 1.8))
  }

  /// Draws the names of the percentiles at the right, moved apart if they are too close.
  private static func names(_ values: [Double], _ area: PlotArea, on drawing: inout Drawing) {
    let names = ["95 %", "75 %", "50 %", "25 %", "5 %"]
    let wanted = values.reversed().map(area.y)
    for (index, place) in spreadApart(wanted, by: 8.5, from: area.top + 3, to: area.bottom - 2).enumerated() {
      drawing.line(
        area.right + 1, wanted[index], area.right + 8, place, Drawing.Stroke(ink: .line, width: 0.4))
      drawing.text(names[index], area.right + 10, place + 2.8, Drawing.Font(size: 7.5, isBold: index == 2))
    }
  }

  /// The points in runs without a gap. The first point is repeated at the end of the day, so that the curve
  /// closes over midnight.
  private static func runs(_ profile: Profile) -> [[(minute: Int, values: [Double])]] {
    var runs: [[(minute: Int, values: [Double])]] = [[]]
    let closing = profile.points.first.map { [(1440, $0.percentiles)] } ?? []
    for (minute, values) in profile.points.map({ ($0.minute, $0.percentiles) }) + closing {
      if let values, values.count == 5 {
        runs[runs.count - 1].append((minute, values))
      } else if runs.last?.isEmpty == false {
        runs.append([])
      }
    }
    return runs.filter { !$0.isEmpty }
  }
}
