// SPDX-License-Identifier: Apache-2.0

extension CronometerFormat {
  static let page = FormatPage(
    origin: [
      "in Cronometer on the web: Account > Export Data > Export Biometrics"
    ],
    variants: [
      "mg/dL and mmol/L, as each row says"
    ],
    languages: "English only; the columns and the metrics have fixed names",
    reads: [
      "blood glucose as finger sticks, blood ketones"
    ],
    leaves: [
      "other metrics and values without a time, which are counted",
      "the tables of food: their glucose is sugar in food, and they are refused",
    ])
}
