// SPDX-License-Identifier: Apache-2.0

extension XDripFormat {
  static let page = FormatPage(
    origin: [
      "in xDrip+: menu > Import / Export features > Export database",
      "import the ZIP archive, or the file with the end .sqlite in it",
    ],
    variants: [
      "the SQLite database alone or in its archive",
      "its rows as JSON, as --rejects writes them",
    ],
    languages: "English only; the tables have fixed names",
    reads: [
      "sensor readings (BgReadings) above 13 mg/dL, with the offset of the logbook's zone",
      "blood tests (BloodTest)",
      "insulin, carbohydrates, notes (Treatments)",
    ],
    leaves: [
      "calibrations, which are counted: most are a blood test, too",
      "raw values, predictions and settings",
      "start and stop of a sensor, which are counted",
    ])
}
