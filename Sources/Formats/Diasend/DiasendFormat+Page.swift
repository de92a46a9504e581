// SPDX-License-Identifier: Apache-2.0

extension DiasendFormat {
  static let page = FormatPage(
    origin: [
      "the service is closed: the files that it exported until then",
      "open the .xls file in a spreadsheet program, and save it as XLSX or each sheet as CSV",
    ],
    variants: [
      "the sheet of glucose, mg/dL or mmol/L, with the lines above its table",
      "the sheet of insulin and carbohydrates",
      "a sheet of too few rows to show whether a sensor took them is refused until --kind says it",
      "day or month first: the period above the table or the dates settle it, else --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "glucose: sensor readings where values follow each other every few minutes, else finger "
        + "sticks; --kind says otherwise",
      "boluses with their extended part, basal rates, carbohydrates, notes",
    ],
    leaves: [
      "settings of the pump",
      "what the pump itself writes as a note, which is counted",
      "the name and the id of the person",
    ])
}
