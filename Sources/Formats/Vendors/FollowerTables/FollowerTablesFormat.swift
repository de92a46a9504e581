// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A file with the two tables of an iOS follower of Nightscout. Each has a title line that begins with `#`,
/// and a header.
struct FollowerTablesFormat: ExportFormat {
  static let id = "cgm-entries"
  static let title = "CGM ENTRIES and TREATMENTS tables"
  static let summary = "sensor readings, finger sticks, insulin, carbohydrates, notes"

  enum Column: Int, CaseIterable {
    case day, time, value, type, device, event, units, grams, notes, id
  }

  /// The header of one of the tables.
  struct Table {
    fileprivate let columns: KnownColumns<Column>
    /// The unit of entries; nil for treatments.
    fileprivate let unit: GlucoseUnit?

    init?(_ cells: [String]) {
      columns = KnownColumns(cells, unread: ["trend"]) {
        names[$0] ?? (FollowerTablesFormat.unit(of: $0) == nil ? nil : .value)
      }
      guard columns.has(.day, .time) else { return nil }
      unit =
        columns.has(.value, .type) ? FollowerTablesFormat.unit(of: foldedHeader(cells[columns[.value]])) : nil
      guard unit != nil || columns.has(.event, .units, .grams) else { return nil }
    }
  }

  private static let names: [String: Column] = [
    "date": .day, "time": .time, "type": .type, "device": .device, "event type": .event,
    "insulin (u)": .units, "carbs (g)": .grams, "notes": .notes, "id": .id,
  ]
  private static let titles = ["# CGM ENTRIES", "# TREATMENTS"]

  private var table: Table
  private var isBelowHeader = false
  private var dates: AmbiguousDates
  private var kinds = OtherKinds()
  private let model: String
  private(set) var warnings: [String]

  /// The unit in the name of a column: `glucose (mg/dl)` or `glucose (mmol/l)`.
  private static func unit(of name: String) -> GlucoseUnit? {
    guard name.hasPrefix("glucose ("), name.last == ")" else { return nil }
    return GlucoseUnit(name: name.dropFirst("glucose (".count).dropLast())
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Table>>? {
    guard let row = head.firstRow(Table.init) else { return nil }
    let isTitled = head.lines.contains { line in titles.contains(where: line.hasPrefix) }
    return isTitled ? row.recognition : nil
  }

  init(_ found: Recognition<HeaderRow<Table>>, head: InputHead, options: ExportOptions) throws {
    table = found.header.meaning
    warnings = table.columns.warnings
    let day = table.columns[.day]
    dates = try AmbiguousDates(
      options, times: found.header.rows.compactMap { $0.count > day ? $0[day] : nil })
    model = options.device ?? "Nightscout follower"
  }

  var needsSurvey: Bool { dates.isUndecided }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    guard let first = row[table.columns[.day]].bytes.first, first &- 0x30 <= 9 else {
      table = Table(row.fields.prefix(20).map(\.text)) ?? table
      return
    }
    let time = AmbiguousTime(row[table.columns[.day]].trimmed, row[table.columns[.time]].trimmed)
    dates.observe(time, isHistory: row[table.columns[.type]].equals("sgv"), line: row.line)
  }

  mutating func decide() throws { try dates.decide() }

  var decisions: [Decision] { (table.unit.map { [.units([$0])] } ?? []) + [dates.decision] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let cell = row[table.columns[.day]].trimmed
    guard isBelowHeader, cell.isEmpty || cell[0] &- 0x30 <= 9 else { return readOther(row) }
    let clock = row[table.columns[.time]].trimmed
    guard let time = dates.time(cell, clock) ?? Field.yearFirstTime(cell, clock) else {
      out.reject(row, dates.refusal)
      return .data
    }
    if let unit = table.unit {
      readEntry(row, unit, at: time, into: &out)
    } else {
      readTreatment(row, at: time, into: &out)
    }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    isBelowHeader = false
    if row[0].starts(with: "# ") { return .unknown("the title of a table without rows") }
    guard let table = Table(row.fields.prefix(20).map(\.text)) else {
      return .unknown("before a header, or not a row of these tables")
    }
    self.table = table
    isBelowHeader = true
    warnings += table.columns.warnings.filter { !warnings.contains($0) }
    return .header
  }

  private mutating func readEntry(
    _ row: Row, _ unit: GlucoseUnit, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let (type, cell) = (row[table.columns[.type]].trimmed, row[table.columns[.value]].trimmed)
    guard let kind: ReadingKind = type.equals("sgv") ? .cbg : type.equals("mbg") ? .smbg : nil else {
      return out.skip(kinds.name(type))
    }
    if cell.isEmpty { return out.skip("entry without a value") }
    let name = row[table.columns[.device]].trimmed
    let device = out.device(
      Device(vendor: "Nightscout", model: name.isEmpty ? model : name.text, format: Self.id))
    out.add(kind, GlucoseReader(unit: unit).read(cell), device: device, at: time, row: row)
  }

  private mutating func readTreatment(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    let columns = table.columns
    let event = row[columns[.event]].trimmed
    let amounts = [
      AmountColumn(columns[.units], "units", PlausibleAmounts.units),
      AmountColumn(columns[.grams], "carbs", PlausibleAmounts.grams),
    ]
    guard let fields = out.amounts(row, amounts) else { return }
    var records: [(kind: RecordKind, fields: [String: FieldValue])] = []
    if let units = fields["units"] {
      let isBolus = event.folded.contains("bolus")
      records.append((.insulin, isBolus ? ["units": units, "subtype": .text("rapid")] : ["units": units]))
    }
    if let carbs = fields["carbs"] { records.append((.food, ["carbs": carbs])) }
    let note = row[columns[.notes]].trimmed
    if !note.isEmpty { records.append((.note, ["text": .text(note.text)])) }
    if records.isEmpty { return out.skip(kinds.name(event)) }
    let key = row[columns[.id]].trimmed.text
    for record in records {
      out.add(
        record.kind, at: time, owner: model, sourceID: key.isEmpty ? "" : "\(key)/\(record.kind.rawValue)",
        line: row.line, record.fields)
    }
  }
}

extension FollowerTablesFormat {
  static let page = FormatPage(
    origin: [
      "in an iOS app that follows a Nightscout site: the data, exported as CSV"
    ],
    variants: [
      "one file with both tables or one of them, below the lines '# CGM ENTRIES' and '# TREATMENTS'",
      "mg/dL or mmol/L in the name of the glucose column",
      "dates as the phone writes them; day or month first is decided by all dates, or by --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings (sgv) and finger sticks (mbg)",
      "insulin, carbohydrates and notes of treatments",
    ],
    notRead: [
      "the trend",
      "treatments without insulin, carbohydrates or a note, which are counted",
    ])
}
