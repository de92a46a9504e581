// SPDX-License-Identifier: Apache-2.0

extension GlucometerDumpFormat {
  static let page = FormatPage(
    origin: [
      "glucometer --driver DRIVER dump > FILE, and import the file"
    ],
    variants: [
      "five quoted cells without a header",
      "mg/dL and mmol/L: no row names the unit, so all values settle it, or --unit",
    ],
    languages: "English only; the dump has fixed words",
    reads: [
      "finger sticks, before or after meals, sensor readings, scans",
      "ketones: values that are too low for glucose",
      "comments as notes",
    ],
    leaves: [
      "changes of the clock, which are counted",
      "in mmol/L, if the meter measures ketones: low values without a meal, which are rejected",
      "the model and the serial number, which no row names; --device states the model",
    ])
}
