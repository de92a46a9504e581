// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Tandem's exports: the therapy timeline of t:connect, one file with a section for each kind of data, and the tables
/// of Tandem Source, in one file each.
///
/// Times are local, without an offset. The values in the bolus calculator are not readings.
struct TandemFormat: ExportFormat {
  static let id = "tandem"
  static let title = "Tandem t:connect and Source CSV"
  static let summary = "sensor and meter readings, boluses, carbohydrates"

  private let firstTable: TandemTable
  private var table: TandemTable
  private var hasHeader = false
  private var units: UnitSurvey
  /// Whether the unit is open because a section of readings names none.
  private var isUnitOpen: Bool
  /// Whether the survey looked at all values for the unit.
  private var isSettled = false
  private var statedUnits: [GlucoseUnit] = []
  private var kinds = OtherKinds()
  private var sensor = FilledInValues()
  /// Whether `sensor` has all values of the input. For a live pipe it has only the values so far.
  private var isSurveyed = false
  /// The unknown columns of every section.
  private(set) var warnings: [String]

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<TandemTable>>? {
    // The header of insulin on board is three common words, which do not identify the format.
    head.firstRow { cells in TandemTable(cells).flatMap { $0.kind == .insulinOnBoard ? nil : $0 } }?
      .recognition
  }

  init(_ found: Recognition<HeaderRow<TandemTable>>, head: InputHead, options: ExportOptions) {
    firstTable = found.header.meaning
    table = firstTable
    units = UnitSurvey(given: options.unit, isForced: options.force)
    warnings = table.columns.warnings
    let rows = [found.header.cells] + found.header.rows
    isUnitOpen = rows.contains { TandemTable($0).map { $0.kind == .readings && $0.unit == nil } ?? false }
  }

  var isOpen: Bool { isUnitOpen && units.isOpen }

  /// The values of the sensor may come after the blood glucose that was taken from them.
  var gainsBySurvey: Bool { true }

  mutating func survey(_ row: Row) {
    if Self.mayBeHeader(row) {
      table = TandemTable(row.fields.map(\.text)) ?? table
    } else if table.kind == .readings {
      noteSensor(row)
      if isUnitOpen, table.unit == nil, let number = row[table[.value]].number() { units.note(number) }
    }
  }

  mutating func settle() throws {
    isSurveyed = true
    table = firstTable
    guard isOpen else { return }
    try units.settle()
    isSettled = true
  }

  var decisions: [Decision] {
    let stated = statedUnits.isEmpty ? [table.unit].compactMap(\.self) : statedUnits
    return (isUnitOpen ? [units.decision] : stated.isEmpty ? [] : [.units(stated)])
      + [Decision("date-order", "year first", .fixed)]
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    if let verdict = takeHeader(row) { return verdict }
    guard hasHeader, row.count > 2 else { return .unknown("before a header, or not a row of Tandem") }
    switch table.kind {
    case .insulinOnBoard: out.skip("insulin on board")
    case .readings:
      if !isSurveyed { noteSensor(row) }
      readGlucose(row, into: &out)
    case .bolus: readBolus(row, into: &out)
    }
    return .data
  }

  private static func mayBeHeader(_ row: Row) -> Bool {
    let first = row[0]
    return first.count <= 12
      && (first.equalsFolded("type") || first.equalsFolded("devicetype") || first.equalsFolded("device type"))
  }

  private mutating func takeHeader(_ row: Row) -> RowVerdict? {
    guard Self.mayBeHeader(row) else { return nil }
    guard let table = TandemTable(row.fields.map(\.text)) else {
      // Rows of an unknown section do not belong to the section before it.
      hasHeader = false
      return .unknown("a section of Tandem that glucoport does not know")
    }
    if table.kind == .readings, table.unit == nil, units.isOpen, !isSettled {
      hasHeader = false
      return .unknown("a section that names no unit; import it as a separate input, or use --unit")
    }
    self.table = table
    hasHeader = true
    warnings += table.columns.warnings.filter { !warnings.contains($0) }
    if table.kind == .readings {
      if let unit = table.unit, !statedUnits.contains(unit) { statedUnits.append(unit) }
      if table.unit == nil { isUnitOpen = true }
    }
    return .header
  }

  private mutating func readGlucose(_ row: Row, into out: inout Collector) {
    guard let time = row[table[.eventTime]].yearFirstTime else {
      return out.reject(row, "invalid time; expected YYYY-MM-DDThh:mm:ss")
    }
    let description = row[table[.description]]
    let kind: ReadingKind
    if description.equalsFolded("egv") {
      kind = .cbg
    } else if description.equalsFolded("bg") || table.isOfMeter {
      kind = .smbg
    } else {
      return out.skip(kinds.name(description))
    }
    let cell = row[table[.value]].trimmed
    if cell.isEmpty || cell.number() == 0 { return out.skip("row without a value") }
    let device = out.device(
      vendor: "Tandem", model: row[table[.deviceType]], serial: row[table[.serial]])
    if kind == .smbg, isFilledIn(cell, at: time, row) {
      out.skip("filled in from the sensor")
    } else {
      let reader = GlucoseReader(unit: table.unit ?? units.unit)
      let marks: ReadingMarks = kind == .smbg ? .calculator : []
      guard out.add(kind, reader.read(cell), device: device, at: time, marks: marks, row: row) else { return }
    }
    addNote(row, at: time, into: &out)
  }

  /// Whether this blood glucose is a copy of a sensor value.
  private mutating func isFilledIn(_ cell: Field, at time: ShownTime, _ row: Row) -> Bool {
    guard let number = cell.number() else { return false }
    return sensor.holds(number, table.unit, before: time.deviceTime, of: owner(row))
  }

  private mutating func noteSensor(_ row: Row) {
    guard row[table[.description]].equalsFolded("egv"), let number = row[table[.value]].number(),
      let time = row[table[.eventTime]].yearFirstTime
    else { return }
    sensor.note(number, table.unit, at: time.deviceTime, of: owner(row))
  }

  private func addNote(_ row: Row, at time: ShownTime, into out: inout Collector) {
    let note = row[table[.note]].trimmed
    if note.isEmpty { return }
    out.add(.note, at: time, owner: owner(row), line: row.line, ["text": .text(note.text)])
  }

  private func owner(_ row: Row) -> String { row[table[.serial]].text }

  /// A bolus, at the time of its end.
  private mutating func readBolus(_ row: Row, into out: inout Collector) {
    let cell = row[table[.completionTime]].trimmed
    if cell.isEmpty { return out.skip("bolus not completed") }
    guard let time = cell.yearFirstTime else {
      return out.reject(row, "invalid time; expected YYYY-MM-DDThh:mm:ss")
    }
    let columns = [
      AmountColumn(table[.delivered], "units", PlausibleAmounts.units),
      AmountColumn(table[.carbs], "carbs", PlausibleAmounts.grams),
    ]
    guard var fields = out.amounts(row, columns) else { return }
    // It is not known whether the amount in the other column is a part of what was delivered.
    if let extended = row[table[.extended]].number(), extended != 0 { out.skip("extended part of a bolus") }
    let carbs = fields.removeValue(forKey: "carbs")
    if !fields.isEmpty {
      fields["subtype"] = .text("rapid")
      out.add(.insulin, at: time, owner: owner(row), line: row.line, fields)
    }
    if let carbs { out.add(.food, at: time, owner: owner(row), line: row.line, ["carbs": carbs]) }
    if fields.isEmpty, carbs == nil { out.skip("bolus without insulin") }
    addNote(row, at: time, into: &out)
  }
}
