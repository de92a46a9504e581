// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

extension ReportPage {
  private static let thumbnails = 14

  /// The last fourteen days as small pictures: a week in each row, or on a phone in each column. So the same
  /// weekdays are below or next to each other.
  func thumbnailsBox(_ width: Double = Sheet.width, height: Double) -> Drawing {
    let days = Array(contents.days.suffix(Self.thumbnails))
    let isPhone = width < Sheet.width
    let note = thumbnailNote(days)
    var drawing = Drawing.box(texts.daily, width: width, height: height, note: isPhone ? "" : note)
    guard days.contains(where: { !$0.hasNoReadings }) else {
      drawing.reason(reason(.noReadings))
      return drawing
    }
    let dots = days.flatMap { [$0.sensor, $0.sticks, $0.scans] }.joined()
    let highest = PlotArea.end(dots.map(\.level.milligrams).max() ?? 0, contents.unit)
    let (columns, rows) = isPhone ? (2, 7) : (7, 2)
    let left = 24.0
    let top = Drawing.titleHeight + (isPhone ? drawing.noteText(note) : 12)
    let (step, rowHeight) = ((width - left - 4) / Double(columns), (height - top - 3) / Double(rows))
    let sentence = PageTexts.fill(texts.sheet.daysSentence, "\(days.count)", name(ofDay: days[0].day))
    drawing.part(
      .figure(sentence, x: 2, y: Drawing.titleHeight, width: width - 4, height: height - 17)
    ) { drawing in
      for index in 0..<Self.thumbnails {
        let (week, weekday) = (index / 7, index % 7)
        let (column, row) = isPhone ? (week, weekday) : (weekday, week)
        let area = PlotArea(
          left: left + Double(column) * step, top: top + Double(row) * rowHeight + 9,
          right: left + Double(column + 1) * step - 3, bottom: top + Double(row + 1) * rowHeight - 2,
          highest: highest)
        if !isPhone, row == 0, let last = days.last {
          let name = texts.weekdays[self.weekday(last.day - Self.thumbnails + 1 + column)]
          drawing.text(name, (area.left + area.right) / 2, Drawing.titleHeight + 9, .small, .soft, .middle)
        }
        // If there are fewer than fourteen days, the first pictures are empty, so that the last day is always
        // at the same position.
        let place = index - (Self.thumbnails - days.count)
        let day = days.indices.contains(place) ? days[place] : nil
        thumbnail(day, area, hasLabels: column == 0, namesWeekday: isPhone, on: &drawing)
      }
    }
    return drawing
  }

  /// The explanation of the small pictures, for the title of their box.
  private func thumbnailNote(_ days: [DayCurve]) -> String {
    let isPart = total.days > Self.thumbnails
    let hasSensor = total.sensor.readings > 0
    let hasSticks = days.contains { !$0.sticks.isEmpty }
    return [
      isPart ? PageTexts.fill(texts.sheet.lastDays, "\(Self.thumbnails)") : "",
      hasSensor ? texts.sheet.thumbnailNote : "", hasSensor && hasSticks ? texts.sheet.stickDots : "",
    ].filter { !$0.isEmpty }.joined(separator: " · ")
  }

  private func thumbnail(
    _ day: DayCurve?, _ area: PlotArea, hasLabels: Bool, namesWeekday: Bool, on drawing: inout Drawing
  ) {
    let targets = contents.targets
    area.band(targets, glucose, on: &drawing)
    let font = hasLabels ? Sheet.smallest(drawing.width) : nil
    area.targetLimits(targets, glucose, width: 0.4, labels: font, on: &drawing)
    for noon in day?.hours.filter({ $0.hour == 12 }).map({ day?.part($0.instant) ?? 0.5 }) ?? [0.5] {
      let x = area.x(noon)
      drawing.line(x, area.top, x, area.bottom, Drawing.Stroke(ink: .grid, width: 0.4))
    }
    defer { area.frame(on: &drawing) }
    guard let day else { return }
    let label = Drawing.Font(size: 7, isBold: true)
    let weekday = namesWeekday ? "\(texts.weekdays[weekday(day.day)].prefix(2)) " : ""
    let name = weekday + shortName(ofDay: day.day)
    drawing.text(name, area.left + 1, area.top - 2, label)
    drawing.text(length(of: day), area.left + 1 + label.width(name), area.top - 2, .small, .soft)
    if let percent = groups[day.day]?.sensor.ranges[GlucoseBand.target.rawValue].percent.number {
      drawing.text("\(glucose.decimal(percent, 0)) %", area.right - 1, area.top - 2, .small, .soft, .end)
    }
    let line = DayLine(day: day, area: area, targets: targets, glucose: glucose, width: 0.8, detail: 0.5)
    line.draw(on: &drawing)
    line.dots(1.7, on: &drawing)
  }

  /// The figures of each day, by the number of the day since 1970.
  var groups: [Int: GroupFigures] {
    Dictionary(contents.result.groups.compactMap { group in group.key.map { ($0, group) } }) { first, _ in
      first
    }
  }

  /// The box with insulin, carbohydrates and finger sticks per day; nil if there are none.
  var amountsBox: Drawing? {
    let amounts = total.amounts
    // Each mean is over the days with any amount, as in all figures. If this is not every day, the line
    // states the number of these days.
    func mean(_ amount: DailyAmount, of days: Int, _ text: (String) -> String) -> String? {
      guard amount.records > 0 else { return nil }
      let text = text(short(amount.perDay) { glucose.decimal($0) })
      guard amount.daysWithAny < days else { return text }
      return "\(text) \(PageTexts.fill(texts.sheet.onDays, "\(amount.daysWithAny)", "\(total.days)"))"
    }
    func part(_ name: String, _ amount: DailyAmount, _ unit: String, of days: Int) -> String? {
      mean(amount, of: days) { amount.sum == nil ? "\(name) \($0)" : "\(name) \($0) \(unit)" }
    }
    let (days, unit) = (amounts.insulin.daysWithAny, texts.insulinUnit)
    var parts = [part(texts.insulin, amounts.insulin, unit, of: total.days)].compactMap(\.self)
    let kinds = [
      part(texts.basal, amounts.basal, unit, of: days), part(bolusName, amounts.bolus, unit, of: days),
      part(texts.mixed, amounts.mixed, unit, of: days),
      amounts.hasOnlyBoluses ? texts.sheet.noBasal : nil,
    ].compactMap(\.self)
    if !parts.isEmpty, !kinds.isEmpty {
      parts[0] += " (\((kinds + [basalShare].compactMap(\.self)).joined(separator: ", ")))"
    }
    parts += [
      part(texts.carbohydrates, amounts.carbohydrates, "g", of: total.days),
      mean(amounts.servings, of: total.days) { PageTexts.fill(texts.servings, $0) },
    ].compactMap(\.self)
    if total.fingerSticks.readings > 0, total.sensor.readings > 0 {
      parts.append("\(texts.sticks) \(short(total.fingerSticks.perDay) { glucose.decimal($0) })")
    }
    if parts.isEmpty { return nil }
    let text = PageTexts.fill(texts.sheet.perDay, parts.joined(separator: " · "))
    let lines = Drawing.Font.bold.wrapped(text, Sheet.width)
    var drawing = Drawing(width: Sheet.width, height: 3 + 10 * Double(lines.count))
    drawing.part(.paragraph) { drawing in
      for (index, line) in lines.enumerated() { drawing.text(line, 0, 9 + 10 * Double(index), .bold) }
    }
    return drawing
  }

  /// The shares of basal insulin and boluses in the insulin of the period. Nil if some insulin is premixed or
  /// of unknown use. Also nil if a day has only one of the two kinds. Some doses may not be recorded, and the
  /// shares would then look like a change of the treatment.
  private var basalShare: String? {
    let amounts = total.amounts
    let (basal, bolus) = (amounts.basal, amounts.bolus)
    guard let basalSum = basal.sum, let bolusSum = bolus.sum, basalSum > 0, bolusSum > 0,
      amounts.mixed.records == 0, amounts.dosesOfUnknownUse == 0,
      basal.daysWithAny == amounts.insulin.daysWithAny,
      bolus.daysWithAny == amounts.insulin.daysWithAny
    else { return nil }
    let percent = Int((100 * basalSum / (basalSum + bolusSum)).rounded())
    return "\(texts.basal) : \(texts.bolus) \(percent) : \(100 - percent)"
  }

  /// The box with the doubts about two sources, the devices by model, and the readings that were left out. It
  /// also states that the report is not a medical device.
  var footBox: Drawing {
    let names = deviceNames.filter { !$0.isEmpty }.map(ForeignText.shown)
    let reasons = LeftOut.allCases.filter { total.leftOut[$0] > 0 }.map {
      "\(count(total.leftOut[$0])) (\(texts.text(of: $0)))"
    }
    let doubts = contents.result.doubts.map { ForeignText.shown(line(of: $0)) }
    let paragraphs =
      (doubts + [
        names.isEmpty ? "" : "\(texts.devices)\(texts.colon)\(names.joined(separator: ", "))",
        reasons.isEmpty ? "" : "\(texts.leftOut)\(texts.colon)\(reasons.joined(separator: ", "))",
        texts.sheet.notice,
      ]).filter { !$0.isEmpty }.map { text in
        let lines = Drawing.Font.small.wrapped(text, Sheet.width)
        // Only three lines of a text are shown. The complete text is in the part `about`.
        return lines.count > 3 ? Array(lines.prefix(2)) + [lines[2] + " …"] : lines
      }
    var drawing = Drawing(width: Sheet.width, height: Double(paragraphs.joined().count) * 8.8 + 2)
    var y = 7.0
    for lines in paragraphs {
      drawing.part(.paragraph) { drawing in
        for line in lines {
          drawing.text(line, 0, y, .small, .text)
          y += 8.8
        }
      }
    }
    return drawing
  }
}
