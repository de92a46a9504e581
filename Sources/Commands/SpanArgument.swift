// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// The length of a period before now: whole days (`14d`), weeks (`4w`), or hours (`36h`).
struct SpanArgument {
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

  /// The length; a day counts as 24 hours.
  var seconds: Int64 { number * unit.seconds }

  static let fortnight = SpanArgument(number: 14, unit: .days)

  private init(number: Int64, unit: Unit) { (self.number, self.unit) = (number, unit) }

  /// The typed span.
  ///
  /// - Throws: `ValidationError` that explains the form of a span.
  static func parse(_ text: String) throws -> SpanArgument {
    guard let unit = text.last.flatMap(Unit.init),
      let number = try SpanLimit.number(text.dropLast(), of: unit.seconds), number > 0
    else { throw ValidationError("a span is a number of days, weeks or hours, such as 14d, 4w or 36h.") }
    return SpanArgument(number: number, unit: unit)
  }

  /// The number of whole days, of which the last one is that of the newest item; nil for hours.
  var days: Int64? {
    switch unit {
    case .hours: nil
    case .days: number
    case .weeks: number * 7
    }
  }
}

/// The maximum length of a span on the command line: longer than the age of any reading, and within the years
/// of a calendar.
enum SpanLimit {
  /// A hundred years.
  static let maxDays: Int64 = 36_525

  /// The number before a unit of `unitSeconds`; nil if it is not a number.
  ///
  /// - Throws: `ValidationError` for a longer span.
  static func number(_ digits: Substring, of unitSeconds: Int64) throws -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    // A number with too many digits for an integer is also too long.
    let number = Int64(digits) ?? .max
    guard number <= maxDays * 86400 / unitSeconds else {
      throw ValidationError("a span is at most 100 years: \(maxDays)d, or 876600h.")
    }
    return number
  }
}
