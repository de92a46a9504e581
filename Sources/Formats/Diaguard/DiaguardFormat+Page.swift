// SPDX-License-Identifier: Apache-2.0

extension DiaguardFormat {
  static let page = FormatPage(
    origin: [
      "in the Diaguard app: Settings > Backup > Create backup"
    ],
    variants: [
      "the backup, whose glucose is always in mg/dL; the export of the app is another file and is not read"
    ],
    languages: "every language of the app; the backup has fixed words",
    reads: [
      "finger sticks, doses of rapid and long-acting insulin",
      "carbohydrates, food with its weight in words, minutes of activity, notes",
    ],
    leaves: [
      "tags, the list of food, weight, pressure, pulse, HbA1c and oxygen saturation, which are counted"
    ])
}
