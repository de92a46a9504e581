// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Nightscout entries and treatments, from API v1 and v3 or mongoexport: JSON, CSV and TSV, mixed as they
/// come.
///
/// `date` is the time to trust, and it is UTC: milliseconds since 1970, as lib/api3/swagger.yaml of cgm-remote-monitor has
/// it. What is shown beside it may come from the logbook's zone, so a reading's place is the instant itself: an import
/// in another zone finds the same readings. Other tools write the time of a clock there, without an offset; such a
/// time is placed as it was shown, by the logbook's zone.
struct NightscoutFormat: ExportFormat {
  static let id = "nightscout"
  static let title = "Nightscout JSON or CSV"
  static let summary = "sensor readings, meter readings, insulin, carbohydrates, exercise, notes"
  static let readsJSON = true

  /// Places in `names`.
  enum Name {
    static let type = 0, date = 1, dateString = 2, sgv = 3, mbg = 4, device = 5, utcOffset = 6, isValid = 7
    static let eventType = 8, createdAt = 9, timestamp = 10, mills = 11, identifier = 12, id = 13
    static let insulin = 14, carbs = 15, protein = 16, fat = 17, notes = 18, duration = 19
    static let absolute = 20, rate = 21, percent = 22, relative = 23, enteredInsulin = 24, splitExtended = 25
    static let glucose = 26, glucoseType = 27, units = 28, isBasalInsulin = 29, milliseconds = 30
    static let app = 31, parts = 32, moved = 33
  }

  static let names = [
    "type", "date", "dateString", "sgv", "mbg", "device", "utcOffset", "isValid",
    "eventType", "created_at", "timestamp", "mills", "identifier", "_id",
    "insulin", "carbs", "protein", "fat", "notes", "duration",
    "absolute", "rate", "percent", "relative", "enteredinsulin", "splitExt",
    "glucose", "glucoseType", "units", "isBasalInsulin", "durationInMilliseconds",
    "app", "glucoport.parts", "glucoport.moved",
  ]

  /// The member of our own documents in which an entry carries all parts of a reading's identity.
  private static let identityPrefix = "glucoport."
  private static let memberNames = names + GlucoportColumns.names.map { identityPrefix + $0 }

  /// The columns of API v1's CSV and TSV, which have no header.
  private static let plainColumns = ["dateString", "date", "sgv", "direction", "device"]

  /// What Dexcom sends for below 40 and above 400.
  private static let clamped = (low: 39.0, high: 401.0)

  var columns: NamedColumns
  let unit: GlucoseUnit?
  private let isTable: Bool
  private var units: NightscoutUnits
  private let entriesStateUnits: Bool
  private var zoneOffsets: ZoneOffsets
  private var identity = GlucoportIdentity(columns: Self.memberNames, prefix: Self.identityPrefix)

  static func recognise(_ head: InputHead) -> Layout? {
    if head.isJSON {
      let isOurs = head.objects.contains(where: isItem) || (head.objects.isEmpty && isEmptyAnswer(head))
      return isOurs ? .objects(columns: memberNames) : nil
    }
    let found = head.firstRow(where: isHeader) ?? plainTable(head)
    return found.map { .table(delimiter: $0.delimiter) }
  }

  init(layout: Layout, head: InputHead, options: ExportOptions) {
    zoneOffsets = ZoneOffsets(options.zone)
    unit = options.unit
    units = NightscoutUnits(given: options.unit, values: Self.values(head))
    entriesStateUnits = head.objects.contains { $0["units"] != nil && ($0["sgv"] ?? $0["mbg"]) != nil }
    if case .table = layout {
      isTable = true
      let isPlain = head.firstRow(where: Self.isHeader) == nil
      columns = NamedColumns(
        cells: Self.names, marks: ["date", "created_at"], order: isPlain ? Self.plainColumns : [])
    } else {
      isTable = false
      columns = NamedColumns(members: Self.memberNames)
    }
  }

  var decisions: [Decision] {
    let usual = units.given ?? .milligramsPerDecilitre
    return [
      entriesStateUnits
        ? Decision("unit", "as each row says, else \(usual.name)", .read)
        : Decision("unit", usual.name, units.given == nil ? .fixed : .given),
      Decision("date-order", "year first", .fixed),
    ]
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    if isTable {
      if columns.takeHeader(row, isHeader: Self.isHeader) { return .header }
      if columns.count == 0 { return .unknown("before the header, or no row of Nightscout") }
      if isCut(row, out) { return .cut }
    }
    if row[columns[Name.isValid]].equals("false") {
      out.skip("deleted")
      return .data
    }
    if !isTable, !identity.field(.positionKind, of: row).isEmpty {
      readOwn(row, into: &out)
      return .data
    }
    let type = row[columns[Name.type]]
    let sgv = row[columns[Name.sgv]]
    if !sgv.isEmpty, type.equals("sgv") || type.isEmpty {
      readSensor(row, sgv, into: &out)
    } else if row[columns[Name.eventType]].isEmpty, !type.isEmpty || row[columns[Name.createdAt]].isEmpty {
      return readOther(row, type, into: &out)
    } else {
      readTreatment(row, into: &out)
    }
    return .data
  }

  /// An entry of our own: the identity it carries is the reading's, not one made from its date.
  private mutating func readOwn(_ row: Row, into out: inout Collector) {
    switch identity.reading(from: row, into: &out) {
    case .reading(let reading): out.add(reading)
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  private mutating func readSensor(_ row: Row, _ sgv: Field, into out: inout Collector) {
    let number = sgv.jsonNumber
    if let number, units.isErrorCode(number, unit: row[columns[Name.units]]) {
      return out.skip("sensor error code")
    }
    let cell = value(sgv, number, row)
    let isClamped = number == Self.clamped.low || number == Self.clamped.high
    add(.cbg, cell, row, marks: isClamped ? .atLimit : [], into: &out)
  }

  /// The value of an entry, which may be the word for a limit.
  @inline(__always)
  private mutating func value(_ cell: Field, _ number: Double?, _ row: Row) -> CellValue {
    guard let number else {
      return GlucoseReader(unit: units.given ?? .milligramsPerDecilitre).read(cell)
    }
    return units.check(number, unit: row[columns[Name.units]])
  }

  /// Entries that are no sensor reading with a value.
  private mutating func readOther(_ row: Row, _ type: Field, into out: inout Collector) -> RowVerdict {
    let mbg = row[columns[Name.mbg]]
    if type.equals("mbg") || (type.isEmpty && !mbg.isEmpty) {
      if mbg.isEmpty || mbg.equals("0") {
        out.skip("entry without a value")
      } else {
        add(.smbg, value(mbg, mbg.jsonNumber, row), row, into: &out)
      }
    } else if type.equals("cal") {
      out.skip("calibration line")
    } else if type.isEmpty || type.equals("sgv") {
      guard !type.isEmpty || !row[columns[Name.date]].isEmpty else {
        return .unknown("neither an entry nor a treatment of Nightscout")
      }
      out.skip("entry without a value")
    } else {
      out.skip(String(type.text.prefix(40)))
    }
    return .data
  }

  @inline(__always)
  private mutating func add(
    _ kind: ReadingKind, _ cell: CellValue, _ row: Row, marks: ReadingMarks = [], into out: inout Collector
  ) {
    switch cell {
    case .measurement(let measurement):
      guard let instant = entryInstant(row) else {
        return out.reject(
          row, "a date that is no time since 1970 in milliseconds, and no other time that is known")
      }
      add(kind, measurement, at: instant, shown(instant, row), marks: marks, row, into: &out)
    case .empty: out.skip("entry without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  @inline(__always)
  mutating func add(
    _ kind: ReadingKind, _ measurement: Measurement, at instant: Instant, _ shown: ShownTime,
    marks: ReadingMarks,
    _ row: Row, into out: inout Collector
  ) {
    let model = row[columns[Name.device]]
    let device = out.device(
      vendor: "Nightscout", model: model.isEmpty ? .fixed("Nightscout") : model, serial: .absent)
    let placement = out.place(shown)
    out.add(
      instant.isWallClock
        ? Reading(
          device: device, kind: kind, at: shown.deviceTime, placement: placement, measurement, marks: marks,
          line: row.line)
        : Reading(
          device: device, kind: kind, tick: instant.milliseconds, at: shown.deviceTime, placement: placement,
          measurement, marks: marks, line: row.line), byClock: instant.isWallClock)
  }

  /// The instant of an entry. Its text counts where there is no `date`, or one without an offset.
  @inline(__always)
  private func entryInstant(_ row: Row) -> Instant? {
    let date = row[columns[Name.date]]
    if date.isEmpty { return row[columns[Name.dateString]].instant }
    guard let instant = date.instant else { return nil }
    guard instant.isWallClock else { return instant }
    if let definite = definite(row, [Name.dateString, Name.mills]) { return definite }
    // A text that cannot be read may state the offset, and `date` may then be in UTC as servers have it.
    let text = row[columns[Name.dateString]]
    return text.isEmpty || text.instant != nil ? instant : nil
  }

  /// The first of these times that leaves no question of its offset.
  func definite(_ row: Row, _ names: [Int]) -> Instant? {
    for name in names {
      if let instant = row[columns[name]].instant, !instant.isWallClock { return instant }
    }
    return nil
  }

  /// The time to show for an instant: with the offset that the row states, else that of the logbook's zone.
  @inline(__always)
  mutating func shown(_ instant: Instant, _ row: Row) -> ShownTime {
    if instant.isWallClock { return wallClock(instant, row) }
    let text = row[columns[Name.dateString]]
    let stated = statedOffset(row, beside: text.isEmpty ? row[columns[Name.createdAt]] : text)
    let offset = stated ?? instant.utcOffset.flatMap { $0 == 0 ? nil : $0 }
    return ShownTime(utc: instant.seconds, offset: offset ?? zoneOffsets.offset(atUTC: instant.seconds))
  }

  /// A time that somebody's clock showed. Servers write an offset of 0 beside every one; another was meant.
  private func wallClock(_ instant: Instant, _ row: Row) -> ShownTime {
    let minutes = row[columns[Name.utcOffset]].jsonNumber.flatMap { $0 != 0 && abs($0) < 1440 ? $0 : nil }
    return ShownTime(DeviceTime(seconds: instant.seconds), utcOffset: minutes.map { Int32($0 * 60) })
  }

  /// The person's offset in seconds. A time in UTC states none: servers rewrite times so, and then write 0
  /// into `utcOffset` of every such row, too.
  @inline(__always)
  private func statedOffset(_ row: Row, beside text: Field) -> Int32? {
    let isUTC = text.count > 0 && text[text.count - 1] | 0x20 == UInt8(ascii: "z")
    if let minutes = row[columns[Name.utcOffset]].jsonNumber, abs(minutes) < 1440, minutes != 0 || !isUTC {
      return Int32(minutes * 60)
    }
    guard !isUTC, !text.isEmpty, let offset = text.yearFirstTime?.utcOffset, offset != 0 else { return nil }
    return offset
  }
}

extension NightscoutFormat {
  private static func isItem(_ object: [String: String]) -> Bool {
    let isTimed = object["date"] != nil || object["dateString"] != nil
    if isTimed, object["sgv"] != nil || object["mbg"] != nil { return true }
    if isTimed, object["type"] == "cal", object["slope"] != nil { return true }
    return object["eventType"] != nil && object["created_at"] != nil
  }

  /// API v3's answer when nothing was found.
  private static func isEmptyAnswer(_ head: InputHead) -> Bool {
    let text = head.lines.joined()
    return head.isWhole && text.contains("\"status\"") && text.contains("\"result\"")
  }

  /// The first values of entries that state no unit.
  private static func values(_ head: InputHead) -> [Double] {
    if head.isJSON {
      return head.objects.filter { $0["units"] == nil }.compactMap {
        ($0["sgv"] ?? $0["mbg"]).flatMap(Double.init)
      }
    }
    if let found = head.firstRow(where: isHeader) {
      let rows = head.rows(found.delimiter)
      let cells = rows[found.index].map(foldedHeader)
      guard !cells.contains("units") else { return [] }
      let columns = ["sgv", "mbg"].compactMap { cells.firstIndex(of: $0) }
      return rows[(found.index + 1)...].flatMap { row in
        columns.compactMap { $0 < row.count ? Double(row[$0]) : nil }
      }
    }
    guard let found = plainTable(head) else { return [] }
    return head.rows(found.delimiter).compactMap { $0.count > 2 ? Double($0[2]) : nil }
  }

  private static func isHeader(_ cells: [String]) -> Bool {
    cells.contains("date") && (cells.contains("sgv") || cells.contains("mbg"))
      || cells.contains("eventtype") && cells.contains("created_at")
  }

  /// The table of API v1, which begins with its data: the rows below another table's header may look like it.
  private static func plainTable(_ head: InputHead) -> (delimiter: UInt8, index: Int)? {
    let delimiter = InputHead.delimiters.first { delimiter in
      head.rows(delimiter).first.map { isPlainRow($0.map(foldedHeader)) } ?? false
    }
    return delimiter.map { ($0, 0) }
  }

  /// The words in the fourth column of API v1's table, folded.
  private static let directions: Set<String> = [
    "", "none", "flat", "singleup", "doubleup", "tripleup", "fortyfiveup", "singledown", "doubledown",
    "tripledown", "fortyfivedown", "not computable", "rate out of range", "null", "undefined",
  ]

  /// Five cells, the second thirteen digits, perhaps with a fraction, the fourth a direction.
  private static func isPlainRow(_ cells: [String]) -> Bool {
    guard cells.count == plainColumns.count, directions.contains(cells[3]) else { return false }
    let date = cells[1].prefix { $0 != "." }
    return date.utf8.count == 13 && date.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      && cells[2].utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
      && (cells[0].isEmpty || cells[0].utf8.first.map { $0 >= 0x30 && $0 <= 0x39 } == true)
  }

  /// API v1 ends its table without a line end. A device that came before is whole, a quoted one as well.
  private func isCut(_ row: Row, _ out: Collector) -> Bool {
    guard row.isUnterminated, columns.isCut(row) else { return false }
    guard row.count == columns.count, columns[Name.device] == columns.count - 1 else { return true }
    let device = row[columns[Name.device]]
    return !out.batch.devices.contains { $0.model == device.text }
  }
}
