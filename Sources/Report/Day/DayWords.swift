// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A day in words: the texts around its picture, and the whole day in sentences for screen readers.
package struct DayWords: Sendable {
  private let day: DayCurve
  private let figures: GroupFigures
  private let glucose: GlucoseText
  private let targets: Targets

  /// - Parameter figures: the figures of the whole day.
  package init(_ day: DayCurve, _ figures: GroupFigures, _ targets: Targets, _ glucose: GlucoseText) {
    (self.day, self.figures, self.targets, self.glucose) = (day, figures, targets, glucose)
  }

  /// The date, with the information that is necessary to read the picture.
  package func heading(zone: String) -> String {
    let weekday = Grouping.weekday.name(of: ((day.day + 3) % 7 + 7) % 7)
    return
      "\(weekday) \(day.date) · \(day.hourCount) hours · zone \(zone) · \(glucose.unit.name) · target \(glucose.range(targets))"
  }

  /// Short texts about the values of the sensor.
  package var sensor: [String] {
    let sensor = figures.sensor
    guard sensor.readings > 0 else { return [] }
    let mean = sensor.mean.text(glucose.number)
    return [
      "Sensor: \(counted(sensor.readings, "reading"))",
      "\(sensor.active.text { glucose.decimal($0, 0) }) % of the time", "mean \(mean)",
    ] + extremes(day.sensor)
      + [("LO", sensor.lows), ("HI", sensor.highs)].filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
  }

  /// Short texts about the finger sticks.
  package var sticks: [String] {
    guard !day.sticks.isEmpty else { return [] }
    let repeated = day.sticks.filter { !$0.others.isEmpty }
    let others = repeated.flatMap(\.others)
    return ["Finger sticks: \(counted(day.sticks.count, "reading"))"] + extremes(day.sticks)
      + (repeated.isEmpty ? [] : ["\(repeated.count)\(remark(others))"])
  }

  /// Short texts about the insulin and the carbohydrates of the day.
  package var amounts: [String] {
    let amounts = figures.amounts
    let parts = [
      ("Insulin", amounts.insulin, "U"), ("basal", amounts.basal, "U"),
      (amounts.bolusName, amounts.bolus, "U"),
      ("Carbohydrates", amounts.carbohydrates, "g"),
    ]
    return parts.filter { $0.1.records > 0 }.map { name, amount, unit in
      if let shortage = amount.shortage { return "\(name) — (\(shortage.text))" }
      return "\(name) \(glucose.plain(amount.total)) \(unit)"
    }
  }

  /// Sentences about notes, exercises, items with a text, and items that other sources state, too.
  package var notes: [String] {
    day.events.filter {
      $0.kind == .note || $0.kind == .exercise || !$0.text.isEmpty || !$0.others.isEmpty
    }.map(sentence)
      + day.sticks.filter { !$0.marks.isEmpty && !$0.others.isEmpty }.map { sentence($0, "finger stick") }
  }

  /// The items that are not in the figures because another source counts instead, each with the reason.
  package var leftOut: [String] {
    let items =
      day.leftOutEvents.map { ($0.instant, sentence($0)) }
      + day.leftOutSticks.map { ($0.instant, sentence($0, "finger stick")) }
    return items.sorted { $0.0 < $1.0 }.map(\.1)
      + day.sensorCopies.map { (name: ForeignText.shown(day.sourceName($0.key)), count: $0.value) }
      .sorted { $0.name < $1.name }.map { source in
        "\(counted(source.count, "finger stick")) of \(source.name) with the own values of a sensor (not counted)"
      }
  }

  /// The whole day in sentences.
  package func sentences(zone: String) -> [String] {
    var lines = [heading(zone: zone).replacing(" · ", with: ", ") + "."]
    if day.isEmpty {
      return lines + (leftOut.isEmpty ? ["No readings and no records."] : leftOut.map { $0 + "." })
    }
    if day.hasNoReadings { lines.append("No readings.") }
    for parts in [sensor, sticks, amounts] where !parts.isEmpty {
      lines.append(parts.joined(separator: ", ") + ".")
    }
    lines += clockChanges + rangeSentences + blocks + gaps
    lines += (day.sticks.map { ($0, "finger stick") } + day.scans.map { ($0, "scan") })
      .sorted { $0.0.instant < $1.0.instant }
      .map { sentence($0.0, $0.1) + "." }
    return lines
      + (day.events.filter { !$0.isBasalRate || !$0.text.isEmpty }.map(sentence) + leftOut).map { $0 + "." }
  }
}

extension DayWords {
  private var rangeSentences: [String] {
    let ranges = figures.sensor.ranges
    guard figures.sensor.readings > 0 else { return [] }
    if let shortage = ranges[GlucoseBand.target.rawValue].percent.shortage {
      return ["Time in ranges: none (\(shortage.text))."]
    }
    let percents = PercentTexts(minutes: ranges)
    let parts = GlucoseBand.allCases.filter { ranges[$0.rawValue].percent.shortage == nil }.map { band in
      "\(band.name.replacing("_", with: " ")) \(percents[band]) %"
    }
    return ["Time in ranges: \(parts.joined(separator: ", "))."]
  }

  /// One sentence for each change of the clock on a journey.
  fileprivate var clockChanges: [String] {
    day.clockChanges.map {
      "The clock changed from \(clock($0.before.seconds)) to \(clock($0.after.seconds))."
    }
  }

  /// Sentences about the curve: one for each three hours on the clock, in the order of time.
  private var blocks: [String] {
    var blocks: [(hour: Int, dots: [DayCurve.Dot])] = []
    for dot in day.sensor {
      let hour = clockHour(dot) / 3 * 3
      if blocks.last?.hour != hour { blocks.append((hour, [])) }
      blocks[blocks.count - 1].dots.append(dot)
    }
    return blocks.compactMap { hour, dots in
      guard let low = dots.map(\.level.milligrams).min(), let high = dots.map(\.level.milligrams).max(),
        let first = dots.first, let last = dots.last
      else { return nil }
      return
        "\(clock(Int64(hour) * 3600)) to \(clock(Int64(hour + 3) * 3600)): from \(glucose.level(first.level)) to \(glucose.level(last.level)), lowest \(glucose.number(low)), highest \(glucose.number(high))."
    }
  }

  private var gaps: [String] {
    zip(day.sensor, day.sensor.dropFirst()).filter { $1.instant - $0.instant > DayCurve.maxGapSeconds }.map {
      "No sensor readings from \(clock($0.deviceTime.seconds)) to \(clock($1.deviceTime.seconds))."
    }
  }

  private func clockHour(_ dot: DayCurve.Dot) -> Int {
    Int(((dot.deviceTime.seconds % 86400 + 86400) % 86400) / 3600)
  }

  private func extremes(_ dots: [DayCurve.Dot]) -> [String] {
    func best(_ isBetter: (Double, Double) -> Bool) -> DayCurve.Dot? {
      dots.reduce(nil as DayCurve.Dot?) { best, dot in
        best.map { isBetter(dot.level.milligrams, $0.level.milligrams) ? dot : $0 } ?? dot
      }
    }
    return [("lowest", best(<)), ("highest", best(>))].compactMap { name, dot in
      dot.map { "\(name) \(glucose.level($0.level)) at \(clock($0.deviceTime.seconds))" }
    }
  }

  private func sentence(_ event: DayEvent) -> String {
    let amounts = [
      event.units.map { "\(glucose.plain($0)) U" }, event.rate.map { "\(glucose.plain($0)) U/h" },
      event.carbohydrates.map { "\(glucose.plain($0)) g" },
      event.servings.map(servings), event.minutes.map { "\(glucose.plain($0)) min" },
    ].compactMap(\.self)
    let words = [event.kind.rawValue] + amounts + [event.subtype, event.text]
    let text = words.filter { !$0.isEmpty }.joined(separator: " ")
    return "\(clock(event.deviceTime.seconds)) \(text)"
      + (event.omission.map(remark) ?? remark(event.others, besides: event.text))
  }

  private func sentence(_ dot: DayCurve.Dot, _ noun: String) -> String {
    let marks = dot.marks.names.map { " " + $0.replacing("-", with: " ") }.joined(separator: ",")
    return "\(clock(dot.deviceTime.seconds)): \(noun) \(glucose.level(dot.level))\(marks)"
      + (dot.omission.map(remark) ?? remark(dot.others))
  }

  /// A text about the other sources that state the same item, with their notes.
  private func remark(_ others: [Repetition], besides own: String = "") -> String {
    let parts = others.map { other in
      let (name, note) = (ForeignText.shown(day.sourceName(other.source)), ForeignText.shown(other.note))
      return note.isEmpty || note == own ? name : "\(name): \(note)"
    }
    return parts.isEmpty ? "" : " (also in \(Set(parts).sorted().joined(separator: ", ")))"
  }

  /// A text that states why an item is not in the figures.
  private func remark(_ omission: DayOmission) -> String {
    switch omission {
    case .repeats(let source): " (also in \(ForeignText.shown(day.sourceName(source))), not counted)"
    case .computed: " (computed from fat and protein, not counted)"
    case .notChosen: " (another source was chosen, not counted)"
    }
  }

  private func servings(_ number: Double) -> String {
    "\(glucose.plain(number)) \(number == 1 ? "serving" : "servings")"
  }
}

/// A day on a terminal: its picture, and below it the figures and the texts of a person.
package struct DayPicture: Sendable {
  private let day: DayCurve
  private let figures: GroupFigures
  private let targets: Targets
  private let glucose: GlucoseText
  private let zone: String

  /// - Parameter figures: the figures of the whole day.
  package init(
    _ day: DayCurve, _ figures: GroupFigures, _ targets: Targets, _ glucose: GlucoseText, zone: String
  ) {
    (self.day, self.figures, self.targets, self.glucose, self.zone) = (day, figures, targets, glucose, zone)
  }

  /// The day in sentences, for screen readers.
  package var sentences: [String] { DayWords(day, figures, targets, glucose).sentences(zone: zone) }

  /// The picture. Each line fits into the terminal, except for long words.
  package func lines(_ signs: PlotSigns, columns: Int, rows: Int = 12) -> [PlotLine] {
    let words = DayWords(day, figures, targets, glucose)
    let width = min(PlotFrame.maxColumns, max(PlotFrame.minColumns, columns))
    func text(_ text: String, _ role: PlotRole? = nil) -> [PlotLine] {
      let parts = text.split(separator: " · ").map { signs.plain(String($0)) }
      return Wrapping.lines(parts, columns: width, separator: signs.dot).flatMap {
        Wrapping.lines($0, columns: width)
      }.map { PlotLine($0, role) }
    }
    let heading =
      text(words.heading(zone: zone)) + words.clockChanges.map { PlotLine(String($0.dropLast())) }
    let leftOut = words.leftOut.flatMap { text($0, .leftOut) }
    if day.isEmpty { return heading + (leftOut.isEmpty ? [PlotLine("no readings and no records")] : leftOut) }
    var lines = heading + DayPlot(day, targets, glucose, signs, columns: width, rows: rows).lines
    if day.hasNoReadings { lines.append(PlotLine("no readings")) }
    for parts in [words.sensor, words.sticks, words.amounts] where !parts.isEmpty {
      lines += text(parts.joined(separator: " · "))
    }
    if let bar = RangeBar(figures.sensor.ranges, targets, signs) { lines += bar.lines(columns: width) }
    return lines + words.notes.flatMap { text($0) } + leftOut
  }
}
