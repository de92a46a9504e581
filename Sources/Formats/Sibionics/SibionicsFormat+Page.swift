// SPDX-License-Identifier: Apache-2.0

extension SibionicsFormat {
  static let page = FormatPage(
    origin: [
      "in the Sibionics app: the sensor's data, exported as a workbook; import it as it is, also if it is named .xls",
      "from a hospital: its CSV of one sensor",
    ],
    variants: [
      "mg/dL or mmol/L in the name of the last column, 12 or 24 hours",
      "the offset in each time; day or month first is settled by all dates, the language, or --date-order",
      "the CSV of a hospital, whose times are local",
    ],
    languages: "every language, by the shape of the table; the hospital's in Chinese",
    reads: [
      "sensor readings; of a hospital with the name of the sensor"
    ],
    leaves: [
      "the institution and the person in the header of a hospital",
      "a table in mmol/L with most values below 3, which is refused: it is that of a ketone sensor",
    ])
}
