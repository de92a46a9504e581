// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Which of the first two numbers of a date is the day.
enum DateOrder: String, CaseIterable {
  case dayFirst = "dmy"
  case monthFirst = "mdy"
}

/// A date with two numbers in an open order and a year, with its time of day.
struct AmbiguousTime {
  var first: Int
  var second: Int
  var year: Int
  var hour: Int
  var minute: Int
  var seconds: Int
  var hasHalfDay: Bool
  var separator: UInt8
  /// Whether the year has two digits.
  var hasShortYear = false

  /// The time in this order; nil if no calendar has it.
  @inline(__always) func time(_ order: DateOrder) -> DeviceTime? {
    DeviceTime(
      year: year, month: order == .dayFirst ? second : first, day: order == .dayFirst ? first : second,
      hour: hour, minute: minute, second: seconds)
  }
}

/// Reads numbers and signs in sequence.
private struct TimeScanner {
  let field: Field
  var position = 0

  @inline(__always) init(_ field: Field) { self.field = field }

  @inline(__always) var isAtEnd: Bool { position >= field.count }
  @inline(__always) var byte: UInt8 { position < field.count ? field[position] : 0 }

  /// The number of one to `maxDigits` digits here.
  @inline(__always) mutating func number(maxDigits: Int) -> Int? {
    var value = 0
    let start = position
    while position < field.count, position - start < maxDigits {
      let digit = field[position] &- 0x30
      guard digit <= 9 else { break }
      value = value * 10 + Int(digit)
      position += 1
    }
    return position > start ? value : nil
  }

  @inline(__always) mutating func consume(_ wanted: UInt8) -> Bool {
    guard byte == wanted, !isAtEnd else { return false }
    position += 1
    return true
  }

  /// `h:mm`, `hh:mm:ss`, also with dots instead of colons, a fraction of a second that is dropped, and AM or PM.
  mutating func timeOfDay() -> (hour: Int, minute: Int, second: Int, hasHalfDay: Bool)? {
    guard var hour = number(maxDigits: 2) else { return nil }
    let sign = byte
    guard sign == UInt8(ascii: ":") || sign == UInt8(ascii: ".") else { return nil }
    position += 1
    let start = position
    guard let minute = number(maxDigits: 2), position - start == 2 else { return nil }
    var second = 0
    if byte == sign, position + 1 < field.count {
      position += 1
      let start = position
      guard let value = number(maxDigits: 2), position - start == 2 else { return nil }
      second = value
      if sign == UInt8(ascii: ":"), byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") {
        position += 1
        guard number(maxDigits: 9) != nil else { return nil }
      }
    }
    let rest = position
    skipBlanks()
    guard let isAfternoon = halfDay() else {
      position = rest
      return (hour, minute, second, false)
    }
    guard hour >= 1, hour <= 12 else { return nil }
    hour = hour % 12 + (isAfternoon ? 12 : 0)
    return (hour, minute, second, true)
  }

  /// Skips blanks, including the narrow no-break space that newer systems put before AM and PM.
  mutating func skipBlanks() {
    position = field.count - field.slice(position, field.count).trimmedStart.count
  }

  private mutating func halfDay() -> Bool? {
    let rest = field.slice(position, field.count)
    for (word, isAfternoon) in Self.halfDays where rest.count >= word.utf8CodeUnitCount {
      let part = rest.slice(0, word.utf8CodeUnitCount)
      if part.equalsFolded(word) {
        position += word.utf8CodeUnitCount
        return isAfternoon
      }
    }
    return nil
  }

  private static let halfDays: [(StaticString, Bool)] = [
    ("AM", false), ("PM", true), ("a.m.", false), ("p.m.", true), ("上午", false), ("下午", true),
  ]
}

extension Field {
  var trimmedStart: Field {
    let all = trimmed
    let skipped = isEmpty ? 0 : all.start - start
    return slice(skipped, count)
  }

  /// A time with the year first: `2026-05-06T12:00:00`. A blank may replace the T, and slashes or dots the hyphens.
  /// Seconds and their fraction are optional, and `Z`, `+0100` or `+01:00` may follow.
  var yearFirstTime: ShownTime? {
    var scanner = TimeScanner(self)
    guard let year = scanner.number(maxDigits: 4), scanner.position == 4 else { return nil }
    let separator = scanner.byte
    guard separator == UInt8(ascii: "-") || separator == UInt8(ascii: "/") || separator == UInt8(ascii: ".")
    else { return nil }
    scanner.position += 1
    guard let month = scanner.number(maxDigits: 2), scanner.consume(separator),
      let day = scanner.number(maxDigits: 2)
    else { return nil }
    let parting = scanner.byte
    guard parting == UInt8(ascii: "T") || parting == UInt8(ascii: "t") || parting == UInt8(ascii: " ") else {
      return nil
    }
    scanner.position += 1
    while scanner.byte == UInt8(ascii: " ") { scanner.position += 1 }
    guard let clock = scanner.timeOfDay(),
      let time = DeviceTime(
        year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    else { return nil }
    if scanner.isAtEnd { return ShownTime(time) }
    guard let offset = slice(scanner.position, count).trimmed.utcOffset else { return nil }
    return ShownTime(time, utcOffset: offset)
  }

  /// A time from two cells: the date with the year first, and the time of day.
  static func yearFirstTime(_ date: Field, _ clock: Field) -> ShownTime? {
    guard date.count + clock.count <= maxNameBytes else { return nil }
    return with(date.text + " " + clock.text) { $0.yearFirstTime }
  }

  /// `Z`, `UTC`, `±hh`, `±hhmm` or `±hh:mm` in seconds east of Greenwich.
  var utcOffset: Int32? {
    if equals("Z") || equals("z") || equals("UTC") || equals("GMT") { return 0 }
    var scanner = TimeScanner(self)
    let sign = scanner.byte
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    scanner.position += 1
    guard let hours = scanner.number(maxDigits: 2), scanner.position == 3 else { return nil }
    var minutes = 0
    if !scanner.isAtEnd {
      _ = scanner.consume(UInt8(ascii: ":"))
      guard count - scanner.position == 2, let value = scanner.number(maxDigits: 2), scanner.isAtEnd else {
        return nil
      }
      minutes = value
    }
    guard hours <= 18, minutes < 60 else { return nil }
    let seconds = Int32(hours * 3600 + minutes * 60)
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }

  /// A time with the year last: `01-02-2026 11:40 PM`, `8.6.26 7.12`. A two-digit year means 2000 to 2069.
  var openTime: AmbiguousTime? {
    guard let date = ambiguousDate else { return nil }
    var scanner = TimeScanner(slice(date.length, count))
    _ = scanner.consume(UInt8(ascii: "."))
    if scanner.byte == UInt8(ascii: ",") { scanner.position += 1 }
    scanner.skipBlanks()
    guard let clock = scanner.timeOfDay(), scanner.isAtEnd else { return nil }
    return AmbiguousTime(
      first: date.first, second: date.second, year: date.year, hour: clock.hour, minute: clock.minute,
      seconds: clock.second, hasHalfDay: clock.hasHalfDay, separator: date.separator,
      hasShortYear: date.hasShortYear)
  }

  /// A date with the year last, and its length in bytes.
  var ambiguousDate: (first: Int, second: Int, year: Int, hasShortYear: Bool, separator: UInt8, length: Int)?
  {
    var scanner = TimeScanner(self)
    guard let first = scanner.number(maxDigits: 2) else { return nil }
    let separator = scanner.byte
    guard separator == UInt8(ascii: "-") || separator == UInt8(ascii: "/") || separator == UInt8(ascii: ".")
    else { return nil }
    scanner.position += 1
    guard let second = scanner.number(maxDigits: 2), scanner.consume(separator) else { return nil }
    let start = scanner.position
    guard var year = scanner.number(maxDigits: 4) else { return nil }
    let isShort = scanner.position - start == 2
    switch scanner.position - start {
    case 4: break
    case 2 where year < 70: year += 2000
    default: return nil
    }
    return (first, second, year, isShort, separator, scanner.position)
  }

  /// A time of day without a date: `9:42:20 AM`, `19:59`.
  var timeOfDay: (hour: Int, minute: Int, second: Int, hasHalfDay: Bool)? {
    var scanner = TimeScanner(self)
    guard let clock = scanner.timeOfDay(), scanner.isAtEnd else { return nil }
    return clock
  }
}
