// SPDX-License-Identifier: Apache-2.0

import Logbook

/// mySugr CSV in every language. A row is one moment of the diary with everything entered for it, so it
/// becomes several readings and records with the same time. Newer apps state the time zone of each row.
struct MySugrFormat: ExportFormat {
  static let id = "mysugr"
  static let title = "mySugr CSV"
  static let summary = "finger sticks, ketones, insulin, carbohydrates, exercise, notes and tags"

  enum Column {
    static let date = 0, time = 1, tags = 2, glucose = 3, pen = 4, basal = 5, pump = 6, meal = 7,
      correction = 8
    static let basalPercent = 9, basalMinutes = 10, carbs = 11, mealText = 12
    static let minutes = 13, intensity = 14, exerciseText = 15, steps = 16, note = 17, ketones = 22
  }

  private let options: ExportOptions
  private(set) var header: MySugrHeader
  private var hasHeader = false
  private var decimalMark: DecimalMarkSurvey
  private let hasAmbiguousDates: Bool
  private var dates: DateOrderSurvey
  private var order: (DateOrder, Decision.Basis)?
  private var zones = RowZones()
  private let headerWarnings: [String]

  /// A header line, or nil for one with moved columns. A moved header is recognised as well: otherwise
  /// another format would import only the columns that it knows.
  typealias Header = HeaderRow<MySugrHeader?>

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Header>? {
    let found: Header? = head.headerRow(width: MySugrHeader.columnCount) { cells -> MySugrHeader?? in
      let cells = cells.map(foldedHeader)
      if let header = MySugrHeader(cells) { return .some(header) }
      return MySugrHeader.isReordered(cells) ? .some(nil) : nil
    }
    return found?.recognition
  }

  /// - Throws: `Failure` of category `badInput` for moved columns.
  init(_ found: Recognition<Header>, head: InputHead, options: ExportOptions) throws {
    guard let header = found.header.meaning else {
      throw HeaderNames.moved(Self.title)
    }
    let rows = found.header.rows
    self.options = options
    self.header = header
    headerWarnings = header.warnings(found.header.cells)
    decimalMark = DecimalMarkSurvey(presumed: header.isEnglish ? .point : .comma)
    for row in rows where row.count >= MySugrHeader.columnCount {
      for column in Self.numbers { decimalMark.observe(row[column].utf8) }
    }
    let date = rows.lazy.compactMap(\.first).first { !$0.isEmpty } ?? ""
    // Only dates such as `14-02-2021` or `8/7/17` can be ambiguous, unlike `Aug 7, 2017`, `7. Aug. 2017` or
    // `2017-08-07`.
    hasAmbiguousDates =
      date.first?.isNumber == true && date.allSatisfy { $0.isNumber || "-/.".contains($0) }
      && date.prefix(3).contains { !$0.isNumber }
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    if hasAmbiguousDates, dates.isGiven { try decide() }
  }

  var warnings: [String] { headerWarnings + zones.warnings }

  var needsSurvey: Bool { hasAmbiguousDates && !dates.isGiven }
  var benefitsFromSurvey: Bool { hasAmbiguousDates && dates.isGiven }

  mutating func survey(_ row: Row) {
    if case .open(let time) = moment(of: row) { dates.observe(time, isHistory: false, line: row.line) }
    guard row.count >= MySugrHeader.columnCount else { return }
    for column in Self.numbers { decimalMark.observe(row[column].trimmed.bytes) }
  }

  mutating func decide() throws {
    order = try dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: !header.isEnglish)
  }

  var decisions: [Decision] {
    var decisions = [Decision.units([header.unit])]
    if let (order, basis) = order {
      decisions.append(.dateOrder(order, basis))
    } else {
      decisions.append(Decision("date-order", "months by name, or year first", .read))
    }
    decisions.append(Decision("decimal-mark", decimalMark.mark.name, .inferred))
    switch header.carbs {
    case .grams: break
    case .exchanges(let grams):
      decisions.append(Decision("carbohydrates", "exchanges of \(plainNumber(grams)) g, as grams", .read))
    case .servings: decisions.append(Decision("carbohydrates", "of no known unit, as servings", .inferred))
    }
    return decisions
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if !hasHeader || row[Column.glucose].trimmed.isHeaderLike, readHeader(row) { return .header }
    guard hasHeader else { return .unknown("before the header") }
    if row.isEmpty(from: 0) {
      out.skip("empty row")
      return .data
    }
    guard row.count == header.width else { return .unknown("another number of columns than the header has") }
    guard let shown = shownTime(of: row) else {
      out.reject(row, "invalid date or time, or a form of time that glucoport does not know")
      return .data
    }
    readEntry(row, at: placed(shown, row), into: &out)
    return .data
  }

  /// The number in a value cell, with the decimal mark of the input.
  mutating func number(_ cell: Field) -> Double? { cell.number(mark(seeing: cell)) }

  /// The decimal mark of the input, including the evidence of this cell.
  mutating func mark(seeing cell: Field) -> DecimalMark {
    decimalMark.observe(cell.bytes)
    return decimalMark.mark
  }
}

// MARK: - Header, dates

extension MySugrFormat {
  /// The columns that hold numbers with a fraction.
  private static let numbers = [
    Column.glucose, Column.pen, Column.basal, Column.pump, Column.meal, Column.correction, Column.carbs,
    Column.ketones,
  ]

  /// The time of a row. It is open while the order of day and month is not known.
  private enum Moment {
    case decided(DeviceTime)
    case open(AmbiguousTime)
  }

  private mutating func readHeader(_ row: Row) -> Bool {
    guard let header = MySugrHeader(row.fields.map(\.folded)) else { return false }
    self.header = header
    hasHeader = true
    return true
  }

  /// The time with the offset of the zone that the row names. It is unchanged if the table has no column of
  /// zones, or if the row's cell is empty or not the name of a zone.
  private mutating func placed(_ shown: ShownTime, _ row: Row) -> ShownTime {
    guard let column = header.zone else { return shown }
    return zones.addingOffset(to: shown, in: row[column].trimmed)
  }

  private func shownTime(of row: Row) -> ShownTime? {
    switch moment(of: row) {
    case .decided(let time): ShownTime(time)
    case .open(let time): order.flatMap { time.time($0.0) }.map { ShownTime($0) }
    case nil: nil
    }
  }

  private func moment(of row: Row) -> Moment? {
    guard let clock = row[Column.time].trimmed.timeOfDay else { return nil }
    let date = row[Column.date].trimmed
    if let open = date.ambiguousDate, open.length == date.count {
      return .open(
        AmbiguousTime(
          first: open.first, second: open.second, year: open.year, hour: clock.hour, minute: clock.minute,
          seconds: clock.second, hasHalfDay: clock.hasHalfDay, separator: open.separator))
    }
    let day =
      MonthNames.date(date.text) ?? Self.monthBetween(date) ?? Self.yearFirst(Self.day(of: date, at: clock))
    guard date.count <= 40, let day else { return nil }
    return DeviceTime(
      year: day.year, month: day.month, day: day.day, hour: clock.hour, minute: clock.minute,
      second: clock.second
    ).map { .decided($0) }
  }

  /// The day in a cell of the app's spreadsheet. There the columns of dates and of times of day both hold the
  /// whole time, `2026-05-01 08:10:00`, perhaps with milliseconds. A cell with another time of day stays
  /// unchanged, and is rejected.
  private static func day(
    of cell: Field, at clock: (hour: Int, minute: Int, second: Int, hasHalfDay: Bool)
  ) -> Field {
    guard cell.count == 19 || (cell.count == 23 && cell[19] == UInt8(ascii: ".")),
      let time = cell.slice(11, 19).timeOfDay, time.hour == clock.hour,
      time.minute == clock.minute, time.second == clock.second
    else { return cell }
    return cell.slice(0, 10)
  }

  /// The date in a cell such as `22-Oct-25`, as a spreadsheet saves a date.
  private static func monthBetween(_ date: Field) -> (year: Int, month: Int, day: Int)? {
    let parts = date.text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let month = MonthNames.month(parts[1]), let day = UInt8(parts[0]),
      let year = UInt16(parts[2]), [2, 4].contains(parts[2].utf8.count)
    else { return nil }
    return (parts[2].utf8.count == 2 ? 2000 + Int(year) : Int(year), month, Int(day))
  }

  private static func yearFirst(_ date: Field) -> (year: Int, month: Int, day: Int)? {
    let parts = date.text.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { UInt16($0) }.map { Int($0) }
    guard parts.count == 3, numbers.count == 3, parts[0].utf8.count == 4 else { return nil }
    return (numbers[0], numbers[1], numbers[2])
  }
}

extension Field {
  /// Whether the cell ends like the header of a column with a unit.
  fileprivate var isHeaderLike: Bool { count > 0 && self[count - 1] == UInt8(ascii: ")") }
}

/// The header of a mySugr table in any language: its first 25 columns are always in the same order.
struct MySugrHeader {
  static let columnCount = 25

  /// The meaning of the column of carbohydrates.
  enum Carbs: Equatable {
    case grams
    /// The column states exchanges of this many grams.
    case exchanges(grams: Double)
    /// The column states amounts in an unknown unit.
    case servings
  }

  /// The number of columns of this table: more if a spreadsheet padded them, or with newer columns of the
  /// app.
  let width: Int
  let unit: GlucoseUnit
  let carbs: Carbs
  let isEnglish: Bool
  /// The column with the IANA name of each row's time zone; nil if the table has none.
  let zone: Int?

  /// The word before the factor in known languages.
  private static let factorWords = ["factor", "faktor", "facteur", "fattore", "fator"]
  /// The names of the column of time zones, which newer exports have after the 25.
  private static let zoneNames: Set<String> = ["timezone", "time zone", "zeitzone"]
  /// All columns after the 25 in newer exports. Latitude and longitude are the person's location, and are
  /// never read.
  private static let newColumns = zoneNames.union(["latitude", "longitude"])
  private static let known: [[String]] = [
    [
      "date", "time", "tags", "blood glucose measurement|blood sugar measurement",
      "insulin injection units (pen)", "basal injection units", "insulin injection units (pump)",
      "insulin (meal)", "insulin (correction)", "temporary basal percentage", "temporary basal duration",
      "meal carbohydrates", "meal descriptions", "activity duration", "activity intensity",
      "activity description", "steps", "note", "location", "blood pressure", "body weight", "hba1c",
      "ketones", "food type", "medication",
    ],
    [
      "datum", "zeit", "markierungen", "blutzuckermessung", "insulin-injektionseinheiten (pen)",
      "basal-injektionseinheiten", "insulin-injektionseinheiten (pumpe)", "insulin (mahlzeit)",
      "insulin (korrektur)", "temporäre basalrate prozent", "temporäre basalrate dauer",
      "mahlzeitkohlenhydrate", "mahlzeitbeschreibung", "aktivitätsdauer", "aktivitätsintensität",
      "aktivitätsbeschreibung", "schritte", "notiz", "ort", "blutdruck", "körpergewicht", "hba1c", "ketone",
      "nahrungsart", "medikamente",
    ],
    [
      "dato", "tid", "tags", "blodsukkermåling", "bolusinjektion enheder (pen)", "basalinjektion enheder",
      "bolusinjektion enheder (pumpe)", "bolus (måltid)|insulin (måltid)", "insulin (korrektion)",
      "midlertidig basal (%)|midlertidig basal procent",
      "midlertidig basal (minutter)|midlertidig basalvarighed|midlertidig basal varighed",
      "kulhydrater mad|måltid kulhydrater", "måltidsbeskrivelser", "aktivitetsvarighed",
      "aktivitets intensitet|aktivitetsintensitet", "aktivitetsbeskrivelse", "skridt", "notat|note", "sted",
      "blodtryk", "kropsvægt", "hba1c", "ketoner", "type mad|madtype", "medicin",
    ],
  ]
  /// The columns of rapid insulin. In every language, only the columns of basal insulin have `basal` in their
  /// names.
  private static let rapid = [
    MySugrFormat.Column.pen, MySugrFormat.Column.pump, MySugrFormat.Column.meal,
    MySugrFormat.Column.correction,
  ]
  private static let ketoneStems = ["keton", "ceton", "céton", "cetón", "cheton"]

  /// Parses folded cells; nil if they are not a header of mySugr.
  init?(_ cells: [String]) {
    guard cells.count >= Self.columnCount, let unit = GlucoseUnit(in: cells[MySugrFormat.Column.glucose]),
      let carbs = Self.carbs(in: cells[MySugrFormat.Column.carbs])
    else { return nil }
    guard !Self.isMoved(cells) else { return nil }
    width = cells.count
    self.unit = unit
    self.carbs = carbs
    isEnglish = cells[MySugrFormat.Column.date] == "date" && cells[MySugrFormat.Column.time] == "time"
    zone = cells.indices.dropFirst(Self.columnCount).first { Self.zoneNames.contains(cells[$0]) }
  }

  /// Whether one of the folded cells of a header has the name of another column.
  private static func isMoved(_ cells: [String]) -> Bool {
    if rapid.contains(where: { cells[$0].contains("basal") }) { return true }
    let ketones = cells.indices.filter { place in ketoneStems.contains { cells[place].contains($0) } }
    if !ketones.isEmpty, !ketones.contains(MySugrFormat.Column.ketones) { return true }
    return HeaderNames(cells, among: known)?.isMoved(cells) == true
  }

  /// Whether folded cells are a header of mySugr with moved columns. Such a header has the same number of
  /// names, a unit of glucose, and a factor of carbohydrates as mySugr writes it.
  static func isReordered(_ cells: [String]) -> Bool {
    let names = cells.filter { !$0.isEmpty }.count
    return (columnCount...columnCount + newColumns.count).contains(names) && MySugrHeader(cells) == nil
      && cells.contains { $0.hasSuffix(")") && GlucoseUnit(in: $0) != nil }
      && cells.contains { carbs(in: $0) != nil }
  }

  /// Warnings about unusual names in the header line.
  func warnings(_ names: [String]) -> [String] {
    let cells = names.map(foldedHeader)
    let unusual = HeaderNames(cells, among: [Self.known[0]])?.warnings(names) ?? []
    let unread = zip(names, cells).dropFirst(Self.columnCount).filter {
      !$1.isEmpty && !Self.newColumns.contains($1)
    }
    return unusual + unread.map { HeaderNames.warning($0.0, readAs: nil) }
  }

  /// The meaning of a name such as `meal carbohydrates (grams, factor 1)`; nil for any other.
  private static func carbs(in cell: String) -> Carbs? {
    guard cell.last == ")", let open = cell.lastIndex(of: "(") else { return nil }
    let inside = cell[cell.index(after: open)...].dropLast()
    guard let word = factorWords.lazy.compactMap({ inside.firstRange(of: $0) }).first else { return nil }
    let named = inside[..<word.lowerBound].filter { $0 != "," && $0 != " " }
    let digits = inside[word.upperBound...].drop { $0 == " " || $0 == ":" }
    guard !named.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }) else {
      return nil
    }
    if named == "g" || CarbohydrateUnit(header: String(named)) == .grams { return .grams }
    guard let grams = Double(digits.replacing(",", with: ".")), (1.5...100).contains(grams) else {
      return .servings
    }
    return .exchanges(grams: grams)
  }
}

extension MySugrFormat {
  static let page = FormatPage(
    origin: [
      "in the mySugr app: More > Reports, and choose CSV"
    ],
    variants: [
      "25 columns; 26 to 28 with newer apps, which name the time zone of each row",
      "carbohydrates in grams or in exchanges of a factor in the header",
      "the app's spreadsheet (XLSX), in which both columns of time hold date and time",
    ],
    languages: "every language, as the columns have one order; names of months in English, German, French, "
      + "Dutch, Spanish, Italian, Danish, Swedish and Norwegian",
    reads: [
      "finger sticks, ketones",
      "insulin of pen and pump, basal injections, temporary basal rates, carbohydrates",
      "meals, exercise, notes, tags",
      "each row in the time zone that it names; without one, in that of the logbook or of --timezone",
    ],
    notRead: [
      "place, blood pressure, weight, HbA1c, food type and medication, which are counted",
      "steps",
    ])
}
