// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import Logbook

/// A time as a person types it: `2026-05-06`, `2026-05-06T18:30`, `18:30`, `today`, `yesterday 18:30`, `14d`,
/// `36h`, or RFC 3339 with an offset.
package struct TimeArgument {
  private enum TypedForm {
    /// The number of seconds from the time until now.
    case back(Int64)
    /// The number of days from the typed day until today, and the seconds since its midnight.
    case day(daysBack: Int64, seconds: Int64)
    case shown(DeviceTime)
    case stated(DeviceTime, utcOffset: Int32)
  }

  /// The time at which the command runs.
  package static let now = TimeArgument(form: .back(0))

  private let form: TypedForm

  private init(form: TypedForm) { self.form = form }

  /// Reads a typed time.
  ///
  /// - Throws: `ValidationError` that explains the expected notation.
  package static func parse(_ text: String) throws -> TimeArgument {
    let form = try span(text) ?? day(text) ?? parseWithOffset(text) ?? shown(text)
    if let form { return TimeArgument(form: form) }
    if let fault = TimeFault.sentence(text) { throw ValidationError(fault) }
    throw ValidationError(
      "a time is written as 2026-05-06, 2026-05-06T18:30, 18:30, yesterday, 14d or 36h, in the years 1 to 9999."
    )
  }

  /// The time of day if a time of today was typed, such as `18:30`; nil for any other notation.
  package var timeOfDay: String? {
    guard case .day(daysBack: 0, let seconds) = form else { return nil }
    let text = DeviceTime(seconds: seconds).text.dropFirst(11)
    return String(text.hasSuffix(":00") ? text.dropLast(3) : text)
  }

  /// Whether the typed text means the same time on whatever day the command runs.
  package var isComplete: Bool {
    switch form {
    case .back, .day: false
    case .shown, .stated: true
    }
  }

  /// The instant in UTC seconds. `zone` applies to times without an offset.
  package func instant(zone: LogbookZone, now: Int64) -> Int64 {
    let (time, placement) = placedTime(zone: zone, now: now)
    return time.seconds - Int64(placement.utcOffset)
  }

  /// The time as an end of a period. `zone` applies to times without an offset.
  func bound(zone: LogbookZone, now: Int64) -> TimeBound {
    let (time, placement) = placedTime(zone: zone, now: now)
    return TimeBound(
      instant: time.seconds - Int64(placement.utcOffset), shown: isShownTime ? time.seconds : nil)
  }

  private var isShownTime: Bool {
    switch form {
    case .back, .stated: false
    case .day, .shown: true
    }
  }

  /// The time on a clock in the zone of the logbook, and its placement. A time that was typed with an offset
  /// keeps that offset.
  package func placedTime(zone: LogbookZone, now: Int64) -> (time: DeviceTime, placement: Placement) {
    var zone = zone
    switch form {
    case .back(let seconds): return Self.placedTime(now - seconds, zone)
    case .day(let daysBack, let seconds):
      let midnight = DeviceTime.day(of: now + Int64(zone.offset(atUTC: now))) * 86400
      let time = DeviceTime(seconds: midnight - daysBack * 86400 + seconds)
      return (time, zone.placement(of: time))
    case .shown(let time): return (time, zone.placement(of: time))
    case .stated(let time, let utcOffset): return (time, Placement(utcOffset: utcOffset, source: .stated))
    }
  }

  /// Places an instant with a stated offset, so that it stays exact even if the zone of the logbook is
  /// corrected later.
  private static func placedTime(
    _ instant: Int64, _ zone: LogbookZone
  ) -> (time: DeviceTime, placement: Placement) {
    let utcOffset = zone.offset(atUTC: instant)
    return (
      DeviceTime(seconds: instant + Int64(utcOffset)), Placement(utcOffset: utcOffset, source: .stated)
    )
  }
}

extension TimeArgument {
  /// Reads `now`, or a time before it: `14d`, `36h`, `90m`.
  private static func span(_ text: String) throws -> TypedForm? {
    if text == "now" { return .back(0) }
    guard let unit = text.last.flatMap({ ["d": 86400, "h": 3600, "m": 60][$0] as Int64? }) else { return nil }
    return try SpanLimit.number(text.dropLast(), of: unit).map { .back($0 * unit) }
  }

  /// Reads a time of day such as `18:30`, `today` or `yesterday`. A time of day may follow `today` or
  /// `yesterday`.
  private static func day(_ text: String) -> TypedForm? {
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

  /// Reads a time with an offset: `2026-05-06T18:30:00+02:00`, or with `Z` for UTC.
  private static func parseWithOffset(_ text: String) -> TypedForm? {
    if text.last == "Z" { return shown(text.dropLast(), utcOffset: 0) }
    let offset = text.suffix(6)
    guard let sign = offset.first, "+-".contains(sign), let size = secondsOfDay(offset.dropFirst()) else {
      return nil
    }
    return shown(text.dropLast(6), utcOffset: Int32(sign == "-" ? -size : size))
  }

  private static func shown(_ text: Substring, utcOffset: Int32) -> TypedForm? {
    // A date without a time of day is not an instant, even if it has an offset.
    guard text.count > 10 else { return nil }
    return DeviceTime(text: text).map { .stated($0, utcOffset: utcOffset) }
  }

  private static func shown(_ text: String) -> TypedForm? { DeviceTime(text: text).map { .shown($0) } }
}

/// Explains the error in a text that resembles a time.
enum TimeFault {
  /// A sentence that names the expected notation; nil if the text does not resemble a time.
  static func sentence(_ text: String) -> String? {
    let words = text.split { $0 == " " || $0 == "T" }
    guard let first = words.first, let last = words.last, words.count <= 2 else { return nil }
    return dashed(first) ?? otherDate(first) ?? clock(last)
  }

  /// Explains a date that does not exist, such as `2026-02-30` or `2026-13-01`; nil for any other text.
  private static func dashed(_ day: Substring) -> String? {
    guard let (year, month, number) = numbers(day, "-"), year.count == 4 else { return nil }
    guard let year = Int(year), let month = Int(month), let number = Int(number) else { return nil }
    guard year >= 1, DeviceTime(year: year, month: month, day: number) == nil else { return nil }
    guard let days = (28...31).last(where: { DeviceTime(year: year, month: month, day: $0) != nil }) else {
      return "there is no day \(day): months are 01 to 12, after the year."
    }
    return "there is no day \(day): that month has \(days) days."
  }

  /// Explains a date in another notation, such as `06.05.2026` or `2026/05/06`. With points, the day is
  /// first. With slashes, only a number over 12 shows which part is the day.
  private static func otherDate(_ day: Substring) -> String? {
    for sign: Character in [".", "/"] {
      guard let parts = numbers(day, sign) else { continue }
      let isYearFirst = parts.0.count == 4
      guard isYearFirst || parts.2.count == 4 else { return nil }
      let year = isYearFirst ? parts.0 : parts.2
      var (month, number) = isYearFirst ? (parts.1, parts.2) : (parts.1, parts.0)
      if sign == "/", !isYearFirst {
        if let second = Int(month), second > 12 { (month, number) = (number, month) }
        let isClear = [month, number].contains { Int($0).map { $0 > 12 } ?? false } || month == number
        guard isClear else { return "a date is written with the year first: YYYY-MM-DD." }
      }
      return advice("a date is written with the year first", "\(year)-\(two(month))-\(two(number))")
    }
    return nil
  }

  /// Explains a time of day with a point, such as `8.05`; nil for any other text.
  private static func clock(_ time: Substring) -> String? {
    let parts = time.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy(isNumber), parts[0].count <= 2, parts[1].count == 2,
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return "a time of day is written with a colon: \(parts[0]):\(parts[1])."
  }

  private static func advice(_ rule: String, _ day: String) -> String {
    dashed(day[...]) ?? "\(rule): \(day)."
  }

  private static func numbers(
    _ text: Substring, _ sign: Character
  ) -> (Substring, Substring, Substring)? {
    let parts = text.split(separator: sign, omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy(isNumber) else { return nil }
    return (parts[0], parts[1], parts[2])
  }

  private static func isNumber(_ text: Substring) -> Bool {
    (1...4).contains(text.count) && text.allSatisfy { $0.isASCII && $0.isNumber }
  }

  private static func two(_ number: Substring) -> String { number.count == 1 ? "0\(number)" : "\(number)" }
}

/// The length of a period, as a person types it: days (`14d`), weeks (`4w`) or hours (`36h`).
package struct SpanArgument {
  private enum Unit: Character {
    case hours = "h"
    case days = "d"
    case weeks = "w"

    var seconds: Int64 {
      switch self {
      case .hours: 3600
      case .days: 86400
      case .weeks: 7 * 86400
      }
    }
  }

  private let number: Int64
  private let unit: Unit

  /// The length in seconds. A day has 24 hours.
  package var seconds: Int64 { number * unit.seconds }

  /// A length of two weeks.
  package static let fortnight = SpanArgument(number: 14, unit: .days)

  private init(number: Int64, unit: Unit) { (self.number, self.unit) = (number, unit) }

  /// Reads a typed length.
  ///
  /// - Throws: `ValidationError` that explains the expected notation.
  package static func parse(_ text: String) throws -> SpanArgument {
    guard let unit = text.last.flatMap(Unit.init),
      let number = try SpanLimit.number(text.dropLast(), of: unit.seconds), number > 0
    else { throw ValidationError("a span is a number of days, weeks or hours, such as 14d, 4w or 36h.") }
    return SpanArgument(number: number, unit: unit)
  }

  /// The length in calendar days; nil if hours were typed. The last of these days is that of the newest item.
  var days: Int64? {
    switch unit {
    case .hours: nil
    case .days: number
    case .weeks: number * 7
    }
  }
}

/// The maximum length of a period on the command line. It exceeds the age of any reading, and keeps dates
/// within the years of the calendar.
enum SpanLimit {
  /// The maximum in days: a hundred years.
  static let maxDays: Int64 = 36_525

  /// Reads the number that precedes a unit of `unitSeconds`; nil if the text is not a number.
  ///
  /// - Throws: `ValidationError` for a length over the maximum.
  static func number(_ digits: Substring, of unitSeconds: Int64) throws -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    // Digits that exceed an integer also exceed the maximum length.
    let number = Int64(digits) ?? .max
    guard number <= maxDays * 86400 / unitSeconds else {
      throw ValidationError("a span is at most 100 years: \(maxDays)d, or 876600h.")
    }
    return number
  }
}

/// A duration on the command line: a number of seconds, or a number with `s`, `m` or `h`.
package struct DurationArgument: ExpressibleByArgument {
  /// The duration in seconds.
  package let seconds: Int

  init?(argument: String) {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
    let unit = argument.last.flatMap { units[$0] }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard digits.allSatisfy(\.isASCII), let number = Int(digits), number >= 0, number <= 1_000_000 else {
      return nil
    }
    seconds = number * (unit ?? 1)
  }
}
