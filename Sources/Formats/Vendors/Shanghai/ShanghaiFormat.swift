// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A table of the data sets ShanghaiT1DM and ShanghaiT2DM. Its `CBG` is capillary blood glucose: a finger
/// stick in the same row as a sensor's value.
struct ShanghaiFormat: ExportFormat {
  static let id = "shanghai"
  static let title = "ShanghaiT1DM and ShanghaiT2DM tables"
  static let summary = "sensor readings, finger sticks, ketones, boluses, food in words"

  enum Column: Int, CaseIterable {
    case time, sensor, stick, ketone, food, bolus, basal, subcutaneous, intravenous, medicine
  }

  private static let names: [String: Column] = [
    "date": .time, "cgm (mg / dl)": .sensor, "cbg (mg / dl)": .stick, "blood ketone (mmol / l)": .ketone,
    "dietary intake": .food, "insulin dose - s.c.": .subcutaneous, "insulin dose - i.v.": .intravenous,
    "non-insulin hypoglycemic agents": .medicine, "csii - basal insulin (novolin r, iu / h)": .basal,
    "csii - basal insulin (novolin r iu / h)": .basal, "胰岛素泵基础量 (novolin r, iu / h)": .basal,
  ]
  /// The start of the name of the column of boluses, before the insulin and its unit.
  private static let bolusStart = "csii - bolus insulin ("
  /// Columns that are known and not read: food in Chinese, which another column has in English.
  private static let unread: Set<String> = ["饮食", "进食量"]
  /// Columns whose cells are counted, with the names under which they are counted. Doses and medicines are
  /// words. A basal rate lasts as long as the merged cells of the workbook, as public readers of the data
  /// sets found. Rows do not show which cells are merged.
  private static let counted: [(column: Column, name: String)] = [
    (.basal, "basal rate of a pump"), (.subcutaneous, "subcutaneous insulin"),
    (.intravenous, "intravenous insulin"), (.medicine, "other medicine"),
  ]
  /// The texts of a cell without an entry.
  private static let noEntry: Set<String> = ["data not available", "-"]

  private let columns: KnownColumns<Column>
  private var header: SingleHeader
  private var dates: AmbiguousDates
  /// The insulin of the boluses; nil if the table has no column of boluses.
  private let insulin: String?
  private let model: String

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<KnownColumns<Column>>>? {
    head.firstRow { cells in
      let columns = KnownColumns(cells, unread: unread) { column($0) }
      return columns.has(.time, .sensor, .stick, .food) ? columns : nil
    }?.recognition
  }

  private static func column(_ name: String) -> Column? {
    names[name] ?? (name.hasPrefix(bolusStart) && insulinOfBoluses(name) != nil ? .bolus : nil)
  }

  /// The insulin that a name such as `CSII - bolus insulin (Novolin R, IU)` states; some files lack the
  /// comma. Nil for other names, and for one without the unit.
  private static func insulinOfBoluses(_ cell: String) -> String? {
    let name = foldedHeader(cell)
    guard name.hasPrefix(bolusStart), name.hasSuffix(" iu)"), let open = cell.firstIndex(of: "(") else {
      return nil
    }
    let words = cell[open...].dropFirst().split { $0.isWhitespace || $0 == "," }.dropLast()
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  init(
    _ found: Recognition<HeaderRow<KnownColumns<Column>>>, head: InputHead, options: ExportOptions
  ) throws {
    let columns = found.header.meaning
    self.columns = columns
    header = SingleHeader(found.header.cells, of: "the Shanghai data sets")
    dates = try AmbiguousDates(
      options, times: found.header.rows.compactMap { $0.count > columns[.time] ? $0[columns[.time]] : nil })
    insulin = columns.has(.bolus) ? Self.insulinOfBoluses(found.header.cells[columns[.bolus]]) : nil
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
    if !food.isEmpty, !Self.noEntry.contains(food.folded) {
      out.add(.food, at: time, owner: model, line: row.line, ["text": .text(food.text)])
      hasItem = true
    }
    if readBolus(row, at: time, into: &out) { hasItem = true }
    if countOthers(row, into: &out) { hasItem = true }
    if !hasItem { out.skip("row without a value") }
    return .data
  }

  /// Adds the bolus of a row. Some cells of this column are words: a pump that was suspended, or a medicine.
  ///
  /// - Returns: whether the row has an entry in this column.
  private func readBolus(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let cell = row[columns[.bolus]].trimmed
    guard let insulin, !cell.isEmpty, !Self.noEntry.contains(cell.folded) else { return false }
    guard cell.number() != nil else {
      out.skip("bolus in words")
      return true
    }
    let amount = AmountColumn(columns[.bolus], "units", PlausibleAmounts.units)
    guard var fields = out.amounts(row, [amount]) else { return true }
    if fields.isEmpty {
      out.skip("dose of 0 units")
    } else {
      fields["subtype"] = .text("rapid")
      fields["text"] = .text(insulin)
      out.add(.insulin, at: time, owner: model, line: row.line, fields)
    }
    return true
  }

  /// Counts the cells of a row that are not read.
  ///
  /// - Returns: whether the row has such a cell.
  private func countOthers(_ row: Row, into out: inout BatchBuilder) -> Bool {
    var hasOthers = false
    for (column, name) in Self.counted {
      let cell = row[columns[column]].trimmed
      if cell.isEmpty || Self.noEntry.contains(cell.folded) { continue }
      out.skip(name)
      hasOthers = true
    }
    return hasOthers
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
      "boluses of a pump in IU, with the insulin that the name of their column states",
    ],
    notRead: [
      "injected and intravenous insulin and other medicines, which are words and are counted",
      "basal rates of a pump, counted: only merged cells of the workbook state how long a rate lasts",
      "the food in Chinese, which repeats the English column",
    ])
}
