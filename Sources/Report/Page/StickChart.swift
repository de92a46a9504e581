// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The finger sticks of three hours of the day, of all days.
struct StickBlock {
  /// The first hour.
  let hour: Int
  let count: Int
  let lowest: Double
  let highest: Double
  /// With 3 readings or more.
  let median: Double?
  /// The 25th and the 75th percentile, with 5 readings or more.
  let quartiles: (low: Double, high: Double)?

  /// The eight blocks of a day; nil for one without readings.
  static func all(_ sticks: [DayCurve.Dot]) -> [StickBlock?] {
    stride(from: 0, to: 24, by: 3).map { hour in
      var values = Distribution()
      var count = 0
      for stick in sticks where secondsOfDay(stick.deviceTime) / 10800 == hour / 3 {
        values.add(stick.level.milligrams)
        count += 1
      }
      guard let lowest = values.lowest, let highest = values.highest else { return nil }
      let quartiles = values.percentiles([0.25, 0.75])
      return StickBlock(
        hour: hour, count: count, lowest: lowest, highest: highest,
        median: count >= 3 ? values.percentile(0.5) : nil,
        quartiles: count >= 5 ? (quartiles[0], quartiles[1]) : nil)
    }
  }
}

/// Seconds since midnight.
func secondsOfDay(_ time: DeviceTime) -> Int { Int((time.seconds % 86400 + 86400) % 86400) }

/// All finger sticks over the hours of the day.
struct StickChart {
  let sticks: [DayCurve.Dot]
  let targets: Targets
  let glucose: GlucoseText

  /// - Parameter id: which no other picture of the page has.
  func picture(_ id: String, title: String, description: String) -> Markup {
    let highest = sticks.map(\.level.milligrams).max() ?? 0
    let area = ChartArea(height: 200, scale: GlucoseScale(highest: highest, glucose.unit))
    var svg = area.ground(targets, glucose) + area.hours(ChartArea.usualHours, under: area.bottom)
    for block in StickBlock.all(sticks).compactMap(\.self) {
      let (left, right) = (area.x(Double(block.hour) / 24) + 4, area.x(Double(block.hour + 3) / 24) - 4)
      if let quartiles = block.quartiles {
        let (top, bottom) = (area.y(quartiles.high), area.y(quartiles.low))
        svg += SVG.rectangle("box", left, top, right - left, bottom - top)
      }
      if let median = block.median {
        svg += SVG.path("median", "M\(left) \(area.y(median))H\(right)")
      }
    }
    for stick in sticks {
      svg += SVG.circle(
        "stick", area.x(Double(secondsOfDay(stick.deviceTime)) / 86400), area.y(stick.level.milligrams), 3)
    }
    return SVG.picture(
      id, width: ChartArea.width, height: area.bottom + 20, title: title, description: description, svg)
  }
}
