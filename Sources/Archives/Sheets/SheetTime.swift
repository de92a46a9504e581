// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the number of a cell means according to its number format.
enum CellForm: UInt8 {
  case number
  case date
  /// A time of day.
  case time
  case dateTime
  /// A duration, which may exceed 24 hours.
  case duration
}

/// Dates and times of sheets as text: `2026-05-01`, `08:10:00` or `2026-05-01 08:10:00`, independent of the
/// order of day and month on display.
///
/// The number of a time in a sheet is rarely exact, so it is rounded to the nearest second. A program that
/// writes all digits of a time with milliseconds is the exception.
struct SheetTime {
  /// The date as days since 1970, the seconds of the day and the milliseconds of the second.
  private(set) var day: Int
  private(set) var seconds: Int
  private(set) var milliseconds = 0

  static let secondsOfDay = 86_400
  /// The first day number after the year 9999.
  private static let endOfDates = 2_958_466.0
  /// The number of days between 1899-12-30 and 1970-01-01.
  private static let epoch = 25_569

  /// The time that Excel stores as a number of days; nil if the number is out of range.
  ///
  /// - Parameter is1904: whether days count from 1904, as in workbooks of old Macs.
  init?(serial: Double, is1904: Bool) {
    guard serial >= 0, serial < Self.endOfDates else { return nil }
    let whole = serial.rounded(.down)
    var (day, seconds) = (Int(whole), Int(((serial - whole) * Double(Self.secondsOfDay)).rounded()))
    if seconds == Self.secondsOfDay { (day, seconds) = (day + 1, 0) }
    if is1904 {
      day += 1462
    } else if day < 60 {
      // Excel counts a 29 February 1900, which did not exist, so the days before it have numbers that are one
      // too low.
      day += 1
    }
    (self.day, self.seconds) = (day - Self.epoch, seconds)
  }

  /// The number of decimals from which the error of a number of days is far below a millisecond.
  private static let exactDecimals = 10
  /// The largest difference of an exact time from a whole number of milliseconds.
  private static let tolerance = 0.01

  /// The time of a number of days as it is in a file. It has milliseconds if the number has enough decimals
  /// and is that of a whole millisecond. Sums of times in a sheet are slightly below or above a second, and
  /// get none.
  init?(serial: Double, decimals: Int, is1904: Bool) {
    guard let midnight = SheetTime(serial: serial.rounded(.down), is1904: is1904) else { return nil }
    self.init(serial: serial, is1904: is1904)
    guard decimals >= Self.exactDecimals else { return }
    let exact = (serial - serial.rounded(.down)) * Double(Self.secondsOfDay) * 1000
    let whole = Int(exact.rounded())
    guard abs(exact - exact.rounded()) <= Self.tolerance, whole % 1000 != 0 else { return }
    // Rounding to a second may have gone to the second or the day after.
    (day, seconds, milliseconds) = (midnight.day, whole / 1000, whole % 1000)
  }

  /// Parses a date or time in ISO 8601, `2026-05-01T08:10:00.5`; nil for other text, including a time with an
  /// offset.
  init?(iso text: UnsafeBufferPointer<UInt8>) {
    guard text.count >= 10, text[4] == 0x2D, text[7] == 0x2D,
      let year = text.number(0..<4), let month = text.number(5..<7), let dayOfMonth = text.number(8..<10),
      (1...12).contains(month), (1...31).contains(dayOfMonth)
    else { return nil }
    var day = Self.day(year, month, dayOfMonth)
    // Without this check a day past the end of its month would become one of the next month.
    guard dayOfMonth <= 28 || Self.civil(day).day == dayOfMonth else { return nil }
    var seconds = 0
    if text.count > 10 {
      guard text.count >= 16, text[10] == 0x54 || text[10] == 0x20, text[13] == 0x3A,
        let hour = text.number(11..<13), let minute = text.number(14..<16), hour < 24, minute < 60
      else { return nil }
      seconds = hour * 3600 + minute * 60
      if text.count > 16 {
        guard text.count >= 19, text[16] == 0x3A, let second = text.number(17..<19), second < 60,
          let carry = text.roundedFraction(from: 19)
        else { return nil }
        seconds += second + carry
      }
    }
    if seconds == Self.secondsOfDay { (day, seconds) = (day + 1, 0) }
    (self.day, self.seconds) = (day, seconds)
  }

  var dayOfMonth: Int { Self.civil(day).day }

  /// Appends the date, and optionally the time of day.
  func append(to out: inout [UInt8], withTime: Bool) {
    let (year, month, dayOfMonth) = Self.civil(day)
    out.append(number: year, digits: 4)
    out.append(UInt8(ascii: "-"))
    out.append(number: month, digits: 2)
    out.append(UInt8(ascii: "-"))
    out.append(number: dayOfMonth, digits: 2)
    guard withTime else { return }
    out.append(UInt8(ascii: " "))
    Self.append(clock: seconds, to: &out)
    guard milliseconds > 0 else { return }
    out.append(UInt8(ascii: "."))
    out.append(number: milliseconds, digits: 3)
  }

  /// Appends seconds as `hh:mm:ss`.
  static func append(clock seconds: Int, to out: inout [UInt8]) {
    let hours = seconds / 3600
    out.append(number: hours, digits: hours < 100 ? 2 : String(hours).utf8.count)
    out.append(UInt8(ascii: ":"))
    out.append(number: seconds / 60 % 60, digits: 2)
    out.append(UInt8(ascii: ":"))
    out.append(number: seconds % 60, digits: 2)
  }

  /// The seconds of an ISO 8601 duration in hours, minutes and seconds, `PT08H10M00.5S`; nil for other text.
  static func seconds(ofDuration text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard text.count >= 4, text[0] == 0x50, text[1] == 0x54 else { return nil }
    var (total, start, place) = (0, 2, 2)
    while place < text.count {
      switch text[place] {
      case 0x30...0x39: place += 1
      case UInt8(ascii: "H"), UInt8(ascii: "M"), UInt8(ascii: "S"), UInt8(ascii: "."):
        guard place - start <= 7, let number = text.number(start..<place) else { return nil }
        let factor = text[place] == UInt8(ascii: "H") ? 3600 : text[place] == UInt8(ascii: "M") ? 60 : 1
        total += number * factor
        if text[place] == UInt8(ascii: ".") {
          let digits = UnsafeBufferPointer(rebasing: text[place..<(text.count - 1)])
          return text.last == UInt8(ascii: "S") ? digits.roundedFraction(from: 0).map { total + $0 } : nil
        }
        place += 1
        start = place
      default: return nil
      }
    }
    return start == place ? total : nil
  }

  /// The number of days from 1970-01-01 to a date in the Gregorian calendar. Years begin in March here, so
  /// that the leap day is the last.
  private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The number of the digits in a range; nil if it has other characters.
  fileprivate func number(_ range: Range<Int>) -> Int? {
    guard !range.isEmpty, range.upperBound <= count else { return nil }
    var value = 0
    for place in range {
      guard self[place] &- 0x30 <= 9 else { return nil }
      value = value * 10 + Int(self[place] &- 0x30)
    }
    return value
  }

  /// 1 if a decimal fraction of at least 0.5 begins at the index, 0 for a smaller or missing fraction; nil
  /// for other text.
  fileprivate func roundedFraction(from place: Int) -> Int? {
    if place == count { return 0 }
    guard place < count, self[place] == UInt8(ascii: "."),
      self[(place + 1)...].allSatisfy({ $0 &- 0x30 <= 9 })
    else { return nil }
    return place + 1 < count && self[place + 1] >= UInt8(ascii: "5") ? 1 : 0
  }
}

extension [UInt8] {
  /// Appends a number with leading zeros.
  fileprivate mutating func append(number: Int, digits: Int) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}
