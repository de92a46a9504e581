// SPDX-License-Identifier: Apache-2.0

extension FHIRFormat {
  static let page = FormatPage(
    origin: [
      "from a hospital, a clinic or an app that hands out health data as FHIR: a Bundle, or a bulk "
        + "export as NDJSON",
      "from another logbook: glucoport export --format fhir or fhir-ndjson",
    ],
    variants: [
      "R4 and R5: Bundles, NDJSON, a list, or single resources",
      "single values, and series of samples a fixed time apart",
      "mg/dL and mmol/L, by the unit of each Observation",
    ],
    languages: "every language; LOINC codes name the values",
    reads: [
      "glucose in blood as finger sticks, glucose in interstitial fluid as sensor readings, ketones "
        + "in mmol/L",
      "fasting by its code; before or after a meal and bedtime where a note says so as glucoport writes it",
      "manufacturer, model and serial number of the Device, where the input has it",
    ],
    leaves: [
      "glucose that a laboratory measured, all other Observations and resources, which are counted",
      "Observations that were entered in error or cancelled, which are counted",
      "other notes, components and the names of persons",
    ])
}
