// SPDX-License-Identifier: Apache-2.0

extension GlimpFormat {
  static let page = FormatPage(
    origin: [
      "the file GlicemiaMisurazioni.csv.gz, which Glimp keeps in its folder of Dropbox; import it as it is"
    ],
    variants: [
      "the older layout of 13 columns, and the one of 15 with the instant",
      "UTF-16 and UTF-8, compressed or not",
      "mg/dL and mmol/L: no column names the unit, so all values settle it, or --unit",
    ],
    languages: "every language, as the file has no header; insulin named Rapid or Basal is stored as such",
    reads: [
      "calibrated glucose: sensor history, scans, finger sticks",
      "the serial number of the sensor, in the newer layout",
      "insulin, notes",
    ],
    leaves: [
      "raw glucose, body weight, places",
      "glucose of other kinds and doses of 0 units, which are counted",
    ])
}
