// SPDX-License-Identifier: Apache-2.0

import Logbook

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
  private struct Days {
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
  private var days: [DateOrder: Days] = [:]
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
        days[order, default: Days()].observe(time.deviceTime.seconds / 86_400)
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
    by read: (Field, Field) -> GenericTimeReader.Outcome
  ) -> GenericTimeReader.Outcome {
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
