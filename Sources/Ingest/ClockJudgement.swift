// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The comparison of a meter's clock with the logbook's local time. The comparison changes no times.
package struct ClockJudgement: Sendable {
  /// The maximum normal difference in seconds. Meters show whole minutes, and lose or gain some minutes in a
  /// month.
  package static let thresholdSeconds: Int64 = 120

  /// Both clocks at one moment.
  package let comparison: ClockComparison
  /// The IANA name of the zone whose local time is the reference.
  package let zone: String
  /// Seconds by which the meter is ahead of the local time; negative if it is slow.
  package let difference: Int64

  /// Compares the time on the meter with the local time of this zone.
  package init(_ comparison: ClockComparison, in zone: LogbookZone) {
    self.comparison = comparison
    self.zone = zone.name
    let local = comparison.host + Int64(zone.offset(atUTC: comparison.host))
    difference = comparison.meter.seconds - local
  }

  /// Whether the difference is worth a message.
  package var isOff: Bool { abs(difference) > Self.thresholdSeconds }

  /// Whether the meter differs from local time by whole hours, for example after a change to or from
  /// daylight-saving time, or on a journey.
  package var isOffByHours: Bool {
    let rest = abs(difference) % 3600
    return isOff && abs(difference) <= DeviceTime.largestDifference + Self.thresholdSeconds
      && min(rest, 3600 - rest) <= Self.thresholdSeconds
  }

  /// A message for the person; nil if the clocks agree.
  package var warning: String? {
    guard isOff else { return nil }
    let side = difference > 0 ? "ahead of" : "behind"
    let shown = comparison.meter.text.replacing("T", with: " ")
    return
      "the meter's clock showed \(shown), \(Self.words(abs(difference))) \(side) the local time in \(zone)"
      + (isOffByHours ? ", probably because of daylight-saving time or another zone" : "")
      + "; times are kept as the meter showed them"
  }

  /// The warning for a meter whose clock cannot be read; `comparison.meter` is then the time of its newest
  /// reading. A newest reading in the future shows that the clock is ahead; a newest reading in the past
  /// shows nothing.
  package var warningOfNewestReading: String? {
    guard isOff, difference > 0 else { return nil }
    let shown = comparison.meter.text.replacing("T", with: " ")
    return
      "the newest reading has the time \(shown), so that the meter's clock is at least \(Self.words(difference)) ahead of the "
      + "local time in \(zone); times are kept as the meter showed them"
  }

  /// A duration in its two largest units: `1 h 0 min`.
  package static func words(_ seconds: Int64) -> String {
    let (days, hours, minutes) = (seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
  }
}
