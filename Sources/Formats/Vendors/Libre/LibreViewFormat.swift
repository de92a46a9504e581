// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LibreView CSV: Abbott's cloud export of sensors, readers and apps, in every language and both units, and
/// of apps that imitate it.
///
/// No column counts readings, so they are identified by their shown times. The order of day and month depends
/// on the account, and is determined from the whole input.
struct LibreViewFormat: ExportFormat {
  static let id = "libreview"
  static let title = "LibreView CSV"
  static let summary = "sensor history, scans, strips, ketones, insulin, food, exercise, notes"

  private var header: LibreHeader
  private var hasHeader = false
  /// Whether every header so far is in a language with the day first.
  private var putsDayFirst: Bool
  private var units: [GlucoseUnit]
  private var glucose: GlucoseReader
  private var mark: DecimalMarkSurvey
  private var dates: DateOrderSurvey
  private var order: DateOrder?
  private var orderBasis = Decision.Basis.given
  private let isYearFirst: Bool
  /// The oldest time in a title line, in UTC seconds, for each order of day and month. Nil is the key of a
  /// time with only one meaning. If exports were joined, the oldest time is used.
  private var generated: [DateOrder?: Int64] = [:]
  private var isDamaged = false
  private var zoneOffsets: ZoneOffsets
  /// Whether the times of the rows are in UTC. The app Glucose Direct writes one such export, whose title has
  /// the name of the app and a time in UTC. Another export of it has the times of the phone.
  private var hasUTCTimes = false
  let joinMark: String?

  private static func header(_ cells: [String]) -> LibreHeader? {
    if let header = LibreHeader(cells, columns: .libreView(shift: 0)) { return header }
    // A program that saves a table may add a column with row numbers before the others.
    guard let first = cells.first.map(foldedHeader),
      first.isEmpty || first == "index" || first.hasPrefix("unnamed")
    else { return nil }
    return LibreHeader(cells, columns: .libreView(shift: 1))
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<LibreHeader>>? {
    head.firstRow(header)?.recognition
  }

  /// - Throws: `Failure` of category `badInput` for moved columns.
  init(_ found: Recognition<HeaderRow<LibreHeader>>, head: InputHead, options: ExportOptions) throws {
    guard !found.header.meaning.isMoved else { throw HeaderNames.moved(Self.title) }
    let (header, rows) = (found.header.meaning, found.header.rows)
    joinMark = found.header.cells.indices.contains(2) ? found.header.cells[2] : nil
    self.header = header
    zoneOffsets = ZoneOffsets(options.zone)
    putsDayFirst = header.putsDayFirst
    units = [header.unit]
    mark = DecimalMarkSurvey(presumed: found.header.delimiter == UInt8(ascii: ";") ? .comma : .point)
    header.columns.look(at: rows, for: &mark)
    glucose = LibreLimits.reader(header.unit, mark.mark)
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    order = options.dateOrder.flatMap(DateOrder.init(rawValue:))
    let times = rows.filter { $0.count > header.columns.type && $0[header.columns.type].count == 1 }
      .map { $0[header.columns.time] }
    isYearFirst = !times.isEmpty && times.allSatisfy { $0.count > 4 && $0.prefix(4).allSatisfy(\.isNumber) }
  }

  /// Recognises the rows for the person. The title has the time of the export and its creator, and a
  /// clinician's export has the person in the line below.
  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow {
    if case .title = above, case let cells = row.fields.map(\.trimmed).filter({ $0.count > 0 }),
      cells.count == 1
    {
      return .title([cells[0].text])
    }
    guard row.count >= 5, !row[4].isEmpty, row[0].isEmpty || row[0][0] &- 0x30 > 9 else { return .other }
    let time = row[2].trimmed
    let isTitle = time.count > 4 && time.slice(time.count - 4, time.count).equals(" UTC")
    return isTitle ? .title([row[4].trimmed.text]) : .other
  }

  /// Decimal commas became separators in some files. This format reads or rejects such rows itself.
  static var rowsHaveOneWidth: Bool { false }

  /// The app that writes its name instead of a person's.
  private static let glucoseDirect = "Glucose Direct"

  /// The person that the first of these names states: the patient, or the creator of the export.
  static func statedPersons(named names: [String]) -> [StatedPerson] {
    guard let name = names.first, name != glucoseDirect else { return [] }
    return StatedPerson(label: name, of: id).map { [$0] } ?? []
  }

  /// The person in the line below the title of a clinician's export. Otherwise the account that made the
  /// export, in the title.
  static func statedPersons(in head: InputHead) -> [StatedPerson] {
    let above = head.rowsAbove { header($0) != nil }
    guard let title = above.first, title.count > 2, title[2].hasSuffix(" UTC") else { return [] }
    if above.count == 2, case let cells = above[1].filter({ !$0.isEmpty }), cells.count == 1 {
      return statedPersons(named: cells)
    }
    return above.count == 1 && title.count > 4 ? account(title[4]).map { [$0] } ?? [] : []
  }

  private static func account(_ name: String) -> StatedPerson? {
    name == glucoseDirect ? nil : StatedPerson(account: name, of: "\(id) account")
  }

  var needsSurvey: Bool { order == nil && !isYearFirst }
  var benefitsFromSurvey: Bool { dates.isGiven }

  mutating func survey(_ row: Row) {
    guard let type = recordType(row) else { return surveyOther(row) }
    let cell = row[header.columns.time]
    header.columns.look(at: row, for: &mark)
    guard let time = cell.fixedAmbiguousTime ?? cell.ambiguousTime else { return }
    // Times before 1990 are from a clock that was never set, so their continuity does not show the order.
    let isHistory = type == UInt8(ascii: "0") && time.year >= 1990
    dates.observe(time, isHistory: isHistory, line: row.line)
  }

  private mutating func surveyOther(_ row: Row) {
    if let header = Self.header(LibreHeader.cells(row)) {
      self.header = header
      putsDayFirst = putsDayFirst && header.putsDayFirst
    } else if let time = observeTitle(row) {
      dates.observeExportTime(time, line: row.line)
    }
  }

  mutating func decide() throws {
    guard needsSurvey || dates.isGiven else { return }
    let decided = try dates.decide(halfDayMeansMonthFirst: true, languagePutsDayFirst: putsDayFirst)
    order = decided.0
    orderBasis = decided.1
  }

  var decisions: [Decision] {
    [.units(units), .dateOrder(order, orderBasis, isYearFirst: isYearFirst)] + mark.decisions
  }

  var warnings: [String] {
    let damage =
      "the file is damaged: decimal commas became column separators; export it again from LibreView"
    return (isDamaged ? [damage] : []) + header.warnings
  }

  var generatedAt: Int64? { [generated[nil], generated[order]].compactMap(\.self).min() }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard hasHeader, let type = recordType(row) else { return readOther(row) }
    guard let time = time(row[header.columns.time]) else {
      out.reject(
        row,
        order == nil
          ? "day and month of the date could be swapped; use --date-order"
          : "invalid time; expected \(order == .monthFirst ? "MM-DD-YYYY" : "DD-MM-YYYY") hh:mm")
      return .data
    }
    if !mark.isDecided {
      header.columns.look(at: row, for: &mark)
      glucose.mark = mark.mark
    }
    if hasUTCTimes { return readInstant(row, utc: time.deviceTime.seconds, into: &out) }
    let filled = header.filled(row, into: &out)
    if isDamaged {
      readOdd(row, type, filled, at: time, into: &out)
    } else if type == UInt8(ascii: "0"), filled == header.columns.historicBit {
      add(.cbg, header.columns.historic, row, at: time, into: &out)
    } else if type == UInt8(ascii: "1"), filled == header.columns.scanBit {
      add(.scan, header.columns.scan, row, at: time, into: &out)
    } else {
      readOdd(row, type, filled, at: time, into: &out)
    }
    return .data
  }
}

extension LibreViewFormat {
  /// The record type of a data row; nil for a header, a title or anything else.
  @inline(__always)
  private func recordType(_ row: Row) -> UInt8? {
    let cell = row[header.columns.type]
    return cell.count == 1 && cell[0] &- 0x30 <= 9 ? cell[0] : nil
  }

  @inline(__always)
  private func time(_ cell: Field) -> ShownTime? {
    if let order, let open = cell.fixedAmbiguousTime ?? cell.ambiguousTime {
      return open.time(order).map { ShownTime($0) }
    }
    return cell.yearFirstTime
  }

  @inline(__always)
  private func add(
    _ kind: ReadingKind, _ column: Int, _ row: Row, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let cell = glucose.read(row[column])
    out.add(
      kind, cell, device: device(row, in: &out), at: time, marks: LibreLimits.mark(cell, kind, glucose),
      row: row)
  }

  @inline(__always)
  private func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let serial = header.columns.time - 1
    return out.device(vendor: "Abbott", model: row[serial - 1], serial: row[serial])
  }

  private mutating func readOther(_ row: Row) -> RowVerdict {
    if let header = Self.header(LibreHeader.cells(row)) {
      hasHeader = !header.isMoved
      guard hasHeader else { return .unknown(HeaderNames.movedHeader) }
      self.header = header
      if !units.contains(header.unit) { units.append(header.unit) }
      glucose = LibreLimits.reader(header.unit, mark.mark)
      return .header
    }
    _ = observeTitle(row)
    return .unknown("before the header, or not a row of LibreView")
  }

  /// Records the time in a title line, and returns it if its date has the year last. The time is in the third
  /// cell, in UTC, and in the notation of the times in the rows.
  private mutating func observeTitle(_ row: Row) -> AmbiguousTime? {
    guard row.count >= 3 else { return nil }
    let cell = row[2]
    if let time = cell.yearFirstTime, time.utcOffset == 0 {
      generated[nil] = min(generated[nil] ?? .max, time.deviceTime.seconds)
      return nil
    }
    let isUTC = cell.count > 4 && cell.slice(cell.count - 4, cell.count).equals(" UTC")
    hasUTCTimes = isUTC && row[4].trimmed.text == Self.glucoseDirect
    if isUTC, let time = cell.slice(0, cell.count - 4).trimmed.ambiguousTime {
      for order in DateOrder.allCases {
        guard let shown = time.time(order) else { continue }
        generated[order] = min(generated[order] ?? .max, shown.seconds)
      }
      return time
    }
    // Titles of exports of 2019 state only the day, so the end of the day is used.
    guard let date = cell.ambiguousDate, date.length == cell.count else { return nil }
    return AmbiguousTime(
      first: date.first, second: date.second, year: date.year, hour: 23, minute: 59, seconds: 59,
      hasHalfDay: false, separator: date.separator)
  }

  /// Reads a row that has anything else than a single sensor value.
  private mutating func readOdd(
    _ row: Row, _ type: UInt8, _ filled: UInt64, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let columns = header.columns
    guard let own = columns.usedColumns(ofType: type) else {
      return out.reject(row, LibreColumns.unknownType)
    }
    let fraction = findSplitFraction(row, type)
    if case .unreadable = fraction { return out.reject(row, "a decimal comma became a column separator") }
    let foreign = filled & ~own & ~fraction.bit
    guard foreign == 0, row.count <= 64 || row.isEmpty(from: 64) else {
      return out.reject(
        row, "a value in a column that should be empty in rows of this type: a decimal comma without quotes?")
    }
    let diary = LibreDiaryRow(
      row: row, columns: columns, mark: mark.mark, carbs: header.carbs, time: time, owner: owner(row),
      sourceID: "", serial: row[header.columns.time - 1].text)
    switch type {
    case UInt8(ascii: "4") where filled & own & ~fraction.bit & ~columns.bit(columns.notes) != 0:
      diary.addInsulin(to: &out)
    case UInt8(ascii: "5") where filled & own & ~columns.bit(columns.notes) != 0: diary.addFood(to: &out)
    case UInt8(ascii: "6"): return diary.addNote(to: &out)
    case _ where filled & own == 0: return out.skip("row without a value")
    default: addReadings(row, filled & own, fraction, at: time, into: &out)
    }
    if filled & ~fraction.bit & columns.bit(columns.notes) != 0 { diary.addNote(to: &out) }
  }

  /// Reads a row of Glucose Direct. It has a sensor value, and the same value once more as a scan.
  private mutating func readInstant(_ row: Row, utc: Int64, into out: inout BatchBuilder) -> RowVerdict {
    let time = zoneOffsets.shown(utc: utc)
    switch glucose.read(row[header.columns.historic]) {
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    case .measurement(let measurement):
      out.add(
        Reading(
          device: device(row, in: &out), kind: .cbg, tick: utc, at: time.deviceTime,
          placement: out.placement(of: time), measurement, line: row.line))
    }
    return .data
  }

  private func owner(_ row: Row) -> String {
    let serial = row[header.columns.time - 1].text
    return serial.isEmpty ? row[header.columns.time - 2].text : serial
  }

  private func addReadings(
    _ row: Row, _ filled: UInt64, _ fraction: SplitFraction, at time: ShownTime, into out: inout BatchBuilder
  ) {
    let columns = header.columns
    if filled & columns.historicBit != 0 { add(.cbg, columns.historic, row, at: time, into: &out) }
    // Glucose Direct writes each value of the sensor into both columns.
    let isCopy =
      filled & columns.historicBit != 0 && row[columns.time - 2].text == Self.glucoseDirect
      && row[columns.scan].text == row[columns.historic].text
    if filled & columns.scanBit != 0, !isCopy { add(.scan, columns.scan, row, at: time, into: &out) }
    if filled & columns.bit(columns.strip) != 0 { add(.smbg, columns.strip, row, at: time, into: &out) }
    guard filled & columns.bit(columns.ketone) != 0 else { return }
    var cell = GlucoseReader.ketone(row[columns.ketone], mark: mark.mark)
    if case .tenth(let digit, _) = fraction, case .measurement(.value(let whole)) = cell {
      let tenths = whole.number * 10 + Double(digit)
      cell = .measurement(.value(Quantity(tenths / 10, .millimolesPerLitre)))
    }
    out.add(.ketone, cell, device: device(row, in: &out), at: time, row: row)
  }
}

/// The fraction of a number whose decimal comma was not quoted, so that the fraction is in the next column.
private enum SplitFraction {
  case none
  /// The next column holds a zero, which has no effect.
  case zero(bit: UInt64)
  /// The next column holds the tenths of a ketone value.
  case tenth(UInt8, bit: UInt64)
  case unreadable

  var bit: UInt64 {
    switch self {
    case .none, .unreadable: 0
    case .zero(let bit), .tenth(_, let bit): bit
    }
  }
}

extension LibreViewFormat {
  /// Finds the fraction of a number in the next column. Rows of this type do not use that column. Such
  /// fractions were seen in exports that were saved again: in all insulin doses (as 0) and in all ketone
  /// values.
  private mutating func findSplitFraction(_ row: Row, _ type: UInt8) -> SplitFraction {
    let columns = header.columns
    if isDamaged, endsAfterWholeNumber(row) { return .unreadable }
    let candidates: (Int, Int) =
      switch type {
      case UInt8(ascii: "0") where header.unit == .millimolesPerLitre: (columns.historic, columns.historic)
      case UInt8(ascii: "3"): (columns.ketone, columns.ketone)
      case UInt8(ascii: "4"): (columns.rapid, columns.long)
      default: (0, 0)
      }
    for column in [candidates.0, candidates.1] where column > 0 {
      let (whole, next) = (row[column], row[column + 1])
      guard whole.integer != nil, next.count == 1, next[0] &- 0x30 <= 9 else { continue }
      isDamaged = true
      let digit = next[0] &- 0x30
      if type == UInt8(ascii: "3") { return .tenth(digit, bit: columns.bit(column + 1)) }
      if type == UInt8(ascii: "4"), digit == 0 { return .zero(bit: columns.bit(column + 1)) }
      return .unreadable
    }
    return .none
  }

  /// Whether a row is cut after a whole number and a comma. In a damaged file, the fraction of the number may
  /// have been in the next column.
  private func endsAfterWholeNumber(_ row: Row) -> Bool {
    let count = row.count
    return count > header.columns.historic && count <= header.columns.ketone + 2 && row[count - 1].isEmpty
      && row[count - 2].integer != nil
  }
}

extension Field {
  /// Parses `dd-mm-yyyy hh:mm` without surrounding text, optionally with ` AM` or ` PM`, as nearly every row
  /// has it. Nil for any other notation, which `ambiguousTime` may parse.
  @inline(__always)
  fileprivate var fixedAmbiguousTime: AmbiguousTime? {
    guard count == 16 || count == 19, self[10] == 0x20, self[13] == UInt8(ascii: ":"), self[2] == self[5],
      self[2] == UInt8(ascii: "-") || self[2] == UInt8(ascii: "/") || self[2] == UInt8(ascii: ".")
    else { return nil }
    let (first, second) = (pair(0), pair(3))
    let year = pair(6) * 100 + pair(8)
    var hour = pair(11)
    let minute = pair(14)
    guard first | second | year | hour | minute >= 0 else { return nil }
    if count == 19 {
      let half = self[17] | 0x20
      guard self[16] == 0x20, self[18] | 0x20 == UInt8(ascii: "m"), hour >= 1, hour <= 12,
        half == UInt8(ascii: "a") || half == UInt8(ascii: "p")
      else { return nil }
      hour = hour % 12 + (half == UInt8(ascii: "p") ? 12 : 0)
    }
    return AmbiguousTime(
      first: first, second: second, year: year, hour: hour, minute: minute, seconds: 0,
      hasHalfDay: count == 19,
      separator: self[2])
  }

  /// The number of two digits; far below zero for anything else.
  @inline(__always)
  private func pair(_ index: Int) -> Int {
    let (tens, ones) = (self[index] &- 0x30, self[index + 1] &- 0x30)
    return tens <= 9 && ones <= 9 ? Int(tens) * 10 + Int(ones) : -100_000
  }
}

extension LibreViewFormat {
  static let page = FormatPage(
    origin: [
      "sign in at libreview.com",
      "Glucose History > Download glucose data",
    ],
    variants: [
      "19 columns; 21 with newer apps",
      "UTF-16 of 2018 and 2019",
      "saved again by a spreadsheet, or with decimal commas that lost their quotes, as far as that "
        + "can be read",
      "files of other apps in this form, such as either export of Glucose Direct; with both, its readings are stored twice",
    ],
    languages: "every language; unusual names are reported for English, German, Spanish, French, Dutch and "
      + "Swedish",
    reads: [
      "sensor history, scans, finger sticks, ketones",
      "rapid and long-acting insulin, carbohydrates, food, exercise, notes",
      "the serial number of each device",
    ],
    notRead: [
      "the name of the person",
      "the parts of a dose that are in its sum",
      "values in columns of another type than the row's",
    ])
}
