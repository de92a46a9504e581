// SPDX-License-Identifier: Apache-2.0

extension LingoFormat {
  static let page = FormatPage(
    origin: [
      "in the Lingo app: the glucose data, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the second column"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, each with the offset of its local time"
    ],
    leaves: [
      "everything else that the app shows: the file has times and values alone"
    ])
}
