// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// A typed point in time: `2026-05-06`, `2026-05-06T18:30`, `18:30`, `today`, `yesterday 18:30`, `14d`,
/// `36h`, or RFC 3339 with an offset.
struct TimeArgument {
  private enum Form {
    /// A number of seconds before now.
    case back(Int64)
    /// A day before today, and the seconds of the day.
    case day(daysBack: Int64, seconds: Int64)
    case shown(DeviceTime)
    case stated(DeviceTime, utcOffset: Int32)
  }

  static let now = TimeArgument(form: .back(0))

  private let form: Form

  private init(form: Form) { self.form = form }

  /// The typed time.
  ///
  /// - Throws: `ValidationError` that explains the form of a time.
  static func parse(_ text: String) throws -> TimeArgument {
    let form = try span(text) ?? day(text) ?? stated(text) ?? shown(text)
    if let form { return TimeArgument(form: form) }
    if let fault = TimeFault.sentence(text) { throw ValidationError(fault) }
    throw ValidationError(
      "a time is written as 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d or 36h, in the years 1 to 9999."
    )
  }

  /// The typed time of today, such as `18:30`; nil for every other time.
  var timeOfDay: String? {
    guard case .day(daysBack: 0, let seconds) = form else { return nil }
    let text = DeviceTime(seconds: seconds).text.dropFirst(11)
    return String(text.hasSuffix(":00") ? text.dropLast(3) : text)
  }

  /// Whether it has the same meaning on every day.
  var isComplete: Bool {
    switch form {
    case .back, .day: false
    case .shown, .stated: true
    }
  }

  /// The instant in UTC seconds, in the logbook's zone.
  func instant(zone: LogbookZone, now: Int64) -> Int64 {
    let (time, placement) = placed(zone: zone, now: now)
    return time.seconds - Int64(placement.utcOffset)
  }

  /// The same as an end of a stretch of time.
  func bound(zone: LogbookZone, now: Int64) -> TimeBound {
    let (time, placement) = placed(zone: zone, now: now)
    return TimeBound(
      instant: time.seconds - Int64(placement.utcOffset), shown: isShownTime ? time.seconds : nil)
  }

  private var isShownTime: Bool {
    switch form {
    case .back, .stated: false
    case .day, .shown: true
    }
  }

  /// The time on a clock of the logbook's zone, and what places it; with its own offset, on that clock.
  func placed(zone: LogbookZone, now: Int64) -> (time: DeviceTime, placement: Placement) {
    var zone = zone
    switch form {
    case .back(let seconds): return Self.placed(now - seconds, zone)
    case .day(let daysBack, let seconds):
      let midnight = (now + Int64(zone.offset(atUTC: now))) / 86400 * 86400
      let time = DeviceTime(seconds: midnight - daysBack * 86400 + seconds)
      return (time, zone.place(time))
    case .shown(let time): return (time, zone.place(time))
    case .stated(let time, let utcOffset): return (time, Placement(utcOffset: utcOffset, source: .stated))
    }
  }

  /// An instant is exact, even if the zone is corrected later. So its offset is stated.
  private static func placed(
    _ instant: Int64, _ zone: LogbookZone
  ) -> (time: DeviceTime, placement: Placement) {
    let utcOffset = zone.offset(atUTC: instant)
    return (
      DeviceTime(seconds: instant + Int64(utcOffset)), Placement(utcOffset: utcOffset, source: .stated)
    )
  }
}

extension TimeArgument {
  /// `now`, or `14d`, `36h`, `90m` before it.
  private static func span(_ text: String) throws -> Form? {
    if text == "now" { return .back(0) }
    guard let unit = text.last.flatMap({ ["d": 86400, "h": 3600, "m": 60][$0] as Int64? }) else { return nil }
    return try SpanLimit.number(text.dropLast(), of: unit).map { .back($0 * unit) }
  }

  /// `today` or `yesterday`, optionally with a time of day after it, or only a time of day.
  private static func day(_ text: String) -> Form? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let daysBack: Int64? = words[0] == "yesterday" ? 1 : words[0] == "today" ? 0 : nil
    if let daysBack, words.count == 1 { return .day(daysBack: daysBack, seconds: 0) }
    guard words.count == (daysBack == nil ? 1 : 2), let seconds = secondsOfDay(words[words.count - 1]) else {
      return nil
    }
    return .day(daysBack: daysBack ?? 0, seconds: seconds)
  }

  private static func secondsOfDay(_ text: Substring) -> Int64? {
    guard (4...8).contains(text.count), text.prefix(3).contains(":"), !text.contains("-") else { return nil }
    return DeviceTime(text: "1970-01-01T" + text)?.seconds
  }

  /// `2026-05-06T18:30:00+02:00`, or `Z` for UTC.
  private static func stated(_ text: String) -> Form? {
    if text.last == "Z" { return shown(text.dropLast(), utcOffset: 0) }
    let offset = text.suffix(6)
    guard let sign = offset.first, "+-".contains(sign), let size = secondsOfDay(offset.dropFirst()) else {
      return nil
    }
    return shown(text.dropLast(6), utcOffset: Int32(sign == "-" ? -size : size))
  }

  private static func shown(_ text: Substring, utcOffset: Int32) -> Form? {
    // A date without a time is not an instant, even with an offset.
    guard text.count > 10 else { return nil }
    return DeviceTime(text: text).map { .stated($0, utcOffset: utcOffset) }
  }

  private static func shown(_ text: String) -> Form? { DeviceTime(text: text).map { .shown($0) } }
}
