// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The entries of Diabetes:M. A row is one moment of the diary with everything entered for it, and states its
/// time zone. Each number is 0 if nothing was entered.
struct DiabetesMFormat: ExportFormat {
  static let id = "diabetes-m"
  static let title = "Diabetes:M CSV"
  static let summary = "glucose, ketones, insulin, food, exercise, notes"

  enum Column: Int, CaseIterable {
    case time, glucose, isMilligrams, isSensor, zone, ketones, carbs, proteins, fats, calories
    case carbBolus, correctionBolus, extendedBolus, basal, basalIsRate, notes, exercise
    case weight, pressure, pulse, hba1c, cholesterol, medications

    fileprivate var name: String {
      switch self {
      case .time: "datetimeformatted"
      case .isMilligrams: "us_units"
      case .isSensor: "is_sensor"
      case .zone: "timezone"
      case .carbBolus: "carb_bolus"
      case .correctionBolus: "correction_bolus"
      case .extendedBolus: "extended_bolus"
      case .basalIsRate: "basal_is_rate"
      case .exercise: "exercise_comment"
      case .weight: "weight_entry"
      case .pressure: "pressure_sys"
      case .cholesterol: "cholesterol_total"
      default: "\(self)"
      }
    }
  }

  typealias Columns = KnownColumns<Column>

  private static let byName = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0.name, $0) })
  /// Columns that are known and not read: settings of the calculator, places of injections, and values from a
  /// laboratory.
  private static let unread: Set<String> = [
    "extended_bolus_duration", "bolus_insulin_type", "basal_insulin_type", "weight", "category",
    "category_name", "carb_ratio_factor", "insulin_sensitivity_factor", "pressure_dia",
    "injection_bolus_site", "injection_basal_site", "finger_test_site", "google_fit_source",
    "exercise_index", "exercise_duration", "food", "cholesterol_ldl", "cholesterol_hdl", "triglycerides",
    "microalbumin_test_type", "microalbumin", "creatinine_clearance", "egfr", "cystatin_c", "albumin",
    "creatinine", "calcium", "total_protein", "sodium", "potassium", "bicarbonate", "chloride", "alp", "alt",
    "ast", "bilirubin", "bun",
  ]
  /// Columns of values for which glucoport has no kind. Filled cells are counted under these names.
  private static let skipped: [(Column, String)] = [
    (.weight, "body weight"), (.pressure, "blood pressure"), (.pulse, "pulse"), (.hba1c, "HbA1c"),
    (.cholesterol, "cholesterol"), (.medications, "medication"),
  ]

  private var columns: Columns
  private var hasHeader = false
  private var zones = RowZones()
  private let milligrams = GlucoseReader(unit: .milligramsPerDecilitre)
  private let millimoles = GlucoseReader(unit: .millimolesPerLitre)

  private static func columns(_ cells: [String]) -> Columns? {
    let columns = Columns(cells, unread: unread) { byName[$0] }
    return columns.has(.time, .glucose, .isMilligrams, .isSensor, .zone) ? columns : nil
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Columns>>? {
    head.firstRow(columns)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Columns>>, head: InputHead, options: ExportOptions) {
    columns = found.header.meaning
  }

  var decisions: [Decision] { [.unitOfEachRow, .yearFirst] }

  var warnings: [String] { columns.warnings + zones.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let cell = row[columns[.time]]
    if !hasHeader || cell.equalsFolded("datetimeformatted") {
      guard let columns = Self.columns(row.fields.map(\.text)) else {
        return .unknown("before the header, or not a row of Diabetes:M")
      }
      (self.columns, hasHeader) = (columns, true)
      return .header
    }
    if row.count < 3 { return .unknown("not a row of Diabetes:M") }
    guard let shown = cell.yearFirstTime else {
      out.reject(row, "invalid time; expected YYYY-MM-DD hh:mm:ss")
      return .data
    }
    let time = zones.addingOffset(to: shown, in: row[columns[.zone]].trimmed)
    var hasItem = readValues(row, at: time, into: &out)
    hasItem = readInsulin(row, at: time, into: &out) || hasItem
    hasItem = readDiary(row, at: time, into: &out) || hasItem
    for (column, name) in Self.skipped where isFilled(row[columns[column]]) {
      out.skip(name)
      hasItem = true
    }
    if !hasItem { out.skip("entry without content") }
    return .data
  }
}

extension DiabetesMFormat {
  /// Whether a cell has a value: 0 means none.
  private func isFilled(_ cell: Field) -> Bool { !cell.trimmed.isEmpty && cell.number() != 0 }

  /// Adds the glucose and the ketone of a row. All values except a sensor's are manual, since the app does
  /// not state which values came from a meter.
  ///
  /// - Returns: whether the row has one of these values.
  private func readValues(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    var hasItem = false
    let device = out.device(Device(vendor: "Diabetes:M", model: "Diabetes:M", format: Self.id))
    let glucose = row[columns[.glucose]]
    if isFilled(glucose) {
      hasItem = true
      let isSensor = row[columns[.isSensor]].equalsFolded("true")
      if let reader = reader(row[columns[.isMilligrams]]) {
        out.add(
          isSensor ? .cbg : .smbg, reader.read(glucose), device: device, at: time,
          marks: isSensor ? [] : .manual, row: row)
      } else {
        out.reject(row, "us_units is neither true nor false, so that the unit is not known")
      }
    }
    let ketones = row[columns[.ketones]]
    if isFilled(ketones) {
      hasItem = true
      out.add(
        .ketone, GlucoseReader.ketone(ketones, mark: .point), device: device, at: time, marks: .manual,
        row: row)
    }
    return hasItem
  }

  private func reader(_ cell: Field) -> GlucoseReader? {
    if cell.equalsFolded("true") { return milligrams }
    return cell.equalsFolded("false") ? millimoles : nil
  }

  /// Adds up to two insulin records: the bolus and the basal insulin. The bolus sums the doses for the meal
  /// and the correction, and states the extended dose separately.
  ///
  /// - Returns: whether the row was added or rejected.
  private func readInsulin(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let isRate = row[columns[.basalIsRate]].equalsFolded("true")
    let wanted = [
      AmountColumn(columns[.carbBolus], "carbs", PlausibleAmounts.units),
      AmountColumn(columns[.correctionBolus], "correction", -500...PlausibleAmounts.units.upperBound),
      AmountColumn(columns[.extendedBolus], "extended", PlausibleAmounts.units),
      AmountColumn(
        columns[.basal], "basal", isRate ? PlausibleAmounts.unitsPerHour : PlausibleAmounts.units),
    ]
    guard var fields = out.amounts(row, wanted) else { return true }
    let basal = fields.removeValue(forKey: "basal")
    let parts = ["carbs", "correction"].compactMap { fields.removeValue(forKey: $0) }
    let units = parts.reduce(0.0) { sum, part in
      if case .number(let number) = part { sum + number } else { sum }
    }
    guard units <= PlausibleAmounts.units.upperBound else {
      out.reject(
        row, "the doses together are more than \(plainNumber(PlausibleAmounts.units.upperBound)) units")
      return true
    }
    // A correction for a low value is negative and reduces the dose for the meal. So the sum may be 0 or
    // less, and is then not stored.
    if units > 0 { fields["units"] = .number((units * 1000).rounded() / 1000) }
    if !fields.isEmpty {
      fields["subtype"] = .text("rapid")
      out.add(.insulin, at: time, owner: "", line: row.line, fields)
    }
    if let basal {
      out.add(
        .insulin, at: time, owner: "", line: row.line,
        ["subtype": .text(isRate ? "basal" : "long"), isRate ? "rate" : "units": basal])
    }
    return !fields.isEmpty || basal != nil
  }

  private func readDiary(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let wanted = [
      AmountColumn(columns[.carbs], "carbs", PlausibleAmounts.grams),
      AmountColumn(columns[.proteins], "protein", PlausibleAmounts.grams),
      AmountColumn(columns[.fats], "fat", PlausibleAmounts.grams),
      AmountColumn(columns[.calories], "energy", PlausibleAmounts.kilocalories),
    ]
    guard let food = out.amounts(row, wanted) else { return true }
    if !food.isEmpty { out.add(.food, at: time, owner: "", line: row.line, food) }
    var hasItem = !food.isEmpty
    for (column, kind) in [(Column.exercise, RecordKind.exercise), (.notes, .note)] {
      let text = row[columns[column]].trimmed
      if text.isEmpty { continue }
      out.add(kind, at: time, owner: "", line: row.line, ["text": .text(text.text)])
      hasItem = true
    }
    return hasItem
  }
}

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
    notRead: [
      "body weight, blood pressure, pulse, HbA1c, cholesterol and medication, which are counted",
      "names of foods, durations, places of injections, factors of the calculator, values of a laboratory",
      "0, which is not a value",
    ])
}
