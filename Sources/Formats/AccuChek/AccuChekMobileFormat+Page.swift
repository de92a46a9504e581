// SPDX-License-Identifier: Apache-2.0

extension AccuChekMobileFormat {
  static let page = FormatPage(
    origin: [
      "connect the meter by USB, and copy the CSV file from the folder Reports of its disk",
      "or read the meter itself: glucoport import --meter",
    ],
    variants: [
      "10 columns, and 12 columns with fasting and bedtime",
      "mg/dL and mmol/L, by the unit of each row",
    ],
    languages: "English, German",
    reads: [
      "finger sticks with the serial number of the meter, tests of control solution marked as such",
      "before or after a meal, fasting, bedtime, temperature warning",
    ],
    leaves: [
      "the flag for values out of the target range, and the one for others",
      "before and after a meal where a row has both: the value is stored without them",
    ])
}
