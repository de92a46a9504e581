// SPDX-License-Identifier: Apache-2.0

extension JugglucoNGFormat {
  static let page = FormatPage(
    origin: [
      "in JugglucoNG: the readings, exported as CSV"
    ],
    variants: [
      "columns up to SensorSerial, or with the kind of each row and the journal",
      "mg/dL and mmol/L, by the unit of each row",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings with their instant and the serial number of the sensor"
    ],
    leaves: [
      "entries of the journal, which are counted by kind",
      "raw and calibrated values in columns of their own",
    ])
}
