// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Any table with a header, and any JSON objects, that hold one time and one glucose value a row; or whose
/// columns a person named.
///
/// A time that states its offset is shown as printed. A count since 1970 shows no time of its own, so it is
/// the reading's position itself, which no zone changes.
struct GenericFormat: ExportFormat {
  static let id = "generic"
  static let title = "table or JSON with a time and a glucose column"
  static let summary = "glucose and ketone readings; with --map also insulin, carbohydrates and notes"
  static let readsJSON = true

  private let options: ExportOptions
  private let finding: GenericFinding
  private var columns: GenericColumns
  private var place: Place
  private var times: GenericTimeReader
  private var units: GenericUnits
  private var dates: DateOrderSurvey
  private var orderIsOpen = false
  private var orderGround: Decision.Ground?
  private var kinds: KindColumn
  /// Whether a person named columns of insulin, carbohydrates or notes.
  private let hasDiary: Bool
  private var fixedDevice: DeviceIndex?
  /// The header's cells in all, and up to the last one that is filled.
  private var headerCount = 0
  private var columnCount = 0
  private var lastCell = LastCell()
  private var lastRole: GenericRole?

  private enum Place { case beforeHeader, behindHeader, behindOtherHeader }

  static func recognise(_ head: InputHead) -> Layout? {
    if isEmptyList(head) { return .objects(columns: []) }
    guard let finding = GenericFinding.find(head, map: [:]) else { return nil }
    // Where nothing is read, nothing has to be settled.
    let isExportOfNothing = head.isWhole && finding.isHeaderAlone
    return finding.problem == nil || isExportOfNothing ? layout(of: finding) : nil
  }

  static func layout(of finding: GenericFinding) -> Layout {
    if let delimiter = finding.delimiter { return .table(delimiter: delimiter) }
    return .objects(columns: finding.columns.roles.map { finding.header.names[finding.columns[$0]] })
  }

  init(layout: Layout, head: InputHead, options: ExportOptions) throws {
    self.options = options
    let empty = GenericFinding(header: GenericHeader(names: [], rows: []))
    finding = GenericFinding.find(head, map: options.columns) ?? empty
    columns = finding.columns
    if case .objects = layout {
      for (position, role) in finding.columns.roles.enumerated() { columns[role] = position }
    }
    place = finding.delimiter == nil ? .behindHeader : .beforeHeader
    times = GenericTimeReader(takesSerials: options.columns["time"] != nil, zone: options.zone)
    units = GenericUnits(finding, given: options.unit)
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now)
    let value = finding.columns[.value]
    let named = value >= 0 ? finding.header.words[value].kind : nil
    kinds = KindColumn(named ?? (finding.header.words.contains(where: \.isTrend) ? .cbg : .smbg))
    let roles = finding.columns.roles
    hasDiary = roles.contains(.carbs) || roles.contains(.insulin) || roles.contains(.note)
    settleOrderFromHead()
  }

  /// A number over 12 or a dot among the head's dates settles the order; contradictions are for the survey.
  private mutating func settleOrderFromHead() {
    if let given = options.dateOrder.flatMap(DateOrder.init) {
      times.order = given
      orderGround = .given
      return
    }
    let column = finding.columns[.time] >= 0 ? finding.columns[.time] : finding.columns[.date]
    let dates = finding.header.cells(column).compactMap { $0.withField { $0.trimmed.openDate } }
    guard !dates.isEmpty else { return }
    let dayIsFirst = dates.contains { $0.first > 12 || $0.separator == UInt8(ascii: ".") }
    let monthIsFirst = dates.contains { $0.second > 12 }
    guard dayIsFirst != monthIsFirst else {
      orderIsOpen = true
      return
    }
    times.order = dayIsFirst ? .dayFirst : .monthFirst
    orderGround = .inferred
  }

  var isOpen: Bool { orderIsOpen || units.isOpen }

  mutating func survey(_ row: Row) {
    if place == .beforeHeader {
      _ = takeHeader(row)
      return
    }
    if row.isUnterminated, units.hasValues { return }
    if orderIsOpen, let time = openTime(of: row) {
      dates.note(time, isHistory: kinds.common.kind == .cbg, line: row.line)
    }
    if units.isOpen, kinds.word(in: row[columns[.kind]])?.kind != .ketone {
      units.note(row[columns[.value]], in: row[columns[.unit]])
    }
  }

  private func openTime(of row: Row) -> OpenTime? {
    if columns[.time] >= 0 { return row[columns[.time]].trimmed.openTime }
    guard let date = row[columns[.date]].trimmed.openDate else { return nil }
    // Where the time of day does not matter for the order, midnight serves.
    return OpenTime(
      first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
      hasHalfDay: false,
      separator: date.separator)
  }

  mutating func settle() throws {
    try units.settle()
    if orderIsOpen {
      let (order, ground) = try dates.settle(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
      times.order = order
      orderGround = ground
      orderIsOpen = false
    }
    if finding.delimiter != nil { place = .beforeHeader }
    columns = finding.delimiter == nil ? columns : finding.columns
  }

  var decisions: [Decision] {
    var decisions = units.decisions
    if let delimiter = finding.delimiter {
      let names: [UInt8: String] = [0x2C: "comma", 0x3B: "semicolon", 0x09: "tab", 0x7C: "bar"]
      decisions.insert(Decision("delimiter", names[delimiter] ?? "other", .inferred), at: 0)
    }
    if let order = times.order {
      decisions.append(Decision("date-order", order.rawValue, orderGround ?? .inferred))
    } else {
      decisions.append(Decision("date-order", "unambiguous", .read))
    }
    return decisions
  }

  var warnings: [String] {
    let unused = finding.unused
    return unused.isEmpty ? [] : ["not read: \(finding.quoted(unused))"]
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    guard place == .behindHeader else { return readOutside(row, into: &out) }
    if row.isUnterminated, isCut(row) { return .cut }
    let outcome = readTime(row)
    if case .rejected(let reason) = outcome { return refuse(row, reason, into: &out) }
    if let lastRole, row.count == columnCount {
      lastCell.note(row[columnCount - 1], as: lastRole, mark: units.mark)
    }
    readValue(row, at: outcome, into: &out)
    if columns[.ketone] >= 0 { readKetone(row, at: outcome, into: &out) }
    if hasDiary { readDiary(row, at: outcome, into: &out) }
    return .data
  }

  @inline(__always) private mutating func readTime(_ row: Row) -> GenericTimeReader.Outcome {
    if columns[.time] >= 0 { return times.read(row[columns[.time]]) }
    return times.read(date: row[columns[.date]], clock: row[columns[.clock]])
  }

  @inline(__always) private mutating func readValue(
    _ row: Row, at outcome: GenericTimeReader.Outcome, into out: inout Collector
  ) {
    guard columns[.value] >= 0 else { return }
    let value = row[columns[.value]]
    if value.isEmpty {
      if !hasDiary { out.skip("row without a value") }
      return
    }
    if row.count > headerCount, finding.delimiter == UInt8(ascii: ","), mayBeSplit(row) {
      return out.reject(row, "more cells than the header has: a comma in a number or text without quotes?")
    }
    guard let word = kinds.word(in: row[columns[.kind]]) else {
      return out.skip(kinds.name(of: row[columns[.kind]]))
    }
    let cell =
      word.kind == .ketone
      ? units.ketone(value, unit: row[columns[.unit]]) : units.read(value, unit: row[columns[.unit]])
    add(word, cell, row, at: outcome, into: &out)
  }

  /// Whether a row of more cells than the header has may hold a number that its own decimal comma splits.
  private func mayBeSplit(_ row: Row) -> Bool {
    if !row.isEmpty(from: headerCount) { return true }
    let (whole, fraction) = (row[columns[.value]], row[columns[.value] + 1])
    guard let number = whole.integer, number <= 35 else { return false }
    return fraction.shape == .bare && fraction.count <= 2 && fraction.integer != nil
  }

  private mutating func readKetone(
    _ row: Row, at outcome: GenericTimeReader.Outcome, into out: inout Collector
  ) {
    let cell = GlucoseReader.ketone(row[columns[.ketone]], mark: units.mark)
    if case .empty = cell { return }
    add(KindWord(.ketone), cell, row, at: outcome, into: &out)
  }

  @inline(__always) private mutating func add(
    _ word: KindWord, _ cell: CellValue, _ row: Row, at outcome: GenericTimeReader.Outcome,
    into out: inout Collector
  ) {
    switch cell {
    case .measurement(let measurement):
      guard let (time, tick) = position(row, outcome) else {
        return out.reject(row, "a record number that is no whole number")
      }
      var reading = Reading(
        device: device(of: row, in: &out), kind: word.kind, at: time.deviceTime, placement: out.place(time),
        measurement, marks: word.marks, line: row.line)
      if columns[.control] >= 0, isSet(row[columns[.control]]) { reading.marks.insert(.controlSolution) }
      if let tick {
        reading.axis = .tick
        reading.position = tick
      }
      out.add(reading)
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// The shown time, and the position where it is not the time: the record's own number, or the instant.
  @inline(__always) private func position(
    _ row: Row, _ outcome: GenericTimeReader.Outcome
  ) -> (ShownTime, tick: Int64?)? {
    var (time, tick): (ShownTime, Int64?)
    switch outcome {
    case .shown(let shown): (time, tick) = (shown, nil)
    case .instant(let shown, let milliseconds): (time, tick) = (shown, milliseconds)
    case .rejected: return nil
    }
    if columns[.tick] >= 0 {
      guard let number = row[columns[.tick]].integer else { return nil }
      tick = number
    }
    return (time, tick)
  }

  /// Whether a cell ticks what its column names.
  private func isSet(_ field: Field) -> Bool {
    let noes = ["0", "-", "n", "no", "false", "falsch", "nein", "non", "faux", "nee", "falso", "nej", "nei"]
    return !field.isEmpty && !noes.contains(field.folded)
  }

  @inline(__always) private mutating func device(of row: Row, in out: inout Collector) -> DeviceIndex {
    if columns[.device] >= 0 || columns[.serial] >= 0 {
      let (model, serial) = (row[columns[.device]], row[columns[.serial]])
      if !model.isEmpty || !serial.isEmpty {
        return out.device(vendor: "Generic", model: model, serial: serial)
      }
    }
    if let fixedDevice { return fixedDevice }
    let device = Device(vendor: "Generic", model: options.device ?? "unknown", format: Self.id)
    let index = out.device(device)
    fixedDevice = index
    return index
  }
}

// MARK: - Headers, the last line, and rows that are no data

extension GenericFormat {
  private mutating func readOutside(_ row: Row, into out: inout Collector) -> RowVerdict {
    if takeHeader(row) { return .header }
    if place == .beforeHeader { return .unknown("before the header") }
    out.reject(row, "behind a header with other columns; import this part as an input of its own")
    return .data
  }

  /// Whether the row is the header found in the head, or one with the same names in other places.
  private mutating func takeHeader(_ row: Row) -> Bool {
    guard finding.delimiter != nil, row.count <= TableReader.mostColumns else { return false }
    let cells = row.fields.map(\.folded)
    let names = finding.header.names.dropFirst(finding.header.shift).map(foldedHeader)
    if cells != names {
      // Before the first header, only the row seen in the head will do.
      guard place != .beforeHeader, finding.header.shift == 0 else { return false }
      let wanted = finding.columns
      guard wanted.roles.allSatisfy({ cells.contains(names[wanted[$0]]) }) else { return false }
      columns = wanted.moved { cells.firstIndex(of: names[$0]) ?? -1 }
    } else {
      columns = finding.columns
    }
    let filled = (cells.lastIndex { !$0.isEmpty } ?? -1) + 1
    columnCount = filled + finding.header.shift
    headerCount = cells.count + finding.header.shift
    lastRole = columns.last == columnCount - 1 ? columns.role(of: columns.last) : nil
    place = .behindHeader
    return true
  }

  /// Rejects a row without a time, unless it is a header or says nothing.
  private mutating func refuse(_ row: Row, _ reason: String, into out: inout Collector) -> RowVerdict {
    if row.isEmpty(from: 0) {
      out.skip("empty row")
      return .data
    }
    if finding.delimiter != nil {
      if takeHeader(row) { return .header }
      if looksLikeHeader(row) {
        place = .behindOtherHeader
        return .unknown("a header with other columns")
      }
      if row.isUnterminated, lastRole == .time || lastRole == .clock || lastRole == .date { return .cut }
    }
    out.reject(row, reason)
    return .data
  }

  private func looksLikeHeader(_ row: Row) -> Bool {
    guard row.count > 1, row.count <= 128 else { return false }
    let words = row.fields.map { HeaderWords($0.text) }
    return words.contains(where: \.isTime) && words.contains { $0.isGlucose || $0.isValue }
  }

  private func isCut(_ row: Row) -> Bool {
    if row.count < columnCount { return true }
    guard row.count == columnCount, let lastRole else { return false }
    let cell = row[columnCount - 1]
    if !cell.isEmpty, cell.shape != .quoted {
      if lastRole == .unit, GlucoseUnit(name: cell.text) == nil { return true }
      if lastRole == .kind, KindWord(cell.text) == nil { return true }
    }
    return lastCell.mayBeCut(cell, as: lastRole, mark: units.mark)
  }
}

// MARK: - Diary columns that a person named

extension GenericFormat {
  private func readDiary(_ row: Row, at outcome: GenericTimeReader.Outcome, into out: inout Collector) {
    guard let (time, _) = position(row, outcome) else { return }
    let owner = row[columns[.serial]].isEmpty ? row[columns[.device]].text : row[columns[.serial]].text
    func amount(_ role: GenericRole, upTo most: Double) -> Double? {
      let cell = row[columns[role]]
      if cell.isEmpty { return nil }
      guard let number = cell.number(units.mark), (0...most).contains(number) else {
        out.reject(row, "an amount of \(role.name) that is no number, or none that can be")
        return nil
      }
      return number == 0 ? nil : number
    }
    if columns[.insulin] >= 0, let dose = amount(.insulin, upTo: 500) {
      out.add(.insulin, at: time, owner: owner, line: row.line, ["units": .number(dose)])
    }
    if columns[.carbs] >= 0, let grams = amount(.carbs, upTo: 2000) {
      out.add(.food, at: time, owner: owner, line: row.line, ["carbs": .number(grams)])
    }
    if columns[.note] >= 0, !row[columns[.note]].isEmpty {
      out.add(.note, at: time, owner: owner, line: row.line, ["text": .text(row[columns[.note]].text)])
    }
  }
}
