// SPDX-License-Identifier: Apache-2.0

extension OhioT1DMFormat {
  static let page = FormatPage(
    origin: [
      "the OhioT1DM data set: the XML file of one person; give each person a separate store"
    ],
    variants: [
      "2018 and 2020; all values are in mg/dL"
    ],
    languages: "English only; the elements have fixed names",
    reads: [
      "sensor readings and finger sticks",
      "boluses, basal rates and temporary ones, carbohydrates with the name of the meal",
    ],
    leaves: [
      "carbohydrates that were typed into the bolus calculator",
      "heart rate, temperatures, steps, sleep and other sections, which are counted",
    ])
}
