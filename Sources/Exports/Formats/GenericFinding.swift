// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The columns of a generic input as its head shows them, or why they cannot be told.
struct GenericFinding {
  var header: GenericHeader
  /// The delimiter; nil for JSON objects.
  var delimiter: UInt8?
  var columns = GenericColumns()
  /// What a person has to settle, as a sentence; nil when the columns are found.
  var problem: String?

  /// - Parameter map: what `--map` says, by role; empty to find the columns by their names and content.
  static func find(_ head: InputHead, map: [String: String]) -> GenericFinding? {
    if head.isJSON { return findInObjects(head, map: map) }
    var best: GenericFinding?
    for delimiter in head.declaredDelimiter.map({ [$0] }) ?? InputHead.delimiters {
      guard let finding = find(in: head.rows(delimiter), map: map) else { continue }
      var candidate = finding
      candidate.delimiter = delimiter
      if candidate.problem == nil { return candidate }
      if candidate.header.names.count > best?.header.names.count ?? 0 { best = candidate }
    }
    return best
  }

  /// Whether a header that names times and glucose stands there without rows.
  var isHeaderAlone: Bool {
    delimiter != nil && header.rows.isEmpty && header.words.contains(where: \.isTime)
      && header.words.contains { $0.isGlucose }
  }

  /// The first row that will do as a header, unless one above it stands over rows of its own, which would be
  /// lost.
  private static func find(in rows: [[String]], map: [String: String]) -> GenericFinding? {
    let places = rows.indices.filter {
      (rows[$0].count > 1 || !map.isEmpty) && mayBeHeader(rows[$0], map: map)
    }
    var best: GenericFinding?
    for place in places {
      let next = places.first { $0 > place && rows[$0].count > 1 } ?? rows.endIndex
      let own = Array(rows[(place + 1)..<next])
      guard let finding = judge(rows[place], behind: own, map: map) else { continue }
      if finding.problem == nil { return finding }
      if finding.header.names.count > best?.header.names.count ?? 0 { best = finding }
      let holdsTimes = own.contains { $0.contains { [.time, .epoch, .date].contains(CellContent($0)) } }
      if holdsTimes { return best }
    }
    return best
  }

  private static func mayBeHeader(_ names: [String], map: [String: String]) -> Bool {
    let filled = names.filter { !$0.isEmpty }
    guard filled.filter(startsWithDigit).count * 2 < filled.count else { return false }
    // A title that gives a time; it may name a person, too.
    guard !filled.contains(where: startsWithDate) else { return false }
    if !map.isEmpty {
      let folded = filled.map(foldedHeader)
      return map.values.allSatisfy { filled.contains($0) || folded.contains(foldedHeader($0)) }
    }
    let words = filled.map(HeaderWords.init)
    return words.contains(where: \.isTime)
      && words.contains { $0.isGlucose || $0.isValue || $0.isKetone || $0.isMeal || $0.mentionsGlucose }
  }

  private static func findInObjects(_ head: InputHead, map: [String: String]) -> GenericFinding? {
    let names = Set(head.objects.flatMap(\.keys)).sorted()
    let rows = head.objects.map { object in names.map { object[$0] ?? "" } }
    return judge(names, behind: rows, map: map)
  }

  /// The finding for a row taken as the header; nil when it cannot be one.
  private static func judge(_ names: [String], behind rows: [[String]], map: [String: String])
    -> GenericFinding?
  {
    guard map.isEmpty else { return mapped(GenericHeader(names: names, rows: rows), map: map) }
    let header = GenericHeader(names: names, rows: rows)
    guard header.words.contains(where: { $0.isTime || $0.isGlucose || $0.isValue }) else { return nil }
    var finding = inferred(header)
    if finding.problem != nil, header.isOneShort {
      let shifted = inferred(header.shifted)
      if shifted.problem == nil { finding = shifted }
    }
    return finding
  }

  private static func startsWithDate(_ text: String) -> Bool { text.withField { $0.genericDate != nil } }

  private static func startsWithDigit(_ text: String) -> Bool {
    text.utf8.first.map { $0 &- 0x30 <= 9 } ?? false
  }
}

// MARK: - Columns that a person named

extension GenericFinding {
  private static func mapped(_ header: GenericHeader, map: [String: String]) -> GenericFinding? {
    var finding = GenericFinding(header: header)
    let folded = header.names.map(foldedHeader)
    for (roleName, column) in map {
      guard let role = GenericRole(name: roleName),
        let place = header.names.firstIndex(of: column) ?? folded.firstIndex(of: foldedHeader(column))
      else { return nil }
      finding.columns[role] = place
    }
    if header.isOneShort, !finding.hasTimes {
      finding.columns = finding.columns.moved { $0 + 1 }
      finding.header = header.shifted
    }
    finding.addOptionalColumns(besides: Set(map.keys))
    return finding
  }

  /// Whether the mapped column of times holds any.
  private var hasTimes: Bool {
    let column = columns[.time] >= 0 ? columns[.time] : columns[.date]
    return [.time, .epoch, .date, .serial].contains(header.content(column))
  }
}

// MARK: - Columns told by name and content

extension GenericFinding {
  private static func inferred(_ header: GenericHeader) -> GenericFinding {
    var finding = GenericFinding(header: header)
    finding.problem = finding.findTime() ?? finding.findValue()
    finding.addOptionalColumns(besides: [])
    if finding.problem == nil { finding.problem = finding.rowTypeProblem ?? finding.otherUnitProblem }
    return finding
  }

  /// Finds the column of times, or those of dates and times of day; else says what is wrong.
  private mutating func findTime() -> String? {
    let all = header.names.indices
    let named = all.filter { header.words[$0].isTime }
    if header.rows.allSatisfy({ row in row.allSatisfy(\.isEmpty) }) { return findTimeByName(named) }
    let contents = all.map(header.content)
    let whole = all.filter { contents[$0] == .time || (contents[$0] == .epoch && header.words[$0].isTime) }
    let dates = all.filter { contents[$0] == .date }
    let clocks = all.filter { contents[$0] == .clock }
    if whole.count == 1 {
      columns[.time] = whole[0]
      return nil
    }
    if whole.count > 1 { return "several columns hold times: \(quoted(whole)); name one with --map time=…" }
    if dates.count == 1, clocks.count == 1 {
      columns[.date] = dates[0]
      columns[.clock] = clocks[0]
      return nil
    }
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    if let date = dates.first, clocks.isEmpty {
      return "the column \(quoted([date])) holds dates without a time of day, and a reading needs one; "
        + "export the time, too"
    }
    if dates.count > 0 {
      return "dates and times of day stand in several columns: \(quoted(dates + clocks)); "
        + "name them with --map date=…,clock=…"
    }
    if let serial = all.first(where: { contents[$0] == .serial && header.words[$0].isTime }) {
      return
        "the column \(quoted([serial])) holds day numbers of a spreadsheet; save the times as text, or say "
        + "--map time=… to have them read"
    }
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    return named.isEmpty
      ? "no column holds times; name one with --map time=…"
      : "the times in \(quoted(named)) are of no form that glucoport knows"
  }

  private var mealProblem: String {
    "this is a table of meals by day: it has no times, and a reading needs one; export the readings as a list"
  }

  /// A header without rows: the names alone say that it is an export, of nothing so far.
  private mutating func findTimeByName(_ named: [Int]) -> String? {
    if named.count == 1 {
      columns[.time] = named[0]
      return nil
    }
    if named.count == 2 {
      columns[.date] = named[0]
      columns[.clock] = named[1]
      return nil
    }
    return named.isEmpty
      ? "no column is named for times; name one with --map time=…"
      : "several columns are named for times: \(quoted(named)); name one with --map time=…"
  }

  /// Finds the column of values; else says what is wrong.
  private mutating func findValue() -> String? {
    let free = header.names.indices.filter { !columns.isUsed($0) && holdsValues($0) }
    if let ketone = free.first(where: { header.words[$0].isKetone }) { columns[.ketone] = ketone }
    for isOne in [\HeaderWords.isGlucose, \HeaderWords.isValue] {
      let found = free.filter { header.words[$0][keyPath: isOne] }
      if found.count == 1 {
        columns[.value] = found[0]
        return nil
      }
      if found.count > 1 {
        return "several columns may hold glucose: \(quoted(found)); name one with --map value=…"
      }
    }
    if columns[.ketone] >= 0 { return nil }
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    return "no column is named for glucose; name it with --map value=…"
  }

  private func holdsValues(_ column: Int) -> Bool {
    switch header.content(column) {
    // Epochs and serials are numbers out of range, told row by row.
    case .number, .valueWord, .empty: true
    default: false
    }
  }

  /// Adds the columns that help when they are there, told by clear names and by content.
  mutating func addOptionalColumns(besides mapped: Set<String>) {
    for place in header.names.indices where !columns.isUsed(place) {
      guard let role = header.words[place].role, columns[role] < 0, !mapped.contains(role.name) else {
        continue
      }
      switch role {
      case .unit where !header.cells(place).contains(where: { GlucoseUnit(name: $0) != nil }): continue
      case .kind where !header.cells(place).contains(where: { KindWord($0) != nil }): continue
      default: columns[role] = place
      }
    }
  }

  /// A column that tells rows apart in words that nobody knows may part readings from limits and alarms.
  private var rowTypeProblem: String? {
    guard columns[.kind] < 0 else { return nil }
    // Where the values' own name says glucose, one and the same word in all rows parts nothing.
    let mostWords = columns[.value] >= 0 && !header.words[columns[.value]].isGlucose ? 0 : 1
    for place in header.names.indices where header.words[place].isRowType && !columns.isUsed(place) {
      if Set(header.cells(place)).count > mostWords {
        return "the column \(quoted([place])) tells kinds of rows that glucoport does not know; "
          + "keep the rows that are glucose readings, or say with --map which columns to read"
      }
    }
    return nil
  }

  /// A column of values that says nothing of glucose, beside units of which none is one of glucose.
  private var otherUnitProblem: String? {
    guard columns[.value] >= 0, columns[.unit] < 0, !header.words[columns[.value]].isGlucose else {
      return nil
    }
    let others = header.names.indices.first { header.words[$0].role == .unit && !header.cells($0).isEmpty }
    guard let others else { return nil }
    return "the column \(quoted([others])) holds no unit of glucose; if the values are glucose, say so with "
      + "--map time=…,value=… and --unit"
  }

  /// The names of columns as a message shows them.
  func quoted(_ places: [Int]) -> String {
    let names = places.prefix(12).map { place in
      "'"
        + String(
          header.names[place].filter { !$0.isNewline && $0.asciiValue.map { $0 >= 0x20 } != false }.prefix(40)
        ) + "'"
    }
    return names.joined(separator: ", ") + (places.count > 12 ? ", …" : "")
  }

  /// The names of the columns that have one and are not used.
  var unused: [Int] {
    header.names.indices.filter { place in
      let name = header.words[place].name
      // An object is read through its members.
      let isParent = delimiter == nil && header.names.contains { $0.hasPrefix(header.names[place] + ".") }
      return !columns.isUsed(place) && !name.isEmpty && name != "index" && name != "#"
        && !name.hasPrefix("unnamed:") && !isParent
    }
  }
}
