// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

extension ReportPage {
  /// The box with the title of the report, and below it the name of the person.
  var personBox: Drawing {
    var drawing = Drawing(width: 250, height: 52)
    drawing.part(.heading(1)) { $0.text(texts.title, 0, 14, Drawing.Font(size: 15, isBold: true)) }
    let font = Drawing.Font(size: 10.5, isBold: true)
    drawing.part(.paragraph) { drawing in
      guard let person = contents.person, !contents.isAnonymised, !person.name.isEmpty else {
        // Without a name, a line is drawn on which a person can write it.
        drawing.text(texts.sheet.name, 0, 34, .plain, .soft)
        let start = Drawing.Font.plain.width(texts.sheet.name) + 6
        return drawing.line(start, 35, 220, 35, Drawing.Stroke(ink: .line))
      }
      let name = ForeignText.shown(person.name)
      if font.width(name) <= 246 {
        drawing.text(name, 0, 33, font)
      } else {
        let lines = Drawing.Font.bold.wrapped(name, 246)
        let rest = Drawing.Font.bold.fitted(lines.dropFirst().joined(separator: " "), 246)
        drawing.text(lines.first ?? "", 0, 26, .bold)
        drawing.text(rest, 0, 35.5, .bold)
      }
      if !person.born.isEmpty {
        drawing.text("\(texts.sheet.born) \(ForeignText.shown(person.born))", 0, 46, .plain, .soft)
      }
    }
    return drawing
  }

  /// The box with the period, the target range and the zone, and with how complete the data are.
  var periodBox: Drawing {
    var drawing = Drawing(width: Sheet.width - 250 - Sheet.gap, height: 52)
    let days = total.days == 1 ? texts.oneDay : PageTexts.fill(texts.manyDays, "\(total.days)")
    let period = contents.isAnonymised ? days : "\(periodText) · \(days)"
    let sensor = total.sensor
    var quality: String
    if sensor.readings > 0 {
      quality = "\(texts.activeTime) \(short(sensor.active, percent))"
      quality += " · \(PageTexts.fill(texts.sheet.daysOf, count(sensor.daysWithReadings), count(total.days)))"
    } else {
      let sticks = total.fingerSticks
      quality = "\(texts.readings) \(count(sticks.readings))"
      quality += " · \(PageTexts.fill(texts.sheet.daysOf, count(sticks.daysWithReadings), count(total.days)))"
    }
    let lines = [
      (period, Drawing.Font(size: 9.5, isBold: true)),
      (targets, Drawing.Font.plain),
      (zone, Drawing.Font.plain),
      (quality, Drawing.Font.bold),
    ]
    for (index, line) in lines.enumerated() {
      drawing.part(.paragraph) { drawing in
        let text = line.1.fitted(line.0, drawing.width)
        drawing.text(text, drawing.width, 11 + Double(index) * 12.3, line.1, .text, .end)
      }
    }
    return drawing
  }

  /// The target range. For the targets `older` and `pregnancy`, the text also names the people for whom they
  /// are meant.
  private var targets: String {
    let range = "\(texts.targetRange) \(glucose.range(contents.targets)) \(contents.unit.name)"
    return switch contents.targets {
    case .older: "\(range) · \(texts.sheet.olderTargets)"
    case .pregnancy: "\(range) · \(texts.sheet.pregnancyTargets)"
    default: range
    }
  }

  /// The first and the last date of the period.
  var periodText: String {
    contents.dates.first == contents.dates.last
      ? contents.dates.first : "\(contents.dates.first) – \(contents.dates.last)"
  }

  /// The name of a day: its date, or its number in an anonymised report.
  func name(ofDay day: Int) -> String {
    guard contents.isAnonymised else { return Grouping.day.name(of: day) }
    let first = contents.result.groups.compactMap(\.key).min() ?? contents.days.first?.day ?? day
    return PageTexts.fill(texts.sheet.dayNumber, "\(day - first + 1)")
  }

  /// The short name of a day, without the year. It has the name of the month, since some readers would
  /// mistake the number of a month for the day.
  func shortName(ofDay day: Int) -> String {
    let date = name(ofDay: day)
    guard !contents.isAnonymised, let month = Int(date.dropFirst(5).prefix(2)),
      let number = Int(date.suffix(2)),
      texts.sheet.months.indices.contains(month - 1)
    else { return date }
    return "\(number) \(texts.sheet.months[month - 1])"
  }

  /// The length of a day on which the clock changed, as a text after the name of the day. Empty for a day of
  /// 24 hours.
  func length(of day: DayCurve) -> String { day.hourCount == 24 ? "" : " · \(day.hourCount) h" }

  /// The zone, and the first days on which the clock changed.
  private var zone: String {
    let changed = contents.days.filter { $0.hourCount != 24 }.map { shortName(ofDay: $0.day) }
    let zone = "\(texts.timeZone) \(ForeignText.shown(contents.zone))"
    if changed.isEmpty { return zone }
    let names = changed.prefix(3).joined(separator: ", ") + (changed.count > 3 ? ", …" : "")
    return "\(zone) · \(PageTexts.fill(texts.sheet.clockChanged, names))"
  }

  /// The reason why a box has no figures.
  func reason(_ shortage: Shortage) -> String {
    let text = texts.text(of: shortage)
    return switch shortage {
    case .noReadings, .longPeriod: text
    default: PageTexts.fill(texts.sheet.tooFewData, text)
    }
  }

  /// The weekday of a day since 1970-01-01: 0 for Monday to 6 for Sunday.
  func weekday(_ day: Int) -> Int { ((day + 3) % 7 + 7) % 7 }
}
