// SPDX-License-Identifier: Apache-2.0

/// The parts of a report, in their order.
package enum ReportPart: String, CaseIterable, Sendable {
  /// One sheet with the main figures.
  case summary
  /// The days with insulin and carbohydrates.
  case days
  /// Finger sticks as a logbook: one row a day.
  case log
  /// Each day separately, with its records.
  case single
  /// All figures, the devices, what was left out, and the rules.
  case about
}

package struct ReportPerson: Hashable, Sendable {
  package let name: String
  /// The date of birth as it is printed; empty if it is unknown.
  package let born: String

  /// A person of this name.
  package init(name: String, born: String = "") { (self.name, self.born) = (name, born) }
}

extension ReportPage {
  /// The parts that are shown if none are requested: the summary, and the parts for which there is data.
  package var usualParts: [ReportPart] {
    ReportPart.allCases.filter { part in
      switch part {
      case .summary: true
      // Without a sensor, the part `log` shows the amounts, so the part `days` is not needed.
      case .days: hasAmounts && total.sensor.readings > 0
      case .log: total.fingerSticks.readings > 0
      case .single, .about: false
      }
    }
  }

  /// The usual parts, the part with each day separately, and the part with all figures.
  package var allParts: [ReportPart] { usualParts + [.single, .about] }

  private var hasAmounts: Bool { total.amounts.insulin.records + total.amounts.carbohydrates.records > 0 }

  func sheets(_ part: ReportPart, _ paper: Paper) -> [Sheet] {
    switch part {
    case .summary: [summarySheet(paper)]
    case .days: amountSheets(paper)
    case .log: logSheets(paper)
    case .single: flow([daily].compactMap(\.self), paper, anchor: "days")
    case .about: flow(aboutSections, paper, anchor: "about")
    }
  }

  /// The sheet of the summary. It is about the time of a sensor if there is a sensor, otherwise about finger
  /// sticks.
  private func summarySheet(_ paper: Paper) -> Sheet {
    let head = [personBox, periodBox]
    let foot = [amountsBox, earlierBox, footBox].compactMap(\.self)
    let footHeight = foot.reduce(0) { $0 + $1.height + Sheet.gap }
    let hasSensor = total.sensor.readings > 0 || total.fingerSticks.readings == 0
    let first = hasSensor ? 196.0 : 160.0
    let phone = Sheet.phoneWidth
    let middle =
      hasSensor
      ? [
        Sheet.Box(drawing: rangesBox(height: first), narrow: rangesBox(phone, height: first)),
        Sheet.Box(drawing: summaryBox(height: first)),
      ]
      : [
        Sheet.Box(drawing: stickRangesBox(height: first), narrow: stickRangesBox(phone, height: first)),
        Sheet.Box(drawing: stickSummaryBox(height: first)),
      ]
    let meals = hasSensor ? nil : mealsBox
    let left =
      paper.room - head[0].height - first - footHeight - 2 * Sheet.gap
      - (meals.map { $0.height + Sheet.gap } ?? 0)
    let days = min(hasSensor ? 190 : 180, left * 0.42)
    let height = left - days - Sheet.gap
    let day =
      hasSensor
      ? Sheet.Box(drawing: profileBox(height: height), narrow: profileBox(phone, height: 190))
      : Sheet.Box(drawing: stickDotsBox(height: height), narrow: stickDotsBox(phone, height: 190))
    let rest =
      [day] + (meals.map { [Sheet.Box(drawing: $0, isTable: true)] } ?? [])
      + [Sheet.Box(drawing: thumbnailsBox(height: days), narrow: thumbnailsBox(phone, height: 400))]
    let boxes = head.map { Sheet.Box(drawing: $0) } + middle + rest + foot.map { Sheet.Box(drawing: $0) }
    return Sheet(anchor: "summary", boxes: boxes)
  }
}
