// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Compares a column of dates with the full times next to it.
///
/// In files of some programs, the dates in the full times are wrong: the first day of a calendar, or the day
/// of the export. Or the full times are those at which a form was sent.
struct GenericDays {
  private static let words: Set<String> = [
    "date", "datum", "fecha", "data", "dato", "day", "tag", "jour", "dia", "día", "giorno", "dag",
  ]
  /// Words that may occur in the name of a date column if its dates are those of the measurements.
  private static let harmless: Set<String> = [
    "reading", "measurement", "measured", "test", "recorded", "sample", "sensor", "glucose", "bg", "local",
    "device", "meter", "of", "the", "de", "la", "messung",
  ]

  /// Whether a row has another day in the column of dates than in its time.
  private(set) var differ = false
  /// Whether rows have another time of day in its own column than in their times, by varying amounts.
  private(set) var clocksDiffer = false
  /// The minutes by which the first such row differs.
  private var clockGap: Int64?

  /// The index of the column of dates next to the column of times; nil unless there is exactly one.
  static func index(in header: GenericHeader, _ columns: GenericColumns) -> Int? {
    guard columns[.time] >= 0, columns[.date] < 0 else { return nil }
    let places = header.names.indices.filter { place in
      let (cells, name) = (header.cells(place), header.words[place].words)
      return !columns.hasRole(place) && !cells.isEmpty && !name.isDisjoint(with: words)
        && name.isSubset(of: words.union(harmless))
        && cells.allSatisfy { $0.withField { !days(in: $0).isEmpty } }
    }
    return places.count == 1 ? places[0] : nil
  }

  /// Compares the date in a cell with the time of its row.
  ///
  /// - Parameters:
  ///   - seconds: the time of the row, in civil seconds.
  ///   - mayBeOfZone: whether the time may be in another zone than the date.
  mutating func observe(_ cell: Field, at seconds: Int64, mayBeOfZone: Bool) {
    let days = Self.days(in: cell)
    guard !differ, !days.isEmpty else { return }
    let day = DeviceTime.day(of: seconds)
    differ = days.allSatisfy { abs($0 - day) > (mayBeOfZone ? 1 : 0) }
  }

  /// Compares the time of day in a cell with the time of its row, in civil seconds.
  mutating func observe(clock cell: Field, at seconds: Int64) {
    guard !clocksDiffer, let clock = cell.trimmed.clockTime else { return }
    let gap = seconds - Int64(clock.hour * 3600 + clock.minute * 60 + clock.second)
    let minutes = (gap % Self.secondsPerDay + Self.secondsPerDay) % Self.secondsPerDay / 60
    guard minutes > 0, minutes < Self.secondsPerDay / 60 - 1 else { return }
    clocksDiffer = clockGap.map { $0 != minutes } ?? false
    clockGap = minutes
  }
  private static let secondsPerDay: Int64 = 86_400

  /// The days since 1970 that a cell with only a date can mean, for both orders of day and month; empty for
  /// any other cell.
  private static func days(in cell: Field) -> [Int64] {
    let cell = cell.trimmed
    guard let date = cell.genericDate, date.isAlone(in: cell) else { return [] }
    let readings: [(month: Int, day: Int)]
    switch date.form {
    case .decided(let month, let day): readings = [(month, day)]
    case .open(let first, let second, _): readings = [(second, first), (first, second)]
    }
    return readings.compactMap { reading in
      DeviceTime(year: date.year, month: reading.month, day: reading.day, hour: 0, minute: 0, second: 0)
        .map { DeviceTime.day(of: $0.seconds) }
    }
  }
}

/// The comparison of dates and times in a generic input.
extension GenericFormat {
  /// Compares dates and times in the first rows; an input that is not surveyed is compared only here.
  ///
  /// - Throws: `Failure` of category `badInput` if a date has another day than the time of its row.
  mutating func compareDaysInHead() throws {
    guard finding.columns.days >= 0, options.columns.isEmpty else { return }
    for cells in finding.header.rows {
      cells.withRow { row in
        guard let time = trialTime(of: row, finding.columns) else { return }
        observeDay(row, finding.columns, at: time)
      }
    }
    try refuseOtherDays()
  }

  mutating func observeDay(_ row: Row, _ columns: GenericColumns, at time: TrialTime) {
    guard columns.days >= 0 else { return }
    let mayBeOfZone = time.statesOffset || columns[.offset] >= 0 || finding.hasTimesOfUTC
    days.observe(row[columns.days], at: time.seconds, mayBeOfZone: mayBeOfZone)
    if columns.dayClock >= 0, !mayBeOfZone { days.observe(clock: row[columns.dayClock], at: time.seconds) }
  }

  /// Refuses an input in which a date has another day than the time of its row, unless a person named the
  /// columns.
  ///
  /// - Throws: `Failure` of category `badInput`.
  func refuseOtherDays() throws {
    guard days.differ || days.clocksDiffer, options.columns.isEmpty else { return }
    let (date, clock) = (finding.columns.days, finding.columns.dayClock)
    let hint = ImportHint(options: options)
    let names = [finding.namesOfSeparateTimes, finding.namesInCommands].filter { !$0.isEmpty }
    let commands = hint.lines(names.map { names in { $0.columns = names } })
    let times = finding.quoted([finding.columns[.time]])
    if clock >= 0 {
      throw Failure(
        .badInput,
        "the times in \(times) are others than those in \(finding.quoted([date, clock])), and may be those at which "
          + "the rows were entered. Import it with one of these, not with several:" + commands)
    }
    throw Failure(
      .badInput,
      "the dates in the column \(finding.quoted([date])) are other days than those of the times in "
        + "\(times); write the date and the time of day into one column"
        + (names.isEmpty ? "" : ". If the days of the times are right, import them with:" + commands))
  }
}

extension GenericFinding {
  /// The only column of times of day that states those of the full times in all rows of the head; nil without
  /// one.
  var indexOfDayClock: Int? {
    guard columns.days >= 0 else { return nil }
    let clocks = header.names.indices.filter {
      !columns.hasRole($0) && header.words[$0].isTime && header.content($0) == .clock
    }
    guard clocks.count == 1 else { return nil }
    let parts = GenericColumns(date: columns.days, clock: clocks[0])
    return verdict(on: columns[.time], besides: parts) == .same ? clocks[0] : nil
  }

  /// The names of the separate columns of dates and times of day, and of the values, for `--map`. Empty
  /// without such columns, or if one has no usable name.
  fileprivate var namesOfSeparateTimes: [String: String] {
    guard columns.dayClock >= 0 else { return [:] }
    var parts = self
    parts.columns[.time] = -1
    (parts.columns[.date], parts.columns[.clock]) = (columns.days, columns.dayClock)
    return parts.namesInCommands
  }
}
