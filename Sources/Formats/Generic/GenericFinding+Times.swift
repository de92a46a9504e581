// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the columns of times.
extension GenericFinding {
  /// Finds the column of times, or the columns of dates and of times of day. Returns a problem if it cannot
  /// determine them.
  mutating func findTime() -> GenericProblem? {
    let all = header.names.indices
    let named = all.filter { header.words[$0].isTime }
    if header.rows.allSatisfy({ row in row.allSatisfy(\.isEmpty) }) { return findTimeByName(named) }
    let contents = all.map(header.content)
    let timed = all.filter { contents[$0] == .time || (contents[$0] == .epoch && header.words[$0].isTime) }
    let dates = best(of: all.filter { contents[$0] == .date })
    let clocks = best(of: all.filter { contents[$0] == .clock })
    // A database notes when a row was created, which may be days after the measurement. So these times are
    // used only if there are no other times or dates.
    let measured = timed.filter { !header.words[$0].isDatabaseStamp }
    let found = best(of: measured.isEmpty && dates.isEmpty ? timed : measured)
    if measured.isEmpty, dates.isEmpty, !timed.isEmpty { return stampProblem(timed) }
    let parts = dates.count == 1 || !found.isEmpty ? timeParts(dates, clocks) : nil
    let whole = withoutStamps(found, besides: parts)
    if let problem = stampedProblem(whole, besides: parts, clocks: dates.isEmpty ? clocks : []) {
      return problem
    }
    if whole.count == 1, whole.count == timed.count || header.words[whole[0]].isTime {
      columns[.time] = whole[0]
      return otherTimeProblem(whole, GenericColumns(time: whole[0]))
    }
    if !whole.isEmpty, parts == nil || whole.count > 1 {
      let doubt = whole.count > 1 ? "" : ", and one may be that of the values"
      return GenericProblem(
        "several columns hold times\(doubt): \(quoted(whole))",
        choices: shownTimesOfGlucose(whole).map { GenericColumns(time: $0) })
    }
    if let parts {
      (columns[.date], columns[.clock]) = (parts[.date], parts[.clock])
      return otherTimeProblem([parts[.date], parts[.clock]], parts)
    }
    return problemWithoutTimes(dates, clocks, named)
  }

  /// The problem of columns that state no full times, neither in one column nor in two.
  private func problemWithoutTimes(_ dates: [Int], _ clocks: [Int], _ named: [Int]) -> GenericProblem {
    let all = header.names.indices
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    if let date = dates.first, clocks.isEmpty {
      let possible = all.filter { header.content($0) == .number && mayHoldTimesOfDay($0) }
      guard possible.isEmpty else {
        return GenericProblem(
          "the column \(quoted([date])) holds dates without a time of day, and no other column is named for times; "
            + "\(quoted(possible)) may hold times of day",
          choices: dates.flatMap { date in possible.map { GenericColumns(date: date, clock: $0) } })
      }
      return GenericProblem(
        "the column \(quoted([date])) holds dates without a time of day, but a reading needs one; "
          + "also export the time")
    }
    if dates.count > 0 {
      return GenericProblem(
        "dates and times of day are in several columns: \(quoted(dates + clocks))",
        choices: dates.flatMap { date in clocks.map { GenericColumns(date: date, clock: $0) } })
    }
    if let serial = all.first(where: { header.content($0) == .serial && header.words[$0].isTime }) {
      return GenericProblem(
        "the column \(quoted([serial])) holds day numbers of a spreadsheet",
        choices: [GenericColumns(time: serial)])
    }
    if let counts = named.first(where: holdsCountsSince2001) {
      return GenericProblem(
        "the numbers in \(quoted([counts])) are seconds since 2001, as Apple's programs count; write them as dates "
          + "with times of day, or add 978307200, for seconds since 1970")
    }
    return GenericProblem(
      named.isEmpty
        ? "no column holds times" : "the times in \(quoted(named)) have a form that glucoport does not know")
  }

  /// The given columns, except those whose names clearly mean another time, such as `Birth date`. If none
  /// would remain, all of them.
  private func best(of places: [Int]) -> [Int] {
    let own = places.filter { !header.timeName($0).isOfOther }
    return own.isEmpty ? places : own
  }

  /// The columns of times that belong to the values by their names. For example, `GlucoseDisplayTime` belongs
  /// to `GlucoseValue`, and `MeterDisplayTime` does not. If some are displayed times, internal times are left
  /// out. If the names show nothing, all columns are returned.
  private func shownTimesOfGlucose(_ places: [Int]) -> [Int] {
    let subjects = header.names.indices.filter { header.words[$0].isGlucose && holdsValues($0) }.map(
      firstWord)
    let own = places.filter { subjects.contains(firstWord($0)) }
    let times = own.isEmpty ? places : own
    let shown = times.filter { header.words[$0].words.contains("display") }
    let others = times.filter { !shown.contains($0) && !header.words[$0].words.contains("internal") }
    return shown.isEmpty ? times : shown + others
  }

  func firstWord(_ place: Int) -> Substring? {
    NameParts.parted(header.names[place].prefix { $0.isLetter || $0.isNumber }).first
  }

  /// The problem of columns whose names have words besides those for a time of measurement.
  private func otherTimeProblem(_ places: [Int], _ columns: GenericColumns) -> GenericProblem? {
    guard let place = places.first(where: { !header.timeName($0).isOfMeasurement }) else { return nil }
    let words = header.timeName(place).unknown.prefix(3).map(shownName).joined(separator: ", ")
    return GenericProblem(
      "the times in the column \(quoted([place])) may be those of something else than the measurement, because its name "
        + "says more: \(words)", choices: [columns], isOfStamps: true)
  }

  /// Whether all cells of a column are times of day such as `7.05`, although its name does not say so. A name
  /// for glucose, or with a unit of it, means values.
  private func mayHoldTimesOfDay(_ place: Int) -> Bool {
    let words = header.words[place]
    return !words.mentionsGlucose && words.unit == nil
      && header.cells(place).allSatisfy { $0.withField { $0.trimmed.timeOfDay != nil } }
  }

  private func holdsCountsSince2001(_ place: Int) -> Bool {
    let numbers = header.cells(place).compactMap { $0.withField { $0.trimmed.number(.point) } }
    return numbers.count * 2 > header.cells(place).count
      && numbers.allSatisfy(GenericTimeReader.secondsSince2001.contains)
  }

  /// The problem of times at which a database made or changed its rows. An app stores hours of a sensor's
  /// values at once, so these times may be hours after the measurement.
  private func stampProblem(_ places: [Int]) -> GenericProblem {
    let subject = places.count == 1 ? "the only times are" : "all times are"
    return GenericProblem(
      "\(subject) those at which a program stored its rows, which may be hours after the measurement: "
        + quoted(places), choices: places.map { GenericColumns(time: $0) }, isOfStamps: true)
  }

  var mealProblem: GenericProblem {
    GenericProblem(
      "this is a table of meals by day: it has no times, but a reading needs one; export the readings as a list"
    )
  }

  /// Finds the columns of times by name only, for a header without rows: an export that is still empty.
  /// Returns a problem if the names do not determine the columns.
  private mutating func findTimeByName(_ named: [Int]) -> GenericProblem? {
    if named.count == 1 {
      columns[.time] = named[0]
      return nil
    }
    if named.count == 2 {
      columns[.date] = named[0]
      columns[.clock] = named[1]
      return nil
    }
    return GenericProblem(
      named.isEmpty
        ? "no column is named for times" : "several columns are named for times: \(quoted(named))")
  }

  /// Whether the names of the columns of times state UTC.
  var hasTimesOfUTC: Bool {
    timesAreMappedAsUTC
      || [GenericRole.time, .date, .clock].contains {
        columns[$0] >= 0 && header.words[columns[$0]].isTimeOfUTC
      }
  }

  /// The problem of time zones or offsets that the input states next to the times, since they are not read. A
  /// person solves it by giving the zone of the times. Nil without such a problem.
  func zoneNameProblem() -> GenericProblem? {
    guard columns[.offset] < 0, !hasTimesOfUTC else { return nil }
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    guard times.isEmpty || !times.allSatisfy(Self.statesOffset) else { return nil }
    if let problem = statedZoneProblem { return problem }
    for place in [GenericRole.time, .date, .clock].map({ columns[$0] })
    where place >= 0 && Self.namesZone(header.names[place]) {
      return GenericProblem(
        "the name of the column \(quoted([place])) states a time zone, which is not read; "
          + "give the zone of the times with --timezone")
    }
    for place in header.names.indices where !columns.isUsed(place) && holdsUnreadOffsets(place) {
      return GenericProblem(
        "the column \(quoted([place])) seems to hold offsets of the times, which are not read; "
          + "give the zone of the times with --timezone, or name the column with --map offset=COLUMN")
    }
    // Places such as `Berlin` are not refused: the column may state where the person lives.
    if let place = indexOfZones, let name = header.cells(place).first,
      ZonePlace.zone(of: name) == nil || Self.isNameOfZones(header.words[place])
    {
      return GenericProblem(
        "the column \(quoted([place])) names time zones, such as \(name.prefix(40)), which are not read; "
          + "give the zone of the times with --timezone")
    }
    return nil
  }

  /// The column in which rows name the time zones of their times; nil without one, or if the times state
  /// their offsets.
  var indexOfZones: Int? {
    guard columns[.offset] < 0, !hasTimesOfUTC else { return nil }
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    guard times.isEmpty || !times.allSatisfy(Self.statesOffset) else { return nil }
    return header.names.indices.first { !columns.isUsed($0) && mayHoldZones($0) }
  }

  /// Whether a cell is the name of a time zone, such as `America/New_York`, or an abbreviation such as `EST`.
  static func isZoneName(_ cell: String) -> Bool {
    zoneAbbreviations.contains(cell) || zoneAreas.contains { cell.hasPrefix($0) }
  }

  /// Whether the name of a column of times states a zone other than UTC: `time (EST)`, `time_utc+2`.
  private static func namesZone(_ name: String) -> Bool {
    if zoneAreas.contains(where: name.contains) { return true }
    let words = name.split { !$0.isLetter && !$0.isNumber && $0 != "+" && $0 != "-" }.map(String.init)
    return words.contains { word in
      let area = word.prefix { $0.isLetter }
      guard ["utc", "gmt"].contains(area.lowercased()) else {
        return zoneAbbreviations.contains(word) || ["ET", "CT", "MT"].contains(word)
      }
      return word.count > area.count
    }
  }

  /// Whether the cells of a column are numbers, and its name states that they are offsets.
  func holdsUnreadOffsets(_ place: Int) -> Bool {
    let (cells, words) = (header.cells(place), header.words[place])
    guard !cells.isEmpty else { return false }
    let isNamed =
      !words.words.isDisjoint(with: Self.offsetWords) && !words.mentionsGlucose
      && !words.words.contains { $0.hasPrefix("calib") || $0.hasPrefix("kalib") }
    let numbers = cells.compactMap { cell in cell.withField { $0.trimmed.number() } }
    return isNamed && numbers.count == cells.count && numbers.contains { $0 != 0 }
      && numbers.allSatisfy { number in
        let size = abs(number)
        return size <= 14
          || [(15.0, 840.0), (900.0, 50_400.0)].contains {
            size <= $0.1 && size.remainder(dividingBy: $0.0) == 0
          }
      }
  }

  private static let offsetWords: Set<String> = [
    "offset", "utcoffset", "tz", "tzoffset", "timezone", "zeitzone", "zeitverschiebung", "décalage",
    "decalage", "gmt", "utc", "fuseau", "huso", "fuso",
  ]

  private static let zoneAreas = [
    "Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/",
    "Pacific/",
    "Etc/", "US/", "Canada/",
  ]

  private static let zoneAbbreviations: Set<String> = [
    "UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "WET", "WEST", "CET", "CEST", "EET",
    "EEST", "BST",
    "IST", "MSK", "JST", "AEST", "AEDT", "NZST", "NZDT",
  ]

  static func statesOffset(_ cell: String) -> Bool {
    cell.withField { $0.trimmed.epochMilliseconds != nil || $0.trimmed.yearFirstTime?.utcOffset != nil }
  }

  /// Uses or ignores the column of offsets, or returns why neither is possible.
  ///
  /// Texts such as `+02:00` have one meaning. A number may be in hours, minutes or seconds, and programs
  /// count it to the east or to the west.
  mutating func decideOffsets() -> GenericProblem? {
    let column = columns[.offset]
    guard column >= 0, columns[.time] >= 0 || columns[.date] >= 0 else { return nil }
    let cells = header.cells(column)
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    if cells.isEmpty { return nil }
    let texts = cells.count { $0.withField { ($0.trimmed.utcOffset ?? $0.trimmed.namedOffset) != nil } }
    if texts * 2 > cells.count { return nil }
    if !times.isEmpty, times.allSatisfy(Self.statesOffset) {
      columns[.offset] = -1
      return nil
    }
    return GenericProblem(
      "the column \(quoted([column])) holds offsets of the times as numbers, which programs count to the east or to "
        + "the west; give the zone of the times with --timezone and the columns with --map, "
        + "or add offset=\(header.names[column]) to it, if they count to the east",
      choices: [columns.without(.offset)])
  }
}
