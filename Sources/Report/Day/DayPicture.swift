// SPDX-License-Identifier: Apache-2.0

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
    let heading = text(words.heading(zone: zone))
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
