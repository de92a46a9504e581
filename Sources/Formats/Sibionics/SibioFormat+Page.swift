// SPDX-License-Identifier: Apache-2.0

extension SibioFormat {
  static let page = FormatPage(
    origin: [
      "in the app of the Sibio ketone sensor (KetoCheck): the sensor's data, exported as CSV or XLSX"
    ],
    variants: [
      "CSV, and a workbook whose sheet is named like the sensor",
      "a table with most values of 3 mmol/L or more, which may be glucose, is refused until a person says what it is",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "ketones in mmol/L, which are never glucose"
    ],
    leaves: [
      "the number of each row"
    ])
}
