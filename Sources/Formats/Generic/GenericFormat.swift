// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Any table with a header, and any JSON objects. Each row has one time and one glucose value, or a person
/// has named the columns.
///
/// A time that states its offset is kept as printed. A count since 1970 shows no time of day. Therefore the
/// count itself identifies the reading, independent of a zone.
struct GenericFormat: ExportFormat {
  static let id = "generic"
  static let title = "table or JSON with a time and a glucose column"
  static let summary = "glucose and ketone readings; with --map also insulin, carbohydrates and notes"
  static var emptyList: GenericFinding? { .nothing }
  static let picksRows = true

  let options: ExportOptions
  let finding: GenericFinding
  /// The names of the header that was found in the head.
  let names: GenericNames
  var columns: GenericColumns
  var place: HeaderPosition
  var times: GenericTimeReader
  var units: GenericUnits
  var dates: DateOrderSurvey
  /// A second survey of the same dates, which does not assume the steady intervals of a sensor.
  var datesOfSticks: DateOrderSurvey
  var orderIsUndecided = false
  /// Whether the first rows show the order, but later rows may show that the dates begin with a year of two
  /// digits.
  var mayBeginWithYear = false
  var orderBasis: Decision.Basis?
  var kind: GenericKind
  var rows: GenericRows
  var zeros = GenericZeros()
  var plausibility = GenericPlausibility()
  var noValues = GenericNoValues()
  var halfDays = GenericHalfDays()
  var forms = GenericTimeForms()
  var days = GenericDays()
  /// The times of finger sticks in rows that also have a sensor's value.
  var sticks = Cadence()
  /// Completes rows without a date; nil unless only the first row of each day states its date.
  var mergedDates: GenericMergedDates?
  var sections = GenericSections()
  var further: GenericFurtherValues
  var twins = GenericTwins()
  /// The words in the column of kinds that are not known, from rows with a value.
  var unknownKinds: Set<String> = []
  /// Whether the input is refused with a question to the person if the column of kinds has unknown words. It
  /// is if the name of the values states glucose.
  let refusesUnknownKinds: Bool
  /// Whether all rows were surveyed before the first row is read.
  var isSurveyed = false
  /// Whether the first row's time states an offset. Later rows are compared with it, if no survey compared
  /// all of them.
  private var statesOffset: Bool?
  /// Reads the doses, meals and notes of a row. Nil if a person named no columns for them.
  var diary: GenericDiary?
  /// The units of the rows; nil unless the head has units, and none of glucose.
  var otherUnits: GenericOtherUnits?
  /// Looks for sums of a day among the doses and carbohydrates; nil without columns of them.
  var sums: GenericDaySums?
  /// Whether rows without a glucose value may have a finger stick, a dose, a meal or a note to read.
  private let hasOthers: Bool
  private var fixedDevice: DeviceIndex?
  /// The sources that first occur after the surveyed rows; nil if all rows were surveyed, or none were.
  var lateSources: GenericLateSources?
  /// The source of the current row, if its reading must be held back.
  private var bufferedKey: SourceKinds.SourceKey?
  private var instants = RepeatedInstants()
  /// The number of cells in the header.
  var headerCount = 0
  /// Counts of rows whose columns contradict the zone of the import, or the kind that a person gave.
  private var zoneSigns: GenericZoneSigns?
  private var kindSigns: GenericKindSigns?
  private(set) var utcTimes: GenericUTCTimes
  /// Whether further rows may still contradict the zone or the kind, or have times in UTC.
  private var seeksSigns = true

  enum HeaderPosition { case aboveHeader, belowHeader, belowOtherHeader }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<GenericFinding>? {
    if isEmptyList(head) { return Recognition(layout: .objects(columns: []), header: .nothing) }
    guard let finding = GenericFinding.find(head, GenericFinding.ColumnRequest(options)) else { return nil }
    // A header without rows is accepted in spite of a problem, since nothing is read.
    let isExportOfNothing = head.isWhole && finding.isHeaderAlone
    return finding.problem == nil || isExportOfNothing ? recognition(finding) : nil
  }

  static func recognition(_ finding: GenericFinding) -> Recognition<GenericFinding> {
    let layout: Layout =
      finding.delimiter.map { .table(delimiter: $0) }
      ?? .objects(columns: members(of: finding).map { finding.header.names[$0] })
    return Recognition(layout: layout, header: finding)
  }

  /// The indexes of the members of objects to be read, each once, in the order of a row's cells.
  private static func members(of finding: GenericFinding) -> [Int] {
    let places =
      finding.columns.roles.map { finding.columns[$0] } + finding.columns.watched + finding.columns.series
      + finding.columns.further
      + finding.columns.origins + finding.columns.zoneSigns + finding.columns.amountSigns
      + [finding.columns.zones, finding.columns.days, finding.columns.dayClock, finding.columns.twin].filter {
        $0 >= 0
      }
    return places.enumerated().filter { places.firstIndex(of: $1) == $0 }.map(\.element)
  }

  init(_ found: Recognition<GenericFinding>, head: InputHead, options: ExportOptions) throws {
    self.options = options
    finding = found.header
    names = GenericNames(finding)
    columns = finding.columns
    let roles = finding.columns.roles
    if case .objects = found.layout {
      let members = Self.members(of: finding)
      columns = columns.moved { members.firstIndex(of: $0) ?? -1 }
    }
    place = finding.delimiter == nil ? .belowHeader : .aboveHeader
    times = GenericTimeReader(
      takesSerials: options.columns["time"] != nil,
      isUTC: finding.timesAreMappedAsUTC || (finding.hasTimesOfUTC && !options.force), zone: options.zone)
    utcTimes = GenericUTCTimes(zone: options.zone)
    units = GenericUnits(finding, given: options.unit, isForced: options.force)
    dates = try DateOrderSurvey(given: options.dateOrder, now: options.now, isForced: options.force)
    datesOfSticks = dates
    kind = GenericKind(finding, given: options.kind)
    rows = GenericRows(finding)
    refusesUnknownKinds =
      finding.columns[.kind] >= 0 && !finding.kindMayBeSource && !options.force
      && finding.columns[.value] >= 0 && finding.header.words[finding.columns[.value]].isGlucose
    further = GenericFurtherValues(finding, isForced: options.force)
    mergedDates = GenericMergedDates(finding)
    diary = try GenericDiary(finding, options)
    hasOthers = diary != nil || roles.contains(.smbg)
    zoneSigns = GenericZoneSigns(
      finding.zoneSigns.map(\.sign), stated: finding.zoneAroundRows, zone: options.zone.name)
    kindSigns = GenericKindSigns(options.kind, finding.kindSigns.map { ($0.name, $0.areMarks) })
    sums = GenericDaySums(finding, isForced: options.force)
    otherUnits = finding.unitIsDoubtful ? GenericOtherUnits() : nil
    try requireGlucose()
    try refuseUserEntries(head)
    try refuseOtherSubject()
    try decideOrderFromHead()
    try compareDaysInHead()
    decideKindFromHead()
    mergedDates = GenericMergedDates(finding)
  }

  /// - Throws: `Failure` of category `badInput` for amounts in the log of user entries of AAPS, and for its
  ///   glucose unless a person chose rows.
  private func refuseUserEntries(_ head: InputHead) throws {
    let amounts = GenericRole.doses + GenericRole.foods
    guard !options.force, options.rows.isEmpty || amounts.contains(where: { finding.columns[$0] >= 0 }),
      let reason = Signature.refusalOfUserEntries(head)
    else { return }
    throw Failure(.badInput, reason)
  }

  /// - Throws: `Failure` of category `badInput` if a person stated a kind of glucose, and there are only
  ///   ketones.
  private func requireGlucose() throws {
    guard let kind = options.kind, kind != .ketone, finding.columns[.value] < 0, finding.columns[.smbg] < 0,
      finding.columns[.ketone] >= 0, options.columns.isEmpty
    else { return }
    throw Failure(
      .badInput,
      "the column \(finding.quoted([finding.columns[.ketone]])) holds ketones, and no column holds glucose: leave out "
        + "--kind \(kind.name)")
  }

  /// - Throws: `Failure` of category `badInput` for the readings of an animal and for computed values.
  private func refuseOtherSubject() throws {
    if options.force { return }
    let subject =
      finding.header.otherSubject ?? OtherSubject(columns: finding.header, selected: options.rows)
    try subject?.refuse(ImportHint(options: options).lines([{ $0.force = true }]))
  }

  var decisions: [Decision] {
    var decisions = units.decisions
    if let kind = kind.decision { decisions.append(kind) }
    if let delimiter = finding.delimiter {
      let names: [UInt8: String] = [0x2C: "comma", 0x3B: "semicolon", 0x09: "tab", 0x7C: "bar"]
      decisions.insert(Decision("delimiter", names[delimiter] ?? "other", .inferred), at: 0)
    }
    if let order = times.order {
      decisions.append(Decision("date-order", order.rawValue, orderBasis ?? .inferred))
    } else {
      decisions.append(Decision("date-order", "unambiguous", .read))
    }
    return decisions
  }

  var warnings: [String] {
    let signs = diary?.signs ?? finding.columns.amountSigns
    let ignored = finding.columns.amountSigns.filter { !signs.contains($0) && !finding.columns.isUsed($0) }
    let unused = (finding.unused + ignored).sorted()
    var warnings = unused.isEmpty ? [] : ["not read: \(finding.quoted(unused))"]
    if halfDays.isDoubtful {
      warnings.append(
        "all times are from 1:00 to 12:59; if they are those of a clock of twelve hours without AM and PM, undo this import"
      )
    }
    return warnings
  }

  var doubts: [String] {
    (doubtAboutUTC.map { [$0] } ?? []) + (zoneSigns?.warnings ?? [])
      + (kindSigns?.warnings(ImportHint(options: options)) ?? [])
  }

  var failureAtEnd: Failure? { rows.missing }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard place == .belowHeader else { return readOutside(row, into: &out) }
    let outcome = readTime(row)
    if let verdict = leaveOut(row, at: outcome, into: &out) { return verdict }
    if case .rejected(let reason) = outcome { return refuse(row, reason, into: &out) }
    sections.observeData()
    if !isSurveyed, mixesOffsets(outcome) {
      out.reject(row, "a time with an offset among times without, or the other way round")
      return .data
    }
    if !isSurveyed, further.isActive, let fault = furtherValueFault(row) {
      out.reject(row, fault)
      return .data
    }
    if !isSurveyed, columns.twin >= 0, GenericTwins.differ(in: row, columns) {
      out.reject(row, "other values in the columns of both units; name the column of values with --map")
      return .data
    }
    if !isSurveyed, let fault = laterFault(of: row) {
      out.reject(row, fault)
      return .data
    }
    let isAmount = valueIsAmount(row)
    if !isAmount { readValue(row, at: outcome, into: &out) }
    bufferedKey = nil
    if hasOthers || columns[.ketone] >= 0, mayBeSplit(row) {
      // A value that is not an amount was rejected by `readValue`.
      if isAmount { out.reject(row, Row.tooManyCells) }
      return .data
    }
    if columns[.smbg] >= 0 { readStick(row, at: outcome, into: &out) }
    if columns[.ketone] >= 0 { readKetone(row, at: outcome, into: &out) }
    if diary != nil, let (time, tick) = position(row, outcome) {
      utcTimes.observe(time, isInstant: tick != nil)
      diary?.read(row, columns, at: time, units.mark, into: &out)
    }
    return .data
  }

  /// Whether the value of a row is read as a dose or food instead.
  @inline(__always) private mutating func valueIsAmount(_ row: Row) -> Bool {
    diary != nil && diary?.readsValue(of: row, columns) == true
  }

  @inline(__always) mutating func readTime(_ row: Row) -> GenericTimeReader.ReadTime {
    let outcome =
      columns[.time] >= 0 ? times.read(row[columns[.time]]) : readParts(row, columns, isTrial: false)
    let named = times.instantIfUTC(outcome)
    return columns[.offset] >= 0 ? times.addingOffset(to: named, from: row[columns[.offset]]) : named
  }

  mutating func readParts(_ row: Row, _ columns: GenericColumns, isTrial: Bool) -> GenericTimeReader.ReadTime
  {
    let (date, clock) = (row[columns[.date]], row[columns[.clock]])
    guard mergedDates != nil else { return times.read(date: date, clock: clock) }
    let outcome = mergedDates?.read(date, clock, line: row.line, isTrial: isTrial) { [times] in
      times.read(date: $0, clock: $1)
    }
    return outcome ?? .rejected("no date")
  }

  /// Whether a time states an offset and the first one does not, or the reverse.
  @inline(__always) private mutating func mixesOffsets(_ outcome: GenericTimeReader.ReadTime) -> Bool {
    if options.force { return false }
    let states = outcome.statesOffset
    if let statesOffset { return statesOffset != states }
    statesOffset = states
    return false
  }

  @inline(__always) private mutating func readValue(
    _ row: Row, at outcome: GenericTimeReader.ReadTime, into out: inout BatchBuilder
  ) {
    guard columns[.value] >= 0 else { return }
    let value = row[columns[.value]].trimmed
    guard let word = word(of: row) else {
      guard finding.kindMayBeSource else {
        if isOfUnknownKind(row) {
          return out.reject(row, "a kind of row that glucoport does not know; use --where and --kind")
        }
        return out.skip(kind.name(of: row[columns[.kind]]))
      }
      return out.reject(row, "a word that says neither sensor nor meter, where other rows do; use --kind")
    }
    if value.isEmpty {
      if !hasOthers { out.skip("row without a value") }
      return
    }
    if let other = units.otherUnit(row[columns[.unit]]) { return out.skip(other) }
    if zeros.valueIsNone(value) { return out.skip("row without a value") }
    if mayBeSplit(row) { return out.reject(row, Row.tooManyCells) }
    let cell =
      word.kind == .ketone
      ? units.ketone(value, unit: row[columns[.unit]]) : units.read(value, unit: row[columns[.unit]])
    add(word, cell, row, at: outcome, into: &out)
  }

  /// The word for the kind of a row; nil for a row that measures something else.
  @inline(__always) private mutating func word(of row: Row) -> KindWord? {
    let cell = row[columns[.kind]]
    let word = kind.word(in: cell)
    guard kind.dependsOnDevice, cell.isEmpty || (word == nil && finding.kindMayBeSource) else { return word }
    let key = sourceKey(of: row, columns)
    if let known = kind.knownWord(of: key) { return known ?? word }
    let texts = sourceLabel(of: row, columns).texts
    if let late = lateSources, kind.isUnseen(key, texts), !row.isUnterminated {
      if let decided = late.word(of: key) { return decided }
      if late.canBuffer(key) {
        bufferedKey = key
        return word ?? KindWord(.cbg)
      }
    }
    return kind.findWord(of: key, texts) ?? word
  }

  private mutating func buffer(
    _ reading: Reading, _ row: Row, of key: SourceKinds.SourceKey, into out: inout BatchBuilder
  ) {
    bufferedKey = nil
    lateSources?.buffer(reading, row, of: key, into: &out)
  }

  mutating func finish(into out: inout BatchBuilder) { lateSources?.finish(into: &out) }

  // People write such tables by hand, with any number of delimiters at the ends of lines.
  static var rowsHaveOneWidth: Bool { false }

  // The rows of some programs begin with a cell that the header does not name.
  func maxCells(below header: Row?) -> Int? { header == nil ? nil : headerCount }

  /// Whether a row has more cells than the header, and may have a number whose decimal comma splits it into
  /// two cells. Then the cells after it are under wrong names. The row may end in empty cells, so that
  /// `maxCells` does not exclude it.
  @inline(__always) private func mayBeSplit(_ row: Row) -> Bool {
    row.count > headerCount && finding.delimiter == UInt8(ascii: ",") && isSplit(row)
  }

  private func isSplit(_ row: Row) -> Bool {
    let (whole, fraction) = (row[columns[.value]], row[columns[.value] + 1])
    guard let number = whole.integer, number <= 35 else { return false }
    return fraction.shape == .bare && fraction.count <= 2 && fraction.integer != nil
  }

  /// Reads a finger stick in a row that also has a sensor's value.
  private mutating func readStick(
    _ row: Row, at outcome: GenericTimeReader.ReadTime, into out: inout BatchBuilder
  ) {
    let field = row[columns[.smbg]].trimmed
    let cell = units.readStick(field, unit: row[columns[.unit]])
    if case .empty = cell { return }
    add(KindWord(.smbg), cell, row, at: outcome, into: &out)
  }

  private mutating func readKetone(
    _ row: Row, at outcome: GenericTimeReader.ReadTime, into out: inout BatchBuilder
  ) {
    let field = row[columns[.ketone]].trimmed
    switch zeros.ketone(field, mark: units.mark) {
    case .value: break
    case .none: return
    case .unknown:
      return out.reject(
        row, "a ketone of 0, which may mean that there is no value; import a file, where this can be decided")
    }
    let cell = GlucoseReader.ketone(field, mark: units.mark)
    if case .empty = cell { return }
    add(KindWord(.ketone), cell, row, at: outcome, into: &out)
  }

  @inline(__always) private mutating func add(
    _ word: KindWord, _ cell: CellValue, _ row: Row, at outcome: GenericTimeReader.ReadTime,
    into out: inout BatchBuilder
  ) {
    switch cell {
    case .measurement(let measurement):
      guard let (time, tick) = position(row, outcome) else {
        return out.reject(row, "invalid record number; expected a whole number such as 1234")
      }
      var reading = Reading(
        device: device(of: row, in: &out), kind: word.kind, at: time.deviceTime,
        placement: out.placement(of: time),
        measurement, marks: word.marks, line: row.line)
      if columns[.control] >= 0, isSet(row[columns[.control]]) { reading.marks.insert(.controlSolution) }
      if let tick {
        reading.positionKind = .tick
        reading.position = tick
        if columns[.tick] < 0 { instants.separate(&reading) }
      }
      if seeksSigns { observeSigns(row, time, of: reading) }
      if let key = bufferedKey { return buffer(reading, row, of: key, into: &out) }
      out.add(reading)
    case .empty: out.skip("row without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// Records the zones, the UTC times and the kinds of device that a row states. Most inputs have nothing
  /// more to record after their first row.
  @inline(never) private mutating func observeSigns(_ row: Row, _ time: ShownTime, of reading: Reading) {
    utcTimes.observe(time, isInstant: reading.positionKind == .tick)
    if time.utcOffset == nil {
      zoneSigns?.observe(row, columns.zoneSigns, time.deviceTime, offset: reading.placement.utcOffset)
    }
    kindSigns?.observe(row, columns.kindSigns, reading.kind)
    seeksSigns = zoneSigns != nil || kindSigns != nil || !utcTimes.hasOthers
  }

  /// The shown time, and the number that identifies the reading if the time does not: the record number in
  /// the row, or the instant.
  @inline(__always) private func position(
    _ row: Row, _ outcome: GenericTimeReader.ReadTime
  ) -> (ShownTime, tick: Int64?)? {
    var (time, tick): (ShownTime, Int64?)
    switch outcome {
    case .shown(let shown): (time, tick) = (shown, nil)
    case .instant(let shown, let milliseconds): (time, tick) = (shown, milliseconds)
    case .rejected: return nil
    }
    if columns[.tick] >= 0 {
      guard let number = row[columns[.tick]].integer else { return nil }
      tick = number
    }
    return (time, tick)
  }

  /// Whether a cell in a column such as that for control solution means yes: it has any text except a word
  /// for no.
  private func isSet(_ field: Field) -> Bool {
    !field.isEmpty && GenericDeviceWords.isYes(field.folded)
  }

  @inline(__always) private mutating func device(of row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    if columns[.device] >= 0 || columns[.serial] >= 0 {
      let (model, serial) = (row[columns[.device]], row[columns[.serial]])
      if !model.isEmpty || !serial.isEmpty {
        return out.device(vendor: "Generic", model: model, serial: serial)
      }
    }
    if let fixedDevice { return fixedDevice }
    let device = Device(vendor: "Generic", model: options.device ?? "unknown", format: Self.id)
    let index = out.device(device)
    fixedDevice = index
    return index
  }
}

extension GenericFormat {
  static let page = FormatPage(
    origin: [
      "any app or program: a table with a header, or JSON objects"
    ],
    variants: [
      "CSV, TSV, a sheet of XLSX or ODS, JSON, NDJSON",
      "with columns that --map names, and rows that --where chooses",
    ],
    languages: "words of headers in English, German, Spanish, French and others; --map for the rest",
    reads: [
      "glucose with its time; the unit and the kind as far as the input shows them",
      "ketones, insulin, carbohydrates, notes, devices and serial numbers in columns that say so",
    ],
    notRead: [
      "columns of other things",
      "rows of another unit or kind, which are counted by name",
    ])
}
