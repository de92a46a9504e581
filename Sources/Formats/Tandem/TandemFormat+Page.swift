// SPDX-License-Identifier: Apache-2.0

extension TandemFormat {
  static let page = FormatPage(
    origin: [
      "in Tandem Source: the data export; import the ZIP archive as it is",
      "from t:connect, before Tandem Source: the file of the therapy timeline",
    ],
    variants: [
      "the therapy timeline, in which each section has a header",
      "the CSV files of Tandem Source for glucose and for boluses",
      "mg/dL and mmol/L; a timeline names no unit, so all of its values settle it, or --unit",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor and meter readings, with the serial number of the pump",
      "delivered boluses, at the time at which they were complete, carbohydrates, notes",
    ],
    leaves: [
      "the glucose that was typed into the bolus calculator",
      "insulin on board, the extended part of a bolus and boluses that were not completed, which are "
        + "counted",
      "sections and files of other things, such as basal insulin",
    ])
}
