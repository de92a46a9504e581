// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Instants in Nightscout's form, in milliseconds since 1970.
package enum NightscoutTime {
  /// The earliest instant that a site accepts: it treats smaller numbers as seconds.
  package static let minMilliseconds: Int64 = 946_684_800_000
  /// The end of the year 9999.
  package static let maxMilliseconds: Int64 = 253_402_300_799_999

  /// The site states its clock in whole seconds, and with the delay of an answer.
  package static let slack: Int64 = 10_000

  /// Whether a site accepts an event at this time.
  package static func isPossible(_ milliseconds: Int64) -> Bool {
    (minMilliseconds...maxMilliseconds).contains(milliseconds)
  }

  /// `2026-05-06T16:30:00.000Z`.
  package static func utcText(_ milliseconds: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    return "\(DeviceTime(seconds: seconds).text).\(padded(rest))Z"
  }

  /// The same instant with an offset in whole minutes.
  package static func localText(_ milliseconds: Int64, minutes: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    let size = abs(minutes)
    let offset = "\(minutes < 0 ? "-" : "+")\(two(size / 60)):\(two(size % 60))"
    return "\(DeviceTime(seconds: seconds + minutes * 60).text).\(padded(rest))\(offset)"
  }

  /// The date of a header such as `If-Unmodified-Since`, truncated to seconds. The server ignores a date
  /// that it cannot parse.
  package static func headerText(_ milliseconds: Int64) -> String {
    HTTPText.date(parts(milliseconds).seconds)
  }

  /// The instant of a number of milliseconds, or of a small number of seconds. Nil for 0, which means a missing time.
  static func instant(_ number: Double) -> Instant? {
    guard number > 0, number <= Double(maxMilliseconds) else { return nil }
    let isSeconds = number < Double(minMilliseconds)
    // Adds half a microsecond, so that 1778068800.123 times a thousand is not truncated to 122.
    let milliseconds = isSeconds ? number * 1000 + 0.0005 : number
    return milliseconds <= Double(maxMilliseconds) ? Instant(milliseconds: Int64(milliseconds)) : nil
  }

  /// The instant of a text that begins with the year; treated as UTC without an offset.
  static func instant(_ text: String) -> Instant? {
    let text = NightscoutText.trimmed(text)
    guard text.utf8.count >= 16, let separator = text.dropFirst(10).first, "Tt ".contains(separator)
    else { return nil }
    var rest = text.dropFirst(16)
    let hasSeconds = rest.first == ":"
    rest = rest.dropFirst(hasSeconds ? 3 : 0)
    let clock = text.dropFirst(11).prefix(hasSeconds ? 8 : 5)
    guard let time = DeviceTime(text: "\(text.prefix(10))T\(clock)") else { return nil }
    var fraction: Int64 = 0
    if hasSeconds, rest.first == "." || rest.first == "," {
      let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
      fraction = Int64(String((digits + "000").prefix(3))) ?? 0
      rest = rest.dropFirst(1 + digits.count)
    }
    rest = rest.drop { $0 == " " }
    if rest.isEmpty { return Instant(milliseconds: time.seconds * 1000 + fraction, isWallClock: true) }
    guard let offset = statedOffset(rest) else { return nil }
    return Instant(
      milliseconds: (time.seconds - Int64(offset)) * 1000 + fraction, utcOffset: offset)
  }

  /// The offset in seconds in `Z`, `±hh`, `±hhmm` or `±hh:mm`.
  private static func statedOffset(_ text: Substring) -> Int32? {
    if ["Z", "z", "UTC", "GMT"].contains(text) { return 0 }
    var digits = text.dropFirst()
    if digits.count == 5, digits.dropFirst(2).first == ":" {
      digits.remove(at: digits.index(digits.startIndex, offsetBy: 2))
    }
    guard text.first == "+" || text.first == "-", digits.count == 2 || digits.count == 4,
      digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int32(digits)
    else { return nil }
    let (hours, minutes) = digits.count == 2 ? (number, 0) : (number / 100, number % 100)
    guard hours <= 18, minutes < 60 else { return nil }
    let size = hours * 3600 + minutes * 60
    return text.first == "-" ? -size : size
  }

  /// The offset in seconds in glucoport's form: `Z`, `±hh:mm` or `±hh:mm:ss`.
  static func offset(_ text: String) -> Int32? {
    if text == "Z" { return 0 }
    let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Int32($0) }
    guard text.first == "+" || text.first == "-", parts.count == 2 || parts.count == 3,
      let hours = parts[0], let minutes = parts[1], let seconds = parts.count == 3 ? parts[2] : 0,
      (0..<24).contains(hours), (0..<60).contains(minutes), (0..<60).contains(seconds)
    else { return nil }
    let size = hours * 3600 + minutes * 60 + seconds
    return text.first == "-" ? -size : size
  }

  private static func parts(_ milliseconds: Int64) -> (seconds: Int64, rest: Int64) {
    let seconds = (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1000
    return (seconds, milliseconds - seconds * 1000)
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
  private static func padded(_ number: Int64) -> String { String("00\(number)".suffix(3)) }
}

/// The zone for showing documents without an offset.
package struct NightscoutZone: Sendable {
  /// The zone of the logbook; nil for UTC.
  package let zone: LogbookZone?

  package init(zone: LogbookZone?) { self.zone = zone }

  /// The offset in force at an instant in UTC seconds.
  func offset(atUTC seconds: Int64) -> Int32 { zone?.offset(atUTC: seconds) ?? 0 }

  /// A state whose derived offset is computed with this zone, since a site knows only instants.
  ///
  /// - Parameter guid: the record; nil if only the logbook's zone applies.
  package func placed(_ state: RecordState, of guid: String? = nil) -> RecordState {
    guard state.placement.source.isDerived else { return state }
    var (state, zone) = (state, guid.flatMap { self.zone?.zone(ofRecord: $0) } ?? zone)
    state.placement = zone?.place(state.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
    return state
  }

  /// The placement of a shown time.
  func place(_ shown: ShownTime) -> Placement {
    if let offset = shown.utcOffset { return Placement(utcOffset: offset, source: .stated) }
    var zone = zone
    return zone?.place(shown.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
  }
}
