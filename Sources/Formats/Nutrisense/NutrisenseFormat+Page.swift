// SPDX-License-Identifier: Apache-2.0

extension NutrisenseFormat {
  static let page = FormatPage(
    origin: [
      "in the Nutrisense app: all data, exported as CSV"
    ],
    variants: [
      "no column names the unit, so all values settle it, or --unit"
    ],
    languages: "English only; the columns and the classes have fixed names",
    reads: [
      "sensor readings and finger sticks",
      "meals in words, exercise with its length",
    ],
    leaves: [
      "the name of the person and links to photos",
      "notes, whose rows have no time, which are counted",
      "steps, distances, blood pressure and other classes, which are counted",
    ])
}
