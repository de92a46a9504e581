// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The tables of Glooko's export, a ZIP archive with one CSV file for each kind of data.
///
/// Times are local, to the minute, without a zone. In every column of numbers, 0 means that there is no
/// value; only a basal row without any amount states a rate of 0. The column `Serial Number` may hold a
/// product's name, so it becomes the model.
struct GlookoFormat: ExportFormat {
  static let id = "glooko"
  static let title = "Glooko CSV"
  static let summary = "sensor and meter readings, insulin, basal rates, carbohydrates, food, exercise, notes"

  /// The result of recognising a table.
  struct Found {
    let row: HeaderRow<GlookoTable>
    let title: GlookoTitle?
  }

  private var table: GlookoTable
  private var hasHeader = false
  private var hasTitle = false
  let joinMark: String?
  private var glucose: GlucoseReader
  private var mark: DecimalMarkSurvey
  private var dates: DateOrderSurvey
  private var order: DateOrder?
  private var orderBasis = Decision.Basis.given
  private let isYearFirst: Bool

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Found>? {
    for delimiter in InputHead.delimiters {
      let sign = Character(Unicode.Scalar(delimiter))
      // An unclosed quote in a line above may hide the header in CSV. The header is still a separate line, so
      // the lines are searched.
      let lines = head.lines.map {
        $0.split(separator: sign, omittingEmptySubsequences: false).map(String.init)
      }
      for rows in [head.rows(delimiter), lines] {
        if let found = find(in: rows, delimiter) {
          return Recognition(layout: .table(delimiter: delimiter), header: found)
        }
      }
    }
    return nil
  }

  /// The person in the title line: `Name:Kim Sample`, or the number of a clinic's record.
  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    person(in: head).map { statedPersons(named: [$0.name]) } ?? []
  }

  static func statedPersons(named names: [String]) -> [StatedPerson] {
    names.first.flatMap { StatedPerson(label: $0, of: id) }.map { [$0] } ?? []
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    // This check comes first, since creating texts is slow and few rows have two filled cells.
    guard row.fields.count(where: { !$0.trimmed.isEmpty }) == 2 else { return .other }
    return person(row.fields.map { $0.trimmed.text }).map { .title([$0.name]) } ?? .other
  }

  private static func person(in head: InputHead) -> (word: String, name: String)? {
    InputHead.delimiters.lazy.compactMap { head.rows($0).first.flatMap { person($0) } }.first
  }

  /// The word before the name in a title, with its colon, and the name.
  private static func person(_ title: [String]) -> (word: String, name: String)? {
    guard GlookoTitle(title) != nil, let cell = title.first(where: { !$0.isEmpty }),
      let colon = cell.firstIndex(of: ":")
    else { return nil }
    return (String(cell[...colon]), String(cell[cell.index(after: colon)...]))
  }

  private static func find(in rows: [[String]], _ delimiter: UInt8) -> Found? {
    let title = rows.first.flatMap(GlookoTitle.init)
    for (index, cells) in rows.enumerated() {
      guard let table = GlookoTable(cells, hasTitle: title != nil) else { continue }
      let row = HeaderRow(delimiter: delimiter, cells: cells, rows: rows[(index + 1)...], meaning: table)
      return Found(row: row, title: title)
    }
    return nil
  }

  init(_ found: Recognition<Found>, head: InputHead, options: ExportOptions) throws {
    let row = found.header.row
    table = row.meaning
    joinMark = Self.person(in: head)?.word
    mark = DecimalMarkSurvey(presumed: .point)
    for cells in row.rows {
      for cell in cells.dropFirst() { mark.observe(cell.utf8) }
    }
    glucose = GlucoseReader(unit: table.unit ?? .milligramsPerDecilitre, mark: mark.mark)
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    order = options.dateOrder.flatMap(DateOrder.init(rawValue:))
    let times = row.rows.compactMap(\.first)
    isYearFirst = !times.isEmpty && times.allSatisfy { $0.count > 4 && $0.prefix(4).allSatisfy(\.isNumber) }
  }

  var needsSurvey: Bool { order == nil && !isYearFirst && table.isStored }
  var benefitsFromSurvey: Bool { dates.isGiven && table.isStored }

  mutating func survey(_ row: Row) {
    if let time = row[0].ambiguousTime {
      dates.observe(time, isHistory: table.kind == .cgm, line: row.line)
    } else if let title = GlookoTitle(row.fields.map(\.text)) {
      observeLastDay(title, line: row.line)
    }
  }

  /// Records the end of the export's last day, after which it has no readings.
  private mutating func observeLastDay(_ title: GlookoTitle, line: Int64) {
    if let latest = DeviceTime(text: title.lastDay) { return dates.observeLatest(latest.seconds + 86399) }
    var text = title.lastDay + " 23:59"
    let time = text.withUTF8 { bytes in
      bytes.baseAddress.flatMap { Field(start: $0, count: bytes.count, shape: .bare).ambiguousTime }
    }
    if let time { dates.observeExportTime(time, line: line) }
  }

  mutating func decide() throws {
    (order, orderBasis) = try dates.decide(halfDayMeansMonthFirst: true, languagePutsDayFirst: false)
  }

  var decisions: [Decision] {
    let unit = table.unit.map { [Decision.units([$0])] } ?? []
    guard table.isStored else { return unit }
    return unit + [.dateOrder(order, orderBasis, isYearFirst: isYearFirst)] + mark.decisions
  }

  var warnings: [String] { table.unknown.map { HeaderNames.warning($0, readAs: nil) } }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let first = row[0].bytes.first, first &- 0x30 <= 9 else { return readOther(row) }
    guard table.isStored else {
      out.skip(table.kind == .dailyTotal ? "daily total" : table.kind == .alarm ? "alarm" : "medication")
      return .data
    }
    guard let time = time(row[0]) else {
      out.reject(
        row,
        order == nil
          ? "invalid time; expected YYYY-MM-DD hh:mm"
          : "invalid time; expected \(order == .monthFirst ? "MM/DD/YYYY" : "DD.MM.YYYY") hh:mm")
      return .data
    }
    switch table.kind {
    case .cgm: readGlucose(row, .cbg, table[.cgm], at: time, into: &out)
    case .meter: readGlucose(row, .smbg, table[.glucose], at: time, into: &out)
    case .bolus: readBolus(row, at: time, into: &out)
    case .basal: readBasal(row, at: time, into: &out)
    default: readDiary(row, at: time, into: &out)
    }
    return .data
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    let cells = row.fields.map(\.text)
    if let table = GlookoTable(cells, hasTitle: hasTitle) {
      self.table = table
      hasHeader = true
      if let unit = table.unit { glucose.unit = unit }
      return .header
    }
    if GlookoTitle(cells) != nil { hasTitle = true }
    return .unknown("before the header, or not a row of Glooko")
  }

  @inline(__always) private func time(_ cell: Field) -> ShownTime? {
    if let order { return cell.ambiguousTime?.time(order).map { ShownTime($0) } ?? cell.yearFirstTime }
    return cell.yearFirstTime
  }

  private mutating func readGlucose(
    _ row: Row, _ kind: ReadingKind, _ column: Int, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let cell = row[column]
    decideMark(cell)
    if cell.isEmpty { return out.skip("row without a value") }
    let value: CellValue
    if let number = cell.number(glucose.mark) {
      if number == 0 { return out.skip("row without a value") }
      value = CellValue(glucose: number, glucose.unit)
    } else {
      value = glucose.read(cell)
    }
    let isManual = row[table[.isManual]].equalsFolded("m")
    out.add(
      kind, value, device: device(row, in: &out), at: time, marks: isManual ? .manual : [],
      row: row)
  }

  @inline(__always) private mutating func decideMark(_ cell: Field) {
    guard !mark.isDecided else { return }
    mark.observe(cell.bytes)
    glucose.mark = mark.mark
  }

  @inline(__always) private func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let model = row[table[.serial]]
    return out.device(vendor: "Glooko", model: model.isEmpty ? .fixed("Glooko") : model, serial: .absent)
  }
}

// MARK: - Insulin, food and the rest

extension GlookoFormat {
  /// The content of a cell of numbers: 0 and an empty cell mean no number.
  private enum AmountCell {
    case none
    case number(Double)
    case wrong
  }

  private mutating func amount(_ row: Row, _ column: GlookoColumn, in range: ClosedRange<Double>)
    -> AmountCell
  {
    let cell = row[table[column]]
    if cell.isEmpty { return .none }
    decideMark(cell)
    guard let number = cell.number(mark.mark), range.contains(number) else { return .wrong }
    return number == 0 ? .none : .number(number)
  }

  /// Reads numbers into fields; false if one is invalid and the row was rejected.
  private mutating func copy(
    _ row: Row, _ wanted: [(column: GlookoColumn, field: String, range: ClosedRange<Double>)],
    into fields: inout [String: FieldValue], _ out: inout BatchBuilder
  ) -> Bool {
    for (column, field, range) in wanted {
      switch amount(row, column, in: range) {
      case .none: continue
      case .number(let number): fields[field] = .number(number)
      case .wrong:
        out.reject(row, "an amount is not a number from 0 to \(plainNumber(range.upperBound))")
        return false
      }
    }
    return true
  }

  /// Adds a record of this table's source.
  private func add(
    _ kind: RecordKind, at time: ShownTime, _ row: Row, _ fields: [String: FieldValue],
    into out: inout BatchBuilder
  ) {
    out.add(kind, at: time, owner: owner(row), source: table.source.rawValue, line: row.line, fields)
  }

  /// The device that a row names, or the source of a table without devices. It distinguishes meals that the
  /// pump, the diary and the sensor have in the same minute. Rows of the diary have no owner.
  private func owner(_ row: Row) -> String {
    let serial = row[table[.serial]].text
    return serial.isEmpty && table.source != .diary ? table.source.rawValue : serial
  }

  /// Adds a bolus: the delivered amount, in two parts if it was partly extended. The calculator's glucose is
  /// not a reading.
  private mutating func readBolus(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    var amounts: [String: FieldValue] = [:]
    guard
      copy(
        row,
        [
          (.delivered, "units", PlausibleAmounts.units), (.initial, "initial", PlausibleAmounts.units),
          (.extended, "extended", PlausibleAmounts.units), (.carbs, "carbs", PlausibleAmounts.grams),
        ], into: &amounts, &out)
    else { return }
    let (initial, carbs) = (amounts.removeValue(forKey: "initial"), amounts.removeValue(forKey: "carbs"))
    if amounts["extended"] != nil { amounts["units"] = initial }
    if !amounts.isEmpty {
      amounts["subtype"] = .text("rapid")
      add(.insulin, at: time, row, amounts, into: &out)
    }
    if let carbs { add(.food, at: time, row, ["carbs": carbs], into: &out) }
    if amounts.isEmpty, carbs == nil { out.skip("bolus without insulin") }
  }

  /// Adds a basal rate with its minutes, or the delivered insulin if the table states no rate. A row with
  /// minutes but without an amount states a percentage of a rate that the table does not contain, or a rate
  /// of 0.
  private mutating func readBasal(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    guard
      copy(
        row,
        [
          (.rate, "rate", PlausibleAmounts.unitsPerHour), (.minutes, "minutes", PlausibleAmounts.minutes),
          (.delivered, "units", PlausibleAmounts.units),
        ], into: &fields, &out)
    else { return }
    if fields["rate"] != nil {
      fields["units"] = nil
    } else if fields["units"] == nil {
      guard fields["minutes"] != nil else { return out.skip("basal without a rate") }
      switch amount(row, .percentage, in: 0...1000) {
      case .none: fields["rate"] = .number(0)
      case .number(let percent): fields["text"] = .text("\(plainNumber(percent)) %")
      case .wrong: return out.reject(row, "the temporary basal rate is not a percentage from 0 to 1000")
      }
    }
    fields["subtype"] = .text("basal")
    add(.insulin, at: time, row, fields, into: &out)
  }

  private mutating func readDiary(_ row: Row, at time: ShownTime, into out: inout BatchBuilder) {
    var fields: [String: FieldValue] = [:]
    func text(_ columns: GlookoColumn...) -> String {
      columns.map { row[table[$0]].trimmed.text }.filter { !$0.isEmpty }.joined(separator: ", ")
    }
    let kind: RecordKind
    let words: String
    switch table.kind {
    case .carbs, .food:
      guard
        copy(
          row,
          [
            (.carbs, "carbs", PlausibleAmounts.grams), (.fat, "fat", PlausibleAmounts.grams),
            (.protein, "protein", PlausibleAmounts.grams), (.energy, "energy", PlausibleAmounts.kilocalories),
          ], into: &fields, &out)
      else { return }
      (kind, words) = (.food, text(.name))
    case .exercise:
      guard copy(row, [(.minutes, "minutes", PlausibleAmounts.minutes)], into: &fields, &out) else { return }
      if !text(.intensity).isEmpty { fields["intensity"] = .text(text(.intensity)) }
      (kind, words) = (.exercise, text(.name))
    case .insulin:
      guard copy(row, [(.value, "units", PlausibleAmounts.units)], into: &fields, &out) else { return }
      if fields.isEmpty { return out.skip("insulin without an amount") }
      let type = row[table[.insulinType]].folded
      if let subtype = InsulinWord.subtype(type) ?? InsulinName.subtype(type)
        ?? InsulinName.subtype(text(.name))
      {
        fields["subtype"] = .text(subtype)
      }
      (kind, words) = (.insulin, text(.name, .insulinType))
    default: (kind, words) = (.note, text(.value))
    }
    if !words.isEmpty { fields["text"] = .text(words) }
    guard !fields.isEmpty else { return out.skip("row without a value") }
    add(kind, at: time, row, fields, into: &out)
  }
}

extension GlookoFormat {
  static let page = FormatPage(
    origin: [
      "sign in at my.glooko.com, in Europe at eu.my.glooko.com",
      "Export to CSV, above the summary; import the ZIP archive as it is",
    ],
    variants: [
      "the ZIP archive, or single files of it",
      "exports of clinics, which have no line with the name",
      "mg/dL and mmol/L, decimal point and comma",
    ],
    languages: "English, German, Swedish, Dutch, French",
    reads: [
      "sensor and meter readings",
      "boluses, basal rates, insulin by hand",
      "carbohydrates, food, exercise, notes",
    ],
    notRead: [
      "daily totals, alarms, medication",
      "the glucose that was typed into a bolus calculator",
      "a serial number: the column may have the name of a product",
    ])
}
