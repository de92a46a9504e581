// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Which of the first two numbers of a date is the day.
enum DateOrder: String, CaseIterable {
  case dayFirst = "dmy"
  case monthFirst = "mdy"
}

/// A time of day on a date with a year and two numbers. Either of these may be the day.
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

  /// The time with its date read in this order; nil if there is no such date.
  @inline(__always) func time(_ order: DateOrder) -> DeviceTime? {
    DeviceTime(
      year: year, month: order == .dayFirst ? second : first, day: order == .dayFirst ? first : second,
      hour: hour, minute: minute, second: seconds)
  }
}

/// Reads the numbers and separators of a time from left to right.
private struct TimeScanner {
  let field: Field
  var position = 0

  @inline(__always) init(_ field: Field) { self.field = field }

  @inline(__always) var isAtEnd: Bool { position >= field.count }
  @inline(__always) var byte: UInt8 { position < field.count ? field[position] : 0 }

  /// The number of one to `maxDigits` digits at the current position.
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

  /// Reads `h:mm` or `hh:mm:ss`, with colons or dots, with or without AM or PM. A fraction of a second is
  /// dropped. The notations of `otherTimeOfDay` are read as well.
  ///
  /// - Parameter followsDate: whether a date precedes the time in the cell. Only then are four digits read as
  ///   a time.
  mutating func timeOfDay(followsDate: Bool) -> TimeOfDay? {
    let first = position
    guard let hour = number(maxDigits: 2) else { return nil }
    let sign = byte
    guard sign == UInt8(ascii: ":") || sign == UInt8(ascii: ".") else {
      return otherTimeOfDay(hour, from: first, followsDate: followsDate)
    }
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
    return withHalfDay(hour, minute, second)
  }

  /// Reads `7h05`, `7 h 05`, `7h`, `7 PM`, and after a date `0705`.
  private mutating func otherTimeOfDay(_ hour: Int, from first: Int, followsDate: Bool) -> TimeOfDay? {
    let length = position - first
    if byte &- 0x30 <= 9 {
      guard followsDate, length == 2, let minute = number(maxDigits: 2), position - first == 4,
        byte &- 0x30 > 9, hour < 24, minute < 60
      else { return nil }
      return withHalfDay(hour, minute, 0)
    }
    skipBlanks()
    guard consume(UInt8(ascii: "h")) || consume(UInt8(ascii: "H")) else {
      let time = withHalfDay(hour, 0, 0)
      return time?.hasHalfDay == true ? time : nil
    }
    if isAtEnd { return hour < 24 ? (hour, 0, 0, false) : nil }
    skipBlanks()
    let start = position
    guard let minute = number(maxDigits: 2), position - start == 2, hour < 24, minute < 60 else { return nil }
    return (hour, minute, 0, false)
  }

  /// The time together with the AM or PM after it, or with a word for a time of day, such as `Uhr`.
  private mutating func withHalfDay(_ hour: Int, _ minute: Int, _ second: Int) -> TimeOfDay? {
    if isAtEnd { return (hour, minute, second, false) }
    let rest = position
    skipBlanks()
    if consumesClockWord() { return (hour, minute, second, false) }
    guard let isAfternoon = halfDay() else {
      position = rest
      return (hour, minute, second, false)
    }
    guard hour >= 1, hour <= 12 else { return nil }
    return (hour % 12 + (isAfternoon ? 12 : 0), minute, second, true)
  }

  /// Skips a word after a time of day, such as `Uhr`, at the end of the text. Returns whether there is such a
  /// word.
  private mutating func consumesClockWord() -> Bool {
    let rest = field.slice(position, field.count)
    guard rest.count > 0, Self.clockWords.contains(where: { rest.equalsFolded($0) }) else { return false }
    position = field.count
    return true
  }

  private static let clockWords: [StaticString] = ["uhr", "h", "hs", "hrs"]

  /// Skips blanks, including the narrow no-break space that newer systems put before AM and PM.
  mutating func skipBlanks() {
    position = field.count - field.slice(position, field.count).trimmedStart.count
  }

  /// Reads `AM`, `PM`, `a.m.`, `p. m.`, `a` or a Chinese word for a half of the day.
  ///
  /// - Returns: whether it is PM; nil for any other text.
  private mutating func halfDay() -> Bool? {
    let rest = field.slice(position, field.count)
    for (word, isAfternoon) in Self.halfDays where rest.count >= word.utf8CodeUnitCount {
      let part = rest.slice(0, word.utf8CodeUnitCount)
      if part.equalsFolded(word) {
        position += word.utf8CodeUnitCount
        return isAfternoon
      }
    }
    let letter = byte | 0x20
    guard letter == UInt8(ascii: "a") || letter == UInt8(ascii: "p") else { return nil }
    let start = position
    position += 1
    _ = consume(UInt8(ascii: "."))
    let end = position
    skipBlanks()
    if byte | 0x20 == UInt8(ascii: "m") {
      position += 1
      _ = consume(UInt8(ascii: "."))
    } else {
      position = end
    }
    guard byte | 0x20 &- 0x61 >= 26 else {
      position = start
      return nil
    }
    return letter == UInt8(ascii: "p")
  }

  private static let halfDays: [(StaticString, Bool)] = [("上午", false), ("下午", true)]

  /// Skips the word before a time of day in Scandinavian languages: `kl. 07.05`.
  mutating func skipClockPrefix() {
    guard byte | 0x20 == UInt8(ascii: "k"), position + 1 < field.count,
      field[position + 1] | 0x20 == UInt8(ascii: "l")
    else { return }
    position += 2
    _ = consume(UInt8(ascii: "."))
    skipBlanks()
  }
}

/// A time of day, and whether it stated AM or PM.
typealias TimeOfDay = (hour: Int, minute: Int, second: Int, hasHalfDay: Bool)

extension Field {
  var trimmedStart: Field {
    let all = trimmed
    let skipped = isEmpty ? 0 : all.start - start
    return slice(skipped, count)
  }

  /// A time with the year first: `2026-05-06T12:00:00`. A blank may replace the T, and slashes or dots the
  /// hyphens. Seconds and their fraction are optional, and `Z`, `+0100` or `+01:00` may follow.
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
    guard let clock = scanner.timeOfDay(followsDate: true),
      let time = DeviceTime(
        year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    else { return nil }
    if scanner.isAtEnd { return ShownTime(time) }
    guard let offset = slice(scanner.position, count).trimmed.utcOffset else { return nil }
    return ShownTime(time, utcOffset: offset)
  }

  /// The time in two cells: a date with the year first, and a time of day.
  static func yearFirstTime(_ date: Field, _ clock: Field) -> ShownTime? {
    guard date.count + clock.count <= maxNameBytes else { return nil }
    return withText(date.text + " " + clock.text) { $0.yearFirstTime }
  }

  /// The offset in seconds east of Greenwich that `Z`, `UTC`, `GMT`, `±hh`, `±hhmm` or `±hh:mm` states; nil
  /// for other text.
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
  var ambiguousTime: AmbiguousTime? {
    guard let date = ambiguousDate else { return nil }
    var scanner = TimeScanner(slice(date.length, count))
    _ = scanner.consume(UInt8(ascii: "."))
    if scanner.byte == UInt8(ascii: ",") { scanner.position += 1 }
    scanner.skipBlanks()
    scanner.skipClockPrefix()
    guard let clock = scanner.timeOfDay(followsDate: true), scanner.isAtEnd else { return nil }
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

  /// A time of day without a date: `9:42:20 AM`, `19:59`, `7h05`, `08:30 Uhr`.
  var timeOfDay: TimeOfDay? {
    var scanner = TimeScanner(self)
    scanner.skipClockPrefix()
    guard let clock = scanner.timeOfDay(followsDate: false), scanner.isAtEnd else { return nil }
    return clock
  }

  /// A time of day in four digits: `0705`.
  var digitsOfDay: TimeOfDay? {
    guard count == 4, let number = integer, number >= 0, number / 100 < 24, number % 100 < 60 else {
      return nil
    }
    return (Int(number / 100), Int(number % 100), 0, false)
  }
}
