// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finger sticks as a logbook has them: one row a day, in columns by the mark of each or by the time of day.
struct StickLog {
  /// A column of the table.
  enum Column: Int, CaseIterable {
    case night, beforeBreakfast, afterBreakfast, beforeLunch, afterLunch, beforeDinner, afterDinner, bedtime
  }

  /// One value in a cell.
  struct Entry {
    let level: GlucoseLevel
    /// Whether a mark and not the time of day decided about its column.
    let isMarked: Bool
  }

  /// A day, or a run of days without anything.
  enum Row {
    case day(DayCurve, [[Entry]])
    case empty(first: Int, last: Int)
  }

  /// The hours in which the columns begin: breakfast, lunch, dinner, bedtime.
  static let hours = [5, 11, 16, 22]
  /// A run of more empty days than this is one row.
  private static let maxEmptyDays = 3

  let rows: [Row]
  let readings: Int

  /// - Parameter isEmpty: whether nothing of a day is shown.
  init(_ days: [DayCurve], isEmpty: (DayCurve) -> Bool) {
    var (rows, run): ([Row], [DayCurve]) = ([], [])
    func end() {
      if let first = run.first, let last = run.last, run.count > Self.maxEmptyDays {
        rows.append(.empty(first: first.day, last: last.day))
      } else {
        rows += run.map { .day($0, Self.cells($0)) }
      }
      run = []
    }
    for day in days {
      if isEmpty(day) {
        run.append(day)
      } else {
        end()
        rows.append(.day(day, Self.cells(day)))
      }
    }
    end()
    self.rows = rows
    readings = days.reduce(0) { $0 + $1.sticks.count }
  }

  private static func cells(_ day: DayCurve) -> [[Entry]] {
    var cells = [[Entry]](repeating: [], count: Column.allCases.count)
    for stick in day.sticks {
      let (column, isMarked) = column(stick.marks, hour: secondsOfDay(stick.deviceTime) / 3600)
      cells[column.rawValue].append(Entry(level: stick.level, isMarked: isMarked))
    }
    return cells
  }

  /// The column of a reading: by its mark, and which meal by the time of day.
  static func column(_ marks: ReadingMarks, hour: Int) -> (Column, isMarked: Bool) {
    if marks.contains(.bedtime) { return (.bedtime, true) }
    if marks.contains(.fasting) { return (.beforeBreakfast, true) }
    let isAfter = marks.contains(.afterMeal)
    let isMarked = isAfter || marks.contains(.beforeMeal)
    switch hour {
    case ..<hours[0]: return (.night, isMarked)
    case ..<hours[1]: return (isAfter ? .afterBreakfast : .beforeBreakfast, isMarked)
    case ..<hours[2]: return (isAfter ? .afterLunch : .beforeLunch, isMarked)
    case ..<hours[3]: return (isAfter ? .afterDinner : .beforeDinner, isMarked)
    // What is marked with a meal in the late evening belongs to dinner.
    default: return (isAfter ? .afterDinner : isMarked ? .beforeDinner : .bedtime, isMarked)
    }
  }
}
