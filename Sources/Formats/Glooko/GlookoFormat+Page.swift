// SPDX-License-Identifier: Apache-2.0

extension GlookoFormat {
  static let page = FormatPage(
    origin: [
      "sign in at my.glooko.com, in Europe at eu.my.glooko.com",
      "Export to CSV, above the summary; import the ZIP archive as it is",
    ],
    variants: [
      "the ZIP archive, or single files of it",
      "exports of clinics, which have no line with the name",
      "mg/dL and mmol/L, decimal point and comma",
    ],
    languages: "English, German, Swedish, Dutch, French",
    reads: [
      "sensor and meter readings",
      "boluses, basal rates, insulin by hand",
      "carbohydrates, food, exercise, notes",
    ],
    leaves: [
      "daily totals, alarms, medication",
      "the glucose that was typed into a bolus calculator",
      "a serial number: the column may have the name of a product",
    ])
}
