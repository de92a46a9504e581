// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Dexcom Clarity CSV, G4 to G7 and Stelo, in every language.
///
/// A sensor reading is identified by the transmitter's tick, since Clarity renumbers rows and revises values.
/// Shown times were seen to move by an hour between exports. In files without ticks, which other programs
/// saved, the time identifies the reading.
struct ClarityFormat: ExportFormat {
  static let id = "clarity"
  static let title = "Dexcom Clarity CSV"
  static let summary = "sensor readings, calibrations, insulin, carbohydrates, exercise, health notes"

  /// The range of every Dexcom sensor, in mg/dL; outside it Clarity writes the words Low and High.
  private static let limits = (low: 40.0, high: 400.0)

  private let layout: Layout
  private let options: ExportOptions
  var columns: ClarityColumns
  private var hasHeader = false
  private var units: [GlucoseUnit]
  private var glucose: GlucoseReader
  private var decimalMark: DecimalMarkSurvey
  private var types = ClarityEventTypes()
  private var levels = ClarityLevels()
  /// The clock of each device, by the device's number. A device is a transmitter with the display that shows
  /// its times.
  private var clocks: [DeviceClock] = []
  /// Whether the order of day and month is ambiguous: spreadsheets write times in the order of their country.
  private let hasAmbiguousDates: Bool
  private var dates: DateOrderSurvey
  private var order: (DateOrder, Decision.Basis)?
  private let unusualNames: [String]
  let joinMark: String?

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<ClarityColumns>>? {
    head.firstRow { ClarityColumns(header: $0.map(foldedHeader)) }?.recognition
  }

  init(_ found: Recognition<HeaderRow<ClarityColumns>>, head: InputHead, options: ExportOptions) throws {
    let header = found.header
    layout = found.layout
    self.options = options
    columns = header.meaning
    unusualNames = header.meaning.warnings(header.cells)
    joinMark = Self.names(in: head).first?[2]
    units = [header.meaning.unit]
    decimalMark = DecimalMarkSurvey(presumed: header.delimiter == UInt8(ascii: ";") ? .comma : .point)
    glucose = Self.reader(header.meaning.unit, mark: decimalMark.mark)
    let times = header.rows.lazy.compactMap { row in
      row.indices.contains(header.meaning.time) ? row[header.meaning.time] : nil
    }
    hasAmbiguousDates = times.first { !$0.isEmpty }?.prefix(3).contains(where: "-/.".contains) ?? false
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    if hasAmbiguousDates, dates.isGiven { try decide() }
  }

  /// Recognises the rows for the person. A header begins an export, and the rows below it without a time hold
  /// the name and other information on the patient.
  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    guard row.count > 5 else { return .other }
    if !row[1].isEmpty { return row[1].trimmed[0] &- 0x30 <= 9 ? .other : .start }
    return row[4].isEmpty || !row[5].isEmpty ? .other : .name(row[4].trimmed.text)
  }

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    statedPersons(named: names(in: head).map { $0[4] })
  }

  /// The rows below the header that have a name, a date of birth or an id of the person.
  private static func names(in head: InputHead) -> [[String]] {
    let header = head.firstRow { ClarityColumns(header: $0.map(foldedHeader)) }
    return header?.rows.prefix(10).filter {
      $0.count > 5 && $0[1].isEmpty && !$0[4].isEmpty && $0[5].isEmpty
    } ?? []
  }

  /// The person in these cells. A cell with a date is the date of birth, another cell with a digit is an id,
  /// and the rest is the name. The titles of the cells are not used, since they are translated.
  static func statedPersons(named names: [String]) -> [StatedPerson] {
    let marked = names.filter { $0.contains(where: \.isNumber) }
    let name = names.filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
    return (StatedPerson(name: name).map { [$0] } ?? [])
      + marked.compactMap { StatedPerson(birthDate: $0) ?? StatedPerson(id: $0, of: id) }
  }

  var needsSurvey: Bool { hasAmbiguousDates && !dates.isGiven }
  var benefitsFromSurvey: Bool { hasAmbiguousDates && dates.isGiven }

  mutating func survey(_ row: Row) {
    guard let time = row[columns.time].ambiguousTime else { return }
    dates.observe(time, isHistory: types.event(row[columns.type]) == .estimate, line: row.line)
  }

  mutating func decide() throws {
    guard hasAmbiguousDates, order == nil || dates.isGiven else { return }
    order = try dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
  }

  var decisions: [Decision] {
    var decisions = [Decision.units(units)]
    if let (order, basis) = order {
      decisions.append(.dateOrder(order, basis))
    } else {
      decisions.append(.yearFirst)
    }
    if decimalMark.mark == .comma || decimalMark.isDecided {
      decisions.append(Decision("decimal-mark", decimalMark.mark.name, .inferred))
    }
    return decisions
  }

  var warnings: [String] {
    let mixed = "the input has headers with different units; each row is read by the header above it"
    return (units.count > 1 ? [mixed] : []) + unusualNames
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let time = row[columns.time].trimmed
    guard hasHeader, time.isEmpty || time[0] &- 0x30 <= 9 else {
      return readHeader(row) ? .header : .unknown("before the header, or not a row of Clarity")
    }
    if time.isEmpty { return readTimeless(row, into: &out) }
    guard let shown = shownTime(time) else {
      out.reject(row, "invalid time; expected YYYY-MM-DDThh:mm:ss")
      return .data
    }
    if !row[columns.rate].isEmpty { out.skip("rate of change") }
    let event = event(row)
    if isSplit(row, event) {
      out.reject(row, "a second value; a decimal comma without quotes?")
      return .data
    }
    switch event {
    case .estimate: readEstimate(row, at: shown, into: &out)
    case .calibration: readFingerStick(row, .calibration, at: shown, into: &out)
    case .fingerStick: readFingerStick(row, .manual, at: shown, into: &out)
    case .unknown: out.skip(types.countedName(row[columns.type]))
    default: readDiary(row, event, at: shown, into: &out)
    }
    return .data
  }

  /// The number in a value cell, with the decimal mark of the input.
  mutating func number(_ cell: Field) -> Double? {
    decimalMark.observe(cell.bytes)
    glucose.mark = decimalMark.mark
    return cell.number(glucose.mark)
  }
}

// MARK: - Headers and rows that are not events

extension ClarityFormat {
  /// Reads values in a unit, with the limits of every Dexcom sensor.
  private static func reader(_ unit: GlucoseUnit, mark: DecimalMark) -> GlucoseReader {
    let factor = unit == .millimolesPerLitre ? Quantity.milligramsPerDecilitreInMillimole : 1
    return GlucoseReader(
      unit: unit, mark: mark,
      lowLimit: (limits.low / factor * 10).rounded() / 10,
      highLimit: (limits.high / factor * 10).rounded() / 10)
  }

  private mutating func readHeader(_ row: Row) -> Bool {
    guard let columns = ClarityColumns(header: row.fields.map(\.folded)) else { return false }
    self.columns = columns
    hasHeader = true
    if !units.contains(columns.unit) { units.append(columns.unit) }
    glucose = Self.reader(columns.unit, mark: decimalMark.mark)
    startExport()
    return true
  }

  private mutating func startExport() {
    for index in clocks.indices { clocks[index].startExport() }
  }

  /// Reads a row without a time. Such rows at the start of an export state the person, the devices and the
  /// limits of alerts.
  private mutating func readTimeless(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if row.isEmpty(from: 0) {
      out.skip("empty row")
    } else if row[columns.type].isEmpty {
      return .unknown("the row has no time")
    } else if types.event(row[columns.type]) != .unknown || !row[columns.tick].isEmpty {
      out.reject(row, "the event has no time")
    } else {
      out.skip("settings")
      startExport()
    }
    return .data
  }

  @inline(__always) private func shownTime(_ field: Field) -> ShownTime? {
    if let shown = field.yearFirstTime { return shown }
    guard let (order, _) = order, let time = field.ambiguousTime?.time(order) else { return nil }
    return ShownTime(time)
  }
}

// MARK: - Readings

extension ClarityFormat {
  /// The kind of the row; in unknown languages, the non-empty columns show it.
  @inline(__always) private mutating func event(_ row: Row) -> ClarityEvent {
    let event = types.event(row[columns.type])
    return event == .unknown ? eventOfColumns(row) : event
  }

  /// Whether the column after the event's value is not empty. No event of Clarity has two values, so a
  /// decimal comma may have split the value.
  @inline(__always) private func isSplit(_ row: Row, _ event: ClarityEvent) -> Bool {
    switch event {
    case .estimate, .calibration, .fingerStick: !row[columns.insulin].isEmpty
    case .insulin: !row[columns.carbs].isEmpty
    case .carbs: !row[columns.duration].isEmpty
    default: false
    }
  }

  private func eventOfColumns(_ row: Row) -> ClarityEvent {
    if !row[columns.glucose].isEmpty, !row[columns.transmitter].isEmpty {
      return row[columns.tick].isEmpty ? .calibration : .estimate
    }
    guard row[columns.glucose].isEmpty else { return .unknown }
    if !row[columns.insulin].isEmpty { return .insulin }
    if !row[columns.carbs].isEmpty { return .carbs }
    return row[columns.duration].isEmpty ? .unknown : .exercise
  }

  private mutating func readEstimate(_ row: Row, at shown: ShownTime, into out: inout BatchBuilder) {
    switch glucoseCell(row) {
    case .measurement(let measurement):
      guard let reading = estimate(row, measurement, at: shown, into: &out) else { return }
      levels.observe(measurement, of: reading.device, at: reading.deviceTime)
      out.add(reading)
      if levels.hasUndecided { addDecided(into: &out) }
    case .empty: out.skip("sensor reading without a value")
    case .rejected(let reason): readLevel(row, reason, at: shown, into: &out)
    }
  }

  /// Reads a row with a word in place of a value. A known word means below or above the range, and so does a
  /// word that the subtype repeats.
  private mutating func readLevel(
    _ row: Row, _ reason: String, at shown: ShownTime, into out: inout BatchBuilder
  ) {
    let isRepeated = row[columns.subtype].trimmed.hasSameBytes(as: row[columns.glucose].trimmed)
    let isTicked = !row[columns.tick].isEmpty && !row[columns.transmitter].isEmpty
    guard let word = ClarityLevels.word(row[columns.glucose]), isTicked || isRepeated else {
      return out.reject(row, reason)
    }
    if let level = levels.level(of: word) {
      if let reading = estimate(row, Self.measurement(level, glucose), at: shown, into: &out) {
        out.add(reading)
      }
      return
    }
    guard isRepeated else { return out.reject(row, reason) }
    let rejection = row.rejection(
      "the word '\(word)' in place of a value is not known, and no value near it shows whether it is low or high"
    )
    guard let reading = estimate(row, Self.measurement(.low, glucose), at: shown, into: &out) else { return }
    guard levels.buffer(reading, word: word, rejection: rejection) else {
      return out.reject(row, rejection.reason)
    }
    addDecided(into: &out)
  }

  private static func measurement(_ level: ClarityLevels.Level, _ reader: GlucoseReader) -> Measurement {
    switch level {
    case .low: .low(below: reader.lowLimit, reader.unit)
    case .high: .high(above: reader.highLimit, reader.unit)
    }
  }

  private mutating func addDecided(into out: inout BatchBuilder) {
    for (reading, level) in levels.removeDecided() {
      var reading = reading
      reading.measurement = Self.measurement(level, Self.reader(reading.measurement.unit, mark: .point))
      out.add(reading)
    }
  }

  mutating func finish(into out: inout BatchBuilder) {
    addDecided(into: &out)
    out.batch.rejections += levels.removeUndecided()
  }

  /// The reading of a row; nil if the row is rejected for a damaged tick.
  private mutating func estimate(
    _ row: Row, _ measurement: Measurement, at shown: ShownTime, into out: inout BatchBuilder
  ) -> Reading? {
    let device = device(row, in: &out)
    let clock = Int(device.number)
    let placement = out.placement(of: shown)
    let tick = row[columns.tick]
    if tick.isEmpty || row[columns.transmitter].isEmpty {
      // A change of the zone sets the clock back as well. Then the placement states that the time occurs
      // twice, so the set-back does not count here.
      let isAfterSetBack =
        clocks[clock].isBeforeItsMaximum(shown.deviceTime) && placement.source != .zoneOverlap
      return Reading(
        device: device, kind: .cbg, at: shown.deviceTime, placement: placement, measurement,
        marks: isAfterSetBack ? .clockSetBack : [], line: row.line)
    }
    guard let number = Self.wholeNumber(tick) else {
      out.reject(row, "invalid transmitter time; expected a whole number such as 1234567")
      return nil
    }
    return Reading(
      device: device, kind: .cbg, tick: number, at: shown.deviceTime,
      placement: clocks[clock].placement(of: shown.deviceTime, tick: number, as: placement, in: options.zone),
      measurement, line: row.line)
  }

  private mutating func readFingerStick(
    _ row: Row, _ marks: ReadingMarks, at shown: ShownTime, into out: inout BatchBuilder
  ) {
    let cell = glucoseCell(row)
    if case .empty = cell {
      return out.skip(marks == .calibration ? "calibration without a value" : "finger stick without a value")
    }
    out.add(.smbg, cell, device: device(row, in: &out), at: shown, marks: marks, row: row)
  }

  @inline(__always) private mutating func glucoseCell(_ row: Row) -> CellValue {
    let cell = row[columns.glucose]
    if !decimalMark.isDecided {
      decimalMark.observe(cell.bytes)
      glucose.mark = decimalMark.mark
    }
    return glucose.read(cell)
  }

  /// The tick in a field. Programs that turn a column with empty cells into decimal numbers write it as
  /// `7573.0`.
  @inline(__always) private static func wholeNumber(_ field: Field) -> Int64? {
    if let number = field.integer { return number }
    guard let number = field.number(.point) ?? field.number(.comma), abs(number) < 1e15 else { return nil }
    return Int64(exactly: number)
  }

  @inline(__always) private mutating func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let transmitter = row[columns.transmitter]
    let device = out.device(vendor: "Dexcom", model: row[columns.sourceDevice], serial: transmitter)
    while clocks.count <= Int(device.number) { clocks.append(DeviceClock()) }
    return device
  }
}

extension ClarityFormat {
  static let page = FormatPage(
    origin: [
      "sign in at clarity.dexcom.com, in Europe at clarity.dexcom.eu",
      "open any report and choose the export icon > CSV",
    ],
    variants: [
      "with commas or semicolons, quoted or not",
      "12 columns without transmitter, as other programs save it",
      "saved again by a spreadsheet or program, with columns left out, added or renamed",
    ],
    languages: "every language; events by their words in English, German, Spanish, French, Italian, Dutch, "
      + "Portuguese, Swedish, Danish and Norwegian; Low and High by their words or the values around them",
    reads: [
      "sensor readings with the transmitter's counter, calibrations",
      "Low and High, in every language, as below and above the range",
      "insulin, carbohydrates, exercise, health events, notes",
    ],
    notRead: [
      "alert settings, names of persons and devices",
      "the rate of change",
    ])
}
