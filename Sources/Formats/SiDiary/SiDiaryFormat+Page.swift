// SPDX-License-Identifier: Apache-2.0

extension SiDiaryFormat {
  static let page = FormatPage(
    origin: [
      "in xDrip+: menu > Import / Export features > Export CSV (SiDiary format), and import the ZIP "
        + "archive as it is",
      "in SiDiary: export as CSV",
    ],
    variants: [
      "of xDrip+, of Spike, and with the general columns of SiDiary"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor values, finger sticks, ketones",
      "insulin, carbohydrates, remarks",
    ],
    leaves: [
      "blood pressure, weight",
      "start and stop of a sensor, which are counted",
    ])
}
