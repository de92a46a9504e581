// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The columns of times.
extension GenericFinding {
  /// Finds the column of times, or those of dates and times of day; else says what is wrong.
  mutating func findTime() -> GenericProblem? {
    let all = header.names.indices
    let named = all.filter { header.words[$0].isTime }
    if header.rows.allSatisfy({ row in row.allSatisfy(\.isEmpty) }) { return findTimeByName(named) }
    let contents = all.map(header.content)
    let timed = all.filter { contents[$0] == .time || (contents[$0] == .epoch && header.words[$0].isTime) }
    let dates = all.filter { contents[$0] == .date }
    let clocks = all.filter { contents[$0] == .clock }
    // A database notes when it made a row, which may be days after the measurement.
    let measured = timed.filter { !header.words[$0].isDatabaseStamp }
    let hasParts = dates.count == 1 && clocks.count == 1
    let whole = measured.isEmpty && dates.isEmpty ? timed : measured
    if whole.count == 1, whole.count == timed.count || header.words[whole[0]].isTime {
      columns[.time] = whole[0]
      return nil
    }
    if !whole.isEmpty, !hasParts || whole.count > 1 {
      return GenericProblem(
        "several columns hold times: \(quoted(whole))", choices: whole.map { GenericColumns(time: $0) })
    }
    if hasParts {
      columns[.date] = dates[0]
      columns[.clock] = clocks[0]
      return nil
    }
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    if let date = dates.first, clocks.isEmpty {
      return GenericProblem(
        "the column \(quoted([date])) holds dates without a time of day, but a reading needs one; "
          + "also export the time")
    }
    if dates.count > 0 {
      return GenericProblem(
        "dates and times of day are in several columns: \(quoted(dates + clocks))",
        choices: dates.flatMap { date in clocks.map { GenericColumns(date: date, clock: $0) } })
    }
    if let serial = all.first(where: { contents[$0] == .serial && header.words[$0].isTime }) {
      return GenericProblem(
        "the column \(quoted([serial])) holds day numbers of a spreadsheet",
        choices: [GenericColumns(time: serial)])
    }
    return GenericProblem(
      named.isEmpty
        ? "no column holds times" : "the times in \(quoted(named)) have a form that glucoport does not know")
  }

  var mealProblem: GenericProblem {
    GenericProblem(
      "this is a table of meals by day: it has no times, but a reading needs one; export the readings as a list"
    )
  }

  /// A header without rows: the names alone say that it is an export, of nothing so far.
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

  /// Whether the names of the columns of times say that these are of UTC.
  var hasTimesOfUTC: Bool {
    [GenericRole.time, .date, .clock].contains { columns[$0] >= 0 && header.words[columns[$0]].isTimeOfUTC }
  }

  /// Refuses names of time zones beside the times, which are not read, unless a person gives the zone of the times.
  func zoneNameProblem() -> GenericProblem? {
    guard columns[.offset] < 0, !hasTimesOfUTC else { return nil }
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    guard times.isEmpty || !times.allSatisfy(Self.statesOffset) else { return nil }
    for place in header.names.indices where !columns.isUsed(place) && header.words[place].role == .offset {
      guard let name = header.cells(place).first(where: Self.isZoneName) else { continue }
      return GenericProblem(
        "the column \(quoted([place])) names time zones, such as \(name.prefix(40)), which are not read; "
          + "give the zone of the times with --timezone")
    }
    return nil
  }

  /// `America/New_York`, or an abbreviation such as `EST`.
  private static func isZoneName(_ cell: String) -> Bool {
    zoneAbbreviations.contains(cell) || zoneAreas.contains { cell.hasPrefix($0) }
  }

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

  private static func statesOffset(_ cell: String) -> Bool {
    cell.withField { $0.trimmed.epochMilliseconds != nil || $0.trimmed.yearFirstTime?.utcOffset != nil }
  }

  /// Uses or drops the column of offsets, or says why neither is possible.
  ///
  /// Texts such as `+02:00` have one meaning. A number may be in hours, minutes or seconds, and programs count it to the
  /// east or to the west.
  mutating func settleOffsets() -> GenericProblem? {
    let column = columns[.offset]
    guard column >= 0, columns[.time] >= 0 || columns[.date] >= 0 else { return nil }
    let cells = header.cells(column)
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    if cells.isEmpty { return nil }
    let texts = cells.count { cell in cell.withField { $0.trimmed.utcOffset != nil } }
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
