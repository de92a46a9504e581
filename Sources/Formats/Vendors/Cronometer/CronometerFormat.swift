// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Biometrics of Cronometer. Each row states its measurement and its unit. Cronometer's food tables are not
/// read: their glucose is sugar in food.
struct CronometerFormat: ExportFormat {
  static let id = "cronometer"
  static let title = "Cronometer biometrics CSV"
  static let summary = "finger sticks and blood ketones"

  private enum Column { static let day = 0, time = 1, metric = 3, unit = 4, amount = 5 }
  private static let names = ["day", "time", "group", "metric", "unit", "amount"]

  private var header: SingleHeader
  private var kinds = OtherKinds()
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Void>>? {
    head.firstRow(where: { $0 == names })?.recognition
  }

  init(_ found: Recognition<HeaderRow<Void>>, head: InputHead, options: ExportOptions) {
    header = SingleHeader(found.header.cells, of: "Cronometer")
    model = options.device ?? "Cronometer"
  }

  var decisions: [Decision] { [.unitOfEachRow, .yearFirst] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: Column.day) { return verdict }
    let metric = row[Column.metric].trimmed
    let isGlucose = metric.equalsFolded("Blood Glucose")
    guard isGlucose || metric.equalsFolded("Ketones (Blood)") else {
      out.skip(kinds.name(metric))
      return .data
    }
    if row[Column.time].trimmed.isEmpty {
      out.skip("value without a time")
      return .data
    }
    guard let time = Field.yearFirstTime(row[Column.day].trimmed, row[Column.time].trimmed) else {
      out.reject(row, "invalid day or time; expected YYYY-MM-DD and h:mm AM")
      return .data
    }
    guard let unit = Self.unit(row[Column.unit].trimmed), isGlucose || unit == .millimolesPerLitre else {
      out.reject(row, "the unit is neither mg/dL nor mmol/L, or not one of ketones")
      return .data
    }
    let cell = row[Column.amount].trimmed
    if cell.isEmpty {
      out.skip("value without an amount")
      return .data
    }
    let value = isGlucose ? GlucoseReader(unit: unit).read(cell) : GlucoseReader.ketone(cell, mark: .point)
    let device = out.device(Device(vendor: "Cronometer", model: model, format: Self.id))
    out.add(isGlucose ? .smbg : .ketone, value, device: device, at: time, row: row)
    return .data
  }

  private static func unit(_ cell: Field) -> GlucoseUnit? {
    if cell.equalsFolded("mg/dL") { return .milligramsPerDecilitre }
    return cell.equalsFolded("mmol/L") ? .millimolesPerLitre : nil
  }
}

extension CronometerFormat {
  static let page = FormatPage(
    origin: [
      "in Cronometer on the web: Account > Export Data > Export Biometrics"
    ],
    variants: [
      "mg/dL and mmol/L, as each row says"
    ],
    languages: "English only; the columns and the metrics have fixed names",
    reads: [
      "blood glucose as finger sticks, blood ketones"
    ],
    notRead: [
      "other metrics and values without a time, which are counted",
      "the tables of food: their glucose is sugar in food, and they are refused",
    ])
}
