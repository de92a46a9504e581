// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of Roche's computer programs, Accu-Chek 360° and Smart Pix: a row for each entry, with columns
/// for all kinds.
struct AccuChek360Format: ExportFormat {
  static let id = "accu-chek-360"
  static let title = "Accu-Chek 360° and Smart Pix CSV"
  static let summary = "finger sticks, control solution, insulin, basal rates, carbohydrates, exercise"

  enum Column: Int, CaseIterable {
    case date, time, glucose, insulin1, insulin2, insulin3, pump, control, laboratory, carbs
    case minutes, intensity, events, ownEvents, flags, medication, hba1c, weight, rate, dailyTotal

    fileprivate var name: String {
      switch self {
      case .date: "date"
      case .time: "time"
      case .glucose: "bg"
      case .insulin1: "insulin1 (units)"
      case .insulin2: "insulin2 (units)"
      case .insulin3: "insulin3 (units)"
      case .pump: "insulin pump (units)"
      case .control: "bg control"
      case .laboratory: "bg lab"
      case .carbs: "carbohydrates (g)"
      case .minutes: "exercise duration (minutes)"
      case .intensity: "exercise intensity"
      case .events: "system-defined events"
      case .ownEvents: "user-defined events"
      case .flags: "flags"
      case .medication: "medication name"
      case .hba1c: "hba1c (percent)"
      case .weight: "weight (kg)"
      case .rate: "insulin rate (units/hour)"
      case .dailyTotal: "insulin tdd (units)"
      }
    }
  }

  typealias Columns = KnownColumns<Column>

  /// A header line and the unit that it names.
  struct Found {
    let columns: Columns
    let unit: GlucoseUnit

    init?(_ cells: [String]) {
      columns = Columns(cells) { AccuChek360Format.byName[Self.bare($0)] }
      guard columns.has(.date, .time, .glucose, .insulin1, .insulin2),
        let unit = Self.unit(of: foldedHeader(cells[columns[.glucose]]))
      else { return nil }
      self.unit = unit
    }

    private static func unit(of name: String) -> GlucoseUnit? {
      guard let open = name.lastIndex(of: "("), name.last == ")" else { return nil }
      return GlucoseUnit(name: name[open...].dropFirst().dropLast())
    }

    /// The name of a column without a unit of glucose. Only columns of glucose can be in either of two units.
    private static func bare(_ name: String) -> String {
      guard name.hasPrefix("bg"), let open = name.lastIndex(of: "("), open > name.startIndex else {
        return name
      }
      return String(name[..<name.index(before: open)])
    }
  }

  private static let byName = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0.name, $0) })
  /// Columns of values for which glucoport has no kind. Filled cells are counted under these names.
  private static let skipped: [(Column, String)] = [
    (.laboratory, "laboratory value"), (.medication, "medication"), (.hba1c, "HbA1c"),
    (.weight, "body weight"), (.dailyTotal, "daily total"), (.flags, "flag"), (.events, "event of the meter"),
  ]

  private var header: Found
  private var hasHeader = false
  private var dates: AmbiguousDates
  private var mark = DecimalMarkSurvey(presumed: .point)
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Found>>? {
    head.firstRow(Found.init)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Found>>, head: InputHead, options: ExportOptions) throws {
    let row = found.header
    header = row.meaning
    model = options.device ?? "Accu-Chek 360"
    let column = header.columns[.date]
    dates = try AmbiguousDates(options, times: row.rows.compactMap { $0.count > column ? $0[column] : nil })
    for cells in row.rows { for cell in cells { mark.observe(cell.utf8) } }
  }

  var needsSurvey: Bool { dates.isUndecided }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    dates.observe(
      AmbiguousTime(row[header.columns[.date]].trimmed, row[header.columns[.time]].trimmed), line: row.line)
  }

  mutating func decide() throws { try dates.decide() }

  var decisions: [Decision] { [.units([header.unit]), dates.decision] + mark.decisions }

  var warnings: [String] { header.columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let columns = header.columns
    guard hasHeader, let first = row[columns[.date]].bytes.first, first &- 0x30 <= 9 else {
      return readOther(row)
    }
    guard let time = time(row) else {
      out.reject(row, dates.refusal)
      return .data
    }
    var hasItem = readValues(row, at: time, into: &out)
    hasItem = readRecords(row, at: time, into: &out) || hasItem
    for (column, name) in Self.skipped where !row[columns[column]].trimmed.isEmpty {
      out.skip(name)
      hasItem = true
    }
    if !hasItem { out.skip("row without a value") }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    guard let header = Found(row.fields.map(\.text)) else {
      return .unknown("before the header, or not a row of this program")
    }
    // Rows below a header with another unit are not read.
    hasHeader = header.unit == self.header.unit
    guard hasHeader else {
      return .unknown("a header with another unit; import this part as a separate input")
    }
    self.header = header
    return .header
  }

  private func time(_ row: Row) -> ShownTime? {
    let (date, clock) = (row[header.columns[.date]].trimmed, row[header.columns[.time]].trimmed)
    if let time = dates.time(date, clock) { return time }
    guard let clock = clock.timeOfDay, date.count == 10, date[4] == date[7],
      let year = date.slice(0, 4).integer, let month = date.slice(5, 7).integer,
      let day = date.slice(8, 10).integer
    else { return nil }
    return DeviceTime(
      year: Int(year), month: Int(month), day: Int(day), hour: clock.hour, minute: clock.minute,
      second: clock.second
    ).map { ShownTime($0) }
  }
}

extension AccuChek360Format {
  private func readValues(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    var hasItem = false
    let reader = GlucoseReader(unit: header.unit, mark: mark.mark)
    for (column, marks) in [(Column.glucose, ReadingMarks()), (.control, .controlSolution)] {
      let cell = row[header.columns[column]].trimmed
      if cell.isEmpty { continue }
      hasItem = true
      let device = out.device(Device(vendor: "Roche", model: model, format: Self.id))
      out.add(.smbg, reader.read(cell), device: device, at: time, marks: marks, row: row)
    }
    return hasItem
  }

  /// Adds the insulin, food, exercise and event of a row. Doses get the column's number as text, since the
  /// file does not state which insulins are the first, second and third.
  ///
  /// - Returns: whether an item was added, or the row was rejected.
  private func readRecords(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) -> Bool {
    let columns = header.columns
    let wanted = [
      AmountColumn(columns[.insulin1], "insulin 1", PlausibleAmounts.units),
      AmountColumn(columns[.insulin2], "insulin 2", PlausibleAmounts.units),
      AmountColumn(columns[.insulin3], "insulin 3", PlausibleAmounts.units),
      AmountColumn(columns[.pump], "pump", PlausibleAmounts.units),
      AmountColumn(columns[.carbs], "carbs", PlausibleAmounts.grams),
      AmountColumn(columns[.minutes], "minutes", PlausibleAmounts.minutes),
      AmountColumn(columns[.rate], "rate", PlausibleAmounts.unitsPerHour),
    ]
    guard let amounts = out.amounts(row, wanted, mark.mark) else { return true }
    var hasItem = !amounts.isEmpty
    func add(_ kind: RecordKind, _ fields: [String: FieldValue]) {
      out.add(kind, at: time, owner: model, line: row.line, fields)
      hasItem = true
    }
    for name in ["insulin 1", "insulin 2", "insulin 3"] {
      if let units = amounts[name] { add(.insulin, ["units": units, "text": .text(name)]) }
    }
    if let units = amounts["pump"] { add(.insulin, ["units": units, "subtype": .text("rapid")]) }
    if let rate = amounts["rate"] { add(.insulin, ["rate": rate, "subtype": .text("basal")]) }
    if let carbs = amounts["carbs"] { add(.food, ["carbs": carbs]) }
    var exercise: [String: FieldValue] = [:]
    if let minutes = amounts["minutes"] { exercise["minutes"] = minutes }
    let intensity = row[columns[.intensity]].trimmed
    if !intensity.isEmpty { exercise["intensity"] = .text(intensity.text) }
    if !exercise.isEmpty { add(.exercise, exercise) }
    let event = row[columns[.ownEvents]].trimmed
    if !event.isEmpty { add(.note, ["text": .text(event.text)]) }
    return hasItem
  }
}

extension AccuChek360Format {
  static let page = FormatPage(
    origin: [
      "in Accu-Chek 360° or the software of Accu-Chek Smart Pix: the entries, exported as CSV"
    ],
    variants: [
      "mg/dL or mmol/L in the name of the glucose column",
      "decimal point and comma; dates with the day, the month or the year first, decided by all "
        + "dates or by --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "finger sticks, tests of control solution marked as such",
      "insulin 1, 2 and 3 by their number, insulin of a pump, basal rates",
      "carbohydrates, exercise, events of your own as notes",
    ],
    notRead: [
      "values of a laboratory, daily totals, HbA1c, body weight and medication, which are counted",
      "flags and events of the meter, which are counted",
      "the lines with the name of the person",
    ])
}
