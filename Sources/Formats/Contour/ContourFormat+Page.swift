// SPDX-License-Identifier: Apache-2.0

extension ContourFormat {
  static let page = FormatPage(
    origin: [
      "in the Contour app on the phone: the readings, exported as CSV"
    ],
    variants: [
      "all columns of the app; if only the first ones are there, beside row numbers, glucose alone is read",
      "mg/dL or mmol/L in the name of the glucose column; decimal point and comma",
      "dates as the phone writes them; day or month first is settled by all dates, or by --date-order",
    ],
    languages: "every language, as the columns have one order; meal marks in English, Norwegian, Danish and "
      + "Polish",
    reads: [
      "finger sticks, before or after meals, fasting, of the meter or typed",
      "doses of insulin that the medication names, such as `Fast-acting Insulin (Bolus): 3 U`",
      "carbohydrates, activity, notes",
    ],
    leaves: [
      "other medication, which is counted",
      "meal marks in words of other languages, which are counted",
      "the place",
    ])
}
