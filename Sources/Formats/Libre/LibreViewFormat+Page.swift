// SPDX-License-Identifier: Apache-2.0

extension LibreViewFormat {
  static let page = FormatPage(
    origin: [
      "sign in at libreview.com",
      "Glucose History > Download glucose data",
    ],
    variants: [
      "19 columns; 21 with newer apps",
      "UTF-16 of 2018 and 2019",
      "saved again by a spreadsheet, or with decimal commas that lost their quotes, as far as that "
        + "can be read",
      "files of other apps in this form",
    ],
    languages: "every language; unusual names are reported for English, German, Spanish, French, Dutch and "
      + "Swedish",
    reads: [
      "sensor history, scans, finger sticks, ketones",
      "rapid and long-acting insulin, carbohydrates, food, exercise, notes",
      "the serial number of each device",
    ],
    leaves: [
      "the name of the person",
      "the parts of a dose that are in its sum",
      "values in columns of another type than the row's",
    ])
}
