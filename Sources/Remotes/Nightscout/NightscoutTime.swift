// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Instants as Nightscout writes them, in milliseconds since 1970.
enum NightscoutTime {
  /// What it takes begins behind the year 2000; smaller numbers count as seconds there.
  static let least: Int64 = 946_684_800_000
  /// The end of the year 9999.
  static let most: Int64 = 253_402_300_799_999

  static func isPossible(_ milliseconds: Int64) -> Bool { (least...most).contains(milliseconds) }

  /// `2026-05-06T16:30:00.000Z`.
  static func utcText(_ milliseconds: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    return "\(DeviceTime(seconds: seconds).text).\(padded(rest))Z"
  }

  /// The same instant with the offset beside which it is shown, in whole minutes.
  static func localText(_ milliseconds: Int64, minutes: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    let size = abs(minutes)
    let offset = "\(minutes < 0 ? "-" : "+")\(two(size / 60)):\(two(size % 60))"
    return "\(DeviceTime(seconds: seconds + minutes * 60).text).\(padded(rest))\(offset)"
  }

  /// The date of a header such as `If-Unmodified-Since`, cut to whole seconds, in GMT and English whatever the host
  /// speaks: the server takes a date that it cannot read for none at all.
  static func headerText(_ milliseconds: Int64) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let (seconds, _) = parts(milliseconds)
    let (time, day) = (DeviceTime(seconds: seconds), Int((seconds / 86400) % 7))
    let date = time.parts
    return
      "\(days[day]), \(two(Int64(date.day))) \(months[date.month - 1]) \(date.year) \(time.text.suffix(8)) GMT"
  }

  /// The instant of a value: a number of milliseconds, or of seconds where it is small, or a text with or without an
  /// offset, which is UTC then. The offset in seconds is given where the text states one.
  static func instant(_ value: JSONValue?) -> (milliseconds: Int64, offset: Int32?)? {
    switch value {
    case .number(let number): return instant(number).map { ($0, nil) }
    case .text(let text):
      if let number = Double(text) { return instant(number).map { ($0, nil) } }
      return instant(text)
    default: return nil
    }
  }

  private static func instant(_ number: Double) -> Int64? {
    guard number > 0, number <= Double(most) else { return nil }
    let milliseconds = Int64(number < Double(least) ? number * 1000 : number)
    return milliseconds <= most ? milliseconds : nil
  }

  private static func instant(_ text: String) -> (Int64, Int32?)? {
    guard text.utf8.count >= 16,
      let time = DeviceTime(text: text.prefix(19)) ?? DeviceTime(text: text.prefix(16))
    else { return nil }
    var rest = text.dropFirst(text.dropFirst(16).first == ":" ? 19 : 16)
    var fraction: Int64 = 0
    if rest.first == "." || rest.first == "," {
      let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
      fraction = Int64(String((digits + "000").prefix(3))) ?? 0
      rest = rest.dropFirst(1 + digits.count)
    }
    guard let offset = offset(rest) else { return nil }
    let milliseconds = (time.seconds - Int64(offset ?? 0)) * 1000 + fraction
    return milliseconds > 0 ? (milliseconds, offset) : nil
  }

  /// The seconds of `Z`, `±hh:mm` or `±hhmm`; the inner nil for no text at all.
  private static func offset(_ text: Substring) -> Int32?? {
    if text.isEmpty { return .some(nil) }
    if text == "Z" || text == "z" { return 0 }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard text.first == "+" || text.first == "-", digits.count == 4, let number = Int32(digits),
      number / 100 < 24, number % 100 < 60
    else { return nil }
    let size = (number / 100) * 3600 + (number % 100) * 60
    return text.first == "-" ? -size : size
  }

  private static func parts(_ milliseconds: Int64) -> (seconds: Int64, rest: Int64) {
    let seconds = (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1000
    return (seconds, milliseconds - seconds * 1000)
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
  private static func padded(_ number: Int64) -> String { String("00\(number)".suffix(3)) }
}
