// SPDX-License-Identifier: Apache-2.0

extension CareLinkFormat {
  static let page = FormatPage(
    origin: [
      "sign in to CareLink Personal",
      "Reports > Data Export (CSV), and choose the period",
    ],
    variants: [
      "2017 and later: a section for each pump and sensor, with commas or semicolons",
      "before 2017: Medtronic Diabetes CareLink Personal Data Export File",
      "mg/dL and mmol/L, decimal point and comma",
    ],
    languages: "English, and German before 2017; later files have an English header everywhere",
    reads: [
      "sensor readings, finger sticks, calibrations, each finger stick once",
      "delivered boluses, basal rates, carbohydrates of the bolus calculator, event markers",
    ],
    leaves: [
      "glucose that was typed into the bolus calculator",
      "daily totals, alarms, suspensions, settings",
    ])
}
