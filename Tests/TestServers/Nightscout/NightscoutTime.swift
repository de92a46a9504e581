// SPDX-License-Identifier: Apache-2.0

/// Instants in the three formats of a Nightscout site: milliseconds, ISO 8601 and the dates of HTTP.
package enum NightscoutTime {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let day: Int64 = 86_400_000

  /// An instant read from a text.
  package struct Parsed: Equatable, Sendable {
    package var milliseconds: Int64
    /// Minutes east of UTC, if the text has an offset.
    package var offset: Int?
  }

  /// Writes an instant as `2026-01-02T03:04:05.678Z`.
  package static func iso(_ milliseconds: Int64) -> String {
    let (year, month, dayOfMonth) = civil(floorDivided(milliseconds, day))
    let shownYear = year > 9999 ? "+" + pad(year, 6) : pad(year, 4)
    let date = [shownYear, pad(month, 2), pad(dayOfMonth, 2)].joined(separator: "-")
    let rest = milliseconds - floorDivided(milliseconds, day) * day
    return "\(date)T\(clock(rest)).\(pad(rest % 1000, 3))Z"
  }

  /// Writes an instant as `Sun, 06 Nov 1994 08:49:37 GMT`, truncated to whole seconds.
  package static func http(_ milliseconds: Int64) -> String {
    let days = floorDivided(milliseconds, day)
    let (year, month, dayOfMonth) = civil(days)
    let weekday = weekdays[Int(((days % 7) + 7) % 7)]
    let date = "\(weekday), \(pad(dayOfMonth, 2)) \(months[Int(month) - 1]) \(pad(year, 4))"
    return "\(date) \(clock(milliseconds - days * day)) GMT"
  }

  /// Reads ISO 8601 and the dates of HTTP and mail; nil for any other text. A text without a zone is in UTC.
  package static func parse(_ text: String) -> Parsed? {
    let trimmed = text.split(separator: " ").map(String.init)
    if trimmed.count >= 5, let parsed = mail(trimmed) { return parsed }
    return iso8601(Array(text.utf8))
  }

  /// `milliseconds` truncated to whole seconds.
  package static func cut(_ milliseconds: Int64) -> Int64 { floorDivided(milliseconds, 1000) * 1000 }
}

extension NightscoutTime {
  private static func clock(_ rest: Int64) -> String {
    [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { pad($0, 2) }.joined(separator: ":")
  }

  private static func pad(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func floorDivided(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  /// The Gregorian date of a day counted from 1970, computed by eras of 400 years that begin in March.
  private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
    let shifted = days + 719_468
    let era = floorDivided(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }

  private static func days(_ year: Int64, _ month: Int64, _ dayOfMonth: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = floorDivided(shifted, 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
    let yearOfEra = shifted - era * 400
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func instant(_ date: [Int64], _ time: [Int64], _ offset: Int) -> Int64? {
    guard (1...12).contains(date[1]), (1...31).contains(date[2]), time[0] < 25, time[1] < 60, time[2] < 61
    else { return nil }
    let minutes = time[0] * 60 + time[1] - Int64(offset)
    return days(date[0], date[1], date[2]) * day + minutes * 60_000 + time[2] * 1000 + time[3]
  }

  private static func mail(_ words: [String]) -> Parsed? {
    let rest = words[0].hasSuffix(",") ? Array(words.dropFirst()) : words
    guard rest.count == 5, let dayOfMonth = Int64(rest[0]), let year = Int64(rest[2]),
      let month = months.firstIndex(of: rest[1]),
      let offset = rest[4] == "GMT" ? 0 : zone(Array(rest[4].utf8))
    else { return nil }
    let time = rest[3].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3,
      let instant = instant([year, Int64(month) + 1, dayOfMonth], time + [0], offset)
    else { return nil }
    return Parsed(milliseconds: instant, offset: offset)
  }

  private static func iso8601(_ text: [UInt8]) -> Parsed? {
    guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10])
    else { return nil }
    var time: [Int64] = [0, 0, 0, 0]
    var rest = text[10...]
    if let first = rest.first, first == UInt8(ascii: "T") || first == UInt8(ascii: " ") {
      guard let read = clockTime(rest.dropFirst()) else { return nil }
      time = read.time
      rest = read.rest
    }
    let offset = rest.isEmpty ? nil : zone(Array(rest))
    guard rest.isEmpty || offset != nil,
      let instant = instant([year, month, day], time, offset ?? 0)
    else { return nil }
    return Parsed(milliseconds: instant, offset: offset)
  }

  /// Hours, minutes, seconds and milliseconds, and the text after them.
  private static func clockTime(_ text: ArraySlice<UInt8>) -> (time: [Int64], rest: ArraySlice<UInt8>)? {
    var time: [Int64] = []
    var rest = text
    while time.count < 3, rest.count >= 2, let part = number(rest.prefix(2)) {
      time.append(part)
      rest = rest.dropFirst(2)
      guard rest.first == UInt8(ascii: ":") else { break }
      rest = rest.dropFirst()
    }
    guard time.count >= 2 else { return nil }
    if time.count == 2 { time.append(0) }
    var milliseconds: Int64 = 0
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { (48...57).contains($0) }
      milliseconds = number(Array((Array(digits) + [48, 48, 48]).prefix(3))[...]) ?? 0
      rest = rest.dropFirst(1 + digits.count)
    }
    return (time + [milliseconds], rest)
  }

  private static func zone(_ text: [UInt8]) -> Int? {
    if text == [UInt8(ascii: "Z")] { return 0 }
    let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4,
      let hours = number(digits[..<2]), let minutes = number(digits[2...])
    else { return nil }
    return Int(hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    Int64(String(decoding: digits, as: UTF8.self))
  }
}
