// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

/// The picture of a day by itself.
struct DayChart {
  private static let curveHeight = 104.0
  private static let laneHeight = 13.0

  let day: DayCurve
  let targets: Targets
  let glucose: GlucoseText
  /// The end of the scale: the same for all days, so that they can be compared.
  let highest: Double

  /// - Parameter description: what a screen reader says instead.
  func drawing(_ description: String) -> Drawing {
    let area = PlotArea(
      left: 30, top: 5, right: Sheet.width - 8, bottom: 5 + Self.curveHeight, highest: highest)
    let floor = area.bottom + 2 * Self.laneHeight
    var drawing = Drawing(width: Sheet.width, height: floor + 14)
    let line = DayLine(day: day, area: area, targets: targets, glucose: glucose, width: 1.2, detail: 0.3)
    drawing.part(.figure(description, x: 0, y: 0, width: drawing.width, height: drawing.height)) { drawing in
      area.band(targets, glucose, on: &drawing)
      for hour in day.hours where hour.hour.isMultiple(of: 3) {
        let x = area.x(line.part(hour.instant))
        drawing.line(x, area.top, x, floor, Drawing.Stroke(ink: .grid, width: 0.4))
        drawing.text(hour.hour < 10 ? "0\(hour.hour)" : "\(hour.hour)", x, floor + 10, .small, .text, .middle)
      }
      area.limits(targets, glucose, labels: .small, on: &drawing)
      line.draw(on: &drawing)
      line.dots(2.2, on: &drawing)
      area.frame(on: &drawing)
      lane(.insulin, "U", area.bottom + Self.laneHeight - 2, line, on: &drawing) { $0.units }
      lane(.food, "g", area.bottom + 2 * Self.laneHeight - 2, line, on: &drawing) { $0.carbohydrates }
    }
    return drawing
  }

  /// Amounts, each at its time: always a mark, and the number if the previous one leaves space.
  private func lane(
    _ kind: RecordKind, _ unit: String, _ y: Double, _ line: DayLine, on drawing: inout Drawing,
    _ amount: (DayEvent) -> Double?
  ) {
    let ink: Ink = kind == .insulin ? .rapid : .food
    drawing.text(unit, line.area.left - 4, y, .small, ink, .end)
    var free = line.area.left
    for event in day.events where event.kind == kind && !event.isBasalRate {
      guard let amount = amount(event) else { continue }
      let isBasal = event.subtype == "long" || event.subtype == "basal"
      let own: Ink = isBasal ? .basal : ink
      let x = line.area.x(line.part(event.instant))
      drawing.rectangle(x - 1.1, y - 8, 2.2, 9, fill: own)
      if isBasal { drawing.line(x - 3.5, y - 8, x + 3.5, y - 8, Drawing.Stroke(ink: own, width: 1)) }
      let text = glucose.plain(amount)
      if x >= free, x + 4 + Drawing.Font.small.width(text) <= line.area.right + 4 {
        drawing.text(text, x + 3.5, y, .small, own)
        free = x + 7 + Drawing.Font.small.width(text)
      }
    }
  }
}
