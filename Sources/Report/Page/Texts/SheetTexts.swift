// SPDX-License-Identifier: Apache-2.0

/// The texts that only the sheets of a report have, in one language.
package struct SheetTexts: Sendable {
  /// The label of the person's name at the top of the first sheet.
  package let name: String
  /// The word before a date of birth.
  package let born: String
  /// The number of days with readings, and the number of all days.
  package let daysOf: String
  /// The name of a day in an anonymised report: its number in the period.
  package let dayNumber: String
  /// The days on which the clock changed.
  package let clockChanged: String
  /// The beginning of a list of amounts per day.
  package let perDay: String
  /// Follows an amount per day that only some days have: their number, and the number of all days.
  package let onDays: String
  /// Follows the insulin per day if all of it is bolus insulin.
  package let noBasal: String
  /// The name of the period of the same length before this one: its number of days.
  package let earlierDays: String
  /// The title of the box with the main figures of the sensor.
  package let summary: String
  /// The short name of the glucose management indicator.
  package let indicator: String
  /// The short name of the coefficient of variation.
  package let variation: String
  /// The label of the number of low episodes.
  package let lowEpisodes: String
  /// The mean duration of low episodes in minutes, and the number that began at night.
  package let lowEpisodesNote: String
  /// The title of the box with the figures of finger sticks.
  package let stickFigures: String
  /// The short explanation of the profile.
  package let profileNote: String
  /// The profile in a sentence: the lowest median and its time, the highest and its time, the unit.
  package let profileSentence: String
  /// States that a box shows only the last days: their number.
  package let lastDays: String
  /// Explains the number next to a date in the small pictures of days.
  package let thumbnailNote: String
  /// Explains the dots in the small pictures of days.
  package let stickDots: String
  /// The description of the small pictures of days: the number of days, and the first one.
  package let daysSentence: String
  /// The short statement that the report is not a medical device.
  package let notice: String
  /// The text of a box without figures: the reason.
  package let tooFewData: String
  /// The short explanation of the picture of finger sticks.
  package let dotsNote: String
  /// The description of the picture of finger sticks: the number, the lowest, the highest, the unit.
  package let dotsSentence: String
  /// The title of the box with finger sticks before and after meals.
  package let meals: String
  /// The head of the column with the marks of readings.
  package let mark: String
  /// The name of the mark of a fasting reading.
  package let fasting: String
  /// The name of the mark of a reading before a meal.
  package let beforeMeal: String
  /// The name of the mark of a reading after a meal.
  package let afterMeal: String
  /// The name of the mark of a reading at bedtime.
  package let bedtime: String
  /// The name for readings without a mark.
  package let unmarked: String
  /// The change of glucose by meals: the number of pairs, the median difference, the unit.
  package let pairs: String
  /// The number of a page, and the number of all pages.
  package let pageOf: String
  /// The title of the logbook of finger sticks.
  package let log: String
  /// The head of the column of the night in the logbook.
  package let night: String
  /// The head of the two columns around breakfast.
  package let breakfast: String
  /// The head of the two columns around lunch.
  package let lunch: String
  /// The head of the two columns around dinner.
  package let dinner: String
  /// The head of the column before a meal, below the name of the meal.
  package let before: String
  /// The head of the column after a meal, below the name of the meal.
  package let after: String
  /// Shown if the period has more days than the logbook can show: the maximum number.
  package let logLimit: String
  /// Explains the signs in the logbook: the limit of very low values, and the hours at which columns begin.
  package let logLegend: String
  /// The row for several days without readings: the first and the last.
  package let emptyDays: String
  /// The title of the pages with insulin and carbohydrates by day.
  package let insulinDays: String
  /// The head of the column with the share of the time below the target range.
  package let belowTarget: String
  /// The head of the column with the lowest and the highest value.
  package let extremes: String
  /// The head of the row with the means of the period.
  package let meanOfDays: String
  /// The short head of the row with the number of days of each mean.
  package let daysShort: String
  /// Explains the lines, dots and bars in the strips of days.
  package let stripNote: String
  /// Explains the area of the basal rate at the foot of a day: the highest rate.
  package let rateNote: String
  /// The short head of the column of bedtime in the logbook.
  package let bedtimeShort: String
  /// The short name of bolus insulin.
  package let bolusShort: String
  /// The short name of basal insulin.
  package let basalShort: String
  /// The short name of carbohydrates.
  package let carbohydratesShort: String
  /// The short name of finger sticks.
  package let sticksShort: String
  /// The name of the device for readings that a person typed.
  package let typed: String
  /// The people for whom the goals for older people and others at high risk are.
  package let olderTargets: String
  /// The people for whom the goals for pregnancy are.
  package let pregnancyTargets: String
  /// The abbreviations of the twelve months.
  package let months: [String]
}
