// SPDX-License-Identifier: Apache-2.0

extension FollowerTablesFormat {
  static let page = FormatPage(
    origin: [
      "in an iOS app that follows a Nightscout site: the data, exported as CSV"
    ],
    variants: [
      "one file with both tables or one of them, below the lines '# CGM ENTRIES' and '# TREATMENTS'",
      "mg/dL or mmol/L in the name of the glucose column",
      "dates as the phone writes them; day or month first is settled by all dates, or by --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings (sgv) and finger sticks (mbg)",
      "insulin, carbohydrates and notes of treatments",
    ],
    leaves: [
      "the trend",
      "treatments without insulin, carbohydrates or a note, which are counted",
    ])
}
