// SPDX-License-Identifier: Apache-2.0

extension DiabetesMFormat {
  static let page = FormatPage(
    origin: [
      "from Diabetes:M: the entries, exported as CSV"
    ],
    variants: [
      "mg/dL and mmol/L, by the unit that each row states",
      "columns in any order; DateTimeFormatted, glucose, us_units, is_sensor and timezone are needed",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "glucose: sensor readings, and all others as typed finger sticks; ketones",
      "doses for meals and corrections as one dose, the extended part, basal insulin",
      "carbohydrates, protein, fat, energy, exercise, notes, each in the time zone of its row",
    ],
    leaves: [
      "body weight, blood pressure, pulse, HbA1c, cholesterol and medication, which are counted",
      "names of foods, durations, places of injections, factors of the calculator, values of a laboratory",
      "0, which is no value",
    ])
}
