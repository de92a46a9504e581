// SPDX-License-Identifier: Apache-2.0

import Logbook

extension Field {
  /// Smaller numbers are seconds, as Nightscout takes them: 2000-01-01 in milliseconds.
  private static let minMilliseconds: Int64 = 946_684_800_000
  /// The end of the year 9999.
  private static let maxMilliseconds: Int64 = 253_402_300_799_999

  /// The instant written here: seconds or milliseconds since 1970, or a time year first, as if in UTC where it says
  /// no offset. Nil for 0, which means that there is none.
  @inline(__always)
  var instant: Instant? {
    if count > 4, start[4] == UInt8(ascii: "-") { return yearFirstInstant }
    if count == 13, let milliseconds = integer, milliseconds >= Self.minMilliseconds {
      return Instant(milliseconds: milliseconds)
    }
    return epochInstant
  }

  private var epochInstant: Instant? {
    guard let number = jsonNumber, number > 0, number <= Double(Self.maxMilliseconds) else { return nil }
    let isSeconds = number < Double(Self.minMilliseconds)
    // Half a microsecond more, so that 1778068800.123 times a thousand is not cut to 122.
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

  /// The first three digits of a fraction of a second, behind `YYYY-MM-DDThh:mm`.
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

/// The offsets of a zone at instants. Keeps that of the last instant's day: asking the zone's rules for each
/// row would cost more than all the rest.
struct ZoneOffsets {
  private let zone: LogbookZone
  private var day: Range<Int64> = 0..<0
  private var offset: Int32 = 0

  init(_ zone: LogbookZone) { self.zone = zone }

  /// The offset in force at an instant in UTC seconds.
  @inline(__always)
  mutating func offset(atUTC seconds: Int64) -> Int32 {
    day.contains(seconds) ? offset : find(seconds)
  }

  private mutating func find(_ seconds: Int64) -> Int32 {
    let start = (seconds >= 0 ? seconds : seconds - 86399) / 86400 * 86400
    let first = zone.offset(atUTC: start)
    guard zone.offset(atUTC: start + 86400) == first else { return zone.offset(atUTC: seconds) }
    day = start..<start + 86400
    offset = first
    return first
  }
}
