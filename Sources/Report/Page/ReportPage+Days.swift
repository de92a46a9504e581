// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

extension ReportPage {
  /// The section with the figures of the days, and with each day's curve and records.
  var daily: PageModel.Section? {
    let days = contents.curveDays.filter { !$0.isEmpty }
    guard !days.isEmpty else { return nil }
    let dots = days.flatMap { [$0.sensor, $0.sticks, $0.scans] }.joined()
    let highest = PlotArea.end(dots.map(\.level.milligrams).max() ?? 0, contents.unit)
    let rates = BasalRates(contents.curveDays)
    var intro = [PageModel.Part.text(texts.dailyMeaning + noteText(on: rates))]
    if total.days > ReportContents.maxDays {
      intro.append(.text(PageTexts.fill(texts.dailyLimit, "\(ReportContents.maxDays)")))
    }
    return PageModel.Section(
      anchor: "days", heading: Markup(texts.daily),
      // The table is left out without a sensor, since it would have only dashes.
      blocks: [PageModel.Block(parts: intro)]
        + (total.sensor.readings > 0 ? [PageModel.Block(parts: [dailyFigures])] : [])
        + days.map { PageModel.Block(parts: parts(of: $0, highest, rates)) },
      startsPage: true)
  }

  private var dailyFigures: PageModel.Part {
    let columns = [
      texts.date, texts.readings, texts.activeTime, "\(texts.mean), \(contents.unit.name)",
      "\(texts.sheet.extremes), \(contents.unit.name)",
      // The heads of the columns have no names of ranges, since each column is the sum of two ranges.
      "% <\u{A0}\(glucose.limit(contents.targets.low))", "\(texts.target), %",
      "% >\u{A0}\(glucose.limit(contents.targets.high))", "\(texts.insulin), \(texts.insulinUnit)",
      "\(texts.carbohydrates), g",
    ]
    let first = contents.curveDays.first?.day ?? Int.min
    let rows = contents.result.groups.filter { ($0.key ?? first) >= first }.map { group in
      let (sensor, amounts) = (group.sensor, group.amounts)
      func percent(_ bands: GlucoseBand...) -> String {
        let parts = bands.compactMap { sensor.ranges[$0.rawValue].percent.number }
        let sum = parts.reduce(0, +)
        return parts.isEmpty ? "—" : PercentTexts.text(sum, mark: texts.mark)
      }
      func total(_ amount: DailyAmount) -> String {
        amount.records > 0 ? amount.sum.map(glucose.plain) ?? "—" : "—"
      }
      return PageModel.Row(
        group.key.map(name(ofDay:)) ?? "",
        [
          count(sensor.readings),
          sensor.readings > 0 ? short(sensor.active) { "\(glucose.decimal($0, 0)) %" } : "—",
          short(sensor.mean, glucose.number), extremes(sensor) ?? "—", percent(.veryLow, .low),
          percent(.target),
          percent(.high, .veryHigh), total(amounts.insulin), total(amounts.carbohydrates),
        ])
    }
    return .table(texts.dailyFigures, columns, rows, of: .dates)
  }

  private func parts(of day: DayCurve, _ highest: Double, _ rates: BasalRates) -> [PageModel.Part] {
    let title = "\(texts.weekdays[weekday(day.day)]) \(name(ofDay: day.day))\(length(of: day))"
    let sentence = "\(title)\(texts.colon)\(description(of: day))"
    func drawing(_ width: Double) -> Drawing {
      DayChart(
        day: day, targets: contents.targets, glucose: glucose, highest: highest,
        insulinUnit: texts.insulinUnit, rates: rates.area(of: day), width: width
      ).drawing(sentence)
    }
    let box = Sheet.Box(drawing: drawing(Sheet.width), narrow: drawing(Sheet.phoneWidth))
    let chart = PageModel.Part(subtitle: Markup(title), picture: PageModel.Picture(box, title: title))
    let rows = records(of: day)
    if rows.isEmpty { return [chart] }
    return [
      chart,
      .table(
        PageTexts.fill(texts.records, name(ofDay: day.day)), [texts.time, texts.record], rows, of: .text),
    ]
  }

  /// The records of a day as rows. Records of one minute share a row: a meal and its insulin belong together,
  /// and this saves paper.
  private func records(of day: DayCurve) -> [PageModel.Row] {
    let events = day.events.filter { !$0.isBasalRate || !contents.isAnonymised && !$0.text.isEmpty }
    var minutes: [(time: Int64, events: [DayEvent])] = []
    for event in events {
      let minute = event.deviceTime.seconds / 60
      if minutes.last?.time != minute { minutes.append((minute, [])) }
      minutes[minutes.count - 1].events.append(event)
    }
    let order = [RecordKind.food, .insulin, .exercise]
    func rank(_ event: DayEvent) -> Int { order.firstIndex(of: event.kind) ?? order.count }
    return minutes.map { minute in
      let ordered = minute.events.enumerated().sorted {
        (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
      }
      let texts = ordered.map { words($0.element) }.map { "\($0.kind) \($0.text)" }
      return PageModel.Row(clock(minute.time * 60), [texts.joined(separator: " · ")])
    }
  }

  private func description(of day: DayCurve) -> String {
    let values = day.sensor.map(\.level.milligrams)
    guard let lowest = values.min(), let highest = values.max() else { return texts.noDayReadings }
    return PageTexts.fill(
      texts.dayDescription, count(values.count), glucose.number(lowest), glucose.number(highest))
  }

  private func words(_ event: DayEvent) -> (kind: String, text: String) {
    let kinds: [RecordKind: String] = [
      .insulin: texts.insulin, .food: texts.food, .exercise: texts.exercise, .note: texts.note,
    ]
    let subtypes = ["rapid": texts.rapid, "long": texts.long, "basal": texts.basal, "mix": texts.mixed]
    let amounts = [
      event.units.map { "\(glucose.plain($0)) \(texts.insulinUnit)" },
      event.rate.map { PageTexts.fill(texts.unitsPerHour, glucose.plain($0)) },
      event.carbohydrates.map { "\(glucose.plain($0)) g" },
      event.servings.map { PageTexts.fill(texts.servings, glucose.plain($0)) },
      event.energy.map { "\(glucose.plain($0)) kcal" },
      event.minutes.map { PageTexts.fill(texts.minutes, glucose.plain($0)) },
    ].compactMap(\.self)
    let written = contents.isAnonymised ? "" : event.text
    let others = event.others.map { other in
      let name = ForeignText.shown(contents.sourceName(other.source))
      let note = contents.isAnonymised ? "" : ForeignText.shown(other.note)
      return note.isEmpty || note == written ? name : "\(name): \(note)"
    }
    let alsoIn =
      others.isEmpty ? "" : PageTexts.fill(texts.alsoIn, Set(others).sorted().joined(separator: ", "))
    let parts = amounts + [subtypes[event.subtype] ?? "", written, alsoIn]
    return (kinds[event.kind] ?? event.kind.rawValue, parts.filter { !$0.isEmpty }.joined(separator: " "))
  }
}

/// The picture of one day, with its own axes.
struct DayChart {
  private static let curveHeight = 104.0
  private static let laneHeight = 13.0

  let day: DayCurve
  let targets: Targets
  let glucose: GlucoseText
  /// The upper end of the scale in mg/dL. It is the same for all days, so that the curves of two days can be
  /// compared.
  let highest: Double
  var insulinUnit = "U"
  var rates = BasalArea()
  var width = Sheet.width

  /// - Parameter description: the text for screen readers.
  func drawing(_ description: String) -> Drawing {
    let area = PlotArea(
      left: 30, top: 5, right: width - 8, bottom: 5 + Self.curveHeight, highest: highest)
    let floor = area.bottom + 2 * Self.laneHeight
    var drawing = Drawing(width: width, height: floor + 14)
    let line = DayLine(day: day, area: area, targets: targets, glucose: glucose, width: 1.2, detail: 0.3)
    drawing.part(.figure(description, x: 0, y: 0, width: drawing.width, height: drawing.height)) { drawing in
      area.band(targets, glucose, on: &drawing)
      for hour in day.hours(every: width < Sheet.width ? 6 : 3, apart: 0.025) {
        let x = line.x(hour.instant)
        drawing.line(x, area.top, x, floor, Drawing.Stroke(ink: .grid, width: 0.4))
        drawing.text(hour.hour < 10 ? "0\(hour.hour)" : "\(hour.hour)", x, floor + 10, .small, .text, .middle)
      }
      area.limits(targets, glucose, labels: .small, on: &drawing)
      rates.draw(line, on: &drawing)
      line.draw(on: &drawing)
      line.dots(2.2, on: &drawing)
      area.frame(on: &drawing)
      lane(.insulin, insulinUnit, area.bottom + Self.laneHeight - 2, line, on: &drawing)
      lane(.food, "g", area.bottom + 2 * Self.laneHeight - 2, line, on: &drawing)
    }
    return drawing
  }

  /// Draws the amounts of one kind below the curve, each at its time.
  private func lane(
    _ kind: RecordKind, _ unit: String, _ y: Double, _ line: DayLine, on drawing: inout Drawing
  ) {
    drawing.text(unit, line.area.left - 4, y, .small, kind == .insulin ? .rapid : .food, .end)
    AmountLane(line: line, kind: kind, floor: y + 1, room: Self.laneHeight - 2, font: .small) { _ in 1 }
      .draw(on: &drawing)
  }
}
