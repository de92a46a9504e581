// SPDX-License-Identifier: Apache-2.0

extension GlucoseBuddyFormat {
  static let page = FormatPage(
    origin: [
      "from the Glucose Buddy app: the log, exported as MyExportedGlucoseBuddyLogs.csv"
    ],
    variants: [
      "with and without the line of names",
      "mg/dL and mmol/L, by the unit of each row",
      "day or month first is settled by all dates, or by --date-order",
    ],
    languages: "English only; the kinds and events of rows have fixed words",
    reads: [
      "glucose as typed finger sticks, before or after meals",
      "notes of these rows",
    ],
    leaves: [
      "rows of other kinds than BG, which are counted by kind",
      "other events than those before or after a meal",
    ])
}
