// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report

/// Facts that figures do not show: that the period has no reading although the store has some, or that there
/// are newer records.
struct PeriodNote {
  let query: StatsQuery
  let view: StatsView

  /// The number of readings with a figure.
  static func readings(_ view: StatsView) -> Int {
    let total = view.result.total
    return total.sensor.readings + total.fingerSticks.readings + total.ketones.readings
  }

  /// The sentence with the command to type; nil if there is nothing to report.
  ///
  /// - Parameters:
  ///   - command: shows the day of a reading, or the last days with readings.
  ///   - endsWithReadings: whether the period is the last days with readings, which excludes newer records.
  func text(_ command: (DeviceTime) -> String, endsWithReadings: Bool) throws -> String? {
    guard let newest = try query.newestReading() else { return nil }
    func without(_ days: String) -> String {
      "no readings \(days); the newest reading is of \(minute(newest.shown)); to see it: '\(command(newest.shown))'"
    }
    guard let period = view.result.period else { return without("in this period") }
    if Self.readings(view) == 0, newest.utc < period.start || newest.utc >= period.end {
      return without(days(period))
    }
    guard endsWithReadings, let record = try query.newestInstant(), record >= period.end else { return nil }
    return
      "the figures end with the newest reading, \(minute(newest.shown)); records up to \(minute(view.shown(record))) "
      + "are newer and not in them; to add them: --since \(day(period.start))"
  }

  private func days(_ period: Period) -> String {
    let (first, last) = (day(period.start), day(period.end - 1))
    return first == last ? "on \(first)" : "from \(first) to \(last)"
  }

  private func day(_ instant: Int64) -> String { String(view.shown(instant).text.prefix(10)) }

  private func minute(_ time: DeviceTime) -> String {
    String(time.text.prefix(16)).replacing("T", with: " ")
  }
}
