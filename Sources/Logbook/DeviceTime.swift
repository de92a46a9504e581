// SPDX-License-Identifier: Apache-2.0

/// The wall-clock time that a device showed, without zone: civil seconds since 1970-01-01T00:00:00.
@frozen public struct DeviceTime: Hashable, Comparable, Sendable {
  /// Civil seconds since 1970-01-01T00:00:00.
  public let seconds: Int64

  /// 0001-01-01T00:00:00, the first time that a text can state.
  package static let first = DeviceTime(seconds: -62_135_596_800)

  /// The largest difference in seconds between two clocks that show the same moment: from UTC-12 to UTC+14.
  @inlinable package static var largestDifference: Int64 { 26 * 3600 }

  /// The civil time at these seconds.
  @inlinable public init(seconds: Int64) { self.seconds = seconds }

  /// The civil time with these parts; nil for an invalid one (31 April, 24:00, second 60).
  @inlinable public init?(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
  ) {
    guard year >= 1, year <= 9999, month >= 1, month <= 12, day >= 1,
      day <= 28 || day <= Self.days(inMonth: month, of: year),
      hour >= 0, hour < 24, minute >= 0, minute < 60, second >= 0, second < 60
    else { return nil }
    seconds =
      Int64(Self.daysSince1970(year: year, month: month, day: day)) * 86400
      + Int64(hour * 3600 + minute * 60 + second)
  }

  /// Whether the left time is earlier on the clock.
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  @usableFromInline static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days from 1970-01-01 to a date of the proleptic Gregorian calendar. The calculation counts years
  /// from 1 March. So the leap day is the last day of a year, and one division computes the days before the
  /// month.
  @inlinable static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
  }

  /// The number of days from 1970-01-01 to the day that contains `seconds`; negative before 1970.
  @inlinable package static func day(of seconds: Int64) -> Int64 {
    seconds >= 0 ? seconds / 86400 : (seconds + 1) / 86400 - 1
  }

  /// The start of the minute that contains `seconds`, in seconds.
  @inlinable package static func startOfMinute(_ seconds: Int64) -> Int64 {
    seconds - (seconds % 60 + 60) % 60
  }

  /// The date in the proleptic Gregorian calendar, with months and days from 1, and the clock time.
  public var parts: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    let days = Int(Self.day(of: seconds))
    let rest = Int(seconds) &- days &* 86400
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * marchMonth + 2) / 5 + 1, rest / 3600, rest / 60 % 60, rest % 60
    )
  }

  /// The time as `YYYY-MM-DDThh:mm:ss`.
  public var text: String {
    let p = parts
    var out: [UInt8] = []
    out.reserveCapacity(20)
    appendPadded(p.year, 4, to: &out)
    let rest: [(sign: Unicode.Scalar, number: Int)] = [
      ("-", p.month), ("-", p.day), ("T", p.hour), (":", p.minute), (":", p.second),
    ]
    for (sign, number) in rest {
      out.append(UInt8(ascii: sign))
      appendPadded(number, 2, to: &out)
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The time in a text `YYYY-MM-DD`, optionally with `Thh:mm` or `Thh:mm:ss`; nil for any other text.
  public init?(text: some StringProtocol) {
    let numbers = text.split(omittingEmptySubsequences: false) { "-T :".contains($0) }
    guard numbers.count == 3 || numbers.count == 5 || numbers.count == 6,
      numbers.allSatisfy({ $0.utf8.count <= 4 && $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } })
    else { return nil }
    let n = numbers.compactMap { Int($0) }
    guard n.count == numbers.count else { return nil }
    self.init(
      year: n[0], month: n[1], day: n[2], hour: n.count > 3 ? n[3] : 0, minute: n.count > 4 ? n[4] : 0,
      second: n.count > 5 ? n[5] : 0)
  }
}

/// `number` with at least `width` digits.
func padded(_ number: Int, _ width: Int) -> String {
  var out: [UInt8] = []
  appendPadded(number, width, to: &out)
  return String(decoding: out, as: UTF8.self)
}

private func appendPadded(_ number: Int, _ width: Int, to out: inout [UInt8]) {
  if number < 0 { out.append(UInt8(ascii: "-")) }
  var place = 1
  for _ in 1..<width { place *= 10 }
  while number.magnitude / UInt(place) >= 10 { place *= 10 }
  while place > 0 {
    out.append(UInt8(ascii: "0") + UInt8(number.magnitude / UInt(place) % 10))
    place /= 10
  }
}
