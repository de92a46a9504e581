// SPDX-License-Identifier: Apache-2.0

extension SheetTexts {
  /// English.
  static let english = SheetTexts(
    name: "Name", born: "Born", daysOf: "{1} of {2} days with readings", of: "{1} of {2}",
    dayNumber: "Day {1}",
    perDay: "Per day: {1}", summary: "Summary", indicator: "GMI", variation: "Variation (CV)",
    stickFigures: "Figures of the readings taken",
    profileNote: "median, middle half, and 5 to 95 % of the readings by the time of day",
    profileSentence:
      "24-hour profile: the median is lowest with {1} {5} at {2}, and highest with {3} {5} at {4}.",
    lastDays: "the last {1} days",
    thumbnailNote: "percent of the time in the target range",
    daysSentence: "Curves of {1} days, from {2} on.",
    notice:
      "Not a medical device, not a diagnosis. Do not base treatment on this report: it shows what devices and programs reported, which may be wrong, late or incomplete.",
    dotsNote: "lines: medians of three hours, boxes: the middle half",
    dotsSentence: "{1} finger sticks over the hours of the day, from {2} to {3} {4}.",
    meals: "Finger sticks by meals", mark: "Mark", fasting: "Fasting", beforeMeal: "Before a meal",
    afterMeal: "After a meal", bedtime: "At bedtime", unmarked: "Without a mark",
    pairs: "From before to after a meal: {2} {3} (median of {1} pairs)", pageOf: "Page {1} of {2}",
    log: "Logbook of finger sticks", night: "Night", breakfast: "Breakfast", lunch: "Lunch", dinner: "Dinner",
    before: "before", after: "after",
    logLegend:
      "▲ above the target range · ▼ below · ▼▼ below {1} · in italics: without a mark, in its column by the time of day (from {2} h on)",
    emptyDays: "no readings from {1} to {2}", insulinDays: "Days with insulin and carbohydrates",
    belowTarget: "below, %", meanOfDays: "Mean of days",
    stripNote:
      "Line: sensor. Dots: finger sticks. Bars: rapid insulin in units; basal and long insulin with a cross line; carbohydrates in grams below.",
    bedtimeShort: "Bedtime", rapidShort: "Rapid", longShort: "Long", carbohydratesShort: "Carbs",
    sticksShort: "Sticks")
}
