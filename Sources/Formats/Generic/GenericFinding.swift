// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The columns of a generic input that were found in its head, or the problem why they cannot be determined.
struct GenericFinding {
  var header: GenericHeader
  /// The delimiter; nil for JSON objects.
  var delimiter: UInt8?
  var columns = GenericColumns()
  /// Whether only the rows' own words for their kind show that the values are glucose.
  var needsKindWord = false
  /// Whether only the rows' own units show that the values are glucose.
  var needsUnitWord = false
  /// Whether a person named the column of values.
  var valueIsMapped = false
  /// Whether the column of units was chosen by its name only. No row of the head has a unit of glucose in it.
  var unitIsDoubtful = false
  /// Whether the column of kinds has a name for the device that measured, such as `Source`. An unknown word
  /// in it may then be a device.
  var kindMayBeSource = false
  /// The index of a column of events next to the values of a sensor; -1 without one.
  var eventsPlace = -1
  /// The purpose for which each column of `columns.watched` is watched, in the order of those columns.
  var watches: [WatchedColumn] = []
  /// Whether a person stated that the times are in UTC.
  var timesAreMappedAsUTC = false
  /// The problem that a person must solve; nil if the columns are found.
  var problem: GenericProblem?

  /// The finding for an input without rows.
  static let nothing = GenericFinding(header: GenericHeader(names: [], rows: []))

  /// The options about columns: `--map` by role, and `--where`.
  struct ColumnRequest {
    var map: [String: String] = [:]
    var rows: [RowFilter] = []
    var kind: ReadingKind?
    var zoneIsGiven = false
    var isForced = false

    init() {}

    init(_ options: ExportOptions) {
      map = options.columns
      rows = options.rows
      kind = options.kind
      zoneIsGiven = options.zoneIsGiven
      isForced = options.force
    }
  }

  /// The finding for the head of an input; nil if no row of it can be a header.
  ///
  /// - Parameter request: without a map, the columns are found by their names and content.
  static func find(_ head: InputHead, _ request: ColumnRequest) -> GenericFinding? {
    if head.isJSON { return findInObjects(head, request) }
    var best: GenericFinding?
    for delimiter in head.declaredDelimiter.map({ [$0] }) ?? InputHead.delimiters {
      guard let finding = find(in: head.rows(delimiter), request) else { continue }
      var candidate = finding
      candidate.delimiter = delimiter
      if candidate.problem == nil { return candidate }
      if candidate.header.names.count > best?.header.names.count ?? 0 { best = candidate }
    }
    return best
  }

  /// Whether there is a header that names times and glucose, but no rows.
  var isHeaderAlone: Bool {
    delimiter != nil && header.rows.isEmpty && header.words.contains(where: \.isTime)
      && header.words.contains { $0.isGlucose || $0.role == .unit }
  }

  /// The finding for the first row that is a header without a problem. If there is none, the finding for the
  /// header with the most columns. The search ends at a header with times in the rows below it: a later
  /// header would turn these rows into a preamble.
  private static func find(in rows: [[String]], _ request: ColumnRequest) -> GenericFinding? {
    let places = rows.indices.filter {
      (rows[$0].count > 1 || !request.map.isEmpty) && mayBeHeader(rows[$0], map: request.map)
    }
    var best: GenericFinding?
    for place in places {
      let next = places.first { $0 > place && rows[$0].count > 1 } ?? rows.endIndex
      let own = Array(rows[(place + 1)..<next])
      var header = GenericHeader(names: rows[place], rows: own)
      header.readTitle(rows[..<place])
      guard let finding = judge(header, request) else { continue }
      if finding.problem == nil { return finding }
      if finding.header.names.count > best?.header.names.count ?? 0 { best = finding }
      let holdsTimes = own.contains { $0.contains { [.time, .epoch, .date].contains(CellContent($0)) } }
      if holdsTimes { return best }
    }
    return best
  }

  /// Whether the cells of a row can be the names of columns.
  private static func mayBeNames(_ names: [String]) -> Bool {
    let filled = names.filter { !$0.isEmpty }
    // A row with a date, such as a title with the name of a person, is not a header.
    return filled.filter(startsWithDigit).count * 2 < filled.count && !filled.contains(where: startsWithDate)
  }

  private static func mayBeHeader(_ names: [String], map: [String: String]) -> Bool {
    guard mayBeNames(names) else { return false }
    let filled = names.filter { !$0.isEmpty }
    if !map.isEmpty {
      let folded = filled.map(foldedHeader)
      return map.values.allSatisfy { filled.contains($0) || folded.contains(foldedHeader($0)) }
    }
    let words = filled.map(HeaderWords.init)
    return words.contains(where: \.isTime)
      && words.contains { $0.isGlucose || $0.mentionsValue || $0.isKetone || $0.isMeal }
  }

  private static func findInObjects(_ head: InputHead, _ request: ColumnRequest) -> GenericFinding? {
    var header = header(ofObjects: head)
    header.statedZone = zone(around: header, head)
    header.otherSubject = OtherSubject(around: head.outerMembers)
    return judge(header, request)
  }

  private static func header(ofObjects head: InputHead) -> GenericHeader {
    let names = Set(head.objects.flatMap(\.keys)).sorted()
    return GenericHeader(names: names, rows: head.objects.map { object in names.map { object[$0] ?? "" } })
  }

  /// Finds columns by their cells, for a table or objects whose names do not indicate times and glucose. The
  /// result is only used for advice, never for reading.
  static func findByCells(_ head: InputHead, _ request: ColumnRequest = ColumnRequest()) -> GenericFinding? {
    if head.isJSON { return inferred(header(ofObjects: head).picked(by: request.rows), request) }
    for delimiter in InputHead.delimiters {
      let rows = head.rows(delimiter)
      for place in rows.indices.dropLast() where rows[place].count > 1 {
        let own = Array(rows[(place + 1)...])
        let matching = own.filter { $0.count == rows[place].count && holdsTime($0) }
        guard mayBeNames(rows[place]), matching.count * 2 > own.count else { continue }
        let header = GenericHeader(names: rows[place], rows: own).picked(by: request.rows)
        var finding = inferred(header, request)
        finding.delimiter = delimiter
        return finding
      }
    }
    return nil
  }

  /// The problem of a column of times that was found only by its cells, since its name is not one for times.
  var unnamedTimesProblem: GenericProblem? {
    guard problem == nil, columns[.time] >= 0, columns[.value] >= 0 else { return nil }
    return GenericProblem(
      "the column \(quoted([columns[.time]])) holds times, but is not named for them", choices: [columns])
  }

  /// Whether a row of a table has a name for glucose.
  static func namesGlucose(_ head: InputHead) -> Bool {
    InputHead.delimiters.contains { delimiter in
      head.rows(delimiter).prefix(8).contains { row in
        row.count > 1 && mayBeNames(row) && row.contains { HeaderWords($0).isGlucose }
      }
    }
  }

  /// Whether the first row of a table has a time and a number instead of names.
  static func lacksHeader(_ head: InputHead) -> Bool {
    InputHead.delimiters.contains { delimiter in
      guard let first = head.rows(delimiter).first, first.count > 1, holdsTime(first) else { return false }
      return first.contains { CellContent($0) == .number }
    }
  }

  private static func holdsTime(_ row: [String]) -> Bool {
    row.contains { [.time, .midnight, .epoch, .date].contains(CellContent($0)) }
  }

  /// The finding for a row as the header; nil if it cannot be one.
  private static func judge(_ header: GenericHeader, _ request: ColumnRequest) -> GenericFinding? {
    let header = header.picked(by: request.rows)
    guard request.map.isEmpty else { return mapped(header, request) }
    guard header.words.contains(where: { $0.isTime || $0.isGlucose || $0.mentionsValue }) else { return nil }
    var finding = inferred(header, request)
    if finding.problem != nil, header.isOneShort {
      let shifted = inferred(header.shifted, request)
      if shifted.problem == nil { finding = shifted }
    }
    return finding
  }

  private static func startsWithDate(_ text: String) -> Bool { text.withField { $0.genericDate != nil } }

  private static func startsWithDigit(_ text: String) -> Bool {
    text.utf8.first.map { $0 &- 0x30 <= 9 } ?? false
  }
}

// MARK: - Columns found by name and content

extension GenericFinding {
  private static func inferred(_ header: GenericHeader, _ request: ColumnRequest) -> GenericFinding {
    var finding = GenericFinding(header: header)
    finding.addOptionalColumns(besides: [])
    let timeProblem = finding.findTime()
    let valueProblem = finding.findValue(given: request.kind)
    finding.dropEventsNextToSensor()
    finding.problem =
      timeProblem?.with(values: finding.columns, or: valueProblem)
      ?? valueProblem?.with(times: finding.columns)
    if let choices = finding.problem?.choices {
      let matched = finding.matched(choices)
      finding.problem?.choices = matched
    }
    if !finding.watchRows(request) {
      finding.problem = GenericProblem("no column has the name in --where")
    }
    finding.problem = finding.problem.map(finding.withNamedOffsets)
    if finding.problem == nil {
      finding.problem =
        finding.rowTypeProblem(request.rows) ?? finding.rowNameProblem(request.rows) ?? finding
        .otherUnitProblem
        ?? finding.unknownUnitProblem ?? finding.wholeKetonesProblem
        ?? finding.decideNamedOffsets()
        ?? finding.decideOffsets()
        ?? (request.zoneIsGiven ? finding.changingOffsetsProblem : finding.zoneNameProblem())
    }
    finding.columns.zones = finding.indexOfZones ?? -1
    finding.columns.further = finding.indexesOfFurtherValues
    finding.columns.origins = finding.indexesOfOrigins
    finding.columns.zoneSigns = finding.zoneSigns.map(\.place)
    finding.columns.kindSigns = finding.kindSigns.map(\.place)
    finding.columns.days = GenericDays.index(in: finding.header, finding.columns) ?? -1
    finding.columns.dayClock = finding.indexOfDayClock ?? -1
    return finding
  }

  /// The choices whose times belong to their values by name: `followup_measured_at` with `followup_value`.
  private func matched(_ choices: [GenericColumns]) -> [GenericColumns] {
    func similarity(_ choice: GenericColumns) -> Int {
      guard choice[.time] >= 0, choice[.value] >= 0 else { return 0 }
      let (time, value) = (header.words[choice[.time]].name, header.words[choice[.value]].name)
      return zip(time.split(separator: " "), value.split(separator: " ")).prefix { $0 == $1 }.count
    }
    return choices.filter { choice in
      let others = choices.filter { $0[.value] == choice[.value] }
      return similarity(choice) == others.map(similarity).max()
    }
  }

  func holdsValues(_ column: Int) -> Bool {
    switch header.content(column) {
    // Numbers that can be counts since 1970 or day numbers of a spreadsheet are times, not values.
    case .number, .valueWord, .empty: true
    default: false
    }
  }

  /// Adds optional columns with clear names and suitable content.
  mutating func addOptionalColumns(besides mapped: Set<String>) {
    let isNameless = columns[.value] >= 0 && !header.words[columns[.value]].isGlucose
    let isUnit = { (cell: String) in
      isNameless ? GenericUnits.isOfGlucose(cell) : GlucoseUnit(name: cell) != nil
    }
    for place in header.names.indices where !columns.isUsed(place) {
      guard let role = header.words[place].role, columns[role] < 0, !mapped.contains(role.name) else {
        continue
      }
      switch role {
      case .unit where !header.cells(place).contains(where: isUnit): continue
      case .kind
      where !header.cells(place).contains(where: { KindWord($0) != nil }) && !holdsMealMarks(place): continue
      case .offset where !holdsOffsets(place): continue
      default: columns[role] = place
      }
    }
    if columns[.offset] < 0, !mapped.contains(GenericRole.offset.name), let place = indexOfOffsets {
      columns[.offset] = place
    }
    guard columns[.kind] < 0, !mapped.contains(GenericRole.kind.name) else { return }
    if let place = indexOfKindWords {
      columns[.kind] = place
      kindMayBeSource = header.words[place].isOrigin
    }
  }

  /// Whether each cell of a column is a word for yes or no.
  func holdsOnlyMarks(_ place: Int) -> Bool { header.cells(place).allSatisfy(GenericDeviceWords.isMark) }

  /// Whether a column has offsets of times: texts such as `+02:00`, or numbers if its name states offsets.
  private func holdsOffsets(_ place: Int) -> Bool {
    let cells = header.cells(place)
    if cells.contains(where: { $0.withField { $0.trimmed.utcOffset != nil } }) {
      // `GMT` is an offset and the name of a zone. `BST` is only the name of a zone, so it excludes offsets.
      return !cells.contains { Self.isZoneName($0) && $0.withField { $0.trimmed.offsetInAnyForm } == nil }
    }
    let numbers = cells.compactMap { $0.withField { $0.trimmed.numericOffset } }
    // A column named only `offset` may hold the offset of a calibration. That offset is mostly 0, so a column
    // with only zeros is not read.
    guard header.words[place].name == "offset" else { return !numbers.isEmpty }
    return numbers.count == cells.count && numbers.contains { $0 != 0 }
  }

  /// A column, whatever its name, in which each cell is an offset with a colon, such as `+02:00`.
  private var indexOfOffsets: Int? {
    header.names.indices.first { place in
      let cells = columns.isUsed(place) ? [] : header.cells(place)
      return !cells.isEmpty
        && cells.allSatisfy { $0.contains(":") && $0.withField { $0.trimmed.utcOffset } != nil }
    }
  }

  /// A column, whatever its name, in which each cell is a word for a kind, such as `CGM` or `Fingerstick`.
  private var indexOfKindWords: Int? {
    header.names.indices.first { place in
      guard !columns.isUsed(place) else { return false }
      let cells = header.cells(place)
      // `Auto` and `Manual` may be modes of a pump, so another word must show the kind.
      return cells.allSatisfy { KindWord($0) != nil }
        && cells.contains { HeaderWords($0).kind != nil }
    }
  }

  /// A column in which each cell names what the value of its row measures, and some cells name other things
  /// than glucose.
  var indexOfOtherNames: Int? {
    header.names.indices.first { place in
      let words = columns.isUsed(place) ? [] : header.cells(place).map(HeaderWords.init)
      return words.contains(where: \.namesOther) && words.allSatisfy { $0.namesOther || $0.mentionsGlucose }
    }
  }

  /// Whether each cell of a column is a word with which a diary states when a finger stick was taken.
  private func holdsMealMarks(_ place: Int) -> Bool {
    let cells = header.cells(place)
    return !cells.isEmpty && cells.allSatisfy(MealMark.isMark)
  }

  /// Whether a word such as `Fasting` in the column of kinds states the moment of a glucose reading. Such a
  /// word does not show the kind. If the values are not named for glucose, the row may be a meal instead.
  var readsMealMarks: Bool {
    columns[.value] >= 0 && (valueIsMapped || header.words[columns[.value]].isGlucose)
  }

  /// Whether rows with a word such as `Glucose` in the column of kinds have an unknown kind. If other rows of
  /// the head name a sensor, such rows are finger sticks.
  var kindsMayBeGlucoseOnly: Bool {
    let cells = columns[.kind] >= 0 ? header.cells(columns[.kind]) : []
    return cells.contains(where: KindWord.saysOnlyGlucose) && !cells.contains(where: Self.namesSensor)
  }

  /// Whether a word such as `auto` in the column of kinds may mean a meter, since no row of the head names a
  /// sensor.
  var kindsMayBeAutomatic: Bool {
    let cells = columns[.kind] >= 0 ? header.cells(columns[.kind]) : []
    return cells.contains(where: KindWord.saysAutomatic)
      && !cells.contains { Self.namesSensor($0) && !KindWord.saysAutomatic($0) }
  }

  private static func namesSensor(_ cell: String) -> Bool {
    [.cbg, .scan].contains(KindWord(cell)?.kind)
  }

  /// The first column that is named for something that only sensors have, and that is not empty; nil without
  /// one.
  var indexOfSensorColumn: Int? {
    header.names.indices.first {
      header.words[$0].isOfSensor && (header.rows.isEmpty || !header.cells($0).isEmpty)
    }
  }

  func isMealMark(_ cell: String) -> Bool { readsMealMarks && MealMark.isMark(cell) }

  /// The problem of a column with unknown words that distinguish rows. The words may separate readings from
  /// limits and alarms.
  private func rowTypeProblem(_ rows: [RowFilter]) -> GenericProblem? {
    let kinds = columns[.kind]
    if kinds >= 0 { return mealKindProblem(kinds) }
    // If the name of the values mentions glucose, one word that is the same in all rows separates nothing.
    let isNameless = columns[.value] >= 0 && !header.words[columns[.value]].isGlucose
    let picked = rows.compactMap { header.index(of: $0.column) }
    for place in header.names.indices
    where !columns.hasRole(place) && !picked.contains(place) && place != eventsPlace {
      let words = header.words[place]
      guard words.isRowType || (isNameless && words.isName) else { continue }
      let cells = Set(header.cells(place))
      if cells.count > (isNameless ? 0 : 1) {
        return GenericProblem(
          "the column \(quoted([place])) has kinds of rows that glucoport does not know",
          choices: [columns], isDoubtful: isNameless,
          rows: words.isRowType
            ? cells.sorted().map { RowFilter(column: header.names[place], value: $0) } : [])
      }
    }
    return nil
  }

  /// The problem of words for meals in the column of kinds, next to values that are not named for glucose.
  private func mealKindProblem(_ place: Int) -> GenericProblem? {
    guard columns[.value] >= 0, !readsMealMarks, !header.cells(place).contains(where: { KindWord($0) != nil })
    else { return nil }
    return GenericProblem(
      "the column \(quoted([place])) has kinds of rows that glucoport does not know", choices: [columns],
      isDoubtful: true)
  }

  /// The problem of a column that may name what each row measures, such as a column `Test` with
  /// `Cholesterol`. It matters if the name of the values does not mention glucose.
  private func rowNameProblem(_ rows: [RowFilter]) -> GenericProblem? {
    let value = columns[.value]
    guard value >= 0, columns[.kind] < 0, !header.titleNamesGlucose, !header.words[value].mentionsGlucose,
      header.words[value].kind == nil
    else { return nil }
    let picked = rows.compactMap { header.index(of: $0.column) }
    for place in header.names.indices where !columns.hasRole(place) && !picked.contains(place) {
      guard header.words[place].isPossibleName else { continue }
      let cells = Set(header.cells(place).filter { CellContent($0) == .text })
      let named = cells.filter { HeaderWords($0).mentionsGlucose }
      // If all other words of a column are meals, it is a column of a diary, and not a problem.
      guard cells.contains(where: { !named.contains($0) && !HeaderWords($0).isMeal }) else { continue }
      return GenericProblem(
        "the column \(quoted([place])) may name things other than glucose", choices: [columns],
        isDoubtful: named.isEmpty,
        rows: named.sorted().map { RowFilter(column: header.names[place], value: $0) })
    }
    return nil
  }

  /// The problem of a column of values without a word for glucose, if a column of units has no unit of
  /// glucose.
  private var otherUnitProblem: GenericProblem? {
    guard columns[.value] >= 0, columns[.unit] < 0, !header.words[columns[.value]].isGlucose else {
      return nil
    }
    let others = header.names.indices.first { header.words[$0].role == .unit && !header.cells($0).isEmpty }
    guard let others else { return nil }
    return GenericProblem(
      "the column \(quoted([others])) holds no unit of glucose", choices: [columns], isDoubtful: true)
  }

  /// A column's name for `--map`; nil if it has none.
  func nameInCommands(_ place: Int) -> String? {
    let name = header.names[place].split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let folded = foldedHeader(name)
    let twins = header.names.count { foldedHeader($0) == folded }
    return folded.isEmpty || twins != 1 || !name.isPlainInCommands ? nil : name
  }

  /// The columns of times and values by role, for `--map`; empty if one has no usable name.
  var namesInCommands: [String: String] {
    var names: [String: String] = [:]
    for role in [GenericRole.time, .date, .clock, .value] where columns[role] >= 0 {
      guard let name = nameInCommands(columns[role]) else { return [:] }
      names[(role == .time && timesAreMappedAsUTC ? .utc : role).name] = name
    }
    return names[GenericRole.value.name] == nil ? [:] : names
  }

  /// The names of columns, quoted for a message.
  func quoted(_ places: [Int]) -> String {
    let names = places.prefix(12).map { shownName(header.names[$0]) }
    return names.joined(separator: ", ") + (places.count > 12 ? ", …" : "")
  }

  /// The columns with a name that are not read. A warning lists them.
  var unused: [Int] {
    header.names.indices.filter { place in
      if (columns.origins + columns.amountSigns + [columns.twin]).contains(place) { return false }
      let name = header.words[place].name
      // A nested object is read through its members, so the whole object does not count as unused.
      let isParent = delimiter == nil && header.names.contains { $0.hasPrefix(header.names[place] + ".") }
      return !columns.isUsed(place) && !name.isEmpty && name != "index" && name != "#"
        && !name.hasPrefix("unnamed:") && !isParent
    }
  }
}

/// A column's name in a message: in quotes, short, and without control characters for a terminal.
func shownName(_ name: String) -> String {
  let shown = name.filter { !$0.isNewline && $0.asciiValue.map { $0 >= 0x20 && $0 != 0x7F } != false }
  return "'\(shown.prefix(40))'"
}

extension String {
  /// Whether a text can be part of a command on a terminal.
  var isPlainInCommands: Bool {
    !isEmpty && count <= 120
      && !unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
  }
}
