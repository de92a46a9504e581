// SPDX-License-Identifier: Apache-2.0

extension MyLifeFormat {
  static let page = FormatPage(
    origin: [
      "in mylife Software or the mylife App, in German: the diary, exported as CSV"
    ],
    variants: [
      "eight columns from Tag to Notiz, with semicolons",
      "mg/dL and mmol/L, by the unit of each row; decimal point and comma",
    ],
    languages: "German only; the columns and the events have fixed names",
    reads: [
      "finger sticks, carbohydrates",
      "boluses, extended boluses, a combination bolus as its sum, basal rates",
      "notes of every event",
    ],
    leaves: [
      "priming, daily sums, temporary basal rates and events of the pump, which are counted by name",
      "the column of information, which repeats the glucose that was typed for a bolus",
    ])
}
