// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The error in a text that is nearly a time.
enum TimeFault {
  /// A sentence with the expected form; nil for a text that does not resemble a time.
  static func sentence(_ text: String) -> String? {
    let words = text.split { $0 == " " || $0 == "T" }
    guard let first = words.first, let last = words.last, words.count <= 2 else { return nil }
    return dashed(first) ?? otherDate(first) ?? clock(last)
  }

  /// `2026-02-30`, `2026-13-01`.
  private static func dashed(_ day: Substring) -> String? {
    guard let (year, month, number) = numbers(day, "-"), year.count == 4 else { return nil }
    guard let year = Int(year), let month = Int(month), let number = Int(number) else { return nil }
    guard year >= 1, DeviceTime(year: year, month: month, day: number) == nil else { return nil }
    guard let days = (28...31).last(where: { DeviceTime(year: year, month: month, day: $0) != nil }) else {
      return "there is no day \(day): months are 01 to 12, after the year."
    }
    return "there is no day \(day): that month has \(days) days."
  }

  /// `06.05.2026`, `2026/05/06`. With points the day is first. With slashes, only a number over 12 shows
  /// which one is the day.
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

  /// `8.05`.
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
