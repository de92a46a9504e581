// SPDX-License-Identifier: Apache-2.0

import Logbook

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
  func note(on rates: BasalRates) -> String {
    guard rates.highest > 0 else { return "" }
    let highest = PageTexts.fill(texts.unitsPerHour, glucose.plain(rates.highest))
    return " " + PageTexts.fill(texts.sheet.rateNote, highest)
  }
}
