// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Suggests commands that import an input whose columns cannot be determined. Each command is tried on the
/// first rows of the input before it is suggested.
struct GenericAdvice {
  private static let maxCommands = 4

  let head: InputHead
  let options: ExportOptions
  let finding: GenericFinding

  /// The advice to append to the text of a problem; empty if no command can be suggested.
  func text(for problem: GenericProblem) -> String {
    let commands = Array(commands(for: problem).prefix(Self.maxCommands))
    if commands.isEmpty {
      if let command = problem.choices.lazy.compactMap(commandForDoses).first {
        return ". Its values seem to be doses of insulin; if they are, import them with:\n  " + command
      }
      return problem.choices.lazy.compactMap { finding.reasonAgainstHint(forValuesIn: $0[.value]) }.first
        ?? ""
    }
    if problem.areSeries, !problem.isDoubtful {
      return ". Import each column of your own sensors or meters as a separate device:"
        + commands.map { "\n  " + $0 }.joined()
    }
    let lead =
      if problem.haveSeveralTimes {
        "Import it with one of these, not with several: each reads the same values at other times:"
      } else if problem.isOfStamps {
        "If the values were measured then, import them with:"
      } else if problem.isDoubtful {
        "If its values are glucose, import them with:"
      } else {
        "Import what you need with:"
      }
    return ". " + lead + commands.map { "\n  " + $0 }.joined()
  }

  /// The command that imports the values of a choice as doses of the insulins that another column names.
  private func commandForDoses(_ choice: GenericColumns) -> String? {
    guard options.rows.isEmpty, let doses = finding.columnsOfDoses(insteadOf: choice) else { return nil }
    var options = options
    options.format = nil
    for role in [GenericRole.time, .date, .clock, .insulin, .use] where doses[role] >= 0 {
      guard let name = finding.nameInCommands(doses[role]) else { return nil }
      options.columns[role.name] = name
    }
    return ImportHint(options: options).command
  }

  private func commands(for problem: GenericProblem) -> [String] {
    if problem.rows.isEmpty {
      return problem.choices.enumerated().flatMap { index, choice in
        // If there are several series, each command imports one of them as a separate device. Columns that
        // all series share are read only by the first command.
        let isFurther = problem.areSeries && index > 0
        return commands(
          naming: isFurther ? choice.without(.ketone).without(.smbg) : choice, rows: [], of: problem)
      }
    }
    return problem.rows.flatMap { row in
      guard row.value.isPlainInCommands, !options.rows.contains(row) else { return [String]() }
      if problem.isDoubtful {
        return problem.choices.flatMap { commands(naming: $0, rows: [row], of: problem) }
      }
      var options = options
      options.rows.append(row)
      // If a command would only lead to another problem, the choices of that problem are added to it.
      let request = GenericFinding.ColumnRequest(options)
      let finding = GenericFinding.find(head, request) ?? GenericFinding.findByCells(head, request)
      if let next = finding?.problem {
        return next.choices.flatMap { commands(naming: $0, rows: [row], of: next) }
      }
      return command(for: row, options, finding).map { [$0] } ?? []
    }
  }

  /// The command that imports the rows with a word. Rows without measured values are read as doses, if their
  /// word and their columns show that. Nil for the rows of a bolus calculator, whose glucose is a copy.
  private func command(
    for row: RowFilter, _ options: ExportOptions, _ finding: GenericFinding?
  ) -> String? {
    let word = HeaderWords(row.value)
    if !word.words.isDisjoint(with: Self.calculators) { return nil }
    guard let finding, !finding.header.rows.isEmpty, finding.hasNoMeasuredCells else {
      return ImportHint(options: options).command
    }
    guard word.namesDose, let columns = finding.namesOfDoses else { return nil }
    var options = options
    options.format = nil
    options.columns = columns
    return ImportHint(options: options).command
  }

  private static let calculators: Set<String> = [
    "boluscalculator", "bolusrechner", "boluswizard", "calculator", "rechner", "wizard",
  ]

  /// The import commands that choose these columns. There is one for each unit, order of dates and kind of
  /// reading that the first rows do not determine.
  private func commands(
    naming columns: GenericColumns, rows: [RowFilter], of problem: GenericProblem
  ) -> [String] {
    var options = options
    options.format = nil
    options.rows += rows
    for role in [GenericRole.time, .date, .clock, .utc, .offset, .value, .smbg, .ketone]
    where columns[role] >= 0 {
      guard let name = finding.nameInCommands(columns[role]) else { return [] }
      options.columns[role.name] = name
    }
    // Each series becomes a separate device. If two series shared a device, their values at the same time
    // would count as one changed value.
    if problem.areSeries, problem.choices.count > 1, options.device == nil {
      options.device = options.columns["value"]
    }
    guard options.columns["value"] != nil || options.columns["ketone"] != nil,
      let mapped = GenericFinding.find(head, GenericFinding.ColumnRequest(options)),
      mapped.hasTimes || mapped.header.rows.isEmpty,
      mapped.reasonAgainstHint(forValuesIn: mapped.columns[.value]) == nil
    else { return [] }
    let kinds: [ReadingKind?] = problem.kinds.isEmpty ? [options.kind] : problem.kinds
    let units: [GlucoseUnit?] = possibleUnits(mapped) ?? [options.unit]
    let orders: [String?] =
      orderIsUndecided(mapped, options) ? DateOrder.allCases.map(\.rawValue) : [options.dateOrder]
    return units.flatMap { unit in
      orders.flatMap { order in
        kinds.map { kind in
          options.unit = unit
          options.dateOrder = order
          options.kind = kind
          return ImportHint(options: options).command
        }
      }
    }
  }

  /// The possible units of the values; nil if the head determines the unit.
  private func possibleUnits(_ mapped: GenericFinding) -> [GlucoseUnit]? {
    var units = GenericUnits(mapped, given: options.unit, isForced: true)
    guard units.isUndecided else { return nil }
    for cell in mapped.header.cells(mapped.columns[.value]) {
      cell.withField { units.observe($0, in: .absent) }
    }
    do {
      try units.decide()
      return nil
    } catch {
      return units.choices
    }
  }

  /// Whether the head is the whole input, and still does not show which number of a date is the day.
  private func orderIsUndecided(_ mapped: GenericFinding, _ options: ExportOptions) -> Bool {
    let column = mapped.columns[.time] >= 0 ? mapped.columns[.time] : mapped.columns[.date]
    do {
      var format = try GenericFormat(GenericFormat.recognition(mapped), head: head, options: options)
      guard head.isWhole, format.orderIsUndecided else { return false }
      for cell in mapped.header.cells(column) {
        cell.withField { field in
          guard let date = field.trimmed.ambiguousDate else { return }
          let time = AmbiguousTime(
            first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
            hasHalfDay: false, separator: date.separator)
          format.dates.observe(field.trimmed.ambiguousTime ?? time, isHistory: format.kind.isHistory, line: 0)
        }
      }
      _ = try format.dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
      return false
    } catch {
      return true
    }
  }
}

extension GenericFinding {
  private static let maxShown = 4

  /// - Throws: `Failure` of category `badInput` if a column states the kinds of doses by codes such as `R`. A
  ///   code does not show whether the amount is a dose. In the data set T1D-UOM, `R` marks a pump's rate in
  ///   U/h, and `L` a dose of long-acting insulin.
  func requireKnownKindsOfDoses(_ hint: ImportHint) throws {
    let doses = GenericRole.doses.map { columns[$0] }.filter { $0 >= 0 }
    guard let first = doses.first else { return }
    let hasReadings = GenericRole.measured.contains { columns[$0] >= 0 }
    let picked = hint.options.rows.compactMap { header.index(of: $0.column) }
    let rows = header.rows.filter { row in
      doses.contains { row.indices.contains($0) && !row[$0].isEmpty }
    }
    for place in header.names.indices where !picked.contains(place) && !doses.contains(place) {
      let words = header.words[place]
      guard GenericAmountRows.mayStateKinds(words, hasReadings: hasReadings) else { continue }
      let cells = Set(rows.compactMap { $0.indices.contains(place) && !$0[place].isEmpty ? $0[place] : nil })
      let codes = cells.filter(GenericAmountRows.isCode)
      // A column with a general name, such as `Type`, can hold words and codes. The codes then name other
      // things in the diary, and are not kinds of doses.
      guard let code = codes.sorted().first, GenericAmountRows.isOfKindsOfDoses(words) || codes == cells
      else {
        continue
      }
      throw Failure(
        .badInput,
        "the column \(quoted([place])) states the kinds of the amounts in \(quoted([first])) by codes such as \(shownName(code)), "
          + "which may mean rates in U/h and not doses. "
          + commands(cells.sorted(), place, hint))
    }
  }

  /// The commands that import the rows with one of the words, or all rows.
  private func commands(_ words: [String], _ place: Int, _ hint: ImportHint) -> String {
    let all = "If all rows are doses in U, import them with:" + hint.lines([{ $0.force = true }])
    guard words.count > 1, words.count <= Self.maxShown, let name = nameInCommands(place),
      words.allSatisfy(\.isPlainInCommands)
    else { return all }
    return "Import the rows that are doses with:"
      + hint.lines(words.map { word in { $0.rows.append(RowFilter(column: name, value: word)) } })
  }
}

extension GenericFormat {
  /// Recognises an input by the columns that a person named in `--map`.
  ///
  /// - Throws: `Failure` of category `usage` for an unknown role, `badInput` for a missing column.
  static func recogniseNamed(
    _ head: InputHead, options: ExportOptions
  ) throws -> Recognition<GenericFinding> {
    let map = options.columns
    for role in map.keys.sorted() where GenericRole(name: role) == nil {
      let roles = GenericRole.allCases.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "--map has no role '\(role)'; the roles are \(roles)")
    }
    let hasTime = map["time"] != nil || map["utc"] != nil || (map["date"] != nil && map["clock"] != nil)
    if map["utc"] != nil, map["time"] != nil || map["date"] != nil {
      throw Failure(.usage, "--map names local times and times in UTC (utc); name the column of one of them")
    }
    guard hasTime, ["value", "ketone", "carbs", "insulin", "note"].contains(where: { map[$0] != nil }) else {
      throw Failure(
        .usage, "--map must name the column time (or utc, or date and clock), and value or another to read")
    }
    if map["smbg"] != nil, map["value"] == nil {
      throw Failure(
        .usage,
        "--map smbg=COLUMN is for finger sticks beside the values of a sensor; without those use value=COLUMN and --kind smbg"
      )
    }
    guard let finding = GenericFinding.find(head, GenericFinding.ColumnRequest(options)) else {
      let names = options.rows.isEmpty ? "--map names" : "--map and --where name"
      throw Failure(
        .badInput,
        "no header has the columns that \(names); \(seenColumns(head) ?? noHeader)\(example(head, options))")
    }
    if !options.force {
      try finding.requireBloodKetones()
      try finding.requireAmounts()
      try finding.requireNoDoses()
      try finding.requireKnownKindsOfDoses(ImportHint(options: options))
    }
    if let problem = finding.cbgProblem(given: options.kind) {
      let advice = GenericAdvice(head: head, options: options, finding: finding).text(for: problem)
      throw Failure(.badInput, problem.text + advice)
    }
    return recognition(finding)
  }

  /// An example of a command with columns of the input, to follow an error message; empty if no such columns
  /// are known.
  private static func example(_ head: InputHead, _ options: ExportOptions) -> String {
    var options = options
    options.columns = [:]
    options.rows = []
    let found = GenericFinding.find(head, GenericFinding.ColumnRequest())
    guard let finding = found ?? GenericFinding.findByCells(head), finding.hasTimes else { return "" }
    let names = finding.header.names.indices
    let value =
      finding.columns[.value] >= 0
      ? finding.columns[.value]
      : finding.problem?.choices.first?[.value]
        ?? names.first { !finding.columns.isUsed($0) && finding.header.content($0) == .number } ?? -1
    if let reason = finding.reasonAgainstHint(forValuesIn: value) { return reason }
    for (role, place) in [
      (GenericRole.time, finding.columns[.time]), (.date, finding.columns[.date]),
      (.clock, finding.columns[.clock]), (.value, value),
    ] where place >= 0 {
      guard let name = finding.nameInCommands(place) else { return "" }
      options.columns[role.name] = name
    }
    guard options.columns["value"] != nil, options.columns.count > 1 else { return "" }
    return ". For example:\n  " + ImportHint(options: options).command
  }

  private static let noHeader =
    "the table has no header line; add one that names each column, such as: time,glucose (mg/dL)"

  /// Keys in the JSON with which a server refuses a request.
  private static let errorKeys: Set<String> = [
    "message", "error", "errors", "status", "statuscode", "code", "detail",
  ]

  /// The description of an input that has no known format, with advice; nil if there is nothing to report.
  static func explain(_ head: InputHead, options: ExportOptions) -> String? {
    if isErrorAnswer(head) { return "this is an error message of a server, not an export; download it again" }
    if head.isJSON, head.objects.isEmpty { return "this JSON contains no object that can be read" }
    let found = GenericFinding.find(head, GenericFinding.ColumnRequest(options))
    let request = GenericFinding.ColumnRequest(options)
    guard let finding = found ?? GenericFinding.findByCells(head, request),
      let problem = finding.problem ?? finding.unnamedTimesProblem
    else {
      if GenericFinding.lacksHeader(head) { return "unknown format: \(noHeader)" }
      return GenericFinding.namesGlucose(head)
        ? "unknown format: a column is named for glucose, but none holds dates with times of day; also export those"
        : nil
    }
    if !head.isJSON, finding.header.isProse { return nil }
    if finding.holdsEntriesByID {
      return "unknown format: this JSON holds its entries by id in an object, and not in a list; "
        + "convert it to a list"
    }
    let holdsLists = head.objects.contains { $0.values.contains { $0.hasPrefix("[{") || $0.hasPrefix("[[") } }
    if head.isJSON, holdsLists || (problem.choices.isEmpty && !finding.hasTimes) {
      return "unknown format: no list in this JSON has objects with a time and a "
        + "glucose value together"
    }
    let advice = GenericAdvice(head: head, options: options, finding: finding).text(for: problem)
    return
      "unknown format, and as a table: \(problem.text) (\(columns(of: finding)))\(advice)"
  }

  /// The columns of the row that is most similar to a header, as text for a message.
  private static func seenColumns(_ head: InputHead) -> String? {
    (GenericFinding.find(head, GenericFinding.ColumnRequest()) ?? GenericFinding.findByCells(head)).map(
      columns)
  }

  private static func columns(of finding: GenericFinding) -> String {
    "columns: " + finding.quoted(finding.header.names.indices.filter { !finding.header.names[$0].isEmpty })
  }

  /// Whether the input is only one object with an error message.
  private static func isErrorAnswer(_ head: InputHead) -> Bool {
    guard head.isJSON, head.objects.count == 1, let keys = head.objects.first?.keys, keys.count <= 8 else {
      return false
    }
    let names = keys.map { $0.lowercased() }
    return names.contains(where: errorKeys.contains)
      && !names.contains { HeaderWords($0).isGlucose || HeaderWords($0).isValue }
  }

  /// Whether the input is an empty JSON list, with or without an envelope: an export without items.
  static func isEmptyList(_ head: InputHead) -> Bool {
    if ServerAnswer.isEmpty(head) { return true }
    guard head.isJSON, head.isWhole, head.objects.isEmpty else { return false }
    let text = head.lines.joined().filter { !$0.isWhitespace }
    return text == "[]" || (text.hasPrefix("{\"") && text.hasSuffix("}") && text.contains(":[]"))
  }
}
