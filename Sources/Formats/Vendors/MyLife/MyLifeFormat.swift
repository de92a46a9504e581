// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The diary of mylife Software and mylife App, in German. Each row is an event and states its unit.
///
/// The unit by itself does not mean insulin: priming a tube and the sum of a day are in units, too.
struct MyLifeFormat: ExportFormat {
  static let id = "mylife"
  static let title = "mylife CSV"
  static let summary = "finger sticks, carbohydrates, boluses, basal rates, notes"

  enum Column: Int, CaseIterable {
    case day, date, time, event, value, unit, information, note

    fileprivate var name: String {
      switch self {
      case .day: "tag"
      case .date: "datum"
      case .time: "uhrzeit"
      case .event: "ereignis"
      case .value: "wert"
      case .unit: "einheit"
      case .information: "information"
      case .note: "notiz"
      }
    }
  }

  /// The kinds of events that are stored.
  private enum Event {
    case glucose, carbs, bolus, extendedBolus, combinationBolus, basal
  }

  private static let events: [String: Event] = [
    "blutzucker": .glucose, "kohlenhydrate": .carbs, "bolus": .bolus, "verzögerter bolus": .extendedBolus,
    "kombinierter bolus": .combinationBolus, "basalrate": .basal,
  ]

  private var hasHeader = false
  private var mark = DecimalMarkSurvey(presumed: .comma)
  private var kinds = OtherKinds()
  private let model: String

  private static func isHeader(_ cells: [String]) -> Bool {
    var cells = cells.map(foldedHeader)
    while cells.last?.isEmpty == true { cells.removeLast() }
    return cells == Column.allCases.map(\.name)
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Void>>? {
    head.firstRow(where: isHeader)?.recognition
  }

  init(_ found: Recognition<HeaderRow<Void>>, head: InputHead, options: ExportOptions) {
    model = options.device ?? "mylife"
    for cells in found.header.rows where cells.count > Column.value.rawValue {
      mark.observe(cells[Column.value.rawValue].utf8)
    }
  }

  var decisions: [Decision] {
    [.unitOfEachRow, .dateOrder(.dayFirst, .fixed)]
      + mark.decisions
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if !hasHeader || row[0].equalsFolded("tag"), Self.isHeader(row.fields.prefix(16).map(\.folded)) {
      hasHeader = true
      return .header
    }
    guard hasHeader else { return .unknown("before the header, or not a row of mylife") }
    guard row.count >= Column.unit.rawValue else { return .unknown("not a row of mylife") }
    guard let open = AmbiguousTime(cell(row, .date), cell(row, .time)), let time = open.time(.dayFirst) else {
      out.reject(row, "invalid date or time; expected DD.MM.YY and hh:mm")
      return .data
    }
    readEvent(row, at: ShownTime(time), into: &out)
    return .data
  }

  private func cell(_ row: Row, _ column: Column) -> Field { row[column.rawValue].trimmed }
}

extension MyLifeFormat {
  private mutating func readEvent(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let name = cell(row, .event)
    let value = cell(row, .value)
    mark.observe(value.bytes)
    switch Self.events[name.folded] {
    case .glucose: readGlucose(row, at: time, into: &out)
    case .carbs: readCarbs(row, at: time, into: &out)
    case .bolus: addInsulin(row, "U", "units", at: time, into: &out)
    case .extendedBolus: addInsulin(row, "U", "extended", at: time, into: &out)
    // The file does not state how much of a combination bolus was given at once. So the whole amount is
    // stored, with the event's name as text.
    case .combinationBolus: addInsulin(row, "U", "units", text: name.text, at: time, into: &out)
    case .basal: addInsulin(row, "U/h", "rate", at: time, into: &out)
    case nil: out.skip(kinds.name(name))
    }
    let note = cell(row, .note)
    if !note.isEmpty {
      out.add(.note, at: time, owner: model, line: row.line, ["text": .text(note.text)])
    }
  }

  private func readGlucose(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    guard let unit = GlucoseUnit(name: cell(row, .unit).text) else {
      return out.reject(row, "the unit is neither mg/dL nor mmol/L")
    }
    let value = cell(row, .value)
    if value.isEmpty { return out.skip("row without a value") }
    let device = out.device(Device(vendor: "Ypsomed", model: model, format: Self.id))
    out.add(.smbg, GlucoseReader(unit: unit, mark: mark.mark).read(value), device: device, at: time, row: row)
  }

  private func readCarbs(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    guard cell(row, .unit).folded.split(separator: " ").first == "g" else {
      return out.reject(row, "the unit of the carbohydrates is not g")
    }
    let grams = AmountColumn(Column.value.rawValue, "carbs", PlausibleAmounts.grams)
    guard let fields = out.amounts(row, [grams], mark.mark) else { return }
    if fields.isEmpty { return out.skip("carbohydrates without an amount") }
    out.add(.food, at: time, owner: model, line: row.line, fields)
  }

  private func addInsulin(
    _ row: Row, _ unit: StaticString, _ field: String, text: String? = nil, at time: ShownTime,
    into out: inout BatchBuilder
  ) {
    guard cell(row, .unit).equals(unit) else { return out.reject(row, "the unit is not \(unit)") }
    let isRate = field == "rate"
    let range = isRate ? PlausibleAmounts.unitsPerHour : PlausibleAmounts.units
    guard let number = cell(row, .value).number(mark.mark), range.contains(number) else {
      return out.reject(row, "the insulin is not a number from 0 to \(plainNumber(range.upperBound)) \(unit)")
    }
    // A rate of 0 means that the pump gave nothing; a dose of 0 was not given.
    if number == 0, !isRate { return out.skip("dose of 0 units") }
    var fields: [String: FieldValue] = [field: .number(number)]
    fields["subtype"] = .text(isRate ? "basal" : "rapid")
    if let text { fields["text"] = .text(text) }
    out.add(.insulin, at: time, owner: model, line: row.line, fields)
  }
}

extension MyLifeFormat {
  static let page = FormatPage(
    origin: [
      "in mylife Software or the mylife App, in German: the diary, exported as CSV"
    ],
    variants: [
      "eight columns from Tag to Notiz, with semicolons",
      "mg/dL and mmol/L, by the unit of each row; decimal point and comma",
    ],
    languages: "German only; the columns and the events have fixed names",
    reads: [
      "finger sticks, carbohydrates",
      "boluses, extended boluses, a combination bolus as its sum, basal rates",
      "notes of every event",
    ],
    notRead: [
      "priming, daily sums, temporary basal rates and events of the pump, which are counted by name",
      "the column of information, which repeats the glucose that was typed for a bolus",
    ])
}
