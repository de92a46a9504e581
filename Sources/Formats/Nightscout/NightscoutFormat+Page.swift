// SPDX-License-Identifier: Apache-2.0

extension NightscoutFormat {
  static let page = FormatPage(
    origin: [
      "curl 'https://SITE/api/v1/entries.json?count=100000' | glucoport import -",
      "curl 'https://SITE/api/v1/treatments.json?count=100000' | glucoport import -",
      "or make the site the remote of the store: see glucoport-nightscout(7)",
    ],
    variants: [
      "answers of API versions 1 and 3: JSON, NDJSON, CSV, TSV",
      "mongoexport of the collections entries and treatments",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings and finger sticks of entries",
      "treatments: finger sticks, insulin, temporary basal rates, carbohydrates, notes, exercise",
    ],
    leaves: [
      "calibration lines, profiles, device status",
      "error codes of a sensor, which are counted",
      "deleted documents, which are counted",
    ])
}
