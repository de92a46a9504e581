// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects an input whose times all have the offset `+00:00`. They may be from the clock of a phone in
/// London. Or a program wrote them in UTC, so that their days and hours are not those of the person.
struct GenericUTCTimes {
  private let zone: LogbookZone
  /// Whether some time is an instant in the logbook's zone, or does not state the offset `+00:00`.
  private(set) var hasOthers = false
  private var instants: ClosedRange<Int64>?

  init(zone: LogbookZone) { self.zone = zone }

  /// Adds the time of a reading, a dose or a meal.
  ///
  /// - Parameter isInstant: whether the input states an instant. The shown time is then that in the logbook's
  ///   zone.
  @inline(__always) mutating func observe(_ time: ShownTime, isInstant: Bool) {
    guard !hasOthers else { return }
    guard !isInstant, time.utcOffset == 0 else { return hasOthers = true }
    let seconds = time.deviceTime.seconds
    let known = instants ?? seconds...seconds
    instants = min(known.lowerBound, seconds)...max(known.upperBound, seconds)
  }

  /// Whether all times are in UTC, and the logbook's zone has another offset at the first or the last of the
  /// times.
  var differFromZone: Bool {
    guard !hasOthers, let instants else { return false }
    return [instants.lowerBound, instants.upperBound].contains { zone.offset(atUTC: $0) != 0 }
  }
}

extension GenericFormat {
  /// The warning about times that may all be in UTC; nil if there is no such doubt.
  var doubtAboutUTC: String? {
    guard utcTimes.differFromZone else { return nil }
    var names = options.columns.isEmpty ? finding.namesInCommands : options.columns
    var command = ""
    if let time = names.removeValue(forKey: GenericRole.time.name) {
      names[GenericRole.utc.name] = time
      var options = options
      (options.columns, options.format) = (names, nil)
      command =
        "; to show them in that zone, run 'glucoport undo', and import them with: "
        + ImportHint(options: options).command
    }
    return
      "all times have the offset +00:00; if they are in UTC, and of no clock, hours and days are not those of "
      + options.zone.name + command
  }
}

/// Detects times of a clock of twelve hours without AM and PM.
///
/// Such times are from 1:00 to 12:59. If the rows are in order of time, these times run backwards within a
/// day: dinner at 7:00 follows lunch at 12:30. In rows of any order, a word for the evening next to a time
/// such as 7:00 shows that PM is missing.
struct GenericHalfDays {
  private static let secondsPerHour: Int64 = 3600
  private static let secondsPerDay: Int64 = 86_400
  private static let minDays = 7
  private static let minSigns = 3
  /// The hours at which a word for the evening shows that PM is missing. No evening begins before 5 o'clock,
  /// and at 12 a word for the night is right.
  private static let eveningHours: ClosedRange<Int64> = 5...11

  /// The consecutive rows of one day.
  private struct RowsOfDay {
    let number: Int64
    var last: Int64
    var isUp = false
    var isDown = false
  }

  /// Whether a time was before 1:00 or after 12:59, so that the clock has 24 hours. Later times are then
  /// ignored.
  private var isWhole = false
  private var day: RowsOfDay?
  private var dayCount = 0
  private var goesUp = false
  private var goesDown = false
  /// The numbers of days whose times only rise, only fall, or do both.
  private var (up, down, mixed) = (0, 0, 0)
  private var evenings = 0

  /// Adds a time in civil seconds.
  ///
  /// - Returns: whether the words of its row may show that the time is in the evening.
  mutating func observe(_ seconds: Int64) -> Bool {
    if isWhole { return false }
    let number = DeviceTime.day(of: seconds)
    let hour = (seconds - number * Self.secondsPerDay) / Self.secondsPerHour
    isWhole = !(1...12 ~= hour)
    if !isWhole { observeOrder(seconds, of: number) }
    return !isWhole && Self.eveningHours.contains(hour)
  }

  /// Adds the texts of the row whose time was added last.
  mutating func observe(words: [String]) {
    if words.contains(where: Self.isOfEvening) { evenings += 1 }
  }

  private mutating func observeOrder(_ seconds: Int64, of number: Int64) {
    guard var day, day.number == number else {
      if let day { if number > day.number { goesUp = true } else { goesDown = true } }
      closeDay()
      day = RowsOfDay(number: number, last: seconds)
      dayCount += 1
      return
    }
    if seconds > day.last { day.isUp = true }
    if seconds < day.last { day.isDown = true }
    day.last = seconds
    self.day = day
  }

  private mutating func closeDay() {
    guard let day else { return }
    switch (day.isUp, day.isDown) {
    case (true, true): mixed += 1
    case (true, false): up += 1
    case (false, true): down += 1
    case (false, false): break
    }
  }

  /// Completes the last day after all rows.
  mutating func decide() {
    closeDay()
    day = nil
  }

  private var mayBe: Bool { !isWhole && dayCount >= Self.minDays }

  /// The reason why the times are those of a clock of twelve hours, as text after the name of the column of
  /// values. Nil if nothing shows it.
  var fault: String? {
    guard mayBe else { return nil }
    let start = "has times from 1:00 to 12:59 only, "
    if evenings >= Self.minSigns {
      return start
        + "\(evenings) of the morning beside words for the evening, as a clock of twelve hours without AM and PM"
    }
    guard runsBackwards else { return nil }
    return start + "which run backwards within a day, as those of a clock of twelve hours without AM and PM"
  }

  private var runsBackwards: Bool {
    guard goesUp != goesDown else { return false }
    // In a diary with the newest day first, the times within each day may rise. This does not show a clock of
    // twelve hours.
    let isDiary = goesDown && mixed == 0 && down == 0
    let signs = mixed + (goesUp ? down : up)
    return !isDiary && signs >= Self.minSigns && signs * 3 >= up + down + mixed
  }

  /// Whether the times may be those of a clock of twelve hours although nothing shows it: most days have
  /// several times.
  var isDoubtful: Bool { mayBe && fault == nil && (up + down + mixed) * 2 > dayCount }

  private static let eveningWords: Set<String> = [
    "dinner", "supper", "evening", "bedtime", "pm", "abend", "abends", "abendessen", "cena", "dîner", "diner",
    "soir", "soirée", "sera", "noche", "jantar", "noite", "avond", "avondeten", "aften", "aftensmad", "kväll",
    "kveld", "kolacja", "wieczór", "večeře", "večer", "ужин", "вечер",
  ]

  private static func isOfEvening(_ text: String) -> Bool {
    text.lowercased().split { !$0.isLetter }.contains { eveningWords.contains(String($0)) }
  }
}

/// Fills in missing dates in a table that has a date only in the first row of each day.
///
/// A spreadsheet saves merged cells in this way. If the dates rise from row to row, the times of day within a
/// date must rise, too, and fall if the dates fall. A row that breaks this rule is refused: its date may have
/// been forgotten, or it may be after midnight.
struct GenericMergedDates {
  private enum Date {
    case own
    case ofRowAbove([UInt8])
    case refused(String)
  }

  /// Whether the surveyed dates rise or fall, in one order of day and month.
  private struct DateDirection {
    private var last: Int64?
    private var rises = false
    private var falls = false

    mutating func observe(_ day: Int64) {
      if let last, last != day { if day < last { falls = true } else { rises = true } }
      last = day
    }

    /// Whether the dates fall from row to row; nil without two different dates, or if they both rise and
    /// fall.
    var descend: Bool? { rises == falls ? nil : falls }
  }

  private var date: [UInt8] = []
  private var lastClock: Int?
  private var lastLine: Int64 = 0
  private var days: [DateOrder: DateDirection] = [:]
  /// Whether the dates of the whole table are in descending order; nil if that is not known.
  private var descends: Bool?

  /// Nil unless the first row with a time of day in the head has a date, and a later row has none.
  init?(_ finding: GenericFinding) {
    let (date, clock) = (finding.columns[.date], finding.columns[.clock])
    guard finding.delimiter != nil, date >= 0, clock >= 0 else { return nil }
    let dates = finding.header.rows.filter { row in
      row.indices.contains(date) && row.indices.contains(clock) && !row[clock].isEmpty
    }.map { !$0[date].isEmpty }
    guard dates.first == true, dates.contains(false) else { return nil }
  }

  /// Adds the date of a row to the survey, in each order of day and month that it may have.
  mutating func survey(_ dateCell: Field, _ clock: Field, by times: GenericTimeReader) {
    guard !dateCell.trimmed.isEmpty else { return }
    for order in DateOrder.allCases {
      var times = times
      times.order = order
      switch times.read(date: dateCell, clock: clock) {
      case .shown(let time), .instant(let time, _):
        days[order, default: DateDirection()].observe(time.deviceTime.seconds / 86_400)
      case .rejected: break
      }
    }
  }

  /// Ends the survey. The dates are read in this order of day and month; nil if both orders give the same
  /// dates.
  mutating func decide(_ order: DateOrder?) {
    descends = (order ?? DateOrder.allCases.first).flatMap { days[$0]?.descend }
    forget()
  }

  /// Forgets the date, for the rows below a header or an empty row.
  mutating func forget() { (date, lastClock) = ([], nil) }

  /// Reads the time of a row. The date of this time is in the row itself or in a row above.
  ///
  /// - Parameters:
  ///   - line: the row's line. After a gap in the lines, the date is forgotten: a damaged row in the gap may
  ///     have had another date.
  ///   - isTrial: whether the direction of the dates is not known yet, so that it is not checked.
  mutating func read(
    _ dateCell: Field, _ clock: Field, line: Int64, isTrial: Bool,
    by read: (Field, Field) -> GenericTimeReader.ReadTime
  ) -> GenericTimeReader.ReadTime {
    if line > lastLine + 1 { forget() }
    lastLine = line
    return switch resolve(dateCell.trimmed, clock.trimmed, isTrial: isTrial) {
    case .own: read(dateCell, clock)
    case .refused(let reason): .rejected(reason)
    case .ofRowAbove(let bytes): String(decoding: bytes, as: UTF8.self).withField { read($0, clock) }
    }
  }

  private mutating func resolve(_ cell: Field, _ clock: Field, isTrial: Bool) -> Date {
    if !cell.isEmpty {
      date = Array(cell.bytes)
      lastClock = Self.seconds(clock)
      return .own
    }
    guard let seconds = Self.seconds(clock) else {
      if clock.isEmpty { forget() }
      return .own
    }
    guard !date.isEmpty else { return .refused("no date") }
    if !isTrial {
      guard let descends else {
        return .refused("no date, and the other dates do not show it: they do not run in one direction")
      }
      if let lastClock, seconds != lastClock, descends != (seconds < lastClock) {
        forget()
        return .refused("no date, and the time of day does not continue those of the rows above")
      }
    }
    lastClock = seconds
    return .ofRowAbove(date)
  }

  private static func seconds(_ clock: Field) -> Int? {
    (clock.timeOfDay ?? clock.digitsOfDay).map { $0.hour * 3600 + $0.minute * 60 + $0.second }
  }
}
