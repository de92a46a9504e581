// SPDX-License-Identifier: Apache-2.0

extension AccuChek360Format {
  static let page = FormatPage(
    origin: [
      "in Accu-Chek 360° or the software of Accu-Chek Smart Pix: the entries, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the glucose column",
      "decimal point and comma; dates with the day, the month or the year first, settled by all "
        + "dates or by --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "finger sticks, tests of control solution marked as such",
      "insulin 1, 2 and 3 by their number, insulin of a pump, basal rates",
      "carbohydrates, exercise, events of your own as notes",
    ],
    leaves: [
      "values of a laboratory, daily totals, HbA1c, body weight and medication, which are counted",
      "flags and events of the meter, which are counted",
      "the lines with the name of the person",
    ])
}
