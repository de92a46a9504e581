// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The workbook of the Sibionics app. Its times have an offset, so readings are identified by their instants.
/// The format also reads the table that hospitals get, whose times are local.
struct SibionicsFormat: ExportFormat {
  static let id = "sibionics"
  static let title = "Sibionics tables"
  static let summary = "sensor readings"

  /// The highest value that the app shows.
  private static let highest: [GlucoseUnit: Double] = [.milligramsPerDecilitre: 450, .millimolesPerLitre: 25]
  /// A limit in mmol/L. At least half of a person's glucose values are higher, and nearly all ketone values
  /// are lower.
  private static let minOfGlucose = 3.0

  private var table: SibionicsTable
  private var header: SingleHeader
  private var dates: AmbiguousDates
  private var below = 0
  private var count = 0
  private let kind: ReadingKind
  private let kindIsGiven: Bool
  private let model: String
  let joinMark: String?

  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    let header = head.firstRow { SibionicsTable(hospital: $0) }
    return statedPersons(named: header.flatMap { SibionicsTable.person(in: $0.cells) }.map { [$0] } ?? [])
  }

  static func statedPersons(named names: [String]) -> [StatedPerson] {
    names.compactMap { StatedPerson(name: $0) }
  }

  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    guard row.count > 2, !row[2].isEmpty else { return .other }
    return SibionicsTable.person(in: row.fields.map(\.text)).map { .title([$0]) } ?? .other
  }

  static func recognise(
    _ head: InputHead, options: ExportOptions
  ) -> Recognition<HeaderRow<SibionicsTable>>? {
    if let kind = options.kind, kind != .cbg, kind != .ketone { return nil }
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      for (index, cells) in rows.enumerated() {
        let below = rows[(index + 1)...]
        let table =
          SibionicsTable(app: cells, rows: below, isGiven: options.format == id)
          ?? SibionicsTable(hospital: cells)
        guard let table,
          options.kind != .ketone || table.unit == .millimolesPerLitre
        else { continue }
        return HeaderRow(delimiter: delimiter, cells: cells, rows: below, meaning: table).recognition
      }
    }
    return nil
  }

  init(_ found: Recognition<HeaderRow<SibionicsTable>>, head: InputHead, options: ExportOptions) throws {
    table = found.header.meaning
    header = SingleHeader(found.header.cells, of: "Sibionics")
    let time = table.time
    dates = try AmbiguousDates(
      options, times: found.header.rows.compactMap { $0.count > time ? $0[time] : nil })
    kind = options.kind ?? .cbg
    kindIsGiven = options.kind != nil
    model = options.device ?? "Sibionics"
    joinMark = SibionicsTable.person(in: found.header.cells) == nil ? nil : SibionicsTable.hospitalPerson
  }

  private var mayBeKetones: Bool { table.unit == .millimolesPerLitre && !kindIsGiven }

  var needsSurvey: Bool { dates.isUndecided || mayBeKetones }
  var benefitsFromSurvey: Bool { dates.benefitsFromSurvey }

  mutating func survey(_ row: Row) {
    dates.observe(clock(row).ambiguousTime, isHistory: true, line: row.line)
    guard let number = row[table.value].number() else { return }
    count += 1
    if number < Self.minOfGlucose { below += 1 }
  }

  mutating func decide() throws {
    if mayBeKetones, below * 2 > count {
      throw Failure(
        .badInput,
        "most values are below 3 mmol/L, as those of a ketone sensor are; "
          + "if they are ketones, import the file with --kind ketone")
    }
    try dates.decide(languagePutsDayFirst: table.languagePutsDayFirst)
  }

  var decisions: [Decision] {
    [.units([table.unit]), dates.decision] + (kindIsGiven ? [Decision("kind", kind.name, .given)] : [])
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let next = hospitalHeader(row) {
      table = next
      header = SingleHeader(row.fields.map(\.text), of: "Sibionics")
    }
    if let verdict = header.verdict(row, key: table.time) { return verdict }
    guard let shown = time(row) else {
      out.reject(
        row, table.hasOffsets ? "invalid time; expected a date, a time and GMT±h" : dates.refusal)
      return .data
    }
    let cell = row[table.value].trimmed
    switch kind == .ketone
      ? GlucoseReader.ketone(cell, mark: .point) : GlucoseReader(unit: table.unit).read(cell)
    {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement): out.add(reading(measurement, at: shown, row, &out))
    }
    return .data
  }

  /// The header of a further table of a hospital, with another person or sensor; nil for any other row.
  private func hospitalHeader(_ row: Row) -> SibionicsTable? {
    let cell = row[table.value]
    guard !table.hasOffsets, cell.count > 0, cell[0] >= 0x80 else { return nil }
    return SibionicsTable(hospital: row.fields.map(\.text)).flatMap { $0.unit == table.unit ? $0 : nil }
  }

  private func clock(_ row: Row) -> Field {
    let cell = row[table.time].trimmed
    return table.hasOffsets ? OffsetTime(cell)?.clock ?? .absent : cell
  }

  private func time(_ row: Row) -> ShownTime? {
    guard table.hasOffsets else { return dates.time(row[table.time].trimmed) }
    guard let text = OffsetTime(row[table.time]), let clock = dates.time(text.clock) else { return nil }
    return ShownTime(clock.deviceTime, utcOffset: text.offset)
  }

  private func reading(
    _ measurement: Measurement, at shown: ShownTime, _ row: Row, _ out: inout BatchBuilder
  ) -> Reading {
    let device = out.device(
      Device(vendor: "Sibionics", model: model, serial: table.serial, format: Self.id))
    let isHighest = measurement.quantity?.number == Self.highest[table.unit]
    let marks: ReadingMarks = isHighest ? .atLimit : []
    guard let offset = shown.utcOffset else {
      return Reading(
        device: device, kind: kind, at: shown.deviceTime, placement: out.placement(of: shown), measurement,
        marks: marks, line: row.line)
    }
    return Reading(
      device: device, kind: kind, tick: shown.deviceTime.seconds - Int64(offset), at: shown.deviceTime,
      placement: out.placement(of: shown), measurement, marks: marks, line: row.line)
  }
}

/// The header of a table of Sibionics: the app's, in any language, or a hospital's.
struct SibionicsTable {
  /// The indexes of the columns of time and value.
  let time: Int
  let value: Int
  let unit: GlucoseUnit
  /// The serial number of the sensor. Only the header of a hospital has it; otherwise it is empty.
  let serial: String
  /// Whether each time ends with its offset.
  let hasOffsets: Bool
  /// Whether the header is in a language with Latin letters other than English. All of these put the day
  /// first.
  let languagePutsDayFirst: Bool

  private static let hospitalValue = "血糖值("
  private static let hospitalTime = "采集时间"
  private static let hospitalDevice = "设备名称"
  static let hospitalPerson = "姓名"
  /// The first letter after those of Latin alphabets, in Unicode.
  private static let firstAfterLatin: UInt32 = 0x250
  /// Header cells that only the app writes, whatever is below them.
  private static let ownNames = ["devicemodel", "sensor reading(mg/dl)", "sensor reading(mmol/l)"]

  /// The table of a hospital. Its header has the institution, the person and the sensor, each after a colon.
  init?(hospital cells: [String]) {
    guard cells.count >= 2, cells[0].hasPrefix(Self.hospitalValue), cells[1] == Self.hospitalTime,
      let unit = Self.unit(cells[0])
    else { return nil }
    (time, value, self.unit, hasOffsets, languagePutsDayFirst) = (1, 0, unit, false, false)
    serial = cells.compactMap(Self.sensor).first ?? ""
  }

  private static func sensor(_ cell: String) -> String? { text(of: hospitalDevice, in: cell) }

  /// The name of the person in the header of a hospital; nil for other headers.
  static func person(in cells: [String]) -> String? {
    cells.lazy.compactMap { text(of: hospitalPerson, in: $0) }.first { !$0.isEmpty }
  }

  /// The text after a name and a colon; nil for other cells.
  private static func text(of name: String, in cell: String) -> String? {
    guard cell.hasPrefix(name) else { return nil }
    let rest = cell.dropFirst(name.count)
    guard rest.first == "：" || rest.first == ":" else { return nil }
    return rest.dropFirst().trimmingPrefix { $0.isWhitespace }.description
  }

  /// The table of the app. It has two or three columns, its last name ends with a unit, and the times below
  /// end with their offset.
  ///
  /// - Parameters:
  ///   - rows: the rows below the header.
  ///   - isGiven: whether a person stated the format.
  init?(app cells: [String], rows: ArraySlice<[String]>, isGiven: Bool) {
    guard (2...3).contains(cells.count), let last = cells.last, let unit = Self.unit(last),
      foldedHeader(last).first != "("
    else { return nil }
    let folded = cells.map(foldedHeader)
    if cells.count == 3, folded[0] != "devicemodel" { return nil }
    let time = cells.count - 2
    let times = rows.filter { $0.count > time && !$0[time].isEmpty }
    let first = times.first.map { cells in Field.withText(cells[time]) { OffsetTime($0) != nil } }
    let hasOwnName = isGiven || Self.ownNames.contains(where: folded.contains)
    guard first ?? Self.ownNames.contains(where: folded.contains),
      hasOwnName || Self.isShapedLikeApp(last, times.map { $0[time] })
    else {
      return nil
    }
    (self.time, value, self.unit, serial, hasOffsets) = (time, cells.count - 1, unit, "", true)
    let name = foldedHeader(last)
    languagePutsDayFirst =
      !name.hasPrefix("sensor reading") && name.unicodeScalars.allSatisfy { $0.value < Self.firstAfterLatin }
  }

  /// Whether a table with unknown names can be the app's in another language. The app writes whole minutes.
  /// Databases write such times as well, so the name must also have a word for a sensor. Otherwise it must
  /// have no blank before the unit, and most times must be a sensor's interval apart.
  private static func isShapedLikeApp(_ name: String, _ times: [String]) -> Bool {
    let words = HeaderWords(name)
    guard let open = name.lastIndex(of: "("), !words.namesNoValue, !words.isOfOtherSubject else {
      return false
    }
    let clocks = times.compactMap { text in
      Field.withText(text) { OffsetTime($0).flatMap { wholeMinute($0.clock) } }
    }
    guard clocks.count == times.count else { return false }
    if sensorWords.contains(where: foldedHeader(name).contains) { return true }
    if name[..<open].hasSuffix(" ") { return false }
    let steps = zip(clocks.dropFirst(), clocks).map { abs($0 - $1) }
    let near = steps.count { min($0, minutesOfDay - $0) <= maxStepMinutes }
    return steps.count >= minSteps && near * 2 > steps.count
  }

  /// The minute of the day of a time without seconds; nil for any other time.
  private static func wholeMinute(_ clock: Field) -> Int? {
    if let time = clock.ambiguousTime { return time.seconds == 0 ? time.hour * 60 + time.minute : nil }
    guard let seconds = clock.yearFirstTime?.deviceTime.seconds, seconds % 60 == 0 else { return nil }
    return Int((seconds - DeviceTime.day(of: seconds) * 86400) / 60)
  }

  private static let minutesOfDay = 24 * 60
  /// The longest time between two values of a sensor that are next to each other, in minutes.
  private static let maxStepMinutes = 15
  /// The minimum number of intervals that show a sensor.
  private static let minSteps = 3
  /// Parts of words for a sensor, in languages that the app may have.
  private static let sensorWords = [
    "sens", "capteur", "czujnik", "snímač", "szenzor", "αισθητ", "датчик", "сенсор", "센서", "传感", "傳感",
    "センサ", "เซ็นเซอร์", "cảm biến", "algılayıcı",
  ]

  /// The unit in a name such as `…(mg/dL)` or `…(mmol/L)`; nil for other names.
  private static func unit(_ cell: String) -> GlucoseUnit? {
    guard cell.last == ")", let open = cell.lastIndex(of: "(") else { return nil }
    return GlucoseUnit(name: cell[cell.index(after: open)...].dropLast())
  }
}

/// A time that ends with its offset in words: `03-08-2026 10:36 GMT-3`, `GMT+5:30`, `GMT`, `UTC`.
private struct OffsetTime {
  /// The time of the clock, before the offset.
  let clock: Field
  /// Seconds east of Greenwich.
  let offset: Int32

  private static let names: [StaticString] = ["GMT", "UTC"]

  /// The time in a cell; nil for a time without an offset in words.
  init?(_ cell: Field) {
    let cell = cell.trimmed
    guard cell.count <= Field.maxNameBytes, let blank = cell.bytes.lastIndex(of: 0x20) else { return nil }
    let zone = cell.slice(blank + 1, cell.count)
    guard Self.names.contains(where: { zone.starts(with: $0) }),
      let offset = Self.offset(zone.slice(3, zone.count))
    else {
      return nil
    }
    clock = cell.slice(0, blank).trimmed
    self.offset = offset
  }

  /// The seconds east of Greenwich in an empty text, `±H`, `±HH` or `±H:MM`; nil for any other text.
  private static func offset(_ text: Field) -> Int32? {
    if text.isEmpty { return 0 }
    let isWest = text[0] == UInt8(ascii: "-")
    guard isWest || text[0] == UInt8(ascii: "+") else { return nil }
    let digits = text.slice(1, text.count)
    let colon = digits.bytes.firstIndex(of: UInt8(ascii: ":")) ?? digits.count
    let hours = digits.slice(0, colon)
    let minutes = colon < digits.count ? digits.slice(colon + 1, digits.count) : Field.fixed("00")
    guard (1...2).contains(hours.count), minutes.count == 2, let hour = hours.integer,
      let minute = minutes.integer, (0...14).contains(hour), (0..<60).contains(minute)
    else { return nil }
    return Int32(hour * 3600 + minute * 60) * (isWest ? -1 : 1)
  }
}

extension SibionicsFormat {
  static let page = FormatPage(
    origin: [
      "in the Sibionics app: the sensor's data, exported as a workbook; import it as it is, also if it is named .xls",
      "from a hospital: its CSV of one sensor",
    ],
    variants: [
      "mg/dL or mmol/L in the name of the last column, 12 or 24 hours",
      "the offset in each time; day or month first is decided by all dates, the language, or --date-order",
      "the CSV of a hospital, whose times are local",
    ],
    languages: "every language, by the shape of the table; the hospital's in Chinese",
    reads: [
      "sensor readings; of a hospital with the name of the sensor"
    ],
    notRead: [
      "the institution in the header of a hospital",
      "a table in mmol/L with most values below 3, which is refused: it is that of a ketone sensor",
    ])
}
