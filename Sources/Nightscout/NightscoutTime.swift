// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Times in the notations that Nightscout uses. Instants are milliseconds since 1970.
package enum NightscoutTime {
  /// The earliest instant that a site accepts, 2000-01-01. A site treats smaller numbers as seconds.
  package static let minMilliseconds: Int64 = 946_684_800_000
  /// The last instant that a site can store, the end of the year 9999.
  package static let maxMilliseconds: Int64 = 253_402_300_799_999

  /// The tolerance for comparisons with the site's clock, in milliseconds. The site states its time in whole
  /// seconds, and the response arrives some time later.
  package static let slack: Int64 = 10_000

  /// Whether a site accepts this instant as the time of an event.
  package static func isPossible(_ milliseconds: Int64) -> Bool {
    (minMilliseconds...maxMilliseconds).contains(milliseconds)
  }

  /// The instant as text in UTC, `2026-05-06T16:30:00.000Z`.
  package static func utcText(_ milliseconds: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    return "\(DeviceTime(seconds: seconds).text).\(padded(rest))Z"
  }

  /// The instant as text with an offset of this number of minutes.
  package static func localText(_ milliseconds: Int64, minutes: Int64) -> String {
    let (seconds, rest) = parts(milliseconds)
    let size = abs(minutes)
    let offset = "\(minutes < 0 ? "-" : "+")\(two(size / 60)):\(two(size % 60))"
    return "\(DeviceTime(seconds: seconds + minutes * 60).text).\(padded(rest))\(offset)"
  }

  /// The instant as a date for an HTTP header such as `If-Unmodified-Since`, without milliseconds. The date
  /// must be valid, since the server ignores a date that it cannot parse.
  package static func headerText(_ milliseconds: Int64) -> String {
    HTTPText.date(parts(milliseconds).seconds)
  }

  /// The instant that a number states: in milliseconds, or in seconds if it is small. Nil for 0, which means
  /// that the time is missing.
  static func instant(_ number: Double) -> Instant? {
    guard number > 0, number <= Double(maxMilliseconds) else { return nil }
    let isSeconds = number < Double(minMilliseconds)
    // Half a microsecond is added, so that 1778068800.123 times a thousand is not truncated to …122.
    let milliseconds = isSeconds ? number * 1000 + 0.0005 : number
    return milliseconds <= Double(maxMilliseconds) ? Instant(milliseconds: Int64(milliseconds)) : nil
  }

  /// The instant in a text that begins with the year. If it states no offset, the result is a wall-clock
  /// time.
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

  /// The UTC offset in a text `Z`, `±hh`, `±hhmm` or `±hh:mm`, in seconds.
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

  /// The UTC offset in the notation that glucoport writes, `Z`, `±hh:mm` or `±hh:mm:ss`, in seconds.
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

/// The zone for documents that state no offset.
package struct NightscoutZone: Sendable {
  /// The zone of the logbook; nil for UTC.
  package let zone: LogbookZone?

  package init(zone: LogbookZone?) { self.zone = zone }

  /// The UTC offset of the zone at an instant in UTC seconds.
  func offset(atUTC seconds: Int64) -> Int32 { zone?.offset(atUTC: seconds) ?? 0 }

  /// The state with its derived offset computed from this zone, since a site needs an instant. A state with a
  /// stated offset or an instant is returned unchanged.
  ///
  /// - Parameter guid: the guid of the record; nil to use only the logbook's zone.
  package func recalculated(_ state: RecordState, of guid: String? = nil) -> RecordState {
    guard state.placement.source.placesShownTime else { return state }
    var (state, zone) = (state, guid.flatMap { self.zone?.zone(ofRecord: $0) } ?? zone)
    state.placement = zone?.placement(of: state.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
    return state
  }

  /// The placement of a shown time, by its stated offset or by this zone.
  func placement(of shown: ShownTime) -> Placement {
    if let offset = shown.utcOffset {
      return Placement(utcOffset: offset, source: shown.isInstant ? .instant : .stated)
    }
    var zone = zone
    return zone?.placement(of: shown.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
  }
}
