// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The log of Glucose Buddy. A row begins with its kind and states its unit. Glucose is the only known kind.
/// The header is only partly known and may be missing.
struct GlucoseBuddyFormat: ExportFormat {
  static let id = "glucose-buddy"
  static let title = "Glucose Buddy CSV"
  static let summary = "finger sticks with meal marks, notes"

  private enum Column {
    static let kind = 0, value = 1, unit = 2, name = 3, event = 4, time = 5, notes = 6, count = 7
  }

  private var dates: AmbiguousDates
  private var kinds = OtherKinds()
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Void>>? {
    let delimiter = UInt8(ascii: ",")
    let rows = head.rows(delimiter)
    if let place = rows.firstIndex(where: isHeader) {
      let below = rows[(place + 1)...]
      return HeaderRow(delimiter: delimiter, cells: rows[place], rows: below, meaning: ()).recognition
    }
    // The last row of the head may be truncated, so it is not examined. A file of one row is complete.
    let whole = rows.count > 1 ? rows.dropLast() : rows[...]
    guard whole.contains(where: isGlucose), whole.allSatisfy({ $0.count == Column.count }) else { return nil }
    return HeaderRow(delimiter: delimiter, cells: [], rows: rows[...], meaning: ()).recognition
  }

  private static func isHeader(_ cells: [String]) -> Bool {
    let cells = cells.map(foldedHeader)
    return cells.count == Column.count && cells[Column.kind] == "type" && cells[Column.time] == "date time"
  }

  private static func isGlucose(_ cells: [String]) -> Bool {
    cells.count == Column.count && cells[Column.kind] == "BG" && GlucoseUnit(name: cells[Column.unit]) != nil
      && cells[Column.time].filter { $0 == "/" }.count == 2
  }

  init(_ found: Recognition<HeaderRow<Void>>, head: InputHead, options: ExportOptions) throws {
    let times = found.header.rows.compactMap { $0.count > Column.time ? $0[Column.time] : nil }
    dates = try AmbiguousDates(options, times: times)
    model = options.device ?? "Glucose Buddy"
  }

  var needsSurvey: Bool { dates.isUndecided }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) { dates.observe(row[Column.time].trimmed.ambiguousTime, line: row.line) }

  mutating func decide() throws { try dates.decide() }

  var decisions: [Decision] { [.unitOfEachRow, dates.decision] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if row[Column.kind].equalsFolded("type"), Self.isHeader(row.fields.map(\.text)) { return .header }
    guard row.count == Column.count else { return .unknown("not a row of Glucose Buddy") }
    guard row[Column.kind].equals("BG") else {
      out.skip(kinds.name(row[Column.kind]))
      return .data
    }
    guard let time = dates.time(row[Column.time].trimmed) else {
      out.reject(row, dates.refusal)
      return .data
    }
    readGlucose(row, at: time, into: &out)
    return .data
  }

  private func readGlucose(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    guard let unit = GlucoseUnit(name: row[Column.unit].trimmed.text) else {
      return out.reject(row, "the unit is neither mg/dL nor mmol/L")
    }
    let value = row[Column.value].trimmed
    if value.isEmpty { return out.skip("row without a value") }
    let event = row[Column.event].trimmed.folded
    var marks: ReadingMarks = .manual
    if event.hasPrefix("before ") { marks.insert(.beforeMeal) }
    if event.hasPrefix("after ") { marks.insert(.afterMeal) }
    let device = out.device(Device(vendor: "Glucose Buddy", model: model, format: Self.id))
    out.add(.smbg, GlucoseReader(unit: unit).read(value), device: device, at: time, marks: marks, row: row)
    let note = row[Column.notes].trimmed
    if !note.isEmpty {
      out.add(.note, at: time, owner: model, line: row.line, ["text": .text(note.text)])
    }
  }
}

extension GlucoseBuddyFormat {
  static let page = FormatPage(
    origin: [
      "from the Glucose Buddy app: the log, exported as MyExportedGlucoseBuddyLogs.csv"
    ],
    variants: [
      "with and without the line of names",
      "mg/dL and mmol/L, by the unit of each row",
      "day or month first is decided by all dates, or by --date-order",
    ],
    languages: "English only; the kinds and events of rows have fixed words",
    reads: [
      "glucose as typed finger sticks, before or after meals",
      "notes of these rows",
    ],
    notRead: [
      "rows of other kinds than BG, which are counted by kind",
      "other events than those before or after a meal",
    ])
}
