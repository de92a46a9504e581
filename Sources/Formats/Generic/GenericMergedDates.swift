// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Fills in the date of rows without one in a table with a date only in the first row of each day.
///
/// A spreadsheet saves merged cells in this way. The times of day within a date run in one direction, so that a forgotten
/// date is noticed.
struct GenericMergedDates {
  private enum Date {
    case own
    case ofRowAbove([UInt8])
    case refused(String)
  }

  private var date: [UInt8] = []
  private var lastClock: Int?
  private var descends: Bool?

  /// Nil if each row of the head with a time of day has its own date, or none has one.
  init?(_ finding: GenericFinding) {
    let (date, clock) = (finding.columns[.date], finding.columns[.clock])
    guard date >= 0, clock >= 0 else { return nil }
    let dates = finding.header.rows.filter { row in
      row.indices.contains(date) && row.indices.contains(clock) && !row[clock].isEmpty
    }.map { !$0[date].isEmpty }
    guard dates.first == true, dates.contains(false) else { return nil }
  }

  /// Forgets the date, for the rows below a header or an empty row.
  mutating func forget() { (date, lastClock) = ([], nil) }

  /// Reads the time of a row with its own date or that of a row above.
  mutating func read(
    _ dateCell: Field, _ clock: Field, by read: (Field, Field) -> GenericTimeReader.Outcome
  ) -> GenericTimeReader.Outcome {
    switch resolve(dateCell.trimmed, clock.trimmed) {
    case .own: read(dateCell, clock)
    case .refused(let reason): .rejected(reason)
    case .ofRowAbove(let bytes): String(decoding: bytes, as: UTF8.self).withField { read($0, clock) }
    }
  }

  private mutating func resolve(_ cell: Field, _ clock: Field) -> Date {
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
    if let lastClock, seconds != lastClock {
      let falls = seconds < lastClock
      if let descends, descends != falls {
        forget()
        return .refused("no date, and the time of day does not continue those of the rows above")
      }
      descends = falls
    }
    lastClock = seconds
    return .ofRowAbove(date)
  }

  private static func seconds(_ clock: Field) -> Int? {
    (clock.timeOfDay ?? clock.digitsOfDay).map { $0.hour * 3600 + $0.minute * 60 + $0.second }
  }
}
