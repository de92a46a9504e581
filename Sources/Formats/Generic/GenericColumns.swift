// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The roles of columns in a generic input. The names of the cases are those of `--map`.
enum GenericRole: Int, CaseIterable {
  case time, date, clock, utc, offset, value, smbg, ketone, unit, kind, control, device, serial, note, carbs,
    carbs2, insulin, insulin2, insulin3, use, tick

  /// The roles of columns with values that a device measured.
  static let measured: [GenericRole] = [.value, .smbg, .ketone]
  /// The roles of columns with doses of insulin, such as `Meal bolus` and `Correction bolus`.
  static let doses: [GenericRole] = [.insulin, .insulin2, .insulin3]
  /// The roles of columns with carbohydrates.
  static let foods: [GenericRole] = [.carbs, .carbs2]

  var name: String { String(describing: self) }

  init?(name: String) {
    guard let role = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }
}

/// The columns of a generic input by role: their indexes in a row, -1 for none.
struct GenericColumns: Equatable {
  private var places = [Int](repeating: -1, count: GenericRole.allCases.count)
  /// The columns that identify the person of a row, and those in `--where`.
  var watched: [Int] = []
  /// The columns among `watched` that show which rows are not readings. Such a column may also have a role,
  /// so `isUsed` does not count it.
  var marks: [Int] = []
  /// Columns whose words or numbers may identify persons.
  var series: [Int] = []
  /// The column that names the time zones of the rows. It is not read.
  var zones = -1
  /// The column of dates next to a column of full times. Its dates are only compared with those times.
  var days = -1
  /// The column of times of day that belongs to `days`. It is only compared with the full times.
  var dayClock = -1
  /// The column in mmol/L that repeats the mg/dL values of the column of values. It is only compared with
  /// that column.
  var twin = -1
  /// Columns that are not read, and may hold glucose in rows without a value.
  var further: [Int] = []
  /// The columns whose words may state the device or the method of measurement, such as `Source` or `Method`.
  var origins: [Int] = []
  /// The columns that may state the time zones of rows. They are only compared with the zone that is used.
  var zoneSigns: [Int] = []
  /// The columns that may state which device measured a value, for a comparison with the kind that a person
  /// gave.
  var kindSigns: [Int] = []
  /// The columns that may state the kind, the unit or the state of each dose or amount of carbohydrates.
  var amountSigns: [Int] = []

  @inline(__always) subscript(role: GenericRole) -> Int {
    get { places[role.rawValue] }
    set { places[role.rawValue] = newValue }
  }

  /// The roles that have a column, in the order of `GenericRole`.
  var roles: [GenericRole] { GenericRole.allCases.filter { self[$0] >= 0 } }

  func isUsed(_ column: Int) -> Bool {
    places.contains(column) || (watched.contains(column) && !marks.contains(column))
  }

  func hasRole(_ column: Int) -> Bool { places.contains(column) }

  /// The same columns with the indexes that the function returns for them.
  func moved(_ newIndex: (Int) -> Int) -> GenericColumns {
    var moved = self
    for role in roles { moved[role] = newIndex(self[role]) }
    moved.watched = watched.map(newIndex)
    moved.marks = marks.map(newIndex)
    moved.series = series.map(newIndex)
    moved.further = further.map(newIndex)
    moved.origins = origins.map(newIndex)
    moved.zoneSigns = zoneSigns.map(newIndex)
    moved.kindSigns = kindSigns.map(newIndex)
    moved.amountSigns = amountSigns.map(newIndex)
    if zones >= 0 { moved.zones = newIndex(zones) }
    if days >= 0 { moved.days = newIndex(days) }
    if dayClock >= 0 { moved.dayClock = newIndex(dayClock) }
    if twin >= 0 { moved.twin = newIndex(twin) }
    return moved
  }
}

/// A row of an input's head that may be its header, with the rows after it. For JSON objects, their keys are
/// the header.
struct GenericHeader {
  /// The cells, unchanged; for objects, the keys in order.
  var names: [String]
  var rows: [[String]]
  var words: [HeaderWords]
  /// The time zone that is named above the header, or around the objects; nil without one.
  var statedZone: String?
  /// What the lines above the header state about the person.
  var statedPersons: [StatedPerson] = []
  /// What the lines above the header, or the members around the objects, state instead of a person's
  /// readings.
  var otherSubject: OtherSubject?
  /// The number of cells that rows have before the first column of the header. It is 1 if they begin with a
  /// row number that has no name in the header.
  var shift = 0
  /// Whether the rows above the header, a title or a preamble, mention glucose and no other measurement.
  var titleNamesGlucose = false

  init(names: [String], rows: [[String]]) {
    self.names = names
    self.rows = rows
    words = names.map(HeaderWords.init)
  }

  /// The same header with an additional first column without a name, for rows that begin with a row number.
  var shifted: GenericHeader {
    var header = self
    header.names = [""] + names
    header.words = [HeaderWords("")] + words
    header.shift = 1
    return header
  }

  /// Whether most rows have one cell more than the header.
  var isOneShort: Bool {
    !rows.isEmpty && rows.filter { $0.count == names.count + 1 }.count * 2 > rows.count
  }

  /// The meaning of a column's name, read as a name for times.
  func timeName(_ column: Int) -> TimeName { TimeName(names[column]) }

  /// The index of the column with exactly this name, or else with the same name after folding.
  func index(of name: String) -> Int? {
    names.firstIndex(of: name) ?? names.firstIndex { foldedHeader($0) == foldedHeader(name) }
  }

  /// Reads the time zone, the persons and a word for glucose in the rows above the header.
  mutating func readTitle(_ rows: some Sequence<[String]>) {
    statedZone = rows.lazy.compactMap(GenericFinding.zone).first
    statedPersons = rows.flatMap(TitleRow.persons)
    otherSubject = OtherSubject(title: rows)
    let words = rows.joined().map(HeaderWords.init)
    titleNamesGlucose = words.contains(where: \.mentionsGlucose) && !words.contains(where: \.namesOther)
  }

  /// The header with only the rows that a person selected. It keeps all of its rows if none of them was
  /// selected.
  func picked(by filters: [RowFilter]) -> GenericHeader {
    let trimmed = { (text: String) in text.withField { Array($0.trimmed.bytes) } }
    let picks = filters.compactMap { filter in
      index(of: filter.column).map { (place: $0, value: trimmed(filter.value)) }
    }
    guard !picks.isEmpty else { return self }
    var header = self
    let rows = rows.filter { row in
      picks.allSatisfy { row.indices.contains($0.place) && trimmed(row[$0.place]) == $0.value }
    }
    if !rows.isEmpty { header.rows = rows }
    return header
  }

  /// The filled cells of a column.
  func cells(_ column: Int) -> [String] {
    rows.compactMap { $0.indices.contains(column) && !$0[column].isEmpty ? $0[column] : nil }
  }

  /// Whether the header is a line of prose with commas: it has a long name, and no column has times or
  /// values.
  var isProse: Bool {
    let longest = names.map { $0.split(separator: " ").count }.max() ?? 0
    return longest > 7 && names.indices.allSatisfy { [.text, .empty].contains(content($0)) }
  }

  /// The content of most cells in a column, apart from cells of text. It is `text` if too few cells have
  /// another content.
  func content(_ column: Int) -> CellContent {
    let cells = cells(column)
    var counts: [CellContent: Int] = [:]
    for cell in cells {
      var content = CellContent(cell)
      // `7.12` and `7h12` are times of day if the column's name is one for times.
      if content == .number || content == .text, words[column].isTime,
        cell.withField({ $0.trimmed.timeOfDay != nil })
      {
        content = .clock
      }
      counts[content, default: 0] += 1
    }
    // Spreadsheets write midnight after a date without a time of day. So a column in which every time is
    // midnight is a column of dates.
    if let midnights = counts[.midnight] {
      counts[cells.count > 1 && midnights == cells.count ? .date : .time, default: 0] += midnights
      counts[.midnight] = nil
    }
    if cells.isEmpty { return .empty }
    if counts[.number] == cells.count, holdsDigitsOfDay(cells), words[column].isTime { return .clock }
    counts[.text] = nil
    // If the column has a suitable name, few cells are enough, so that a column of mostly damaged cells is
    // still read cell by cell.
    let fits = words[column].isTime || words[column].isGlucose || words[column].isValue
    guard
      let most = counts.max(by: {
        ($0.value, rank($0.key, in: column)) < ($1.value, rank($1.key, in: column))
      })
    else { return .text }
    return most.value * (fits ? 10 : 2) > cells.count ? most.key : .text
  }
}

extension GenericHeader {
  /// The rank of a kind of content. If two kinds have the same number of cells in a column, the kind with the
  /// higher rank is used.
  private func rank(_ content: CellContent, in column: Int) -> Int {
    content == .number && !words[column].isTime ? 1 : -content.rawValue
  }

  /// Whether the cells are times of day in four digits. If no cell begins with a zero, they may be minutes or
  /// years instead.
  private func holdsDigitsOfDay(_ cells: [String]) -> Bool {
    cells.contains { $0.hasPrefix("0") }
      && cells.allSatisfy { $0.withField { $0.trimmed.digitsOfDay != nil } }
  }
}

/// The kind of content as which one cell can be read. A cell that can be a time is not a value.
enum CellContent: Int {
  case empty, time, midnight, date, clock, epoch, serial, number, valueWord, text

  init(_ text: String) {
    self = text.withField(Self.content)
  }

  private static func content(_ cell: Field) -> CellContent {
    let field = cell.trimmed
    if field.isEmpty { return .empty }
    if let clock = field.timeOnFirstDay, clock.hour > 0 || clock.minute > 0 { return .clock }
    if let time = field.yearFirstTime {
      return time.deviceTime.seconds % 86400 == 0 ? .midnight : .time
    }
    if let time = field.ambiguousTime {
      return time.hour == 0 && time.minute == 0 && time.seconds == 0 ? .midnight : .time
    }
    if field.namedTime != nil { return .time }
    if field.bytes.contains(UInt8(ascii: ":")), field.timeOfDay != nil || field.clockWithOffset != nil {
      return .clock
    }
    if let date = field.genericDate {
      // Hungarian and Croatian dates end in a dot: `2026.03.02.`.
      let rest = field.slice(min(date.length, field.count), field.count)
      return rest.isEmpty || rest.equals(".") ? .date : .text
    }
    if field.epochMilliseconds != nil { return .epoch }
    if let number = field.number(.point) ?? field.number(.comma) ?? field.jsonNumber {
      return GenericTimeReader.serials.contains(number) ? .serial : .number
    }
    if ValueWord(field, mark: .point) != nil { return .valueWord }
    return field.glucoseWithUnit(.point) != nil || field.glucoseWithUnit(.comma) != nil ? .number : .text
  }
}

extension [String] {
  /// Passes the cells as a row. The row is valid only during the call.
  func withRow<Result>(_ body: (Row) throws -> Result) rethrows -> Result {
    var bytes: [UInt8] = [0]
    for cell in self { bytes += Array<UInt8>(cell.utf8) }
    return try bytes.withUnsafeBufferPointer { bytes in
      var place = 1
      let fields = map { cell in
        defer { place += cell.utf8.count }
        // The byte before the cells keeps the buffer from being empty.
        return bytes.baseAddress.map { Field(start: $0 + place, count: cell.utf8.count, shape: .bare) }
          ?? .absent
      }
      return try fields.withUnsafeBufferPointer { fields in
        try body(
          Row(
            fields: fields, line: 0, isUnterminated: false,
            source: UnsafeBufferPointer(start: nil, count: 0)))
      }
    }
  }
}

extension String {
  /// Passes the text as a field. The field is valid only during the call.
  func withField<Result>(_ body: (Field) -> Result) -> Result {
    var text = self
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return body(.absent) }
      return body(Field(start: start, count: bytes.count, shape: .bare))
    }
  }
}
