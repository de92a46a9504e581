// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A time whose sensor values a source did not have any more when it was asked, by the clock of the logbook.
package struct MissingTime: Hashable, Sendable {
  let from: DeviceTime
  let until: DeviceTime

  package init(from: DeviceTime, until: DeviceTime) { (self.from, self.until) = (from, until) }
}

extension ReportPage {
  /// Which sensor values are missing, in a sentence; empty if none are.
  ///
  /// - Parameter limit: how many times are named.
  func missingText(_ limit: Int) -> String {
    guard !contents.missing.isEmpty else { return "" }
    let names = contents.missing.prefix(limit).map(name(of:)).joined(separator: ", ")
    let rest = contents.missing.count - limit
    return PageTexts.fill(texts.missing, rest > 0 ? "\(names) (+\(rest))" : names)
  }

  /// `2026-05-06 02:10–06:40`.
  private func name(of time: MissingTime) -> String {
    let (from, until) = (name(of: time.from), name(of: time.until))
    return from.day == until.day
      ? "\(from.day) \(from.time)–\(until.time)" : "\(from.day) \(from.time) – \(until.day) \(until.time)"
  }

  private func name(of time: DeviceTime) -> (day: String, time: Substring) {
    let second = (time.seconds % 86400 + 86400) % 86400
    return (name(ofDay: Int((time.seconds - second) / 86400)), time.text.dropFirst(11).prefix(5))
  }
}
