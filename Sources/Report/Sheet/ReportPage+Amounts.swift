// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

/// The basal rates of a pump as an area at the foot of a day's curve. Each rate lasts until it ends, or until
/// the next one begins.
struct BasalArea {
  /// The height of the highest rate on the scale of glucose, in mg/dL. Hardly any glucose values are as low,
  /// so the area covers few of them.
  private static let top = 36.0
  private static let maxMinutes = 1440.0

  /// The rates that are drawn for the day, in the order of time. The first one may have begun on the day
  /// before.
  var rates: [DayEvent] = []
  /// The highest rate of all days, so that the areas of two days can be compared.
  var highest = 0.0

  func draw(_ line: DayLine, on drawing: inout Drawing) {
    let area = line.area
    for (index, event) in rates.enumerated() {
      guard let rate = event.basalRate, let minutes = event.minutes, rate > 0, minutes > 0 else { continue }
      let own = event.instant + Int64(min(minutes, Self.maxMinutes) * 60)
      let end = index + 1 < rates.count ? min(own, rates[index + 1].instant) : own
      let (left, right) = (line.x(event.instant), line.x(end))
      let height = (area.bottom - area.y(Self.top)) * min(1, rate / highest)
      let top = area.bottom - height
      drawing.rectangle(left, top, right - left, height, fill: .rate)
      drawing.line(left, top, right, top, Drawing.Stroke(ink: .basal, width: 0.6))
    }
  }
}

/// The basal rates of all days.
struct BasalRates {
  private let days: [Int: [DayEvent]]
  /// The highest rate in units per hour; 0 if there is none.
  let highest: Double

  init(_ days: [DayCurve]) {
    self.days = days.reduce(into: [:]) { $0[$1.day] = $1.events.filter(\.isBasalRate) }
    highest = self.days.values.joined().compactMap(\.basalRate).max() ?? 0
  }

  func area(of day: DayCurve) -> BasalArea {
    let before = (days[day.day - 1] ?? []).suffix(1)
    return BasalArea(rates: before + (days[day.day] ?? []), highest: highest)
  }
}

extension ReportPage {
  /// The explanation of the area of basal rates, after a blank; empty without rates.
  func noteText(on rates: BasalRates) -> String {
    guard rates.highest > 0 else { return "" }
    let highest = PageTexts.fill(texts.unitsPerHour, glucose.plain(rates.highest))
    return " " + PageTexts.fill(texts.sheet.rateNote, highest)
  }
}

extension ReportPage {
  private static let stripHeight = 80.0
  private static let rowHeight = 13.0
  private static let headHeight = 24.0

  /// The days with insulin and carbohydrates: a table, then each day as a strip.
  func amountSheets(_ paper: Paper) -> [Sheet] {
    let rows = amountRows
    // The table of a year needs several sheets, so the rows are divided.
    let perSheet = Int((paper.room - Drawing.titleHeight - Self.headHeight - 3) / Self.rowHeight)
    let tables = stride(from: 0, to: rows.count, by: perSheet).map { start in
      amountTable(Array(rows[start..<min(start + perSheet, rows.count)]))
    }
    let dots = contents.curveDays.flatMap { [$0.sensor, $0.sticks, $0.scans] }.joined()
    let highest = PlotArea.end(dots.map(\.level.milligrams).max() ?? 0, contents.unit)
    let rates = BasalRates(contents.curveDays)
    let strips = contents.curveDays.filter { !$0.isEmpty }.map { day in
      Sheet.Box(
        drawing: strip(day, highest, rates.area(of: day)),
        narrow: strip(day, highest, rates.area(of: day), isPhone: true))
    }
    var pages: [[Sheet.Box]] = tables.map { [Sheet.Box(drawing: $0, isTable: true)] }
    let mixed = total.amounts.mixed.records > 0 ? " \(mixedLegend)." : ""
    let limit =
      total.days > ReportContents.maxDays
      ? " " + PageTexts.fill(texts.dailyLimit, "\(ReportContents.maxDays)") : ""
    let note = noteBox(texts.sheet.stripNote + noteText(on: rates) + mixed + limit)
    var left = paper.room - (tables.last?.height ?? 0) - note.height - 2 * Sheet.gap
    if !pages.isEmpty { pages[pages.count - 1].append(Sheet.Box(drawing: note)) }
    for strip in strips {
      if strip.drawing.height > left || pages.isEmpty { (pages, left) = (pages + [[]], paper.room) }
      pages[pages.count - 1].append(strip)
      left -= strip.drawing.height + Sheet.gap
    }
    return pages.map { Sheet(anchor: "amounts-by-day", boxes: $0) }
  }

  private func noteBox(_ text: String) -> Drawing {
    let lines = Drawing.Font.small.wrapped(text, Sheet.width)
    var drawing = Drawing(width: Sheet.width, height: 9 * Double(lines.count))
    drawing.part(.paragraph) { drawing in
      for (index, line) in lines.enumerated() { drawing.text(line, 0, 7 + 9 * Double(index), .small, .soft) }
    }
    return drawing
  }

  /// The rows of the table: each day with readings or amounts, then the means of the days and the number of
  /// days of each mean.
  private var amountRows: [[String]] {
    let first = contents.days.first?.day ?? Int.min
    let groups = contents.result.groups.filter { group in
      (group.key ?? first) >= first
        && group.sensor.readings + group.fingerSticks.readings + group.amounts.insulin.records
          + group.amounts.carbohydrates.records > 0
    }
    func amount(_ amount: DailyAmount) -> String {
      amount.records > 0 ? amount.sum.map { glucose.decimal($0) } ?? "—" : ""
    }
    func row(_ group: GroupFigures) -> [String] {
      let (sensor, amounts) = (group.sensor, group.amounts)
      let low = [GlucoseBand.veryLow, .low].compactMap { sensor.ranges[$0.rawValue].percent.number }
      let target = sensor.ranges[GlucoseBand.target.rawValue].percent.number
      func percent(_ number: Double) -> String { PercentTexts.text(number, mark: texts.mark) }
      let mixed = amount(amounts.mixed)
      let rapid = [amount(amounts.bolus), mixed.isEmpty ? "" : mixed + Self.mixedSign].filter { !$0.isEmpty }
      return [
        target.map(percent) ?? "", low.isEmpty ? "" : percent(low.reduce(0, +)),
        sensor.mean.number.map(glucose.number) ?? "", extremes(sensor) ?? "", rapid.joined(separator: " "),
        amount(amounts.basal), amount(amounts.insulin), amount(amounts.carbohydrates),
        group.fingerSticks.readings > 0 ? count(group.fingerSticks.readings) : "",
      ]
    }
    let days = groups.map { group in
      let day = group.key ?? 0
      return ["\(texts.weekdays[weekday(day)].prefix(2)) \(name(ofDay: day))"] + row(group)
    }
    let amounts = total.amounts
    func mean(_ amount: DailyAmount) -> String {
      amount.records > 0 ? short(amount.perDay) { glucose.decimal($0) } : ""
    }
    let whole = row(total)
    let mixed = mean(amounts.mixed)
    let rapid = [mean(amounts.bolus), mixed.isEmpty ? "" : mixed + Self.mixedSign].filter { !$0.isEmpty }
    let means = [
      texts.sheet.meanOfDays, whole[0], whole[1], whole[2], "", rapid.joined(separator: " "),
      mean(amounts.basal), mean(amounts.insulin), mean(amounts.carbohydrates),
      total.fingerSticks.readings > 0 ? short(total.fingerSticks.perDay) { glucose.decimal($0) } : "",
    ]
    let counts = [amounts.basal, amounts.insulin, amounts.carbohydrates].map(dayCount)
    let sticks = total.fingerSticks.readings > 0 ? count(total.days) : ""
    let mixedDays = dayCount(amounts.mixed)
    let rapidDays = [dayCount(amounts.bolus), mixedDays.isEmpty ? "" : mixedDays + Self.mixedSign]
    let daysOfMeans =
      [texts.sheet.daysShort, "", "", "", "", rapidDays.filter { !$0.isEmpty }.joined(separator: " ")]
      + counts
      + [sticks]
    return days + [means, daysOfMeans]
  }

  /// The lowest and the highest value of a sensor; nil without one.
  func extremes(_ sensor: SensorFigures) -> String? {
    guard sensor.readings > 0 else { return nil }
    let edges = (lows: sensor.lows, highs: sensor.highs, count: sensor.readings)
    return "\(ranked(sensor.lowest.number, at: 0, edges))–\(ranked(sensor.highest.number, at: 1, edges))"
  }

  /// The number of days from which the mean of an amount is calculated; empty without records.
  private func dayCount(_ amount: DailyAmount) -> String {
    amount.records > 0 ? count(amount.daysWithAny) : ""
  }

  private func amountTable(_ rows: [[String]]) -> Drawing {
    let words = texts.sheet
    let height = Drawing.titleHeight + Self.headHeight + Self.rowHeight * Double(rows.count) + 3
    var drawing = Drawing.box(words.insulinDays, width: Sheet.width, height: height)
    drawing.part(.table) { drawing in
      amountHead(on: &drawing)
      for (index, cells) in rows.enumerated() {
        let y = Drawing.titleHeight + Self.headHeight + 9.5 + Self.rowHeight * Double(index)
        let isMean = [words.meanOfDays, words.daysShort].contains(cells[0])
        if isMean { drawing.rectangle(1, y - 9.5, Sheet.width - 2, Self.rowHeight, fill: .shade) }
        drawing.part(.row) { drawing in
          for (column, cell) in cells.enumerated() {
            let font = isMean || column == 0 ? Drawing.Font.bold : .plain
            drawing.part(column == 0 ? .rowHead : .cell) { Self.cell(cell, column, y, font, .text, on: &$0) }
          }
        }
      }
    }
    return drawing
  }

  /// Draws the names of the columns, and below each name its unit.
  private func amountHead(on drawing: inout Drawing) {
    let (words, unit) = (texts.sheet, texts.insulinUnit)
    let heads = [
      (texts.date, ""), (texts.target, "%"), (words.belowTarget, "%"), (texts.mean, contents.unit.name),
      (words.extremes, contents.unit.name), (bolusShort, unit), (words.basalShort, unit),
      (texts.insulin, unit), (words.carbohydratesShort, "g"), (words.sticksShort, ""),
    ]
    drawing.part(.row) { drawing in
      for (column, head) in heads.enumerated() {
        drawing.part(.columnHead) { drawing in
          Self.cell(head.0, column, Drawing.titleHeight + 10, .small, .soft, on: &drawing)
          Self.cell(head.1, column, Drawing.titleHeight + 19, .small, .soft, on: &drawing)
        }
      }
    }
  }

  private static func cell(
    _ text: String, _ column: Int, _ y: Double, _ font: Drawing.Font, _ ink: Ink, on drawing: inout Drawing
  ) {
    let (first, step) = (96.0, (Sheet.width - 96) / 9)
    if column == 0 { return drawing.text(font.fitted(text, first - 8), 6, y, font, ink) }
    drawing.text(font.fitted(text, step - 3), first + step * Double(column) - 6, y, font, ink, .end)
  }

  /// The strip of one day: its curve, and below it insulin and carbohydrates at their times. The figures of
  /// the day are at the left, or on a phone above the curve.
  private func strip(
    _ day: DayCurve, _ highest: Double, _ rates: BasalArea, isPhone: Bool = false
  ) -> Drawing {
    let (weekday, length) = (texts.weekdays[weekday(day.day)], length(of: day))
    let title =
      "\(length.isEmpty ? weekday : String(weekday.prefix(2))) \(shortName(ofDay: day.day))\(length)"
    let figures = stripFigures(day)
    let width = isPhone ? Sheet.phoneWidth : Sheet.width
    let lines = isPhone ? Drawing.Font.small.wrapped(figures.joined(separator: " · "), width) : figures
    let top = isPhone ? 17 + 9.5 * Double(lines.count) : 3
    let area = PlotArea(
      left: isPhone ? 24 : 104, top: top, right: width - 4, bottom: top + 37, highest: highest)
    var drawing = Drawing(width: width, height: isPhone ? area.bottom + 32 : Self.stripHeight - Sheet.gap)
    let room = isPhone ? width : 88
    drawing.part(.heading(3)) { $0.text(Drawing.Font.bold.fitted(title, room), 0, 10, .bold) }
    for (index, line) in lines.enumerated() {
      drawing.part(.paragraph) {
        $0.text(Drawing.Font.small.fitted(line, room - 8), 0, 21 + 9.5 * Double(index), .small, .soft)
      }
    }
    let (words, x) = (([title] + figures).joined(separator: ", "), area.left - 20)
    drawing.part(
      .figure(words + ".", x: x, y: area.top - 3, width: width - x, height: drawing.height - area.top + 3)
    ) { drawing in strip(day, area, rates, hoursApart: isPhone ? 6 : 3, on: &drawing) }
    return drawing
  }

  /// The short name of boluses, followed by a question mark if the use of some doses is unknown.
  var bolusShort: String { texts.sheet.bolusShort + (total.amounts.dosesOfUnknownUse > 0 ? "?" : "") }

  /// The totals of a day as texts.
  private func stripFigures(_ day: DayCurve) -> [String] {
    let amounts = groups[day.day]?.amounts
    func amount(_ name: String, _ amount: DailyAmount?, _ unit: String) -> String? {
      guard let amount, amount.records > 0 else { return nil }
      return "\(name) \(amount.sum.map { glucose.decimal($0) } ?? "—") \(unit)"
    }
    return [
      amount(bolusShort, amounts?.bolus, texts.insulinUnit),
      amount(texts.mixed, amounts?.mixed, texts.insulinUnit),
      amount(texts.sheet.basalShort, amounts?.basal, texts.insulinUnit),
      amount(texts.sheet.carbohydratesShort, amounts?.carbohydrates, "g"),
      groups[day.day]?.sensor.ranges[GlucoseBand.target.rawValue].percent.number.map {
        "\(texts.target) \(PercentTexts.text($0, mark: texts.mark)) %"
      },
    ].compactMap(\.self)
  }

  private func strip(
    _ day: DayCurve, _ area: PlotArea, _ rates: BasalArea, hoursApart: Int, on drawing: inout Drawing
  ) {
    area.band(contents.targets, glucose, on: &drawing)
    for hour in day.hours(every: hoursApart, apart: 0.025) {
      let x = area.x(day.part(hour.instant))
      drawing.line(x, area.top, x, area.bottom + 24, Drawing.Stroke(ink: .grid, width: 0.4))
      let text = hour.hour < 10 ? "0\(hour.hour)" : "\(hour.hour)"
      let place = min(x, area.right - 4)
      drawing.text(text, place, area.bottom + 29.5, Sheet.smallest(drawing.width), .soft, .middle)
    }
    let line = DayLine(
      day: day, area: area, targets: contents.targets, glucose: glucose, width: 0.9, detail: 0.4)
    rates.draw(line, on: &drawing)
    line.draw(on: &drawing)
    line.dots(1.7, on: &drawing)
    area.targetLimits(
      contents.targets, glucose, width: 0.5, labels: Sheet.smallest(drawing.width), on: &drawing)
    area.frame(on: &drawing)
    lanes(line, on: &drawing)
  }

  /// Draws insulin and carbohydrates at their times.
  private func lanes(_ line: DayLine, on drawing: inout Drawing) {
    let (font, bottom) = (Sheet.smallest(drawing.width), line.area.bottom)
    drawing.text(texts.insulinUnit, line.area.left - 3, bottom + 10.5, font, .rapid, .end)
    drawing.text("g", line.area.left - 3, bottom + 23, font, .food, .end)
    for (kind, floor, most) in [(RecordKind.insulin, 12.0, 10.0), (.food, 24, 60)] {
      AmountLane(
        line: line, kind: kind, floor: bottom + floor, room: 11, font: font, mixedSign: Self.mixedSign
      ) { $0 / most }.draw(on: &drawing)
    }
  }
}
