// SPDX-License-Identifier: Apache-2.0

extension D1NAMOFormat {
  static let page = FormatPage(
    origin: [
      "the data set D1NAMO: the file glucose.csv of one person"
    ],
    variants: [
      "healthy people (types BB, BL, BD or none) and people with diabetes (types cgm, finger, manual)",
      "no column names the unit, so all values settle it, or --unit",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "finger sticks, those before a meal with their mark",
      "sensor readings",
      "comments as notes",
    ],
    leaves: [
      "the files of insulin, food and other sensors",
      "values of other types, which are counted",
    ])
}
