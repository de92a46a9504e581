// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The time to wait in an answer: the header `Retry-After` of RFC 9110 §10.2.3.
enum RetryAfter {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The seconds to wait; nil for an invalid value.
  ///
  /// - Parameter date: the answer's header `Date`. A date in `Retry-After` is relative to it, since it has the server's
  ///   clock.
  static func seconds(_ value: String?, date: String?) -> Int? {
    guard let value else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return Int(value) }
    guard let end = instant(value), let now = date.flatMap(instant) else { return nil }
    return max(0, Int(end - now))
  }

  /// The seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that servers may write.
  static func instant(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
      let month = months.firstIndex(of: String(words[2]))
    else { return nil }
    let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard clock.count == 3 else { return nil }
    return DeviceTime(
      year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])?.seconds
  }
}
