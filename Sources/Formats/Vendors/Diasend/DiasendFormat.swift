// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A sheet of Diasend's export, saved as CSV or read from a workbook: the glucose of a meter or a sensor, or
/// insulin and carbohydrates. The service is closed, but people still have its files.
struct DiasendFormat: ExportFormat {
  static let id = "diasend"
  static let title = "Diasend sheets"
  static let summary = "glucose, boluses, basal rates, carbohydrates, notes"

  /// The sheets that are read.
  enum Sheet {
    /// A sheet with a column of times, and a column named by its unit.
    case glucose(GlucoseUnit)
    case insulin(KnownColumns<Column>)
  }

  enum Column: Int, CaseIterable {
    case time, basal, type, bolus, immediate, extended, minutes, carbs, notes

    /// The folded name of the column in the sheet.
    fileprivate var name: String {
      switch self {
      case .time: "time"
      case .basal: "basal amount (u/h)"
      case .type: "bolus type"
      case .bolus: "bolus volume (u)"
      case .immediate: "immediate volume (u)"
      case .extended: "extended volume (u)"
      case .minutes: "duration (min)"
      case .carbs: "carbs(g)"
      case .notes: "notes"
      }
    }
  }

  /// Notes that the app itself adds to a bolus.
  private static let machineNotes: Set<String> = ["combination unknown"]
  private static let byName = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0.name, $0) })

  private let sheet: Sheet
  private var hasHeader = false
  let joinMark: String?
  private var dates: AmbiguousDates
  private var mark: DecimalMarkSurvey
  /// The frequency of the readings, for both orders of day and month. It shows whether a sensor measured. The
  /// sheet does not state this.
  private var cadences = [DateOrder.dayFirst: Cadence(), .monthFirst: Cadence()]
  private var kind: ReadingKind
  private var kindBasis = Decision.Basis.given
  private let model: String
  /// The options of the commands that a refusal suggests.
  private let hint: ImportHint

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Sheet>>? {
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      let period = rows.firstIndex(where: isPeriod)
      for (index, cells) in rows.enumerated() {
        guard let sheet = sheet(cells, isBelowPeriod: period.map { $0 < index } ?? false) else { continue }
        return HeaderRow(delimiter: delimiter, cells: cells, rows: rows[(index + 1)...], meaning: sheet)
          .recognition
      }
    }
    return nil
  }

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    let rows = head.rowsAbove { $0.first == "Time" }.filter { $0.count > 1 }
    return rows.compactMap { row in
      switch row[0] {
      case idTitle: StatedPerson(id: row[1], of: id)
      case "Name": StatedPerson(name: row[1])
      default: nil
      }
    }
  }

  /// - Parameter names: the id, which may be empty, and the name.
  static func statedPersons(named names: [String]) -> [StatedPerson] {
    let name = names.dropFirst().first.flatMap { StatedPerson(name: $0) }
    return [names.first.flatMap { StatedPerson(id: $0, of: id) }, name].compactMap(\.self)
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    let cells = row.fields.prefix(2).map { $0.trimmed.text }
    guard cells.count == 2 else { return .other }
    if cells[0] == idTitle { return .title([cells[1]]) }
    guard case .title = above, cells[0] == "Name" else { return .other }
    return .name(cells[1])
  }

  private static let idTitle = "Patient ID"

  /// Whether a row states the period of the sheet, as in `Date,05/11/2013 to 03/02/2014`. This row is above a
  /// table of glucose.
  private static func isPeriod(_ cells: [String]) -> Bool {
    cells.count >= 2 && cells[0] == "Date" && cells[1].contains(" to ") && cells[1].first?.isNumber == true
  }

  /// The sheet that begins with this header. A table of times and `mg/dl` is Diasend's only below the period,
  /// since many programs write such a table.
  private static func sheet(_ cells: [String], isBelowPeriod: Bool) -> Sheet? {
    guard cells.first == "Time" else { return nil }
    // The values are in the second column, so the unit must be its name.
    let others = cells.dropFirst(2)
    if isBelowPeriod, cells.count > 1, others.allSatisfy(\.isEmpty), let unit = GlucoseUnit(name: cells[1]) {
      return .glucose(unit)
    }
    let columns = KnownColumns<Column>(cells) { byName[$0] }
    return columns.has(.basal, .type, .bolus) ? .insulin(columns) : nil
  }

  init(_ found: Recognition<HeaderRow<Sheet>>, head: InputHead, options: ExportOptions) throws {
    let row = found.header
    joinMark = Self.statedPersons(in: head).isEmpty ? nil : Self.idTitle
    sheet = row.meaning
    mark = DecimalMarkSurvey(presumed: row.delimiter == UInt8(ascii: ";") ? .comma : .point)
    for cells in row.rows { for cell in cells.dropFirst() { mark.observe(cell.utf8.filter { $0 != 0x20 }) } }
    dates = try AmbiguousDates(options, times: row.rows.compactMap(\.first))
    kind = options.kind ?? .smbg
    if options.kind == nil { kindBasis = .inferred }
    model = options.device ?? "Diasend"
    hint = ImportHint(options: options)
  }

  private var isOfGlucose: Bool { if case .glucose = sheet { true } else { false } }

  var needsSurvey: Bool { dates.isUndecided || (isOfGlucose && kindBasis == .inferred) }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    if row[0].equals("Date"), let start = row[1].text.firstRange(of: " to ") {
      var text = String(row[1].text[start.upperBound...])
      text.withUTF8 { bytes in
        guard let base = bytes.baseAddress else { return }
        dates.observeLast(Field(start: base, count: bytes.count, shape: .bare).trimmed, line: row.line)
      }
      return
    }
    for value in row.fields.dropFirst() { mark.observe(value.trimmed.bytes) }
    if let time = row[0].ambiguousTime {
      dates.observe(time, line: row.line)
      for order in DateOrder.allCases {
        if let shown = time.time(order) { cadences[order]?.observe(shown.seconds, series: 0) }
      }
    } else if let time = row[0].yearFirstTime {
      for order in DateOrder.allCases { cadences[order]?.observe(time.deviceTime.seconds, series: 0) }
    }
  }

  mutating func decide() throws {
    try dates.decide()
    guard kindBasis == .inferred else { return }
    let cadence = cadences[dates.order ?? .dayFirst] ?? Cadence()
    cadences = [:]
    guard !isOfGlucose || cadence.isEmpty || cadence.isConclusive else { throw unknownKind }
    kind = cadence.isSensor ? .cbg : .smbg
  }

  /// The failure for a sheet with too few rows to show whether a meter or a sensor measured. A guess could be
  /// wrong: the next, longer sheet could show the other kind, and the readings would be stored twice.
  private var unknownKind: Failure {
    let kinds = [ReadingKind.smbg, .cbg].map { kind in
      { (options: inout ExportOptions) in options.kind = kind }
    }
    return Failure(
      .badInput,
      "the sheet has too few rows to show whether a meter (smbg) or a sensor (cbg) took them; import it with one of these:"
        + hint.lines(kinds))
  }

  var decisions: [Decision] {
    var decisions = [dates.decision] + mark.decisions
    if case .glucose(let unit) = sheet {
      decisions = [.units([unit]), Decision("kind", kind.name, kindBasis)] + decisions
    }
    return decisions
  }

  var warnings: [String] { if case .insulin(let columns) = sheet { columns.warnings } else { [] } }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[0].bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard let time = dates.time(row[0]) else {
      out.reject(row, dates.refusal)
      return .data
    }
    switch sheet {
    case .glucose(let unit):
      let reader = GlucoseReader(unit: unit, mark: mark.mark)
      let device = out.device(Device(vendor: "Diasend", model: model, format: Self.id))
      if row[1].isEmpty {
        out.skip("row without a value")
      } else {
        out.add(kind, reader.read(row[1]), device: device, at: time, row: row)
      }
    case .insulin(let columns): readInsulin(row, columns, at: time, into: &out)
    }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    // Rows above the header state the person and the period, and are not data.
    guard let sheet = Self.sheet(row.fields.map(\.text), isBelowPeriod: true) else {
      return .unknown("before the header, or not a row of Diasend")
    }
    // Rows below the header of another sheet, or with another unit, are not read.
    hasHeader = isSame(sheet)
    guard hasHeader else {
      return .unknown("the header of another sheet; import this part as a separate input")
    }
    return .header
  }

  private func isSame(_ other: Sheet) -> Bool {
    switch (sheet, other) {
    case (.glucose(let unit), .glucose(let otherUnit)): unit == otherUnit
    case (.insulin(let columns), .insulin(let others)):
      Column.allCases.allSatisfy { columns[$0] == others[$0] }
    default: false
    }
  }
}

extension DiasendFormat {
  private func add(
    _ kind: RecordKind, _ fields: [String: FieldValue], _ row: Row, at time: ShownTime,
    into out: inout BatchBuilder
  ) {
    out.add(kind, at: time, owner: model, line: row.line, fields)
  }

  private func readInsulin(
    _ row: Row, _ columns: KnownColumns<Column>, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let amounts = [
      AmountColumn(columns[.bolus], "units", PlausibleAmounts.units),
      AmountColumn(columns[.immediate], "immediate", PlausibleAmounts.units),
      AmountColumn(columns[.extended], "extended", PlausibleAmounts.units),
      AmountColumn(columns[.minutes], "minutes", PlausibleAmounts.minutes),
      AmountColumn(columns[.carbs], "carbs", PlausibleAmounts.grams),
    ]
    guard var fields = out.amounts(row, amounts, mark.mark) else { return }
    var hasItem = addBasal(row, columns, at: time, into: &out)
    if let carbs = fields.removeValue(forKey: "carbs") {
      add(.food, ["carbs": carbs], row, at: time, into: &out)
      hasItem = true
    }
    let immediate = fields.removeValue(forKey: "immediate")
    if fields["extended"] != nil { fields["units"] = immediate }
    if fields["units"] != nil || fields["extended"] != nil {
      fields["subtype"] = .text("rapid")
      add(.insulin, fields, row, at: time, into: &out)
      hasItem = true
    }
    let note = row[columns[.notes]].trimmed
    if Self.machineNotes.contains(note.folded) {
      out.skip("note of the pump")
    } else if !note.isEmpty {
      add(.note, ["text": .text(note.text)], row, at: time, into: &out)
      hasItem = true
    }
    if !hasItem { out.skip("row without a value") }
  }

  /// Adds the basal rate of a row. The rate may be 0: then the pump gave nothing.
  ///
  /// - Returns: whether the row was added or rejected; false for an empty cell.
  private func addBasal(
    _ row: Row, _ columns: KnownColumns<Column>, at time: ShownTime, into out: inout BatchBuilder
  ) -> Bool {
    let cell = row[columns[.basal]].trimmed
    if cell.isEmpty { return false }
    guard let rate = cell.number(mark.mark), PlausibleAmounts.unitsPerHour.contains(rate) else {
      out.reject(row, "the basal rate is not a number from 0 to 100")
      return true
    }
    add(.insulin, ["subtype": .text("basal"), "rate": .number(rate)], row, at: time, into: &out)
    return true
  }
}

extension DiasendFormat {
  static let page = FormatPage(
    origin: [
      "the service is closed: the files that it exported until then",
      "open the .xls file in a spreadsheet program, and save it as XLSX or each sheet as CSV",
    ],
    variants: [
      "the sheet of glucose, mg/dL or mmol/L, with the lines above its table",
      "the sheet of insulin and carbohydrates",
      "a sheet of too few rows to show whether a sensor took them is refused until --kind says it",
      "day or month first: the period above the table or the dates decide it, else --date-order",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "glucose: sensor readings where values follow each other every few minutes, else finger "
        + "sticks; --kind says otherwise",
      "boluses with their extended part, basal rates, carbohydrates, notes",
    ],
    notRead: [
      "settings of the pump",
      "what the pump itself writes as a note, which is counted",
      "the name and the id of the person",
    ])
}
