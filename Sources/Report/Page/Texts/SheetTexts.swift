// SPDX-License-Identifier: Apache-2.0

/// The texts that only the sheets of a report have, in one language. Arguments are as in `PageTexts`.
package struct SheetTexts: Sendable {
  /// The label of the person's name at the top of the first sheet.
  package let name: String
  /// The word before a date of birth.
  package let born: String
  /// States how many days have readings. The arguments are this number and the number of all days.
  package let daysOf: String
  /// The name of a day in an anonymised report. The argument is the number of the day in the period.
  package let dayNumber: String
  /// States that the clock changed. The argument is the list of days.
  package let clockChanged: String
  /// States amounts per day. The argument is one amount, or a list of amounts.
  package let perDay: String
  /// Follows an amount per day that only some days have. The arguments are their number and the number of all
  /// days.
  package let onDays: String
  /// Follows the insulin per day if all of it is bolus insulin.
  package let noBasal: String
  /// The name of the period of the same length before this one. The argument is its number of days.
  package let earlierDays: String
  /// The title of the box with the main figures of the sensor.
  package let summary: String
  /// The short name of the glucose management indicator.
  package let indicator: String
  /// The short name of the coefficient of variation.
  package let variation: String
  /// The label of the number of low episodes.
  package let lowEpisodes: String
  /// Follows the number of low episodes. The arguments are their mean duration in minutes, and the number
  /// that began at night.
  package let lowEpisodesNote: String
  /// The title of the box with the figures of finger sticks.
  package let stickFigures: String
  /// The short explanation of the profile.
  package let profileNote: String
  /// The profile in a sentence. The arguments are the lowest median and its time, the highest median and its
  /// time, and the unit.
  package let profileSentence: String
  /// States that a box shows only the last days. The argument is their number.
  package let lastDays: String
  /// Explains the number next to a date in the small pictures of days.
  package let thumbnailNote: String
  /// Explains the dots in the small pictures of days.
  package let stickDots: String
  /// The description of the small pictures of days. The arguments are the number of days and the first day.
  package let daysSentence: String
  /// The short statement that the report is not a medical device.
  package let notice: String
  /// The text of a box without figures. The argument is the reason.
  package let tooFewData: String
  /// The short explanation of the picture of finger sticks.
  package let dotsNote: String
  /// The description of the picture of finger sticks. The arguments are their number, the lowest, the
  /// highest, and the unit.
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
  /// The change of glucose by meals. The arguments are the number of pairs of readings, the median
  /// difference, and the unit.
  package let pairs: String
  /// The number of a page. The arguments are this number and the number of all pages.
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
  /// Shown if the period has more days than the logbook can show. The argument is the maximum number.
  package let logLimit: String
  /// Explains the signs in the logbook. The arguments are the limit of very low values, and the hours at
  /// which columns begin.
  package let logLegend: String
  /// The row for several days without readings. The arguments are the first and the last of these days.
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
  /// Explains the area of the basal rate at the foot of a day. The argument is the highest rate.
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
  /// Names the people for whom the targets `older` are meant: older people and others at high risk.
  package let olderTargets: String
  /// Names the people for whom the targets `pregnancy` are meant.
  package let pregnancyTargets: String
  /// The abbreviations of the twelve months.
  package let months: [String]
}
