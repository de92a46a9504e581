// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

extension ReportPage {
  /// The picture of all finger sticks over the hours of the day.
  func stickDotsBox(_ width: Double = Sheet.width, height: Double) -> Drawing {
    let isNarrow = width < Sheet.width
    var drawing = Drawing.box(
      isNarrow ? texts.sticks : texts.standardDay, width: width, height: height,
      note: isNarrow ? contents.unit.name : "\(unitAndDays) · \(texts.sheet.dotsNote)")
    let sticks = contents.days.flatMap(\.sticks)
    guard !sticks.isEmpty else {
      drawing.reason(reason(.noReadings))
      return drawing
    }
    let highest = sticks.map(\.level.milligrams).max() ?? 0
    let area = PlotArea(
      left: 30, top: Drawing.titleHeight + 8, right: width - 14, bottom: height - 16,
      highest: PlotArea.end(highest, contents.unit))
    let figures = total.fingerSticks
    let edges = (lows: figures.lows, highs: figures.highs, count: figures.readings)
    let sentence = PageTexts.fill(
      texts.sheet.dotsSentence, count(sticks.count), ranked(figures.lowest.number, at: 0, edges),
      ranked(figures.highest.number, at: 1, edges), contents.unit.name)
    drawing.part(
      .figure(sentence, x: 2, y: Drawing.titleHeight, width: width - 4, height: height - 17)
    ) { drawing in
      area.band(contents.targets, glucose, on: &drawing)
      area.hours(PlotArea.usualHours(width), .plain, on: &drawing)
      area.limits(contents.targets, glucose, labels: .plain, on: &drawing)
      for block in StickBlock.all(sticks).compactMap(\.self) {
        let (left, right) = (area.x(Double(block.hour) / 24) + 3, area.x(Double(block.hour + 3) / 24) - 3)
        if let quartiles = block.quartiles {
          let (top, bottom) = (area.y(quartiles.high), area.y(quartiles.low))
          drawing.rectangle(
            left, top, right - left, bottom - top, stroke: Drawing.Stroke(ink: .curve, width: 0.7))
        }
        if let median = block.median {
          drawing.line(left, area.y(median), right, area.y(median), Drawing.Stroke(ink: .curve, width: 1.8))
        }
      }
      for stick in sticks {
        let x = area.x(Double(secondsOfDay(stick.deviceTime)) / 86400)
        drawing.circle(
          x, area.y(stick.level.milligrams), 1.7, fill: .text, stroke: Drawing.Stroke(ink: .paper, width: 0.4)
        )
      }
      area.frame(on: &drawing)
    }
    return drawing
  }

  /// The box with the finger sticks before and after meals, and with the change by a meal; nil if no finger
  /// stick is marked.
  var mealsBox: Drawing? {
    let sticks = contents.days.flatMap(\.sticks)
    let groups: [(name: String, mark: ReadingMarks)] = [
      (texts.sheet.fasting, .fasting), (texts.sheet.beforeMeal, .beforeMeal),
      (texts.sheet.afterMeal, .afterMeal),
      (texts.sheet.bedtime, .bedtime),
    ]
    var rows = groups.compactMap { group -> [String]? in
      row(group.name, sticks.filter { $0.marks.contains(group.mark) }.map(\.level))
    }
    guard !rows.isEmpty else { return nil }
    if let unmarked = row(texts.sheet.unmarked, sticks.filter(\.marks.isEmpty).map(\.level)) {
      rows.append(unmarked)
    }
    let pairs = MealPair.all(sticks)
    let note =
      pairs.count >= MealPair.needed
      ? PageTexts.fill(
        texts.sheet.pairs, count(pairs.count), signed(MealPair.median(pairs)), contents.unit.name) : ""
    let height = Drawing.titleHeight + 17 + 12 * Double(rows.count) + (note.isEmpty ? 2 : 14)
    var drawing = Drawing.box(texts.sheet.meals, width: Sheet.width, height: height, note: unitAndDays)
    let heads = [texts.sheet.mark, texts.readings, texts.median, texts.lowest, texts.highest]
    drawing.part(.table) { drawing in
      for (index, cells) in ([heads] + rows).enumerated() {
        let y = Drawing.titleHeight + 12 + 12 * Double(index)
        drawing.part(.row) { drawing in
          for (column, cell) in cells.enumerated() {
            drawing.part(index == 0 ? .columnHead : column == 0 ? .rowHead : .cell) { drawing in
              let font = index == 0 ? Drawing.Font.small : column == 2 ? .bold : .plain
              if column == 0 { return drawing.text(cell, 6, y, font, index == 0 ? .soft : .text) }
              drawing.text(cell, 160 + 90 * Double(column), y, font, index == 0 ? .soft : .text, .end)
            }
          }
        }
      }
    }
    if !note.isEmpty { drawing.part(.paragraph) { $0.text(note, 6, height - 5, .plain) } }
    return drawing
  }

  /// The unit and, for a longer period, the statement that only the last days are shown.
  private var unitAndDays: String {
    guard total.days > ReportContents.maxLogDays else { return contents.unit.name }
    return "\(contents.unit.name) · \(PageTexts.fill(texts.sheet.lastDays, "\(ReportContents.maxLogDays)"))"
  }

  private func row(_ name: String, _ levels: [GlucoseLevel]) -> [String]? {
    if levels.isEmpty { return nil }
    var distribution = Distribution()
    for level in levels { distribution.add(level.milligrams) }
    let edges = (
      lows: levels.count { $0.beyond == .low }, highs: levels.count { $0.beyond == .high },
      count: levels.count
    )
    return [name, count(levels.count)]
      + [0.5, 0, 1].map { ranked(distribution.percentile($0), at: $0, edges) }
  }

  private func signed(_ difference: Double) -> String {
    let text = glucose.number(abs(difference))
    return difference < 0 ? "−\(text)" : "+\(text)"
  }
}

/// A pair of finger sticks: one before and one after the same meal.
enum MealPair {
  /// The minimum number of pairs for which a median is shown.
  static let needed = 5
  /// The maximum time in seconds between the two finger sticks of a pair.
  private static let maxSeconds: Int64 = 4 * 3600

  /// The differences in mg/dL between two finger sticks of a meal. One is marked as after a meal. The other
  /// is the last one before it that is marked as before a meal or fasting.
  static func all(_ sticks: [DayCurve.Dot]) -> [Double] {
    var pairs: [Double] = []
    var before: DayCurve.Dot?
    for stick in sticks {
      if stick.marks.contains(.afterMeal) {
        if let first = before, stick.instant - first.instant <= maxSeconds {
          pairs.append(stick.level.milligrams - first.level.milligrams)
        }
        before = nil
      } else if !stick.marks.isDisjoint(with: [.beforeMeal, .fasting]) {
        before = stick
      }
    }
    return pairs
  }

  static func median(_ pairs: [Double]) -> Double {
    let sorted = pairs.sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }
}
