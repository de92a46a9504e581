// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The date in an answer's header (RFC 9110 §5.6.7).
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date of UTC seconds, in English and GMT whatever the host's locale.
  static func text(_ seconds: Int64) -> String {
    let words = DeviceTime(seconds: seconds).text.split(whereSeparator: { $0 == "-" || $0 == "T" })
    let number = Int64((Double(seconds) / 86_400).rounded(.down))
    guard words.count == 4, let month = Int(words[1]), months.indices.contains(month - 1) else { return "" }
    return "\(days[Int((number % 7 + 7) % 7)]), \(words[2]) \(months[month - 1]) \(words[0]) \(words[3]) GMT"
  }
}
