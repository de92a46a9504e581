// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests tables whose times may be those of a clock of twelve hours without AM and PM.
@Suite struct GenericHalfDayTests {
  /// The rows of a day in the order of their true times. A row has the hour as a twelve-hour clock shows it,
  /// and the word next to it.
  private static let meals = [(8, "breakfast"), (12, "lunch"), (7, "dinner"), (10, "bedtime")]

  private static func rows(
    _ day: [(Int, String)], days: Int = 10, hasWords: Bool = false, isNewestFirst: Bool = false
  ) -> [String] {
    let rows = (0..<days).flatMap { number in
      day.enumerated().map { place, meal in
        let minute = (number * 7 + place * 13) % 50 + 5
        let clock = "\(meal.0 < 10 ? "0" : "")\(meal.0):\(minute < 10 ? "0" : "")\(minute)"
        return
          "2026-05-\(10 + number) \(clock),\(90 + (number * 31 + place * 17) % 90),\(hasWords ? meal.1 : "")\n"
      }
    }
    return isNewestFirst ? rows.reversed() : rows
  }

  private static func table(_ rows: [String]) -> String { "time,glucose (mg/dL),note\n" + rows.joined() }

  @Test(arguments: [false, true]) func diaryTimesWithoutAMOrPMThatRunBackwardsAreRefused(
    _ isNewestFirst: Bool
  ) throws {
    for day in [Self.meals, [(8, ""), (1, ""), (7, "")], [(9, ""), (1, "")]]
    where day.count > 2 || !isNewestFirst {
      let file = try ScratchFile(Self.table(Self.rows(day, isNewestFirst: isNewestFirst)))
      let message = try #require(try file.refusal())
      #expect(message.contains("run backwards within a day"), "\(message)")
      #expect(message.contains("AM and PM") && message.contains("--force"))
      #expect(try file.readings { $0.force = true }.readings.count == 10 * day.count)
    }
  }

  @Test func eveningWordsNextToMorningTimesAreRefusedAs12HourTimes() throws {
    // These rows are not in the order of their times, so only the words show which times are in the evening.
    let mixed = Self.rows(Self.meals, hasWords: true).sorted { $0.suffix(9) < $1.suffix(9) }
    let message = try #require(try ScratchFile(Self.table(mixed)).refusal())
    #expect(message.contains("20 of the morning beside words for the evening"), "\(message)")
    for word in ["Abendessen", "avant le dîner", "Cena", "after supper"] {
      let file = try ScratchFile(Self.table(Self.rows([(8, ""), (9, word)], hasWords: true)))
      #expect(try file.refusal()?.contains("words for the evening") == true, "\(word)")
    }
  }

  @Test func timesInTheOrderOfTheirMealWordsAreRead() throws {
    let morning = [(7, "fasting"), (9, "after breakfast"), (12, "lunch")]
    let whole = [(8, "breakfast"), (12, "lunch"), (19, "dinner"), (22, "bedtime")]
    for day in [morning, whole] {
      for isNewestFirst in [false, true] {
        let text = Self.table(Self.rows(day, hasWords: true, isNewestFirst: isNewestFirst))
        let export = try TextExport(text)
        #expect(export.readings.count == 10 * day.count)
        #expect(export.warnings.contains { $0.contains("1:00 to 12:59") } == (day.count == 3))
      }
    }
    // One time in the afternoon shows a clock of 24 hours.
    let late = Self.rows(Self.meals) + ["2026-05-20 13:10,101,\n"]
    #expect(try TextExport(Self.table(late)).readings.count == 41)
    // In a diary with the newest day first, the times within each day still ascend, so the diary is read.
    let rows = Self.rows(morning)
    let days = (0..<10).reversed().flatMap { (day: Int) -> [String] in Array(rows[day * 3..<day * 3 + 3]) }
    #expect(try TextExport(Self.table(days)).readings.count == 30)
  }

  @Test func timesOfAFewDaysAreNotTakenForA12HourClock() throws {
    let export = try TextExport(Self.table(Self.rows(Self.meals, days: 6, hasWords: true)))
    #expect(export.readings.count == 24 && export.warnings.allSatisfy { !$0.contains("12:59") })
    let twoWords =
      Self.rows([(8, ""), (9, "")]).prefix(18) + [
        "2026-05-19 09:10,100,dinner\n", "2026-05-19 09:20,100,dinner\n",
      ]
    #expect(try TextExport(Self.table(Array(twoWords))).readings.count == 20)
  }

  @Test func timesInUnorderedRowsAreNotTakenForA12HourClock() throws {
    let rows = Self.rows(Self.meals)
    let shuffled = (0..<40).map { rows[$0 * 17 % 40] }
    #expect(try TextExport(Self.table(shuffled)).readings.count == 40)
  }
}
