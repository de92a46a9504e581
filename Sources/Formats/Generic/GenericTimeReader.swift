// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads the times of a generic input, in any notation with a complete date and time of day.
struct GenericTimeReader {
  enum ReadTime {
    /// A shown time, with its offset if it states one.
    case shown(ShownTime)
    /// An instant counted since 1970.
    case instant(ShownTime, milliseconds: Int64)
    case rejected(String)

    /// Whether the input states the offset of the time.
    var statesOffset: Bool {
      switch self {
      case .shown(let time): time.utcOffset != nil
      case .instant: true
      case .rejected: false
      }
    }
  }

  /// The numbers with which spreadsheets store times: days since 1899-12-30, here of the years 1982 to 2119.
  static let serials = 30_000.0..<80_000.0
  /// The seconds since 2001 in the years 2004 to 2032, as Apple's programs count.
  static let secondsSince2001 = 100_000_000.0..<1_000_000_000.0
  /// Whether a row states the offset `GMT`. Then `BST` in other rows is British summer time.
  private var isBritish = false
  private static let unknownForm = "invalid time, or a form of time that glucoport does not know"

  /// Whether the day or the month comes first; nil while it is unknown, or if all dates are unambiguous.
  var order: DateOrder?
  private let takesSerials: Bool
  /// Whether times without an offset are in UTC.
  private let isUTC: Bool
  private var zoneOffsets: ZoneOffsets

  init(takesSerials: Bool, isUTC: Bool, zone: LogbookZone) {
    self.takesSerials = takesSerials
    self.isUTC = isUTC
    zoneOffsets = ZoneOffsets(zone)
  }

  @inline(__always) mutating func read(_ field: Field) -> ReadTime {
    let outcome = readWithAnyDay(field)
    if case .shown(let time) = outcome, time.deviceTime.seconds < FirstDays.end, FirstDays.contain(time) {
      return .rejected("a spreadsheet's time of day, which has no date")
    }
    return outcome
  }

  @inline(__always) private mutating func readWithAnyDay(_ field: Field) -> ReadTime {
    if let time = field.yearFirstTime {
      return time.utcOffset == nil ? .shown(time) : outcomeWithOffset(time, field)
    }
    return readOther(field.count > Field.maxNameBytes ? field : field.trimmed)
  }

  private mutating func readOther(_ field: Field) -> ReadTime {
    if field.count > Field.maxNameBytes { return .rejected(Self.unknownForm) }
    if field.isEmpty { return .rejected("no time") }
    if let milliseconds = field.epochMilliseconds { return instant(milliseconds) }
    if let time = field.yearFirstTime {
      return time.utcOffset == nil ? .shown(time) : outcomeWithOffset(time, field)
    }
    if let open = field.ambiguousTime { return outcome(ofAmbiguous: open) }
    if let time = field.namedTime { return .shown(ShownTime(time)) }
    if let number = field.number(.point) ?? field.number(.comma), Self.serials.contains(number) {
      return outcome(ofSerial: number)
    }
    if field.genericDate?.length == field.count { return .rejected("a date without a time of day") }
    return .rejected(Self.unknownForm)
  }

  /// Reads a date in one cell and a time of day in another.
  func read(date: Field, clock: Field) -> ReadTime {
    let (date, clock) = (date.trimmed, clock.trimmed)
    if date.isEmpty { return .rejected("no date") }
    if clock.isEmpty { return .rejected("a date without a time of day") }
    guard let day = date.genericDate, day.isAlone(in: date) else { return .rejected(Self.unknownForm) }
    if let time = clock.clockTime { return outcome(of: day, at: time) }
    guard let (time, offset) = clock.clockWithOffset else { return .rejected(Self.unknownForm) }
    guard case .shown(let shown) = outcome(of: day, at: time) else { return outcome(of: day, at: time) }
    return .shown(ShownTime(shown.deviceTime, utcOffset: offset))
  }

  private func outcome(of day: GenericDate, at time: TimeOfDay) -> ReadTime {
    switch day.form {
    case .decided(let month, let dayOfMonth):
      guard
        let shown = DeviceTime(
          year: day.year, month: month, day: dayOfMonth, hour: time.hour, minute: time.minute,
          second: time.second)
      else { return .rejected("invalid time") }
      return .shown(ShownTime(shown))
    case .open(let first, let second, let separator):
      return outcome(
        ofAmbiguous: AmbiguousTime(
          first: first, second: second, year: day.year, hour: time.hour, minute: time.minute,
          seconds: time.second, hasHalfDay: time.hasHalfDay, separator: separator))
    }
  }

  /// The time as an instant, if the name of its column states UTC.
  @inline(__always) mutating func instantIfUTC(_ outcome: ReadTime) -> ReadTime {
    guard isUTC, case .shown(let time) = outcome, time.utcOffset ?? 0 == 0 else { return outcome }
    guard LogbookZone.movable.contains(time.deviceTime.seconds) else {
      return .shown(ShownTime(time.deviceTime, utcOffset: 0))
    }
    return instant(time.deviceTime.seconds * 1000)
  }

  /// The outcome for a time with an offset. No clock shows `Z`, so such a time is an instant, and is shown in
  /// the zone of the logbook. A time with `+00:00` is kept as it is, since a phone in London may have shown
  /// it.
  private mutating func outcomeWithOffset(_ time: ShownTime, _ field: Field) -> ReadTime {
    guard time.utcOffset == 0, LogbookZone.movable.contains(time.deviceTime.seconds) else {
      return .shown(time)
    }
    let end = field.trimmed.bytes.last
    guard isUTC || end == UInt8(ascii: "Z") || end == UInt8(ascii: "z") else { return .shown(time) }
    return instant(time.deviceTime.seconds * 1000)
  }

  /// The time with the offset in `cell`, another cell of the same row.
  mutating func addingOffset(to outcome: ReadTime, from cell: Field) -> ReadTime {
    if case .rejected = outcome { return outcome }
    let cell = cell.trimmed
    if cell.equalsFolded("GMT") { isBritish = true }
    let stated = cell.utcOffset ?? cell.namedOffset ?? cell.numericOffset
    guard let offset = stated ?? (isBritish && cell.equalsFolded("BST") ? 3600 : nil) else {
      return .rejected("no offset from UTC, such as +02:00")
    }
    switch outcome {
    case .shown(let time):
      guard let stated = time.utcOffset else {
        return .shown(ShownTime(time.deviceTime, utcOffset: offset))
      }
      return .shown(ShownTime(utc: time.deviceTime.seconds - Int64(stated), offset: offset))
    case .instant(_, let milliseconds):
      return .instant(ShownTime(utc: milliseconds / 1000, offset: offset), milliseconds: milliseconds)
    case .rejected: return outcome
    }
  }

  private func outcome(ofAmbiguous open: AmbiguousTime) -> ReadTime {
    guard let order else {
      return .rejected("the order of day and month is unclear in this date")
    }
    guard let time = open.time(order) else { return .rejected("invalid time") }
    return .shown(ShownTime(time))
  }

  private func outcome(ofSerial number: Double) -> ReadTime {
    guard takesSerials else {
      return .rejected(
        "a spreadsheet's day number instead of a time; save the times as text, or use --map time=…")
    }
    guard number != number.rounded() else { return .rejected("a date without a time of day") }
    // There are 25569 days between 1899-12-30 and 1970-01-01.
    return .shown(ShownTime(DeviceTime(seconds: Int64(((number - 25_569) * 86_400).rounded()))))
  }

  private mutating func instant(_ milliseconds: Int64) -> ReadTime {
    let seconds = milliseconds / 1000
    return .instant(zoneOffsets.shown(utc: seconds), milliseconds: milliseconds)
  }
}

/// Separates the different values that an input has at one instant, by a millisecond each.
///
/// If an instant identifies a reading, the value is not a part of the identity. Without the separation, a
/// second finger stick in the same minute would count as a changed value of the first.
struct RepeatedInstants {
  /// A person measures a few times in a minute. A hostile input may have millions of values at one instant,
  /// so the number is limited.
  private static let maxValues = 64

  private var place: (device: DeviceIndex, kind: ReadingKind, position: Int64)?
  private var buckets: [Int64] = []

  /// Adds milliseconds to the position of a reading if the reading before it has the same instant and another
  /// value. Sensor history has one value for each instant, so its readings are not changed.
  @inline(__always) mutating func separate(_ reading: inout Reading) {
    guard reading.kind.valueIsPartOfIdentity else { return }
    let bucket = reading.measurement.valueBucket
    guard let place, place == (reading.device, reading.kind, reading.position) else {
      place = (reading.device, reading.kind, reading.position)
      buckets = [bucket]
      return
    }
    let known = buckets.firstIndex(of: bucket)
    if known == nil, buckets.count < Self.maxValues { buckets.append(bucket) }
    reading.position += Int64(known ?? buckets.count - 1)
  }
}

/// The first days of the calendars of spreadsheets and databases. A program that writes a time of day as a
/// full time writes one of them for the date.
private enum FirstDays {
  /// Dates as year, month and day. Some programs write the day 0 of January 1900.
  private static let dates = [[1899, 12, 30], [1899, 12, 31], [1900, 1, 0], [1900, 1, 1], [1904, 1, 1]]
  /// These dates as days since 1970, without the day 0.
  private static let days: Set<Int64> = [-25_569, -25_568, -25_567, -24_107]
  /// The civil seconds at the end of the last of these days.
  static let end: Int64 = -24_106 * 86_400

  static func contain(_ time: ShownTime) -> Bool {
    days.contains(DeviceTime.day(of: time.deviceTime.seconds))
  }

  static func contain(_ date: GenericDate) -> Bool {
    switch date.form {
    case .decided(let month, let day): dates.contains([date.year, month, day])
    case .open(let first, let second, _):
      dates.contains([date.year, first, second]) || dates.contains([date.year, second, first])
    }
  }
}

/// A date without its time of day.
struct GenericDate {
  enum DateParts {
    case decided(month: Int, day: Int)
    case open(first: Int, second: Int, separator: UInt8)
  }

  let year: Int
  let form: DateParts
  /// The number of bytes of the date.
  let length: Int

  /// Whether nothing follows the date in the field, except the midnight that spreadsheets add.
  func isAlone(in field: Field) -> Bool {
    field.slice(min(length, field.count), field.count).bytes.allSatisfy { "T 0:.Z".utf8.contains($0) }
  }
}

extension Field {
  /// The time of day in a cell that states no date, or only the first day of a spreadsheet's calendar.
  var clockTime: TimeOfDay? { timeOfDay ?? digitsOfDay ?? timeOnFirstDay }

  /// The time of day on the first day of a spreadsheet's calendar: `1899-12-30 07:30`.
  var timeOnFirstDay: TimeOfDay? {
    guard count >= 12, count <= 32, let date = genericDate, date.length < count, FirstDays.contain(date)
    else {
      return nil
    }
    let rest = slice(date.length, count)
    guard [UInt8(ascii: " "), UInt8(ascii: "T"), UInt8(ascii: ",")].contains(rest[0]) else { return nil }
    return rest.slice(1, rest.count).trimmed.timeOfDay
  }

  /// The time of day and the offset in a cell without a date: `07:00:00.000+02:00`. A text such as
  /// `06:30-07:30` is a period, so an offset to the west belongs to a time with seconds only.
  var clockWithOffset: (time: TimeOfDay, offset: Int32)? {
    guard count >= 8, count <= 24,
      let sign = bytes.firstIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }),
      let time = slice(0, sign).trimmed.timeOfDay, let offset = slice(sign, count).utcOffset,
      bytes[sign] == UInt8(ascii: "+") || bytes[..<sign].count(where: { $0 == UInt8(ascii: ":") }) > 1
    else { return nil }
    return (time, offset)
  }

  /// The offset in seconds to the east that a number means. A number up to 14 is in hours, a number up to 840
  /// in minutes, and a larger one in seconds.
  var numericOffset: Int32? {
    guard count > 0, count <= 8, let number = number(.point) else { return nil }
    let seconds = abs(number) <= 14 ? number * 3600 : abs(number) <= 840 ? number * 60 : number
    guard abs(seconds) <= 14 * 3600, seconds.truncatingRemainder(dividingBy: 900) == 0 else { return nil }
    return Int32(seconds)
  }

  /// The date at the start of the field: year first, year last, or with a month's name.
  var genericDate: GenericDate? {
    if let date = yearFirstDate { return date }
    if let open = ambiguousDate {
      return GenericDate(
        year: open.year, form: .open(first: open.first, second: open.second, separator: open.separator),
        length: open.length)
    }
    guard count >= 8, count <= 32, let date = namedDate else { return nil }
    return GenericDate(year: date.year, form: .decided(month: date.month, day: date.day), length: count)
  }

  /// The date if the text is year, month and day, such as `2026-05-06`, with hyphens, slashes or dots.
  private var yearFirstDate: GenericDate? {
    guard count >= 8, let year = slice(0, 4).integer, year >= 0, "-/.".utf8.contains(start[4]) else {
      return nil
    }
    let rest = slice(5, count)
    guard let second = rest.bytes.firstIndex(of: start[4]), second >= 1, second <= 2,
      let month = rest.slice(0, second).integer
    else { return nil }
    let last = rest.slice(second + 1, rest.count)
    let digits = last.bytes.prefix(2).prefix { $0 &- 0x30 <= 9 }.count
    guard digits > 0, let day = last.slice(0, digits).integer else { return nil }
    return GenericDate(
      year: Int(year), form: .decided(month: Int(month), day: Int(day)), length: 5 + second + 1 + digits)
  }

  /// A date with the name of a month. A text without letters has no such name. It is not split into words,
  /// since that costs much more.
  private var namedDate: (year: Int, month: Int, day: Int)? {
    bytes.contains { $0 >= 0x80 || ($0 | 0x20) &- 0x61 < 26 } ? MonthNames.date(text) : nil
  }

  /// A date with a month's name, followed by a time of day: `Aug 7, 2017 12:30 PM`.
  var namedTime: DeviceTime? {
    guard count >= 12, count <= 48, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    var split = colon
    while split > 0, start[split - 1] &- 0x30 <= 9 { split -= 1 }
    guard let clock = slice(split, count).timeOfDay else { return nil }
    var words = slice(0, split).trimmed
    if words.count > 0, words[words.count - 1] == UInt8(ascii: ",") {
      words = words.slice(0, words.count - 1)
    }
    guard let date = words.namedDate else { return nil }
    return DeviceTime(
      year: date.year, month: date.month, day: date.day, hour: clock.hour, minute: clock.minute,
      second: clock.second)
  }

  /// The instant that a count since 1970 means, in milliseconds. The size of the count shows whether it is in
  /// seconds, milliseconds or microseconds.
  ///
  /// Counts of seconds are read from September 2001 on. Smaller counts are those of Apple's programs, which
  /// count since 2001: as counts since 1970 they would be 31 years early.
  var epochMilliseconds: Int64? {
    var whole: Int64 = 0
    var index = 0
    while index < count, index < 17, start[index] &- 0x30 <= 9 {
      whole = whole * 10 + Int64(start[index] &- 0x30)
      index += 1
    }
    guard index >= 10, whole >= 1_000_000_000 else { return nil }
    var fraction: Int64 = 0
    if index < count {
      guard start[index] == UInt8(ascii: "."), count - index > 1, count - index <= 12 else { return nil }
      var unit: Int64 = 100
      for place in index + 1..<count {
        guard start[place] &- 0x30 <= 9 else { return nil }
        fraction += Int64(start[place] &- 0x30) * unit
        unit /= 10
      }
    }
    switch whole {
    case ..<10_000_000_000: return whole * 1000 + fraction
    // Milliseconds from 1979 on. They are larger than any date written only in digits, such as 202605061230.
    case 300_000_000_000..<10_000_000_000_000: return whole
    case 300_000_000_000_000..<10_000_000_000_000_000: return whole / 1000
    default: return nil
    }
  }
}
