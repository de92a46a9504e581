// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF

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
