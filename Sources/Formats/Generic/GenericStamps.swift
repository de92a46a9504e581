// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Compares full times with a date and a time of day in other columns of the same rows.
///
/// A form stores when it was sent, and asks for the date and the time of the measurement. Such a stamp is
/// later than the measurement by varying amounts, and never earlier. Its column may have any name.
struct GenericStamps {
  enum Verdict {
    /// The columns state the same times.
    case same
    /// The full times are stamps.
    case later
    /// Only a person knows which times are those of the measurements.
    case unclear
  }

  /// A full time and another time of its row, in civil seconds.
  private struct TimePair {
    let whole: Int64
    let other: Int64
    /// Whether the full time states an offset, so that its distance may be that of two zones.
    let isPlaced: Bool
    /// Whether the full time is in UTC, so that only its distance from other rows has a meaning.
    let isUTC: Bool

    var gap: Int64 { whole - other }
  }

  private static let minute: Int64 = 60
  private static let quarter: Int64 = 900
  private static let hour: Int64 = 3600
  private static let day: Int64 = 86_400
  private static let maxZoneGap = 14 * hour
  private static let zone = LogbookZone(base: .utc, periods: [])

  private let rows: [[String]]
  private let isUTC: Bool
  private let time: Int

  /// - Parameter time: the column of full times.
  init(_ header: GenericHeader, time: Int) {
    rows = header.rows
    isUTC = header.words[time].isTimeOfUTC
    self.time = time
  }

  /// What a column of dates and one of times of day mean for the full times. Nil if no row has both times, or
  /// if only the days differ. Nil also if the other times repeat, as those of the start of a sensor do.
  ///
  /// - Parameter isNamed: whether the column of times of day is named for those of measurements. Otherwise
  ///   it may hold the times of meals or durations, which state nothing about the full times.
  func verdict(date: Int, clock: Int, isNamed: Bool) -> Verdict? {
    let pairs = bestPairs { reader, row in
      cell(date, of: row).withField { date in
        cell(clock, of: row).withField { Self.seconds(reader.read(date: date, clock: $0)) }
      }
    }
    let gaps = pairs.map(\.gap)
    guard let least = gaps.min(), let most = gaps.max() else { return nil }
    if max(abs(least), abs(most)) < Self.minute { return .same }
    if pairs.contains(where: \.isPlaced), Self.areOfZones(gaps) { return .same }
    if Set(pairs.map(\.other)).count * 2 <= pairs.count { return nil }
    let clockGaps = gaps.map(Self.withinHalfDay)
    if clockGaps.allSatisfy({ abs($0) < Self.minute }) { return nil }
    guard isNamed else { return nil }
    let isCovered = pairs.count >= rows.count { !cell(time, of: $0).isEmpty }
    let areRounded = pairs.allSatisfy { $0.other % Self.quarter == 0 } && most < Self.hour
    guard !areRounded, isCovered, !pairs.contains(where: \.isUTC) else { return .unclear }
    return least > -Self.minute && most - max(least, 0) >= Self.minute && Self.areSeveral(gaps)
      ? .later : .unclear
  }

  /// Whether the times of day in a column follow the full times, and differ from them by varying amounts. A
  /// column of durations, or of the hour of going to bed, does not follow them.
  func differ(fromClock clock: Int) -> Bool {
    let date = "2000-01-02"
    let pairs = bestPairs { reader, row in
      date.withField { date in
        cell(clock, of: row).withField { Self.seconds(reader.read(date: date, clock: $0)) }
      }
    }
    let gaps = pairs.map { Self.withinHalfDay($0.gap) }
    guard pairs.count * 2 >= rows.count, Self.areSeveral(gaps), !Self.areOfZones(gaps) else { return false }
    return Self.deviation(gaps) * 2 < Self.deviation(pairs.map(\.other))
  }

  /// The pairs of the rows, with the dates read in the order in which the pairs are closest.
  private func bestPairs(_ other: (GenericTimeReader, [String]) -> Int64?) -> [TimePair] {
    let all = DateOrder.allCases.map { order in
      var reader = GenericTimeReader(takesSerials: false, isUTC: false, zone: Self.zone)
      reader.order = order
      return rows.compactMap { pair(in: $0, by: reader, other) }
    }
    let count = all.map(\.count).max()
    let distance = { (pairs: [TimePair]) in pairs.reduce(0) { $0 + abs($1.gap) } }
    return all.filter { $0.count == count }.min { distance($0) < distance($1) } ?? []
  }

  private func pair(
    in row: [String], by reader: GenericTimeReader, _ other: (GenericTimeReader, [String]) -> Int64?
  ) -> TimePair? {
    guard let other = other(reader, row) else { return nil }
    var reader = reader
    switch cell(time, of: row).withField({ reader.read($0) }) {
    case .shown(let shown):
      let isUTC = isUTC || shown.utcOffset == 0
      return TimePair(
        whole: shown.deviceTime.seconds, other: other, isPlaced: isUTC || shown.utcOffset != nil, isUTC: isUTC
      )
    case .instant(let shown, _):
      return TimePair(whole: shown.deviceTime.seconds, other: other, isPlaced: true, isUTC: true)
    case .rejected: return nil
    }
  }

  private func cell(_ place: Int, of row: [String]) -> String {
    row.indices.contains(place) ? row[place] : ""
  }

  private static func seconds(_ time: GenericTimeReader.ReadTime) -> Int64? {
    if case .shown(let shown) = time { shown.deviceTime.seconds } else { nil }
  }

  /// Whether two rows or more differ by other amounts.
  private static func areSeveral(_ gaps: [Int64]) -> Bool {
    Set(gaps.filter { abs($0) >= minute }.map { DeviceTime.startOfMinute($0) }).count > 1
  }

  /// Whether the distances are those of two time zones. They may differ by the hour of summer time.
  private static func areOfZones(_ gaps: [Int64]) -> Bool {
    guard let least = gaps.min(), let most = gaps.max(), most - least < hour + minute else { return false }
    return gaps.allSatisfy { gap in
      let rest = ((gap % quarter) + quarter) % quarter
      return abs(gap) <= maxZoneGap && (rest < minute || rest > quarter - minute)
    }
  }

  /// The distance of two times of day, from -12 to 12 hours.
  private static func withinHalfDay(_ gap: Int64) -> Int64 {
    let rest = ((gap % day) + day) % day
    return rest < day / 2 ? rest : rest - day
  }

  /// The median of the distances from the median. A few rows that were entered on the next day do not change
  /// it much.
  private static func deviation(_ numbers: [Int64]) -> Int64 {
    guard !numbers.isEmpty else { return 0 }
    let median = numbers.sorted()[numbers.count / 2]
    return numbers.map { abs($0 - median) }.sorted()[numbers.count / 2]
  }
}

/// Finds the columns of full times that are stamps.
extension GenericFinding {
  /// The columns of full times that may be those of the measurements. If the date and the time of day of the
  /// measurements have their own columns, stamps are left out.
  func withoutStamps(_ times: [Int], besides parts: GenericColumns?) -> [Int] {
    guard let parts else { return times }
    let verdicts = times.map { verdict(on: $0, besides: parts) }
    guard verdicts.contains(.later) else { return times }
    return zip(times, verdicts).filter { $0.1 == .same }.map(\.0)
  }

  /// The problem of full times that contradict the date or the time of day of their rows. Nil if they do not,
  /// or if a stamp was recognised.
  func stampedProblem(_ times: [Int], besides parts: GenericColumns?, clocks: [Int]) -> GenericProblem? {
    if let parts {
      guard times.contains(where: { verdict(on: $0, besides: parts) == .unclear }) else { return nil }
      return GenericProblem(
        "the times in \(quoted(times)) are others than those in \(quoted([parts[.date], parts[.clock]])), and may "
          + "be those at which the rows were entered",
        choices: [parts] + times.map { GenericColumns(time: $0) })
    }
    let clock = clocks.first { clock in
      !times.isEmpty && header.words[clock].isTime && header.timeName(clock).isOfMeasurement
        && times.allSatisfy { GenericStamps(header, time: $0).differ(fromClock: clock) }
    }
    guard let clock else { return nil }
    return GenericProblem(
      "the times in \(quoted(times)) may be those at which the rows were entered, since \(quoted([clock])) has other "
        + "times of day. If those are of the measurements, add a column with their dates",
      choices: times.map { GenericColumns(time: $0) }, isOfStamps: true)
  }

  /// The column of dates and the one of times of day that state one time together. One column of several
  /// dates belongs to the times of day if both names begin with the same word, as in `bg_date` and `bg_time`.
  func timeParts(_ dates: [Int], _ clocks: [Int]) -> GenericColumns? {
    guard clocks.count == 1 else { return nil }
    let own = dates.count > 1 ? dates.filter { firstWord($0) == firstWord(clocks[0]) } : dates
    return own.count == 1 ? GenericColumns(date: own[0], clock: clocks[0]) : nil
  }

  func verdict(on time: Int, besides parts: GenericColumns) -> GenericStamps.Verdict? {
    let (date, clock) = (parts[.date], parts[.clock])
    let name = header.timeName(clock)
    guard header.timeName(date).isOfMeasurement, !name.isOfOther else { return nil }
    let isNamed = header.words[clock].isTime && name.isOfMeasurement
    return GenericStamps(header, time: time).verdict(date: date, clock: clock, isNamed: isNamed)
  }
}
