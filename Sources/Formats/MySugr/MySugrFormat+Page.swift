// SPDX-License-Identifier: Apache-2.0

extension MySugrFormat {
  static let page = FormatPage(
    origin: [
      "in the mySugr app: More > Reports, and choose CSV"
    ],
    variants: [
      "25 columns; 26 to 28 with newer apps, whose time zone and place are not read",
      "carbohydrates in grams or in exchanges of a factor in the header",
    ],
    languages: "every language, as the columns have one order; names of months in English, German, French, "
      + "Dutch, Spanish, Italian, Danish, Swedish and Norwegian",
    reads: [
      "finger sticks, ketones",
      "insulin of pen and pump, basal injections, temporary basal rates, carbohydrates",
      "meals, exercise, notes, tags",
    ],
    leaves: [
      "place, blood pressure, weight, HbA1c, food type and medication, which are counted",
      "steps",
    ])
}
