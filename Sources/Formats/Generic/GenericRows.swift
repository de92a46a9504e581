// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A column that decides which rows of a generic input are read.
struct WatchedColumn {
  enum WatchUse {
    /// Only rows with this value are read.
    case pick(String)
    /// The column identifies the person.
    case person
    /// The column may identify the person, or may only number the rows.
    case possiblePerson
    /// The column may identify the person, or may only name the rows.
    case possibleName
    /// The column holds an attribute with only one value for each person, such as a sex.
    case attribute
    /// The column marks rows that are not readings.
    case flag
    /// The column states with yes or no how the value of each row was measured.
    case deviceMark
    /// The column may have words for rows that are not readings.
    case words
  }

  /// The index of the column in the header.
  let place: Int
  let name: String
  let use: WatchUse

  /// Whether a person selects rows by the column.
  var isPick: Bool { if case .pick = use { true } else { false } }

  /// Whether the column shows which rows are readings.
  var isOfMarks: Bool {
    switch use {
    case .flag, .deviceMark, .words: true
    default: false
    }
  }
}

/// Decides which rows of a generic input are read: those that a person selected, and only those of one
/// person.
///
/// An input with a column for persons is surveyed before anything of it is read.
struct GenericRows {
  private static let maxValues = 4096
  private static let maxShown = 4
  /// The longest time in seconds from the first to the last reading of one day. It is longer than 24 hours,
  /// since the following night may count as part of the day.
  private static let longestDay: Int64 = 36 * 3600
  /// The maximum number of different words of a column that marks rows. With more, they are remarks.
  private static let fewWords = 8

  /// A watched column, and what its cells show about the rows.
  private struct CandidateColumn {
    let watch: WatchedColumn
    /// The required value of rows; nil while any value is allowed, or until the value with `number` is found.
    var wanted: [UInt8]?
    /// The number of the wanted value among the different values, in the order of the rows; nil if a person
    /// gave the value itself.
    var number: Int?
    /// The different values found before the wanted one.
    private var seenValues: Set<[UInt8]> = []
    /// The different persons among `seenValues`. One person may be written in several ways.
    private var seenPersons: Set<PersonWord.PersonKey> = []
    /// Whether the column identifies persons.
    private let isOfPersons: Bool
    /// A cache of comparisons: whether a value means the same person as the wanted value.
    private var known: [[UInt8]: Bool] = [:]
    /// The name that all rows have; nil unless it is a person's.
    var statedName: [UInt8]?
    /// The minimum number of rows that must have a name, so that it counts as that of the person.
    var minOfName = 3
    var values: Set<[UInt8]> = []
    var first: [UInt8]?
    var count = 0
    /// The number of rows without a value.
    var emptyCount = 0
    /// Whether the first rows look like several rows of each person.
    var repeats = false
    /// Whether the first rows have several values, so that the column may name persons.
    var mayNamePersons = false
    /// Whether the first rows have a word for something else than readings.
    var hasMark = false
    /// The first and the last time of each value. They show whether the values number days.
    private var times: [[UInt8]: ClosedRange<Int64>] = [:]
    /// The number of rows with another value than the row before.
    private var changes = 0
    private var last: [UInt8]?
    /// The value of the first row, in an input that no survey compared. Later rows must have the same value.
    private var norm: [UInt8]?

    /// Notes the value of a row with a time.
    mutating func observe(_ cell: Field, at seconds: Int64) {
      observe(cell)
      guard !cell.isEmpty, values.count < GenericRows.maxValues, !watch.isOfMarks else { return }
      let bytes = Array(cell.trimmed.bytes)
      if let last, last != bytes { changes += 1 }
      last = bytes
      guard case .possiblePerson = watch.use else { return }
      let known = times[bytes] ?? seconds...seconds
      times[bytes] = min(known.lowerBound, seconds)...max(known.upperBound, seconds)
    }

    private mutating func observe(_ cell: Field) {
      guard !cell.isEmpty else { return emptyCount += 1 }
      count += 1
      guard values.count < (watch.isOfMarks ? GenericRows.fewWords + 1 : GenericRows.maxValues) else {
        return
      }
      let bytes = Array(cell.trimmed.bytes)
      if values.insert(bytes).inserted, first == nil { first = bytes }
    }

    /// Compares a row with the first row, in an input that no survey compared. Returns the reason to reject
    /// the row; nil if it may be read.
    mutating func laterFault(_ cell: Field) -> String? {
      switch watch.use {
      case .attribute, .possibleName:
        if cell.isEmpty { return nil }
        let bytes = Array(cell.bytes)
        if case .possibleName = watch.use, !Self.mayBeName(bytes) || MealMark.isMark(cell.text) { return nil }
        if norm == nil { norm = bytes }
        return norm == bytes || norm.map(PersonWord.PersonKey.init) == PersonWord.PersonKey(bytes)
          ? nil : "another \(shownName(watch.name)) than above, which may be another person's"
      case .flag:
        if norm == nil { norm = Array(cell.bytes) }
        return norm.map(cell.hasSameBytes(as:)) == true
          ? nil : "\(shownName(watch.name)) differs from the rows above, so it may not be a reading"
      case .words:
        // A column with many different words has remarks, which do not mark rows.
        guard !hasRemarks, !cell.isEmpty else { return nil }
        observe(cell)
        return GenericRows.namesNoReading(Array(cell.bytes), in: watch.name)
          ? "\(shownName(watch.name)) has a word that marks rows that are not readings" : nil
      case .pick, .person, .possiblePerson, .deviceMark: return nil
      }
    }

    init(_ watch: WatchedColumn) {
      self.watch = watch
      isOfPersons = HeaderWords(watch.name).isPerson
      guard case .pick(let value) = watch.use else { return }
      number = ValueNumber(value)?.number
      if number == nil { wanted = value.withField { Array($0.trimmed.bytes) } }
    }

    /// Whether a cell has the value whose number a person chose.
    ///
    /// - Parameter isItem: whether the row has a time. A repeated header has no time and names no person.
    mutating func hasNumber(_ cell: Field, isItem: Bool) -> Bool {
      if wanted != nil { return isWanted(cell) }
      let bytes = Array(cell.bytes)
      guard isItem, !cell.isEmpty, seenValues.insert(bytes).inserted,
        !isOfPersons || seenPersons.insert(PersonWord.PersonKey(bytes)).inserted,
        (isOfPersons ? seenPersons.count : seenValues.count) == number
      else { return false }
      (wanted, seenValues, seenPersons) = (bytes, [], [])
      return true
    }

    /// Whether a cell has the wanted value, or is the same person's name in another case or order.
    mutating func isWanted(_ cell: Field) -> Bool {
      guard let wanted else { return false }
      if cell.hasSameBytes(as: wanted) { return true }
      guard isOfPersons, !cell.isEmpty else { return false }
      let bytes = Array(cell.bytes)
      if let known = known[bytes] { return known }
      let isSame = PersonWord.PersonKey(bytes) == PersonWord.PersonKey(wanted)
      if known.count < GenericRows.maxValues { known[bytes] = isSame }
      return isSame
    }

    /// The number of different values. Different spellings of one person count as one value.
    var valueCount: Int { isOfPersons ? Set(values.map(PersonWord.PersonKey.init)).count : values.count }

    /// Whether all rows have one name, which may be that of their person.
    var namesOnePerson: Bool {
      guard case .possibleName = watch.use, let first, emptyCount == 0, count >= minOfName else {
        return false
      }
      return Set(values.map(PersonWord.PersonKey.init)).count == 1 && PersonWord.isName(first)
    }

    /// Whether a value consists of words and may name a person. `Reading 7` names a row instead.
    private static func mayBeName(_ value: [UInt8]) -> Bool {
      !value.contains { 0x30...0x39 ~= $0 } && value.contains { $0 >= 0x41 }
    }

    var isPick: Bool { watch.isPick }

    var holdsSeveralPersons: Bool {
      guard values.count > 1 else { return false }
      switch watch.use {
      case .pick: return false
      case .person: return valueCount > 1
      case .attribute: return !areSettings
      // A number that is in only one or two rows identifies a row, not a person.
      case .possiblePerson:
        return values.count < GenericRows.maxValues && count > 2 * values.count && !areOfDays
      case .possibleName:
        return Set(values.map(PersonWord.PersonKey.init)).count > 1 && values.allSatisfy(Self.mayBeName)
          && !values.allSatisfy { MealMark.isMark(String(decoding: $0, as: UTF8.self)) }
      case .flag, .deviceMark, .words: return false
      }
    }

    /// The words of the column that may show whether a sensor or a meter measured; nil without such words.
    var deviceWords: GenericDeviceWords? {
      guard values.count <= GenericRows.fewWords else { return nil }
      let hasEmptyCells = emptyCount > 0
      switch watch.use {
      case .deviceMark:
        return GenericDeviceWords(watch.name, values, hasEmptyCells: hasEmptyCells, areMarks: true)
      case .words:
        return GenericDeviceWords(watch.name, values, hasEmptyCells: hasEmptyCells, areMarks: false)
      default: return nil
      }
    }

    /// Whether each value belongs to one day: all of its rows are within a day, and no other value occurs in
    /// between.
    private var areOfDays: Bool {
      let spans = times.values.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
      return spans.count == values.count
        && spans.allSatisfy { $0.upperBound - $0.lowerBound <= GenericRows.longestDay }
        && zip(spans, spans.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
    }

    /// Whether the values are profiles of a pump. Profiles are words for its settings, or few values that
    /// each stay for several rows and come again.
    private var areSettings: Bool {
      guard HeaderWords(watch.name).words.contains(where: { $0.hasPrefix("profil") }) else { return false }
      return values.allSatisfy(PersonWord.describes)
        || (values.count <= GenericRows.fewWords && changes >= values.count && changes * 8 <= count)
    }

    /// Whether the words of the column are remarks, since there are too many of them to mark rows.
    var hasRemarks: Bool {
      if case .words = watch.use { values.count > GenericRows.fewWords } else { false }
    }

    /// Whether the column marks some of the rows.
    var marksRows: Bool {
      switch watch.use {
      case .flag: values.count > 1 || (count > 0 && emptyCount > 0)
      case .words:
        values.count <= GenericRows.fewWords
          && values.contains { GenericRows.namesNoReading($0, in: watch.name) }
      default: false
      }
    }
  }

  /// The decision whether to read a row.
  enum RowChoice: Equatable {
    case read
    /// Leave out the row: in the column with this name, it has another value than the selected one.
    case leaveOut(String)
    /// Refuse the row: it belongs to another person, although the survey found only one person.
    case refuse
  }

  private var columns: [CandidateColumn]
  private var series: [GenericSeries]
  private(set) var isDecided = false
  /// The words of a column that may show whether a sensor or a meter measured the values.
  private(set) var deviceWords: GenericDeviceWords?
  private var hasPicked = false
  private var hasLeftOut = false

  init(_ finding: GenericFinding) {
    series = finding.columns.series.map { place in
      // Numbers name series only if the rows of each are consecutive: other numbers, such as trends,
      // alternate within one series.
      let areNumbers = finding.header.cells(place).contains { CellContent($0) == .number }
      return GenericSeries(place: place, name: finding.header.names[place], isInRuns: areNumbers)
    }
    columns = finding.watches.map { watch in
      var column = CandidateColumn(watch)
      // If other columns have other things than glucose, a name may be that of a meal or an exercise. Then
      // more rows must have the same name.
      if finding.header.words.contains(where: \.namesOther) { column.minOfName = 10 }
      let cells = finding.header.cells(watch.place)
      column.repeats = cells.count > 1 && Set(cells).count * 2 <= cells.count
      column.mayNamePersons = Set(cells).count > 1
      let isOfQuality = HeaderWords(watch.name).isOfQuality
      column.hasMark = Set(cells).contains { cell in
        let words = HeaderWords(cell)
        return words.namesNoReading || (isOfQuality && words.namesBadQuality)
      }
      return column
    }
  }

  /// Whether all rows must be surveyed before one is read.
  var isUndecided: Bool {
    !isDecided
      && columns.contains {
        switch $0.watch.use {
        case .pick: false
        case .person: true
        case .possiblePerson: $0.repeats
        case .possibleName, .attribute, .flag, .deviceMark: $0.mayNamePersons
        case .words: $0.hasMark
        }
      }
  }

  /// Whether all rows must be surveyed, because a column may name persons or mark rows. A second person or a
  /// mark may occur only in a late row.
  var needsAllRows: Bool {
    series.contains(where: \.isUndecided) || columns.contains { !$0.isPick && !$0.hasRemarks }
  }

  /// Surveys the persons in a row.
  ///
  /// - Parameters:
  ///   - places: the indexes of the columns in the row.
  ///   - mark: the decimal mark of the row's value.
  mutating func survey(_ row: Row, _ places: GenericColumns, at seconds: Int64, _ mark: DecimalMark) {
    for (index, place) in zip(columns.indices, places.watched) where !columns[index].isPick {
      columns[index].observe(row[place], at: seconds)
    }
    guard !series.isEmpty else { return }
    let value = row[places[.value]].number(mark)
    for (index, place) in zip(series.indices, places.series) {
      series[index].observe(row[place], at: seconds, value)
    }
  }

  /// - Throws: `Failure` of category `badInput` that names the column, and how to select the rows of one
  ///   person.
  mutating func decide(_ hint: ImportHint) throws {
    isDecided = true
    for index in columns.indices where !columns[index].isPick {
      let column = columns[index]
      if column.holdsSeveralPersons { throw Self.failure(column, hint) }
      if column.marksRows, !hint.options.force { throw markFailure(column, hint) }
      if deviceWords == nil { deviceWords = column.deviceWords }
      if case .person = column.watch.use { columns[index].wanted = column.first }
      if column.namesOnePerson { columns[index].statedName = column.first }
      columns[index].values = []
    }
    if let divided = series.first(where: \.overlap) { throw Self.failure(divided, hint) }
    if let named = series.first(where: { $0.mayNamePersons && !Self.describesRows($0.name) }) {
      throw Self.question(named, hint)
    }
    series = []
  }

  private static func failure(_ series: GenericSeries, _ hint: ImportHint) -> Failure {
    Failure(
      .badInput,
      "the column \(shownName(series.name)) divides the readings into series at the same times, as those of several persons "
        + "or devices; a store is for one person. Import the rows of one with --where COLUMN=VALUE, or by the number of its "
        + "value in the order of the rows, or name the column of devices with --map device=COLUMN:"
        + commands(series.name, series.words.count, hint))
  }

  /// Whether the name of a column shows that the column describes the rows, and not a person.
  private static func describesRows(_ name: String) -> Bool {
    // Every part must be a known word: `Meter user` has a known word, but names a person.
    let parts = HeaderWords(name).words.subtracting(links)
    return !parts.isEmpty
      && parts.allSatisfy { part in
        let word = HeaderWords(part)
        return descriptions.contains(part) || word.isRemark || word.isMeal || word.namesOther
          || word.mentionsGlucose || word.isTime || part.allSatisfy(\.isNumber)
      }
  }

  private static let links: Set<String> = [
    "of", "the", "a", "or", "and", "in", "on", "at", "my", "der", "die", "des", "und", "de", "la", "du",
    "del", "et", "y", "e",
  ]

  private static let descriptions: Set<String> = [
    "tag", "tags", "meal", "mood", "activity", "sport", "weather", "hand", "finger", "site", "arm", "status",
    "quality",
    "result", "range", "category", "season", "weekday", "day", "period", "source", "device", "app", "meter",
    "sensor",
    "unit", "phase", "place", "location", "ort", "stimmung", "wetter", "humeur", "estado", "situation",
    "context", "time", "test", "reason", "why", "occasion", "trigger", "anlass", "grund", "motif", "raison",
    "motivo",
    "razón",
    "causa", "reden", "event", "type", "level", "label", "state", "kind",
  ]

  /// The failure that asks a person about a column whose words may be names.
  private static func question(_ series: GenericSeries, _ hint: ImportHint) -> Failure {
    Failure(
      .badInput,
      "the words in the column \(shownName(series.name)) may be names of persons, since they alternate; a store is for one "
        + "person. Import the rows of one with --where COLUMN=VALUE, or by the number of its value in the order of the rows, or "
        + "name the column with --map note=COLUMN or device=COLUMN:"
        + commands(series.name, series.words.count, hint))
  }

  private static func namesNoReading(_ value: [UInt8], in column: String) -> Bool {
    let words = HeaderWords(String(decoding: value, as: UTF8.self))
    return words.namesNoReading || (words.namesBadQuality && HeaderWords(column).isOfQuality)
  }

  private func markFailure(_ column: CandidateColumn, _ hint: ImportHint) -> Failure {
    let others = column.values.filter { !Self.namesNoReading($0, in: column.watch.name) }
    let values = column.emptyCount == 0 && others.count <= Self.maxShown ? others : []
    let texts = values.compactMap { String(validating: $0, as: UTF8.self) }
      .filter { $0.isPlainInCommands && !HeaderWords($0).namesDose }.sorted()
    let marks = column.values.subtracting(others).map { String(decoding: $0, as: UTF8.self) }.sorted()
    let words = marks.first.map { " with \(shownName($0))" } ?? ""
    let message =
      "the column \(shownName(column.watch.name)) marks some rows\(words), which may not be readings"
    guard texts.isEmpty else {
      return Failure(
        .badInput,
        message + ". Import those that are:"
          + hint.lines(
            texts.map { text in { $0.rows.append(RowFilter(column: column.watch.name, value: text)) } }))
    }
    if column.values.contains(where: { HeaderWords(String(decoding: $0, as: UTF8.self)).namesDose }) {
      return Failure(
        .badInput,
        message + "; remove those that are not. No command is suggested, since some may be doses of insulin")
    }
    let all = ". If all rows are readings, import them with:" + hint.lines([{ $0.force = true }])
    return Failure(.badInput, message + "; remove those that are not" + all)
  }

  private static func failure(_ column: CandidateColumn, _ hint: ImportHint) -> Failure {
    let remark =
      if case .possiblePerson = column.watch.use {
        "If it numbers days or entries of one person, remove it. "
      } else { "" }
    return Failure(
      .badInput,
      "the column \(shownName(column.watch.name)) distinguishes persons and has more than one; a store is for one "
        + "person. \(remark)Import the rows of one with --where COLUMN=VALUE, or by the number of its value in the order of "
        + "the rows:"
        + commands(column.watch.name, column.valueCount, hint))
  }

  /// The commands that select the rows with one of the first values of a column. They have the numbers of the
  /// values, since the values must not be in a log.
  private static func commands(_ column: String, _ count: Int, _ hint: ImportHint) -> String {
    hint.lines(
      (1...min(count, maxShown)).map { number in
        { $0.rows.append(RowFilter(column: column, value: ValueNumber.text(number, of: count))) }
      })
  }

  /// Decides what to do with a row.
  ///
  /// - Parameters:
  ///   - watched: the indexes of the columns in the row.
  ///   - isItem: whether the row has a time.
  @inline(__always) mutating func choice(_ row: Row, _ watched: [Int], isItem: Bool) -> RowChoice {
    if columns.isEmpty { return .read }
    return choiceByColumns(row, watched, isItem)
  }

  private mutating func choiceByColumns(_ row: Row, _ watched: [Int], _ isItem: Bool) -> RowChoice {
    for (index, place) in zip(columns.indices, watched)
    where columns[index].number == nil && columns[index].wanted != nil {
      let cell = row[place].trimmed
      if columns[index].isWanted(cell) { continue }
      if columns[index].isPick {
        hasLeftOut = true
        return .leaveOut(columns[index].watch.name)
      }
      if !cell.isEmpty { return .refuse }
    }
    // `hasNumber` counts values only in rows that the other columns allow, since the message with these
    // numbers did so.
    for (index, place) in zip(columns.indices, watched) where columns[index].number != nil {
      if columns[index].hasNumber(row[place].trimmed, isItem: isItem) { continue }
      hasLeftOut = true
      return .leaveOut(columns[index].watch.name)
    }
    hasPicked = true
    return .read
  }

  /// Whether no column states which rows are read.
  var isEmpty: Bool { columns.isEmpty }

  /// The reason to reject a row of an input that no survey compared; nil if the row may be read.
  mutating func laterFault(_ row: Row, _ watched: [Int]) -> String? {
    for (index, place) in zip(columns.indices, watched) {
      if let fault = columns[index].laterFault(row[place].trimmed) { return fault }
    }
    return nil
  }

  /// The statements of a column of persons about the person whose rows are read, once its value is known.
  var statedPersons: [StatedPerson] {
    columns.compactMap { column in
      if let name = column.statedName { return StatedPerson(name: String(decoding: name, as: UTF8.self)) }
      let words = HeaderWords(column.watch.name)
      // A column named `Client` may name a program instead of a person.
      guard let value = column.wanted, words.isPerson, words.name != "client",
        let text = String(validating: value, as: UTF8.self)
      else { return nil }
      return StatedPerson(label: text, of: "\(GenericFormat.id) \(words.name)")
    }
  }

  /// The failure if rows were left out and none was selected; nil if there is a row to read.
  var missing: Failure? {
    guard hasLeftOut, !hasPicked, let column = columns.first(where: \.isPick) else { return nil }
    return Failure(
      .badInput,
      "no row has the value of --where in \(shownName(column.watch.name)); nothing was imported. Compare it with the "
        + "values of that column")
  }
}

/// The number of a value among the different values of a column, in the order of the rows: `2 of 3`.
/// `--where` accepts it instead of the value. So a message can suggest a command without a person's id or
/// name.
private struct ValueNumber {
  private static let maxNumber = 4096

  let number: Int

  /// Nil for a text that is not like `2 of 3`.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[1] == "of", let number = Int(words[0]), let count = Int(words[2]),
      number >= 1,
      number <= count, count <= Self.maxNumber
    else { return nil }
    self.number = number
  }

  static func text(_ number: Int, of count: Int) -> String { "\(number) of \(count)" }
}
