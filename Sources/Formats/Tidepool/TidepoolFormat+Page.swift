// SPDX-License-Identifier: Apache-2.0

extension TidepoolFormat {
  static let page = FormatPage(
    origin: [
      "sign in at app.tidepool.org",
      "Account Settings > Export My Data, and choose Excel or JSON",
    ],
    variants: [
      "JSON, NDJSON, CSV",
      "XLSX, with a sheet for each kind",
      "tables that programs made of it, with nested members as text",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, finger sticks, ketones",
      "boluses, basal rates, carbohydrates, food",
      "exercise, reported states, notes",
    ],
    leaves: [
      "settings of pumps, uploads, device events",
      "the insulin and glucose that a bolus calculator was given",
      "location",
    ])
}
