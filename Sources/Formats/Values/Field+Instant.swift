// SPDX-License-Identifier: Apache-2.0

import Logbook

extension Field {
  /// The lowest number that is read as milliseconds since 1970, the start of the year 2000. Smaller numbers
  /// are seconds, as in Nightscout.
  private static let minMilliseconds: Int64 = 946_684_800_000
  /// The highest number that is read as milliseconds: the end of the year 9999.
  private static let maxMilliseconds: Int64 = 253_402_300_799_999

  /// The instant in this field: seconds or milliseconds since 1970, or a time with the year first, in UTC if
  /// it has no offset. Nil for 0, which means a missing time.
  @inline(__always)
  var instant: Instant? {
    if count > 4, start[0] >= UInt8(ascii: "A") { return namedInstant }
    if count > 4, start[4] == UInt8(ascii: "-") { return yearFirstInstant }
    if count == 13, let milliseconds = integer, milliseconds >= Self.minMilliseconds {
      return Instant(milliseconds: milliseconds)
    }
    return epochInstant
  }

  /// A date as Unix programs print it, with the unambiguous name of a zone: `Mon Jan 5 08:30:00 EST 2026`.
  private var namedInstant: Instant? {
    guard count >= 24, count <= 32 else { return nil }
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].count == 3, let month = MonthNames.month(words[1]),
      let day = Int(words[2]),
      let clock = String(words[3]).withField(\.timeOfDay), let hours = Self.hoursOfZones[String(words[4])],
      let year = Int(words[5]), (1970...9999).contains(year),
      let time = DeviceTime(
        year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    else { return nil }
    let offset = hours * 3600
    return Instant(milliseconds: (time.seconds - Int64(offset)) * 1000, utcOffset: offset)
  }

  /// The offsets in hours of the zones of the United States and of UTC. Other names have several meanings, so
  /// they are not read.
  private static let hoursOfZones: [String: Int32] = [
    "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7,
  ]

  private var epochInstant: Instant? {
    guard let number = jsonNumber, number > 0, number <= Double(Self.maxMilliseconds) else { return nil }
    let isSeconds = number < Double(Self.minMilliseconds)
    // Half a microsecond is added, so that 1778068800.123 times a thousand does not become …122.
    let milliseconds = isSeconds ? number * 1000 + 0.0005 : number
    guard milliseconds <= Double(Self.maxMilliseconds) else { return nil }
    return Instant(milliseconds: Int64(milliseconds))
  }

  private var yearFirstInstant: Instant? {
    guard let shown = yearFirstTime else { return nil }
    let seconds = shown.deviceTime.seconds - Int64(shown.utcOffset ?? 0)
    return Instant(
      milliseconds: seconds * 1000 + millisecondsOfSecond, utcOffset: shown.utcOffset,
      isWallClock: shown.utcOffset == nil)
  }

  /// The milliseconds: the first three digits of a fraction of a second, after `YYYY-MM-DDThh:mm`.
  private var millisecondsOfSecond: Int64 {
    var index = 16
    while index < count, start[index] != UInt8(ascii: "."), start[index] != UInt8(ascii: ",") { index += 1 }
    var value: Int64 = 0
    for place in 1...3 {
      let digit = index + place < count ? start[index + place] &- 0x30 : 10
      guard digit <= 9 else { return value * (place == 1 ? 0 : place == 2 ? 100 : 10) }
      value = value * 10 + Int64(digit)
    }
    return value
  }
}

extension ZoneOffsets {
  /// The clock time of an instant in this zone.
  @inline(__always)
  mutating func shown(utc seconds: Int64) -> ShownTime {
    ShownTime(instant: seconds, zoneOffset: offset(atUTC: seconds))
  }

  /// Converts a time from the phone's offset to this zone. A phone writes its whole history with the offset
  /// of the place in which it exports. That offset is wrong for readings from other places.
  ///
  /// - Parameter time: the time with the phone's offset.
  mutating func shown(_ time: ShownTime) -> ShownTime {
    guard let offset = time.utcOffset else { return time }
    let seconds = time.deviceTime.seconds - Int64(offset)
    return LogbookZone.movable.contains(seconds) ? shown(utc: seconds) : time
  }

  /// Converts a time that is stated in UTC to this zone, and returns any other time unchanged. Many servers
  /// and programs write every instant in UTC, whatever clock the person saw.
  mutating func localised(_ time: ShownTime) -> ShownTime { time.utcOffset == 0 ? shown(time) : time }
}

/// Month names as apps abbreviate them, in the languages of the exports: en, de, fr, nl, es, it, da, sv, nb.
enum MonthNames {
  private static let prefixes: [(name: String, month: Int)] = [
    ("jan", 1), ("gen", 1), ("ene", 1), ("jän", 1), ("janv", 1),
    ("feb", 2), ("fév", 2), ("fev", 2), ("févr", 2),
    ("mar", 3), ("mär", 3), ("mrz", 3), ("mrt", 3), ("maa", 3), ("mars", 3),
    ("apr", 4), ("avr", 4), ("abr", 4),
    ("may", 5), ("mai", 5), ("mei", 5), ("mag", 5), ("maj", 5),
    ("jun", 6), ("juin", 6), ("giu", 6),
    ("jul", 7), ("juil", 7), ("lug", 7),
    ("aug", 8), ("aoû", 8), ("aou", 8), ("ago", 8),
    ("sep", 9), ("set", 9),
    ("oct", 10), ("okt", 10), ("ott", 10), ("out", 10),
    ("nov", 11),
    ("dec", 12), ("déc", 12), ("dez", 12), ("dic", 12), ("des", 12),
  ]

  /// The month of a name, 1 to 12; nil for an unknown word.
  static func month(_ word: some StringProtocol) -> Int? {
    let word = word.lowercased().trimmingSuffix(while: { $0 == "." })
    guard word.count >= 3 else { return nil }
    return prefixes.first { word.hasPrefix($0.name) }?.month
  }

  /// The date with a month's name, such as `Aug 7, 2017`, `7 août 2017` or `7. Aug. 2017`; nil for any other
  /// text.
  static func date(_ text: String) -> (year: Int, month: Int, day: Int)? {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\u{A0}" || $0 == "\u{202F}" })
      .filter { $0 != "de" && $0 != "del" }
    guard words.count == 3, let year = Int(words[2]), year >= 1900, year <= 9999 else { return nil }
    if let month = month(words[0]), let day = Int(words[1].filter(\.isNumber)) { return (year, month, day) }
    if let month = month(words[1]), let day = Int(words[0].filter(\.isNumber)) { return (year, month, day) }
    return nil
  }
}

extension String {
  fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
    var rest = Substring(self)
    while let last = rest.last, predicate(last) { rest.removeLast() }
    return rest
  }
}

extension DeviceTime {
  /// The maximum offset in seconds that FHIR permits.
  private static let maxOffset: Int32 = 14 * 3600

  /// The shown time with its offset, as FHIR and RFC 3339 write both. If they cannot write the offset, the
  /// time is converted to UTC.
  func zonedText(_ placement: Placement) -> String {
    let offset = placement.utcOffset
    if offset % 60 == 0, abs(offset) <= Self.maxOffset { return text + Self.offsetText(offset) }
    return DeviceTime(seconds: seconds - Int64(offset)).text + "Z"
  }
}

extension Field {
  /// Calls `body` with a text as a field. The field is valid only during the call.
  static func withText<Value>(_ text: String, _ body: (Field) -> Value) -> Value {
    var text = text
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return body(.absent) }
      return body(Field(start: start, count: bytes.count, shape: .quoted))
    }
  }
}
