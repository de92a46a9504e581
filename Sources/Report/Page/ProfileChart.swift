// SPDX-License-Identifier: Apache-2.0

/// The profile by the time of day on a page.
struct ProfileChart {
  let profile: Profile
  let targets: Targets
  let glucose: GlucoseText

  /// - Parameter id: an id that no other picture of the page has.
  func picture(_ id: String, title: String, description: String) -> Markup {
    let highest = profile.points.compactMap { $0.percentiles?.last }.max() ?? 0
    let area = ChartArea(height: 250, scale: GlucoseScale(highest: highest, glucose.unit))
    var (areas, medians) = ("", "")
    for run in runs {
      func curve(_ index: Int) -> [(x: Int, y: Int)] {
        run.map { (area.x(Double($0.minute) / 1440), area.y($0.values[index])) }
      }
      for (name, low, high) in [("tails", 0, 4), ("half", 1, 3)] {
        areas += SVG.path(name, SVG.outline(curve(high) + curve(low).reversed(), isClosed: true))
      }
      medians += SVG.path("median", SVG.outline(curve(2)))
    }
    let ground = area.ground(targets, glucose)
    let content =
      ground + areas + area.hours(ChartArea.usualHours, under: area.bottom) + limits(area) + medians
    return SVG.picture(
      id, width: ChartArea.width, height: area.bottom + 20, title: title, description: description, content)
  }

  /// The limits of the target range again, above the areas.
  private func limits(_ area: ChartArea) -> String {
    [targets.low, targets.high].map { limit in
      let y = area.y(glucose.milligrams(limit))
      return SVG.line("limit", area.left, y, area.right, y)
    }.joined()
  }

  /// The points between gaps. The first one is repeated at the end of the day, so that the curve closes over
  /// midnight.
  private var runs: [[(minute: Int, values: [Double])]] {
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
