// SPDX-License-Identifier: Apache-2.0

extension ClarityFormat {
  static let page = FormatPage(
    origin: [
      "sign in at clarity.dexcom.com, in Europe at clarity.dexcom.eu",
      "open any report and choose the export icon > CSV",
    ],
    variants: [
      "with commas or semicolons, quoted or not",
      "12 columns without transmitter, as other programs save it",
      "saved again by a spreadsheet or program, with columns left out, added or renamed",
    ],
    languages: "every language; events by their words in English, German, Spanish, French, Italian, Dutch, "
      + "Portuguese, Swedish, Danish and Norwegian; Low and High by their words or the values around them",
    reads: [
      "sensor readings with the transmitter's counter, calibrations",
      "Low and High, in every language, as below and above the range",
      "insulin, carbohydrates, exercise, health events, notes",
    ],
    leaves: [
      "alert settings, names of persons and devices",
      "the rate of change",
    ])
}
