// SPDX-License-Identifier: Apache-2.0

extension OpenMHealthFormat {
  static let page = FormatPage(
    origin: [
      "from an app or a study that hands out data as Open mHealth: data points, as JSON or NDJSON",
      "from another logbook: glucoport export --format openmhealth",
    ],
    variants: [
      "data points with their header, or bodies alone",
      "omh:blood-glucose 1.0 to 4.0",
      "mg/dL and mmol/L, by the unit of each data point",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "glucose in interstitial fluid as sensor readings, glucose in capillary blood as finger sticks",
      "a value without a specimen as a finger stick, unless --kind says otherwise",
      "fasting, before or after meals, before sleeping, self-reported",
    ],
    leaves: [
      "statistics, other specimens and other schemas, which are counted",
      "user_notes, which are counted",
      "ids of users, which are never stored or printed",
    ])
}
