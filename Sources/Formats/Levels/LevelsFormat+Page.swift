// SPDX-License-Identifier: Apache-2.0

extension LevelsFormat {
  static let page = FormatPage(
    origin: [
      "in the Levels app: the glucose data, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the glucose column"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings and scans, each with the offset of its local time"
    ],
    leaves: [
      "the name of the person",
      "readings of other types, which are counted",
    ])
}
