// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines facts about the whole input: some from its first rows, others from all rows.
extension GenericFormat {
  /// Decides the order of day and month from the dates in the head, by a number over 12 or a dot. The survey
  /// later finds contradictions.
  ///
  /// - Throws: `Failure` of category `badInput` if the year may come first.
  mutating func decideOrderFromHead() throws {
    if let given = options.dateOrder.flatMap(DateOrder.init) {
      times.order = given
      orderBasis = .given
      return
    }
    let column = finding.columns[.time] >= 0 ? finding.columns[.time] : finding.columns[.date]
    let dates = finding.header.cells(column).compactMap { $0.withField { $0.trimmed.ambiguousDate } }
    guard !dates.isEmpty else { return }
    var survey = try DateOrderSurvey(given: nil, now: options.now)
    for date in dates {
      survey.observe(
        AmbiguousTime(
          first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
          hasHalfDay: false, separator: date.separator, hasShortYear: date.hasShortYear), isHistory: false,
        line: 0)
    }
    try survey.refuseYearFirst()
    let dayIsFirst = dates.contains { $0.first > 12 || $0.separator == UInt8(ascii: ".") }
    let monthIsFirst = dates.contains { $0.second > 12 }
    guard dayIsFirst != monthIsFirst else {
      orderIsUndecided = true
      return
    }
    times.order = dayIsFirst ? .dayFirst : .monthFirst
    orderBasis = .inferred
    mayBeginWithYear = dates.allSatisfy(\.hasShortYear)
  }

  /// Determines the kind if the intervals between the first rows are those of a sensor, so that the input
  /// need not be read twice.
  mutating func decideKindFromHead() {
    guard kind.isUndecided else { return }
    // The cells of the head are decoded and those of later rows are not, so they must not be compared with
    // each other. Therefore a copy of `rows` examines the head.
    var rows = rows
    for cells in finding.header.rows {
      cells.withRow { row in
        guard let outcome = trialTime(of: row, finding.columns),
          rows.choice(row, finding.columns.watched, isItem: true) == .read
        else { return }
        observeCadence(row, finding.columns, at: outcome)
      }
    }
    kind.decideFromHead()
  }

  /// True while the unit, the order of dates, the person or the kind is unknown. With a wrong kind, every
  /// reading would be stored a second time when the same rows come in a larger file.
  var needsSurvey: Bool {
    orderIsUndecided || units.isUndecided || rows.isUndecided || (kind.isUndecided && !kind.isHistory)
  }

  var statedPersons: [StatedPerson] { finding.header.statedPersons + rows.statedPersons }

  /// True, for two reasons. Only all values together show whether they can be glucose, and a second person
  /// may come after many rows.
  var benefitsFromSurvey: Bool { true }

  /// Whether the survey may end: the first rows are as informative as all together. If a person, a zero or
  /// another question is undecided, all rows are needed.
  var hasSeenEnough: Bool {
    plausibility.count >= Self.enoughRows && !needsSurvey && !kind.isUndecided && !rows.needsAllRows
      && columns[.ketone] < 0 && columns.zones < 0 && !headHasZeros && sections.first == nil
      && mergedDates == nil && !dates.isGiven
  }

  private static let enoughRows = 20_000

  private var headHasZeros: Bool {
    finding.header.cells(finding.columns[.value]).contains { cell in
      cell.withField { $0.trimmed.number(units.mark) == 0 }
    }
  }

  mutating func survey(_ row: Row) {
    guard place != .aboveHeader else {
      if readHeader(row) { sections.observeHeader() } else { sections.observe(row) }
      return
    }
    // If a person gave the wrong order, a date such as 04/13 is invalid in it. This survey still sees both
    // orders.
    if dates.isGiven, let time = ambiguousTime(of: row) {
      dates.observe(time, isHistory: false, line: row.line)
    }
    let cell = row[columns[.time] >= 0 ? columns[.time] : columns[.date]].trimmed
    if columns[.clock] >= 0 { forms.observe(clock: row[columns[.clock]].trimmed, line: row.line) }
    guard let time = trialTime(of: row, columns) else {
      forms.observe(unread: cell, line: row.line)
      return surveyWithoutTime(row)
    }
    sections.observeData()
    mergedDates?.survey(row[columns[.date]], row[columns[.clock]], by: times)
    if place == .belowOtherHeader || (row.isUnterminated && units.hasValues) { return }
    guard rows.choice(row, columns.watched, isItem: true) == .read else { return }
    rows.survey(row, columns, at: time.seconds, units.mark)
    diary?.survey(row, columns)
    if sums != nil, var diary {
      sums?.observe(row, columns, at: time.seconds, units.mark, &diary)
      self.diary = diary
    }
    forms.observe(cell)
    if columns[.offset] < 0 { forms.observe(hasOffset: time.statesOffset, line: row.line) }
    if columns.zones >= 0 { forms.observe(zone: row[columns.zones], at: time.seconds) }
    observeDay(row, columns, at: time)
    if orderIsUndecided || mayBeginWithYear, let time = ambiguousTime(of: row) {
      dates.observe(time, isHistory: kind.mayBeHistory, line: row.line)
      datesOfSticks.observe(time, isHistory: false, line: row.line)
    }
    if units.isUndecided || units.comparesGiven, let word = kind.word(in: row[columns[.kind]]),
      word.kind != .ketone
    {
      units.observe(row[columns[.value]], in: row[columns[.unit]])
    }
    if refusesUnknownKinds, unknownKinds.isEmpty, kind.word(in: row[columns[.kind]]) == nil,
      isOfUnknownKind(row)
    {
      unknownKinds.insert(row[columns[.kind]].trimmed.text)
    }
    otherUnits?.observe(row, columns)
    zeros.survey(value: row[columns[.value]], ketone: row[columns[.ketone]], mark: units.mark)
    surveyValue(row, at: time.seconds)
    if further.isActive { observeFurther(row) }
    if columns.twin >= 0, GenericTwins.differ(in: row, columns) { twins.differs = true }
    if columns[.smbg] >= 0, !row[columns[.smbg]].trimmed.isEmpty { sticks.observe(time.seconds, series: 0) }
    observeCadence(row, columns, at: time)
  }

  /// Checks whether a glucose value is plausible.
  private mutating func surveyValue(_ row: Row, at seconds: Int64) {
    let (cell, stated) = (row[columns[.value]].trimmed, row[columns[.unit]])
    let own = cell.glucoseWithUnit(units.mark)
    guard let number = cell.number(units.mark) ?? cell.jsonNumber ?? own?.number,
      units.otherUnit(stated) == nil, let word = kind.word(in: row[columns[.kind]]), word.kind != .ketone
    else { return }
    let unit = stated.isEmpty ? own?.unit : GlucoseUnit(name: stated.trimmed.text)
    plausibility.observe(number, unit, at: seconds)
    noValues.observe(number, unit)
    if halfDays.observe(seconds) { halfDays.observe(words: words(of: row)) }
  }

  /// The texts of a row without its times and values.
  private func words(of row: Row) -> [String] {
    let used = [GenericRole.time, .date, .clock, .value, .unit, .device, .serial].map { columns[$0] }
    return row.fields.indices.filter { !used.contains($0) }.map { row[$0].text }
  }

  /// Surveys a row without a time. Such a row is a header or has no data.
  private mutating func surveyWithoutTime(_ row: Row) {
    guard finding.delimiter != nil else { return }
    if readHeader(row) { return sections.observeHeader() }
    if looksLikeHeader(row) { place = .belowOtherHeader } else { sections.observe(row) }
  }

  mutating func expectFurtherRows() { isSurveyed = false }

  /// The reason to reject a row that contradicts the rows above it, if no survey compared them; nil for any
  /// other row.
  @inline(__always) mutating func laterFault(of row: Row) -> String? {
    if rows.isEmpty && columns.zones < 0 || options.force { return nil }
    return rows.laterFault(row, columns.watched) ?? laterZoneFault(of: row)
  }

  private mutating func laterZoneFault(of row: Row) -> String? {
    guard columns.zones >= 0, options.columns.isEmpty, let time = trialTime(of: row, columns) else {
      return nil
    }
    var compared = forms
    compared.observe(zone: row[columns.zones], at: time.seconds)
    if compared.hasSeveralZones {
      return "another time zone than in the rows above; import each zone with --where and --timezone"
    }
    forms = compared
    return nil
  }

  private mutating func observeCadence(_ row: Row, _ columns: GenericColumns, at time: TrialTime) {
    guard kind.takesTimes, !row[columns[.value]].trimmed.isEmpty else { return }
    let cell = row[columns[.kind]]
    guard kind.column.hasUnknownKind(cell) || (finding.kindMayBeSource && kind.word(in: cell) == nil)
    else { return kind.observeStated(cell, at: time.seconds) }
    let key = sourceKey(of: row, columns)
    if kind.knows(key) { return kind.observe(time.seconds, of: key) }
    kind.observe(time.seconds, of: key, label: sourceLabel(of: row, columns))
  }

  /// The columns that name the source of a row, with the best one for messages first.
  private func sourceColumns(_ columns: GenericColumns) -> [Int] {
    let kind = finding.kindMayBeSource ? [columns[.kind]] : []
    return (kind + columns.origins + [columns[.device], columns[.serial]]).filter { $0 >= 0 }
  }

  /// A hash of the texts that name the source of a row. It is equal for rows of the same source.
  @inline(__always) func sourceKey(of row: Row, _ columns: GenericColumns) -> SourceKinds.SourceKey {
    // These are the columns of `sourceColumns`. Creating its list for each row would be slow.
    var key = SourceKinds.SourceKey()
    if finding.kindMayBeSource { key.add(row[columns[.kind]].trimmed.bytes) }
    for column in columns.origins where column >= 0 { key.add(row[column].trimmed.bytes) }
    if columns[.device] >= 0 { key.add(row[columns[.device]].trimmed.bytes) }
    if columns[.serial] >= 0 { key.add(row[columns[.serial]].trimmed.bytes) }
    return key
  }

  func sourceLabel(of row: Row, _ columns: GenericColumns) -> SourceKinds.Label {
    let named = sourceColumns(columns).filter { !row[$0].trimmed.isEmpty }
    var label = SourceKinds.Label(texts: named.map { row[$0].trimmed.text })
    // The label gets the index of the text's column among the columns that name sources. Its index in the row
    // is not used, since a row made from an object has other indexes than the head.
    if let first = named.first { label.place = sourceColumns(self.columns).firstIndex(of: first) ?? 0 }
    return label
  }

  /// A time that is read before the order of day and month is known.
  struct TrialTime {
    /// The shown time, in civil seconds.
    let seconds: Int64
    let statesOffset: Bool
  }

  /// The shown time of a row. While the order of day and month is unknown, one of the two orders is assumed.
  /// The intervals within a day are the same in both orders.
  mutating func trialTime(of row: Row, _ columns: GenericColumns) -> TrialTime? {
    let (order, merged) = (times.order, mergedDates)
    defer { times.order = order }
    for trial in order.map({ [$0] }) ?? DateOrder.allCases {
      times.order = trial
      if merged != nil { mergedDates = merged }
      let outcome = times.instantIfUTC(
        columns[.time] >= 0 ? times.read(row[columns[.time]]) : readParts(row, columns, isTrial: true))
      switch outcome {
      case .shown(let time), .instant(let time, _):
        return TrialTime(seconds: time.deviceTime.seconds, statesOffset: outcome.statesOffset)
      case .rejected: continue
      }
    }
    return nil
  }

  private func ambiguousTime(of row: Row) -> AmbiguousTime? {
    if columns[.time] >= 0 { return row[columns[.time]].trimmed.ambiguousTime }
    guard let date = row[columns[.date]].trimmed.ambiguousDate else { return nil }
    // The time of day does not affect the order of day and month, so midnight is used.
    return AmbiguousTime(
      first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
      hasHalfDay: false, separator: date.separator, hasShortYear: date.hasShortYear)
  }

  mutating func decide() throws {
    let hint = ImportHint(options: options)
    isSurveyed = !hasSeenEnough
    if !isSurveyed { lateSources = GenericLateSources() }
    try rows.decide(hint)
    try otherUnits?.refuse(finding)
    diary?.decide()
    try refuseSections()
    try refuseOtherDays()
    if forms.hasSeveralZones, options.columns.isEmpty {
      let name = finding.header.names[finding.columns.zones]
      throw Failure(
        .badInput,
        "the column \(shownName(name)) names several time zones; import the rows of each zone with --where "
          + "\((name + "=ZONE").shellWord) --timezone ZONE")
    }
    if !options.force, let fault = forms.fault {
      throw Failure(.badInput, "\(fault). If they are right, import them with:" + forced(hint))
    }
    kind.decide()
    try refuseDoubtfulTimes(hint)
    try refuseUnknownSources(hint)
    try refuseUnknownKinds(hint)
    try refuseMixedDevices(hint)
    try refuseContradictedHeader(hint)
    zeros.decide()
    halfDays.decide()
    let choices = hint.lines(units.choices.map { unit in { $0.unit = unit } })
    try Self.adding(choices) { try units.decide() }
    if mayBeginWithYear { try datesOfSticks.refuseYearFirst() }
    if dates.isGiven { _ = try dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false) }
    if orderIsUndecided {
      let survey = kind.isHistory ? dates : datesOfSticks
      let isForced = options.force || survey.contradictsItself
      let orders = hint.lines(
        DateOrder.allCases.map { order in { ($0.dateOrder, $0.force) = (order.rawValue, isForced) } })
      let (order, basis) = try Self.adding(orders) {
        try survey.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
      }
      times.order = order
      orderBasis = basis
      orderIsUndecided = false
    }
    try refuseDaySums(hint)
    try decidePlausibility(hint)
    plausibility.forgetTimes()
    try refuseFurtherValues(hint)
    try refuseOtherTwin(hint)
    try refuseSticksOfSensor(hint)
    mergedDates?.decide(times.order)
    sections = GenericSections()
    if finding.delimiter != nil { place = .aboveHeader }
    columns = finding.delimiter == nil ? columns : finding.columns
  }

  /// - Throws: `Failure` of category `badInput` if the values as a whole cannot be glucose.
  private func decidePlausibility(_ hint: ImportHint) throws {
    let value = finding.columns[.value]
    guard !options.force, value >= 0 else { return }
    let name = "the column \(shownName(finding.header.names[value]))"
    let isNamed =
      finding.header.words[value].mentionsGlucose || options.columns[GenericRole.value.name] != nil
    if kind.isHistory || !isNamed, plausibility.isTooLowForSensor(units.common) {
      throw Failure(
        .badInput,
        "\(name) holds values in mmol/L whose median is below 3.0, too low for glucose. Ketones are so low; "
          + "import it as what it is:" + ketoneCommand(hint) + forced(hint))
    }
    try refuseLowInference(name, hint)
    if kind.isHistory, finding.header.words[value].glucose.isOfMeal {
      throw Failure(
        .badInput,
        "\(name) is named for values at meals, but has one every few minutes. If they are readings, import them with:"
          + forced(hint))
    }
    let isOfOneDevice = [GenericRole.device, .serial, .kind].allSatisfy { finding.columns[$0] < 0 }
    if let fault = noValues.fault(in: units.common) {
      throw Failure(
        .badInput,
        "\(name) \(fault). Empty these cells, or write HI or LO into them if a meter showed that. If they are readings, import them with:"
          + forced(hint))
    }
    guard
      let fault = plausibility.fault(in: units.common, mayBeDaily: mayBeDiaryOfOneHour) ?? halfDays.fault
        ?? (isOfOneDevice ? plausibility.timeFault : nil)
    else { return try refuseOtherCalendar(name, hint) }
    throw Failure(
      .badInput, "\(name) \(fault). If they are readings of glucose, import them with:" + forced(hint))
  }

  /// - Throws: `Failure` of category `badInput` for doses or carbohydrates that are sums of a day.
  private mutating func refuseDaySums(_ hint: ImportHint) throws {
    defer { sums = nil }
    guard let (column, fault) = sums?.fault else { return }
    throw Failure(
      .badInput,
      "the column \(shownName(column)) \(fault). Remove the totals. If all amounts were given or eaten, import them with:"
        + forced(hint))
  }

  /// Whether one value a day at the same hour may be a finger stick, as in many diaries. A table of sums or
  /// averages has no word for a stick or a meal, and no separate column for the time of day.
  private var mayBeDiaryOfOneHour: Bool {
    let (words, value, kinds) = (finding.header.words, finding.columns[.value], finding.columns[.kind])
    if kind.isHistory || forms.statesOffsets || words.contains(where: { $0.isAggregate || $0.isOfSensor }) {
      return false
    }
    let areSticks =
      kinds >= 0
      && finding.header.cells(kinds).allSatisfy { KindWord($0)?.kind == .smbg || finding.isMealMark($0) }
    return areSticks || finding.columns[.clock] >= 0 || words[value].glucose.isOfMeal
      || finding.kindOfColumn(value) == .smbg || words.contains(where: \.isMeal)
  }

  /// - Throws: `Failure` of category `badInput` for finger sticks every few minutes. They may be one finger
  ///   stick that a program repeats in each row.
  private func refuseSticksOfSensor(_ hint: ImportHint) throws {
    guard finding.columns[.smbg] >= 0, options.columns[GenericRole.smbg.name] == nil, !options.force,
      sticks.isSensor
    else { return }
    let names = finding.namesInCommands
    let command =
      names.isEmpty ? "" : ". Import the sensor alone with:" + hint.lines([{ $0.columns = names }])
    throw Failure(
      .badInput,
      "the column \(finding.quoted([finding.columns[.smbg]])) is for finger sticks, but has a value every few minutes"
        + command)
  }

  /// - Throws: `Failure` of category `badInput` if mmol/L is only inferred, and the values are so low that
  ///   they may be in g/L.
  private func refuseLowInference(_ name: String, _ hint: ImportHint) throws {
    guard units.isInferredMillimoles, plausibility.isTooLowToInfer else { return }
    throw Failure(
      .badInput,
      "\(name) names no unit, and the median of its values is below 3.0, too low to take them for mmol/L. If they are in g/L, "
        + "multiply them by 100, and name the column in mg/dL; if they are in mmol/L, import them with:"
        + hint.lines([{ $0.unit = .millimolesPerLitre }]))
  }

  /// - Throws: `Failure` of category `badInput` if the intervals fit neither a sensor nor a person, so that
  ///   the values may be averages.
  private func refuseDoubtfulTimes(_ hint: ImportHint) throws {
    guard kind.isDoubtful, !options.force else { return }
    let kinds = [ReadingKind.cbg, .smbg].map { kind in
      { (options: inout ExportOptions) in options.kind = kind }
    }
    throw Failure(
      .badInput,
      "the values are equally far apart, by 16 to 59 minutes, for half a day or more. If they are readings of a sensor (cbg), or "
        + "finger sticks (smbg), and not averages, import them with one of these:" + hint.lines(kinds))
  }

  /// - Throws: `Failure` of category `badInput` for a column that only sensors have, in an input whose times
  ///   are those of finger sticks.
  private func refuseContradictedHeader(_ hint: ImportHint) throws {
    guard kind.contradictsHeader, !options.force, let place = finding.indexOfSensorColumn,
      !finding.columns.hasRole(place)
    else { return }
    let kinds = [ReadingKind.smbg, .cbg, .scan].map { kind in
      { (options: inout ExportOptions) in options.kind = kind }
    }
    throw Failure(
      .badInput,
      "the column \(finding.quoted([place])) may be one of a sensor, but most values are hours apart, as finger sticks. Import "
        + "them as finger sticks (smbg), or as values or scans of a sensor, with one of these:"
        + hint.lines(kinds))
  }

  /// - Throws: `Failure` of category `badInput` if an input with a sensor has another source, whose few
  ///   values do not show whether it is a sensor.
  private func refuseUnknownSources(_ hint: ImportHint) throws {
    guard !options.force, let label = kind.unknownSources.first else { return }
    let places = sourceColumns(finding.columns)
    guard places.indices.contains(label.place) else { return }
    let (name, place) = (label.name, places[label.place])
    let column = finding.header.names[place]
    let kinds = [ReadingKind.smbg, .cbg].map { kind in
      { (options: inout ExportOptions) in
        options.rows.append(RowFilter(column: column, value: name))
        options.kind = kind
      }
    }
    throw Failure(
      .badInput,
      "too few values show whether \(shownName(name)) in the column \(shownName(column)) is a meter (smbg) or a sensor (cbg). Import "
        + "its rows with one of these, and those of others with --where as well; or all of them, as those of one sensor, with "
        + "--kind cbg:"
        + (name.isPlainInCommands && finding.nameInCommands(place) != nil ? hint.lines(kinds) : ""))
  }

  /// - Throws: `Failure` of category `badInput` for times that are all more than a year in the future, or
  ///   before 1970. A Thai calendar is 543 years ahead, a Persian one 621 years back, and an Islamic one
  ///   about 579.
  private func refuseOtherCalendar(_ name: String, _ hint: ImportHint) throws {
    guard plausibility.count > 0 else { return }
    let year: Int64 = 366 * 86_400
    // If a person named the columns, dates before 1970 are accepted, since a spreadsheet counts its days from
    // 1899.
    let first = options.columns.isEmpty ? 0 : -100 * year
    let limit: String
    if plausibility.latest < first {
      limit = "after \(DeviceTime(seconds: plausibility.latest).text.prefix(10)), and meters came later"
    } else if let now = options.now, plausibility.earliest > now + year {
      let date = DeviceTime(seconds: plausibility.earliest).text.prefix(10)
      limit = "before \(date), more than a year in the future"
    } else {
      return
    }
    throw Failure(
      .badInput,
      "\(name) holds no value \(limit); compare the years with the calendar of the program. If they are right, import them with:"
        + forced(hint))
  }

  /// - Throws: `Failure` of category `badInput` for sections of several persons. Their names must not be in a
  ///   log.
  private func refuseSections() throws {
    guard sections.areOfSeveralPersons else { return }
    throw Failure(
      .badInput,
      "the table has sections of several persons, who are named in lines above the repeated header; a store is for one "
        + "person. Import the section of each person from a separate file")
  }

  private func forced(_ hint: ImportHint) -> String { hint.lines([{ $0.force = true }]) }

  /// The command that imports the values as ketones; empty if the columns have no usable names.
  private func ketoneCommand(_ hint: ImportHint) -> String {
    let roles: [(GenericRole, GenericRole)] = [
      (.time, .time), (.date, .date), (.clock, .clock), (.value, .ketone),
    ]
    var columns: [String: String] = [:]
    for (role, meaning) in roles where finding.columns[role] >= 0 {
      guard let name = finding.nameInCommands(finding.columns[role]) else { return "" }
      columns[(meaning == .time && finding.timesAreMappedAsUTC ? .utc : meaning).name] = name
    }
    return hint.lines([{ $0.columns = columns }])
  }

  /// Adds the commands with solutions to an error.
  private static func adding<Result>(_ commands: String, to body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as Failure {
      throw Failure(failure.category, "\(failure.message):\(commands)")
    }
  }
}
