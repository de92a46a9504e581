// SPDX-License-Identifier: Apache-2.0

/// The words of the sheets of a report in one language, of which its other pages have none.
package struct SheetTexts: Sendable {
  /// Labels at the head of each sheet.
  package let name: String
  /// Said before a date of birth.
  package let born: String
  /// How many days of how many have readings.
  package let daysOf: String
  /// The name of a day without its date.
  package let dayNumber: String
  /// On which days the clock changed.
  package let clockChanged: String
  /// An amount for a day.
  package let perDay: String
  /// Said after an amount for a day that only some days have: how many, and of how many.
  package let onDays: String
  /// As many days before the period: their number.
  package let earlierDays: String
  /// The title of a box.
  package let summary: String
  /// A label, which is short.
  package let indicator: String
  /// A label, which is short.
  package let variation: String
  /// A label, which is short.
  package let lowEpisodes: String
  /// The mean minutes of these, and how many began at night.
  package let lowEpisodesNote: String
  /// The title of a box.
  package let stickFigures: String
  /// What the profile shows, in short.
  package let profileNote: String
  /// The profile in a sentence: the lowest median and its time, the highest and its time, the unit.
  package let profileSentence: String
  /// Said where a box shows only the last days.
  package let lastDays: String
  /// The meaning of the number next to a date.
  package let thumbnailNote: String
  /// The meaning of the dots in the same pictures.
  package let stickDots: String
  /// The daily curves in a sentence: how many, and the first.
  package let daysSentence: String
  /// What the report is not, in short.
  package let notice: String
  /// Why a box has no figures: the reason.
  package let tooFewData: String
  /// What the picture of finger sticks shows, in short.
  package let dotsNote: String
  /// The same in a sentence: how many, the lowest, the highest, the unit.
  package let dotsSentence: String
  /// The title of a box.
  package let meals: String
  /// The head of a column.
  package let mark: String
  /// A mark of a reading.
  package let fasting: String
  /// A mark of a reading.
  package let beforeMeal: String
  /// A mark of a reading.
  package let afterMeal: String
  /// A mark of a reading.
  package let bedtime: String
  /// Said of readings that have no mark.
  package let unmarked: String
  /// What meals changed: how many pairs, the median difference, the unit.
  package let pairs: String
  /// The number of a page, and of how many.
  package let pageOf: String
  /// The title of a page.
  package let log: String
  /// The head of a column.
  package let night: String
  /// The head of columns.
  package let breakfast: String
  /// The head of columns.
  package let lunch: String
  /// The head of columns.
  package let dinner: String
  /// The head of a column, under a meal.
  package let before: String
  /// The head of a column, under a meal.
  package let after: String
  /// Shown if the period has more days than the logbook.
  package let logLimit: String
  /// What the signs of the table mean.
  package let logLegend: String
  /// A run of days without anything: the first and the last.
  package let emptyDays: String
  /// The title of a page.
  package let insulinDays: String
  /// The head of a column.
  package let belowTarget: String
  /// The head of a column: the lowest and the highest value.
  package let extremes: String
  /// The head of a row: the mean of the period.
  package let meanOfDays: String
  /// The head of a row, which is short: how many days the mean is of.
  package let daysShort: String
  /// What the strips of days show.
  package let stripNote: String
  /// What the area at the foot of a day is, with the highest rate.
  package let rateNote: String
  /// The head of a column, which is short.
  package let bedtimeShort: String
  /// The head of a column, which is short.
  package let bolusShort: String
  /// The head of a column, which is short.
  package let basalShort: String
  /// The head of a column, which is short.
  package let carbohydratesShort: String
  /// The head of a column, which is short.
  package let sticksShort: String
  /// Shown instead of a device for readings that a person typed.
  package let typed: String
  /// For whom other goals are.
  package let olderTargets: String
  /// For whom other goals are.
  package let pregnancyTargets: String
  /// The twelve months, in short.
  package let months: [String]
}
