// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A table of the data sets ShanghaiT1DM and ShanghaiT2DM. Its `CBG` is capillary blood glucose: a finger
/// stick in the same row as a sensor's value.
struct ShanghaiFormat: ExportFormat {
  static let id = "shanghai"
  static let title = "ShanghaiT1DM and ShanghaiT2DM tables"
  static let summary = "sensor readings, finger sticks, ketones, food in words"

  enum Column: Int, CaseIterable { case time, sensor, stick, ketone, food }

  private static let names: [String: Column] = [
    "date": .time, "cgm (mg / dl)": .sensor, "cbg (mg / dl)": .stick, "blood ketone (mmol / l)": .ketone,
    "dietary intake": .food,
  ]
  /// Columns that are known and not read: food in Chinese, which another column has in English, and medicines
  /// in words.
  private static let unread: Set<String> = [
    "饮食", "insulin dose - s.c.", "insulin dose - i.v.", "non-insulin hypoglycemic agents",
    "csii - bolus insulin (novolin r, iu)", "csii - basal insulin (novolin r, iu / h)",
  ]
  /// The texts in a cell of food that mean no note.
  private static let noFood: Set<String> = ["data not available", "-"]

  private let columns: KnownColumns<Column>
  private var header: SingleHeader
  private var dates: AmbiguousDates
  private let model: String

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<KnownColumns<Column>>>? {
    head.firstRow { cells in
      let columns = KnownColumns(cells, unread: unread) { names[$0] }
      return columns.has(.time, .sensor, .stick, .food) ? columns : nil
    }?.recognition
  }

  init(
    _ found: Recognition<HeaderRow<KnownColumns<Column>>>, head: InputHead, options: ExportOptions
  ) throws {
    let columns = found.header.meaning
    self.columns = columns
    header = SingleHeader(found.header.cells, of: "the Shanghai data sets")
    dates = try AmbiguousDates(
      options, times: found.header.rows.compactMap { $0.count > columns[.time] ? $0[columns[.time]] : nil })
    model = options.device ?? "Shanghai"
  }

  var needsSurvey: Bool { dates.isUndecided }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    dates.observe(row[columns[.time]].trimmed.ambiguousTime, isHistory: true, line: row.line)
  }

  mutating func decide() throws { try dates.decide() }

  var decisions: [Decision] { [.units([.milligramsPerDecilitre]), dates.decision] }

  var warnings: [String] { columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: columns[.time]) { return verdict }
    guard let time = dates.time(row[columns[.time]].trimmed) else {
      out.reject(row, dates.refusal)
      return .data
    }
    let device = out.device(Device(vendor: "Shanghai", model: model, format: Self.id))
    let glucose = GlucoseReader(unit: .milligramsPerDecilitre)
    let (sensor, stick) = (row[columns[.sensor]].trimmed, row[columns[.stick]].trimmed)
    let ketone = GlucoseReader.ketone(row[columns[.ketone]].trimmed, mark: .point)
    var hasItem = !sensor.isEmpty || !stick.isEmpty || !row[columns[.ketone]].trimmed.isEmpty
    out.add(.cbg, glucose.read(sensor), device: device, at: time, row: row)
    out.add(.smbg, glucose.read(stick), device: device, at: time, row: row)
    out.add(.ketone, ketone, device: device, at: time, row: row)
    let food = row[columns[.food]].trimmed
    if !food.isEmpty, !Self.noFood.contains(food.folded) {
      out.add(.food, at: time, owner: model, line: row.line, ["text": .text(food.text)])
      hasItem = true
    }
    if !hasItem { out.skip("row without a value") }
    return .data
  }
}

extension ShanghaiFormat {
  static let page = FormatPage(
    origin: [
      "the data sets ShanghaiT1DM and ShanghaiT2DM: the workbook of one person; save an old .xls as .xlsx first"
    ],
    variants: [
      "workbooks and CSV; all values are in mg/dL"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "CGM as sensor readings and CBG, capillary blood glucose, as finger sticks, in one import",
      "blood ketones, dietary intake in words",
    ],
    notRead: [
      "insulin and other medicines, which are words",
      "the food in Chinese, which repeats the English column",
    ])
}
