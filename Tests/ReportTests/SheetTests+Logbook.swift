// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests the sheet of the logbook.
extension SheetTests {
  @Test func everyFingerStickIsInTheReportLogbook() throws {
    var report = SampleReport.of(.meter)
    report.readings += (0..<12).map { Reading.finger(101 + $0, at: SampleReport.start + Int64($0) * 60) }
    let page = try page(report)
    let reading = page.sheets(.log, .a4).flatMap(\.boxes).map(\.drawing.reading).joined()
    let values = page.contents.days.flatMap(\.sticks).map { page.glucose.level($0.level) }
    #expect(values.count > 40)
    for value in values {
      #expect(reading.firstMatch(of: try Regex("[> ▲▼]\(value)[< ]")) != nil, "\(value)")
    }
    let cells = reading.matches(of: /[> ][▲▼]*\d+(?=[< ])/).count
    #expect(cells >= values.count)
  }

  @Test(
    arguments: [
      (.fasting, 13, .beforeBreakfast, true), (.bedtime, 2, .bedtime, true),
      (.beforeMeal, 12, .beforeLunch, true), (.afterMeal, 12, .afterLunch, true),
      (.afterMeal, 23, .afterDinner, true),
      ([], 4, .night, false), ([], 5, .beforeBreakfast, false), ([], 11, .beforeLunch, false),
      ([], 16, .beforeDinner, false), ([], 22, .bedtime, false), (.beforeMeal, 3, .night, true),
    ] as [(ReadingMarks, Int, StickLog.LogColumn, Bool)])
  func aMealMarkOrElseTheTimeOfDayDeterminesTheLogbookColumn(
    _ marks: ReadingMarks, _ hour: Int, _ column: StickLog.LogColumn, _ isMarked: Bool
  ) {
    let found = StickLog.column(marks, hour: hour)
    #expect(found.0 == column && found.isMarked == isMarked)
  }

  @Test func manyConsecutiveEmptyDaysAreOneLogbookRow() throws {
    func rows(_ empty: Int64) throws -> Int {
      let readings = [0, empty + 1].map { Reading.finger(100, at: SampleReport.start + $0 * 86400 + 30000) }
      let report = SampleReport(readings: readings, days: empty + 2)
      return StickLog(report.contents.days) { $0.sticks.isEmpty }.rows.count
    }
    #expect(try rows(3) == 5 && rows(4) == 3)
    let report = SampleReport(readings: [Reading.finger(100, at: SampleReport.start)], days: 6)
    #expect(words(try page(report), .log).contains("no readings from 2026-03-03 to 2026-03-07"))
  }

  @Test func aPairOfFingerSticksIsBeforeAndAfterOneMeal() {
    func dots(_ sticks: [(Int, Int64, ReadingMarks)]) -> [DayCurve.Dot] {
      var day = SampleDay.empty
      day.readings = sticks.map { Reading.finger($0.0, at: SampleDay.midnight + $0.1 * 3600, marks: $0.2) }
      return day.contents.day?.sticks ?? []
    }
    #expect(MealPair.all(dots([(100, 8, .beforeMeal), (150, 10, .afterMeal)])) == [50])
    #expect(MealPair.all(dots([(100, 8, .fasting), (90, 10, .afterMeal), (200, 11, .afterMeal)])) == [-10])
    // The readings of the first pair are too far apart. In the second pair, the first reading has no mark.
    #expect(MealPair.all(dots([(100, 8, .beforeMeal), (150, 13, .afterMeal)])) == [])
    #expect(MealPair.all(dots([(100, 8, []), (150, 9, .afterMeal)])) == [])
    #expect(MealPair.median([30, 10, 20, 40]) == 25 && MealPair.median([]) == 0)
  }
}
