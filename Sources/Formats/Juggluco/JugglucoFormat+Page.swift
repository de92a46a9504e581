// SPDX-License-Identifier: Apache-2.0

extension JugglucoFormat {
  static let page = FormatPage(
    origin: [
      "in Juggluco: left middle menu > Export, and choose history, stream, scans or amounts",
      "or from its web server, with Local only off: curl 'http://PHONE:17580/x/stream?header' | glucoport"
        + " import -",
    ],
    variants: [
      "tables of history, stream and scans, calibrated or not",
      "tables of amounts",
      "mg/dL or mmol/L in the name of the column; a table with both is read in mg/dL",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings with their instant and the serial number of the sensor, of calibrated tables "
        + "the calibrated value",
      "amounts as notes, since their labels are your own words",
    ],
    leaves: [
      "values before the calibration, the rate of change, the age of the sensor",
      "tables without a header",
    ])
}
