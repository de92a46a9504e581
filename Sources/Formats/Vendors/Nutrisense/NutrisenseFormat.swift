// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The table of the Nutrisense app. Rows of all classes, such as `GlucoseMeasurement` and `Meal`, have the
/// same columns, so only the class shows whether a value is glucose.
struct NutrisenseFormat: ExportFormat {
  static let id = "nutrisense"
  static let title = "Nutrisense CSV"
  static let summary = "sensor readings, finger sticks, meals, exercise"

  enum Column: Int, CaseIterable { case type, value, meal, length, description, time }

  private static let names: [String: Column] = [
    "class": .type, "value": .value, "time": .meal, "length": .length, "description": .description,
    "occurred_at": .time,
  ]
  /// Columns that are known and not read: links, and when the app changed a row.
  private static let unread: Set<String> = [
    "photo_url", "body", "updated_at", "started_at", "ended_at", "created_by",
  ]

  private let columns: KnownColumns<Column>
  private var header: SingleHeader
  private var units: UnitSurvey
  private var kinds = OtherKinds()
  private let model: String
  let joinMark: String?

  private static func columns(_ cells: [String]) -> KnownColumns<Column>? {
    let columns = KnownColumns(cells, unread: unread) { names[$0] }
    let isOwn =
      columns.has(.type, .value, .length, .time) && cells.contains { foldedHeader($0) == "photo_url" }
    return isOwn ? columns : nil
  }

  private static let app: StaticString = "Nutrisense"

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    AppTitle.persons(head.rowsAbove { columns($0) != nil }, of: app)
  }

  static func statedPersons(named names: [String]) -> [StatedPerson] {
    names.compactMap { StatedPerson(name: $0) }
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow { AppTitle.personRow(row, of: app) }

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<KnownColumns<Column>>>? {
    head.firstRow(columns)?.recognition
  }

  init(
    _ found: Recognition<HeaderRow<KnownColumns<Column>>>, head: InputHead, options: ExportOptions
  ) {
    columns = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Nutrisense")
    units = UnitSurvey(given: options.unit)
    model = options.device ?? "Nutrisense"
    joinMark = Self.statedPersons(in: head).isEmpty ? nil : Self.app.description
  }

  var needsSurvey: Bool { units.isUndecided }

  mutating func survey(_ row: Row) {
    guard Self.kind(row[columns[.type]]) != nil, let number = row[columns[.value]].number() else { return }
    units.observe(number)
  }

  mutating func decide() throws { try units.decide() }

  var decisions: [Decision] { [units.decision, .dateOrder(.monthFirst, .fixed)] }

  var warnings: [String] { columns.warnings }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let cell = row[columns[.time]].trimmed
    if let verdict = header.verdict(row, key: columns[.time]) { return verdict }
    let type = row[columns[.type]].trimmed
    if cell.isEmpty {
      // A note has only its text and the time of its last change, so it cannot be placed in time.
      out.skip(type.equals("Note") ? "note without a time" : "row without a time")
      return .data
    }
    guard let time = cell.ambiguousTime?.time(.monthFirst).map({ ShownTime($0) }) else {
      out.reject(row, "invalid time; expected M/D/YY h:mm")
      return .data
    }
    if let kind = Self.kind(type) {
      readGlucose(row, kind, at: time, into: &out)
    } else if type.equals("Meal") {
      readMeal(row, at: time, into: &out)
    } else if type.equals("ExerciseActivity") {
      readExercise(row, at: time, into: &out)
    } else {
      out.skip(kinds.name(type))
    }
    return .data
  }

  private static func kind(_ type: Field) -> ReadingKind? {
    if type.equals("GlucoseMeasurement") { return .cbg }
    return type.equals("BloodGlucoseMeasurement") ? .smbg : nil
  }

  private func readGlucose(_ row: Row, _ kind: ReadingKind, at time: ShownTime, into out: inout BatchBuilder)
  {
    let cell = row[columns[.value]].trimmed
    if cell.isEmpty { return out.skip("glucose without a value") }
    let device = out.device(Device(vendor: "Nutrisense", model: model, format: Self.id))
    out.add(kind, GlucoseReader(unit: units.unit).read(cell), device: device, at: time, row: row)
  }

  /// Adds a meal as text, since no column has amounts.
  private func readMeal(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let words = [Column.meal, .description].map { row[columns[$0]].trimmed }.filter { !$0.isEmpty }
    if words.isEmpty { return out.skip("meal without content") }
    let text = words.map(\.text).joined(separator: ": ")
    out.add(.food, at: time, owner: model, line: row.line, ["text": .text(text)])
  }

  private func readExercise(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    let length = row[columns[.length]].trimmed
    if !length.isEmpty {
      guard let seconds = length.number(), PlausibleAmounts.minutes.contains(seconds / 60) else {
        return out.reject(row, "the length is not a number of seconds")
      }
      if seconds > 0 { fields["minutes"] = .number(seconds / 60) }
    }
    let text = row[columns[.description]].trimmed
    if !text.isEmpty { fields["text"] = .text(text.text) }
    if fields.isEmpty { return out.skip("exercise without content") }
    out.add(.exercise, at: time, owner: model, line: row.line, fields)
  }
}

extension NutrisenseFormat {
  static let page = FormatPage(
    origin: [
      "in the Nutrisense app: all data, exported as CSV"
    ],
    variants: [
      "no column names the unit, so all values decide it, or --unit"
    ],
    languages: "English only; the columns and the classes have fixed names",
    reads: [
      "sensor readings and finger sticks",
      "meals in words, exercise with its length",
    ],
    notRead: [
      "the name of the person and links to photos",
      "notes, whose rows have no time, which are counted",
      "steps, distances, blood pressure and other classes, which are counted",
    ])
}
