// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

/// A figure with a note, such as its goal.
struct SummaryLine {
  let name: String
  let value: String
  var note = ""
}

extension ReportPage {
  /// The box with the main figures of the sensor, their goals, and the amount of data.
  func summaryBox(height: Double) -> Drawing {
    let sensor = total.sensor
    let isStandard = contents.targets == .standard
    func value(_ metric: Metric, _ text: (Double) -> String) -> (value: String, reason: String) {
      (metric.number.map(text) ?? "—", metric.shortage.map { texts.text(of: $0) } ?? "")
    }
    func line(
      _ name: String, _ figure: (value: String, reason: String), _ goal: String, detail: String? = nil
    ) -> SummaryLine {
      // With too little data only the time with readings is compared with a goal.
      let isJudged = sensor.goalShortage == nil || name == texts.activeTime
      let goal = goal.isEmpty || !isJudged ? "" : "\(texts.goal) \(goal)"
      let note = [goal, detail ?? ""].filter { !$0.isEmpty }.joined(separator: " · ")
      return SummaryLine(name: name, value: figure.value, note: figure.reason.isEmpty ? note : figure.reason)
    }
    let isMilligrams = contents.unit == .milligramsPerDecilitre
    let mean = value(sensor.mean) { bounded("\(glucose.number($0)) \(contents.unit.name)", sensor.bound) }
    let indicator = value(sensor.managementIndicator) { percent in
      let millimoles = sensor.managementIndicatorInMillimoles.number.map {
        " (\(glucose.decimal($0, 0)) mmol/mol)"
      }
      return "\(glucose.decimal(percent)) %" + (millimoles ?? "")
    }
    let lines = [
      line(
        texts.mean, mean,
        isStandard ? "< \(isMilligrams ? "154" : glucose.decimal(8.6)) \(contents.unit.name)" : ""),
      line(texts.sheet.indicator, indicator, isStandard ? "< 7 %" : ""),
      line(
        texts.sheet.variation, value(sensor.variation, percent),
        contents.targets == .pregnancy ? "" : "≤ 36 %",
        detail: sensor.standardDeviation.number.map {
          "\(texts.deviation) \(glucose.number($0)) \(contents.unit.name)"
        }),
      lowEpisodes,
      line(texts.activeTime, value(sensor.active, percent), "> 70 %"),
      SummaryLine(name: texts.readings, value: count(sensor.readings)),
    ]
    let goals = contents.targets.goals == nil ? nil : sensor.goalShortage
    let goalNote = goals.map { "\(texts.goals)\(texts.colon)— (\(texts.text(of: $0)))" } ?? ""
    let note = [goalNote, missingText(1)].filter { !$0.isEmpty }.joined(separator: ". ")
    return list(texts.sheet.summary, lines, note, height: height)
  }

  /// The number of low episodes, their mean duration, and the number that began at night.
  private var lowEpisodes: SummaryLine {
    let episodes = total.sensor.episodes[.low]
    let note = episodes.meanMinutes.map {
      PageTexts.fill(texts.sheet.lowEpisodesNote, glucose.decimal($0, 0), count(episodes.atNight))
    }
    let shown = total.sensor.readings > 0 ? count(episodes.count) : "—"
    return SummaryLine(name: texts.sheet.lowEpisodes, value: shown, note: note ?? "")
  }

  /// The box with the main figures of finger sticks.
  func stickSummaryBox(height: Double) -> Drawing {
    let sticks = total.fingerSticks
    func value(_ metric: Metric) -> String {
      short(metric) { "\(glucose.number($0)) \(contents.unit.name)" }
    }
    func line(_ name: String, _ metric: Metric, _ text: String) -> SummaryLine {
      SummaryLine(name: name, value: text, note: metric.shortage.map { texts.text(of: $0) } ?? "")
    }
    let edges = (lows: sticks.lows, highs: sticks.highs, count: sticks.readings)
    let lowest = ranked(sticks.lowest.number, at: 0, edges)
    let highest = ranked(sticks.highest.number, at: 1, edges)
    let median = ranked(sticks.median.number, at: 0.5, edges)
    let range = "\(lowest)–\(highest) \(contents.unit.name)"
    // LO and HI count as the limits of the device, so the mean is only a bound. The note states the number of
    // such readings.
    let beyond = sticks.lows + sticks.highs
    let counted = beyond == 0 ? "" : "LO, HI: \(count(beyond))"
    let lines = [
      SummaryLine(
        name: texts.readings, value: count(sticks.readings),
        note: PageTexts.fill(texts.sheet.perDay, short(sticks.perDay) { glucose.decimal($0) })),
      SummaryLine(
        name: texts.mean, value: bounded(value(sticks.mean), sticks.bound),
        note: sticks.mean.shortage.map { texts.text(of: $0) } ?? counted),
      line(texts.median, sticks.median, "\(median) \(contents.unit.name)"),
      line("\(texts.lowest)–\(texts.highest.lowercased())", sticks.lowest, range),
      line(texts.deviation, sticks.standardDeviation, value(sticks.standardDeviation)),
      line(texts.sheet.variation, sticks.variation, short(sticks.variation, percent)),
    ]
    // If all values of the sensor are missing, no other box mentions the sensor. So this box states that
    // values are missing.
    let note = total.sensor.readings == 0 ? missingText(1) : ""
    return list(texts.sheet.stickFigures, lines, note, height: height)
  }

  private func list(_ title: String, _ lines: [SummaryLine], _ note: String, height: Double) -> Drawing {
    var drawing = Drawing.box(title, width: Sheet.width - Sheet.rangesWidth - Sheet.gap, height: height)
    let notes = Drawing.Font.small.wrapped(note, drawing.width - 12)
    let bottom = height - (notes.isEmpty ? 4 : 6 + 9 * Double(notes.count))
    let step = (bottom - Drawing.titleHeight - 2) / Double(lines.count)
    let strong = Drawing.Font(size: 9.5, isBold: true)
    drawing.part(.table) { drawing in
      for (index, line) in lines.enumerated() {
        let y = Drawing.titleHeight + 2 + (Double(index) + 0.5) * step
        let base = y + (line.note.isEmpty ? 3 : -1)
        drawing.part(.row) { drawing in
          let room = drawing.width - 18 - strong.width(line.value)
          drawing.part(.rowHead) { $0.text(Drawing.Font.plain.fitted(line.name, room), 6, base, .plain) }
          drawing.part(.cell) { drawing in
            drawing.text(line.value, drawing.width - 6, base, strong, .text, .end)
            let note = Drawing.Font.small.fitted(line.note, drawing.width - 12)
            drawing.text(note, drawing.width - 6, base + 9.5, .small, .soft, .end)
          }
        }
        if index + 1 < lines.count {
          drawing.line(
            6, y + step / 2, drawing.width - 6, y + step / 2, Drawing.Stroke(ink: .grid, width: 0.4))
        }
      }
    }
    if notes.isEmpty { return drawing }
    drawing.part(.paragraph) { drawing in
      for (index, text) in notes.enumerated() {
        drawing.text(text, 6, bottom + 9 * Double(index + 1), .small, .text)
      }
    }
    return drawing
  }
}

extension ReportPage {
  /// The line with the main figures of the period of the same length before this one; nil if that period has
  /// no readings.
  var earlierBox: Drawing? {
    guard let earlier = contents.earlier else { return nil }
    let hasSensor = total.sensor.readings > 0
    let readings = hasSensor ? earlier.figures.sensor.readings : earlier.figures.fingerSticks.readings
    guard readings > 0 else { return nil }
    let days = PageTexts.fill(texts.sheet.earlierDays, "\(earlier.figures.days)")
    let dates = contents.isAnonymised ? "" : " (\(earlier.dates.first) – \(earlier.dates.last))"
    let parts = hasSensor ? sensorParts(earlier.figures.sensor) : stickParts(earlier.figures.fingerSticks)
    // Blanks that do not break keep each figure on one line.
    let figures = parts.map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: " · ")
    let text = "\(days)\(dates)\(texts.colon)\(figures)"
    let lines = Drawing.Font.plain.wrapped(text, Sheet.width)
    var drawing = Drawing(width: Sheet.width, height: 2 + 10 * Double(lines.count))
    drawing.part(.paragraph) { drawing in
      for (index, line) in lines.enumerated() { drawing.text(line, 0, 8 + 10 * Double(index)) }
    }
    return drawing
  }

  private func sensorParts(_ sensor: SensorFigures) -> [String] {
    if let shortage = sensor.ranges[GlucoseBand.target.rawValue].percent.shortage {
      return [reason(shortage)]
    }
    let percents = PercentTexts(minutes: sensor.ranges, mark: texts.mark)
    func sum(_ first: GlucoseBand, _ second: GlucoseBand) -> String {
      "\(texts.name(of: first)) + \(texts.name(of: second)) \(percents.sum(first, second)) %"
    }
    let isSplit = contents.targets.highest != nil
    return [
      "\(texts.target) \(percents[.target]) %", sum(.low, .veryLow),
      isSplit ? sum(.high, .veryHigh) : "\(texts.high) \(percents[.high]) %",
      value(texts.mean, sensor.mean).map { bounded($0, sensor.bound) },
      sensor.managementIndicator.number.map { "\(texts.sheet.indicator) \(percent($0))" },
      sensor.variation.number.map { "\(texts.sheet.variation) \(percent($0))" },
    ].compactMap(\.self)
  }

  private func stickParts(_ sticks: FingerStickFigures) -> [String] {
    let percents = PercentTexts(readings: sticks.ranges, mark: texts.mark)
    return [
      "\(texts.readings) \(count(sticks.readings))", "\(texts.target) \(percents[.target]) %",
      value(texts.mean, sticks.mean).map { bounded($0, sticks.bound) },
    ].compactMap(\.self)
  }

  private func value(_ name: String, _ metric: Metric) -> String? {
    metric.number.map { "\(name) \(glucose.number($0)) \(contents.unit.name)" }
  }
}
