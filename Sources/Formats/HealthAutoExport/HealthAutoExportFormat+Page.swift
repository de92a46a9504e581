// SPDX-License-Identifier: Apache-2.0

extension HealthAutoExportFormat {
  static let page = FormatPage(
    origin: [
      "in Health Auto Export: Manual Export or Automations, format JSON, 'Aggregate Data' off"
    ],
    variants: [
      "versions 1 and 2 of its JSON, several answers one after the other",
      "aggregated values are refused: they are averages of an hour or a day, and no readings",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "blood glucose of each source with its offset and meal mark, as in export.xml of Apple Health",
      "sources with the name of a sensor or an app for sensors as cbg, others as smbg, or as --kind says",
    ],
    leaves: [
      "other metrics, such as sugar in food, and workouts; metrics are counted by name"
    ])
}
