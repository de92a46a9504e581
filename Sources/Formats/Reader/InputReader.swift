// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// Reads one export, from a file or a pipe, in any of the formats of `FormatRegister`.
///
/// Detection sees the first 64 KiB. Some decisions need all rows, such as the order of day and month or the
/// unit. For such a decision a file is read twice, and a pipe is first copied to an unlinked file.
public struct InputReader {
  /// A batch ends when its rejected rows have this number of bytes. Rejected rows are kept in memory in full,
  /// for `--rejects`.
  private static let maxRejectedBytes = 8 << 20
  /// The maximum number of rows of a preamble before a header.
  static let longestPreamble = 40

  private let input: Input
  private var rows: any RowSource
  private var parser: any ExportFormat
  private var builder: BatchBuilder
  private var passes: AutumnPasses
  private let options: ExportOptions
  /// Rows that are neither data nor headers. They are a preamble if a header follows, otherwise they are
  /// rejected.
  private var unknownRows: [(rejection: Rejection, holdsData: Bool)] = []
  /// The last readings of a batch if further rows may have the same time. The next batch begins with them.
  private var heldBack: [Reading] = []
  private var isDone = false
  /// How the input ended; meaningful after `read` returned false.
  public private(set) var end = InputEnd.whole
  private let clock = ContinuousClock()
  /// When a pipe was opened; nil for a file, and after the first batch was requested. The first batch ends
  /// one second after this time.
  private var waitingSince: ContinuousClock.Instant?
  /// The last header row as it was in the input; nil for inputs without one.
  package private(set) var header: String?
  /// A header that was read after rows of the batch were rejected. Those rows belong to the header before it,
  /// so this header applies from the next batch on.
  private var nextHeader: String?
  private let layout: Layout
  /// The number of cells that a row may fill.
  private var maxCells = Int.max
  /// The number of cells in the header; not limited for inputs whose rows may have any number of cells.
  private var headerCells = Int.max
  private var hasHeader = false
  /// The number of cells in the header, or in most rows below it if they have more. For a header after the
  /// head of the input, the first row of data shows it. It is not limited until that row is read.
  private var usualCells = Int.max
  private var picker: RowPicker?
  /// The filter for the rows of one person, if the input may hold rows of several people.
  private var people: (any PeopleFilter)?
  private let headPersons: [StatedPerson]
  /// The finger sticks of a format that does not determine the kind of readings; nil for any other format.
  private var sticks: SteadySticks?

  /// Opens a file and decides on its format.
  ///
  /// - Throws: `Failure`, if the file cannot be read, is empty, is of no known format, or needs an option.
  public init(path: String, options: ExportOptions) throws {
    do {
      try self.init(source: FileSource(path: path), options: options)
    } catch let unrecognised as UnrecognisedInput {
      throw unrecognised.failure
    }
  }

  /// Takes over an open descriptor, such as standard input.
  public init(descriptor: Int32, name: String, options: ExportOptions) throws {
    do {
      try self.init(source: FileSource(descriptor: descriptor, name: name), options: options)
    } catch let unrecognised as UnrecognisedInput {
      throw unrecognised.failure
    }
  }

  /// - Throws: `UnrecognisedInput` for an input that no format reads; `Failure` for any other input that
  ///   cannot be read.
  init(source: any InputSource, options: ExportOptions) throws {
    var options = options
    options.inputName = source.name
    options.sheet = (source as? SheetSource)?.sheet
    self.options = options
    passes = AutumnPasses(options.zone)
    waitingSince = source.isRegularFile ? nil : clock.now
    source.isInterrupted = options.isInterrupted
    input = try Input(source)
    let found = try Detection.parser(for: input, options: options)
    try JoinedTables.refuse(found, input, options)
    parser = found.parser
    var filters = options.rows
    var layout = found.layout
    people = try Self.people(found, input, options, &layout, &filters)
    picker = try Self.picker(filters, found, layout, input)
    self.layout = picker?.layout(layout) ?? layout
    headPersons = type(of: found.parser).statedPersons(in: input.head)
    try input.checkMember()
    rows = try Self.makeRows(self.layout, input: input, of: parser)
    builder = BatchBuilder(format: type(of: parser).id, options: options)
    let determinesKind = parser is GenericFormat || parser.decisions.contains { $0.subject == "kind" }
    sticks = determinesKind || type(of: parser).passesOffsetsOn ? nil : SteadySticks()
    setLimits(below: nil)
    if parser.needsSurvey || ((parser.benefitsFromSurvey || people != nil) && !input.isLive) {
      try survey()
      rows = try Self.makeRows(self.layout, input: input, of: parser)
    }
  }

  /// Reads the whole of a pipe, so that no later step waits for its writer. Call it only before the first
  /// `read`.
  package mutating func spool() throws {
    try input.makeRereadable(evenIfLive: true)
    rows = try Self.makeRows(layout, input: input, of: parser)
  }

  /// The id of the format.
  public var format: String { builder.format }
  /// When the export was made, in UTC seconds: as a person or the export states it, otherwise the time of its
  /// newest item. What a person states counts only if it is later than the other time.
  public var generatedAt: Int64? {
    let generated = parser.generatedAt ?? builder.newestItem
    return options.exportedAt.map { max($0, generated ?? $0) } ?? generated
  }
  /// SHA-256 of the bytes as they came, compressed or not.
  package var digest: String { input.source.digest.hexadecimal() }
  /// When the file was last written, in UTC seconds; nil for a pipe.
  package var modifiedAt: Int64? { input.source.modifiedAt }
  /// The bytes read so far and the total; the total is nil for a pipe.
  public var progress: (done: Int64, total: Int64?) { (input.source.bytesRead, input.source.size) }
  /// The path of the input, or `-` for standard input.
  public var name: String { input.source.name }
  /// The zone of times that state no offset, and whether a person gave it.
  package var zone: (zone: LogbookZone, isGiven: Bool) { (options.zone, options.zoneIsGiven) }
  /// Whether the readings have offsets that another logbook derived, so that no zone of the import applies to
  /// them.
  package var passesOffsetsOn: Bool { type(of: parser).passesOffsetsOn }
  /// Whether exports of the format are known to repeat rows.
  package var repeatsRows: Bool { type(of: parser).repeatsRows }

  /// The statements about the person in the part of the input that was read so far.
  package var statedPersons: [StatedPerson] { people?.stated ?? headPersons + parser.statedPersons }

  /// The first name that JSON states outside of its readings; nil without one. It helps a user to confirm
  /// that the data are those of the right person. If JSON states several persons, it is that of the chosen
  /// one.
  package var statedFirstName: String? {
    guard input.head.isJSON else { return nil }
    return ["firstName", "first_name"].lazy.compactMap { member in
      options.patient.map { input.head.value(of: member, nextTo: $0) } ?? input.head.value(of: member)
    }.first { !$0.isEmpty }
  }

  /// The decisions about the input, such as its unit and zone. The first decision is the format.
  public var decisions: [Decision] {
    [Decision("format", format, options.format == nil ? .inferred : .given), input.encodingDecision]
      + parser.decisions + choices
      + [Decision("zone", options.zone.name, options.zoneIsGiven ? .given : .logbook)]
  }

  /// The choices of a person about columns, device, rows and the age of the export. With another choice, the
  /// same file counts as another input: importing it after an undo shows its items again.
  private var choices: [Decision] {
    func text(_ pairs: [(String, String)]) -> String {
      ColumnPairs.text(pairs.map { (name: $0.0, value: $0.1) })
    }
    let columns = options.columns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    let rows = options.rows.map { ($0.column, $0.value) }
    return [
      (Decision.columns, columns.isEmpty ? nil : text(columns)), (Decision.device, options.device),
      (Decision.rows, rows.isEmpty ? nil : text(rows)),
      (Decision.exported, options.exportedAt.map { DeviceTime(seconds: $0).text + "Z" }),
    ].compactMap { subject, value in value.map { Decision(subject, $0, .given) } }
  }

  /// Warnings for the person. They reject no row.
  public var warnings: [String] {
    input.warnings + unusedOptions + parser.warnings + [sticks?.warning].compactMap(\.self) + parser.doubts
  }
  /// Warnings about options that the format of the input does not use.
  private var unusedOptions: [String] {
    guard let kind = options.kind,
      !parser.decisions.contains(where: {
        $0.subject == "kind" && ($0.basis == .given || $0.value == kind.name)
      })
    else { return [] }
    return ["not used: --kind \(kind.name), since \(format) determines the kind of readings itself"]
  }
  /// The warnings that an unattended import must report, too. Items were stored because of a statement of a
  /// person, but the input contradicts it.
  package var doubts: [String] { parser.doubts }

  /// Appends items to the batch until the batch is full, a second has passed, or the source pauses.
  ///
  /// - Returns: false when the source is exhausted; the batch may hold the last items then.
  /// - Throws: `Failure` when the source cannot be read further.
  public mutating func read(into batch: inout IngestBatch) throws -> Bool {
    if isDone { return false }
    defer {
      passes.assignOffsets(to: &batch.readings)
      sticks?.observe(batch.readings)
    }
    return try fill(&batch)
  }

  private mutating func fill(_ batch: inout IngestBatch) throws -> Bool {
    swap(&builder.batch, &batch)
    defer { swap(&builder.batch, &batch) }
    // While an array grows, its old and its new memory exist at the same time, so the memory is reserved at
    // once.
    builder.batch.readings.reserveCapacity(IngestBatch.capacity)
    builder.batch.readings += heldBack
    heldBack.removeAll(keepingCapacity: true)
    builder.rejectedBytes = 0
    if let nextHeader { (header, self.nextHeader) = (nextHeader, nil) }
    let isFile = input.source.isRegularFile
    let start = isFile ? clock.now : waitingSince ?? clock.now
    waitingSince = nil
    var (sinceLook, bytesAtLook) = (0, input.source.bytesRead)
    while builder.batch.readings.count + builder.batch.records.count + builder.batch.rejections.count
      < IngestBatch.size
    {
      switch try rows.next() {
      case .row(let row): try read(row)
      case .rejected(let line, let reason): builder.reject(line: line, reason)
      case .paused:
        if !builder.batch.isEmpty { return true }
        sinceLook = 0
      case .end(let truncation):
        try finish(truncation)
        return false
      }
      if nextHeader != nil || builder.rejectedBytes > Self.maxRejectedBytes { break }
      sinceLook += 1
      // The clock is read only after 1024 rows, and after a pipe delivered bytes, since reading it is slow.
      if sinceLook == 1024 || (!isFile && input.source.bytesRead != bytesAtLook) {
        (sinceLook, bytesAtLook) = (0, input.source.bytesRead)
        if clock.now - start > .milliseconds(IngestBatch.maxMilliseconds) { break }
      }
    }
    holdBack()
    return true
  }

  /// Keeps the last readings for the next batch when they share one shown time, or a time that can occur
  /// twice. Such readings are distinguished by their order or value, so they are stored in one transaction: a
  /// crash cannot separate them.
  private mutating func holdBack() {
    // The array is used only through the builder: a second reference to it would make a copy.
    guard let last = builder.batch.readings.last else { return }
    let time = last.deviceTime
    let first =
      builder.batch.readings
      .lastIndex { !($0.deviceTime == time || (last.timeCanRepeat && $0.timeCanRepeat)) }
      .map { $0 + 1 } ?? 0
    guard first > 0, builder.batch.readings.count - first <= IngestBatch.maxTogether else { return }
    heldBack += builder.batch.readings[first...]
    builder.batch.readings.removeSubrange(first...)
  }

  private mutating func read(_ row: Row) throws {
    if people?.reads(row, into: &builder) == false { return }
    if let column = picker?.reasonToLeaveOut(row) {
      return builder.skip("row with another \(shownName(column))")
    }
    if row.isUnterminated, !options.lastLineIsComplete { return try readLast(row) }
    let place = builder.batch.rejections.count
    apply(parse(row.closed), row, unknownAt: place)
  }

  /// Sets the number of cells that the rows below a header may have. A spreadsheet has no delimiters that
  /// could split a cell, so a cell without a name in it is a remark.
  private mutating func setLimits(below header: Row?) {
    (maxCells, usualCells, headerCells) = (.max, .max, .max)
    guard case .table = layout, !input.linesAreRows, let limit = parser.maxCells(below: header) else {
      return
    }
    maxCells = limit
    guard type(of: parser).rowsHaveOneWidth else { return }
    headerCells = header?.count ?? limit
    // The head is only searched for the first header, since a hostile input may have many.
    if let header, !hasHeader { usualCells = widthInHead(below: header) ?? .max }
    hasHeader = header != nil
  }

  /// The most frequent number of cells of the rows below a header in the head of the input. Rows with fewer
  /// cells than the header are ignored. Nil if the head lacks the header or such rows.
  private func widthInHead(below header: Row) -> Int? {
    guard case .table(let delimiter) = layout else { return nil }
    let (rows, name) = (input.head.rows(delimiter), header[0].text)
    guard let index = rows.firstIndex(where: { $0.count == header.count && $0.first == name }) else {
      return nil
    }
    var counts: [Int: Int] = [:]
    for row in rows[(index + 1)...] where row.count >= header.count { counts[row.count, default: 0] += 1 }
    return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
  }

  /// Passes a row to the format. A row of data with too many cells is rejected. The batch keeps no item of
  /// it, and the format nothing, unless the format itself rejects the row for another reason.
  private mutating func parse(_ row: Row) -> RowVerdict {
    guard row.exceeds(maxCells) || row.count > usualCells else {
      let verdict = parser.read(row, into: &builder)
      if usualCells == .max, headerCells < .max, case .data = verdict {
        usualCells = max(headerCells, row.count)
      }
      return verdict
    }
    let (mark, before) = (builder.mark(), parser)
    let verdict = parser.read(row, into: &builder)
    guard case .data = verdict, !builder.hasOnlyRejections(since: mark) else { return verdict }
    builder.rollback(to: mark)
    parser = before
    builder.reject(row, Row.tooManyCells)
    return verdict
  }

  /// The filter for rows that a person did not pick with `--where`; nil if there is nothing to filter.
  private static func picker(
    _ filters: [RowFilter], _ found: Detection.Found, _ layout: Layout, _ input: Input
  ) throws -> RowPicker? {
    do {
      return try RowPicker(filters, for: type(of: found.parser), layout, input.head)
    } catch let failure as Failure {
      throw Failure(failure.category, "\(input.source.name): \(failure.message)")
    }
  }

  /// The filter for the rows of one person; nil if the input is certainly the export of one person.
  ///
  /// - Parameter layout: on return, it also has the column that identifies persons, if one is needed.
  private static func people(
    _ found: Detection.Found, _ input: Input, _ options: ExportOptions, _ layout: inout Layout,
    _ filters: inout [RowFilter]
  ) throws -> (any PeopleFilter)? {
    let type = type(of: found.parser)
    switch layout {
    case .table(let delimiter):
      if let column = PersonColumn(found.parser, delimiter, input.head, options, &filters) { return column }
      guard let mark = found.parser.joinMark else { return nil }
      let count = filters.count
      let people = JoinedPeople(type, &filters)
      return try filters.count < count || input.isLive || input.repeats(mark) ? people : nil
    case .objects(let columns):
      try requireOnePerson(type, input)
      guard !type.picksRows, let member = input.head.personMember(of: type.id) else { return nil }
      let place = columns.firstIndex(of: member)
      if place == nil { layout = .objects(columns: columns + [member]) }
      return PersonColumn(member: member, at: place ?? columns.count, of: type.id, &filters)
    case .lines, .elements: return nil
    }
  }

  /// Refuses an input with the response bodies of several people. Such bodies state their person outside of
  /// the objects with readings.
  ///
  /// - Throws: `Failure` of category `badInput`.
  private static func requireOnePerson(_ type: any ExportFormat.Type, _ input: Input) throws {
    guard !input.isLive, !type.picksRows || type == GenericFormat.self,
      let member = try input.head.envelopePersons.first(where: { try input.hasSeveralValues(of: $0) })
    else { return }
    throw Failure(
      .badInput,
      "\(input.source.name): the input holds bodies of several people, by their \(shownName(member)); a store is for one "
        + "person. Import the bodies of each person from a separate file")
  }

  private mutating func readLast(_ row: Row) throws {
    guard case .table(let delimiter) = layout else { return readLastLine(row) }
    let earlier = TextBuffer(
      ReplaySource(head: input.text.consumed(before: row.source.baseAddress), rest: nil),
      name: input.source.name,
      capacity: TextBuffer.keptBytes)
    let last = try LastLine(
      row, after: TableReader(earlier, delimiter: delimiter), byteCount: input.text.bytesTaken,
      maxCells: maxCells, parser, builder)
    let place = builder.batch.rejections.count
    let verdict: RowVerdict
    switch last.verdict() {
    case .whole: verdict = parse(row.closed)
    case .completed(let cells): verdict = cells.withRow { parse($0) }
    case .withoutText(let cells, let detail):
      verdict = cells.withRow { parse($0) }
      builder.batch.records.removeAll { $0.line == row.line && $0.kind == .note }
      end = .unterminated(line: row.line, detail: detail)
    case .unsure(let detail):
      end = .unterminated(line: row.line, detail: detail)
      return
    }
    apply(verdict, row, unknownAt: place)
  }

  /// Reads the last line of a format without cells. A line that would be rejected is reported as truncated
  /// instead: that is more likely than damage in exactly the last line.
  private mutating func readLastLine(_ row: Row) {
    let mark = builder.mark()
    let verdict = parser.read(row, into: &builder)
    guard builder.batch.rejections.count > mark.rejections else {
      return apply(verdict, row, unknownAt: mark.rejections)
    }
    builder.rollback(to: mark)
    apply(.truncated, row, unknownAt: mark.rejections)
  }

  /// - Parameter place: the index in the batch's rejections at which the unknown rows above this row are
  ///   inserted, if they are rejected.
  private mutating func apply(_ verdict: RowVerdict, _ row: Row, unknownAt place: Int) {
    switch verdict {
    case .data:
      if !unknownRows.isEmpty { rejectUnknownRows(at: place) }
    case .header:
      setLimits(below: row)
      // The rows above a header are its preamble if they consist of words. Rows with a time and a number are
      // data of another table, so they are rejected one by one.
      picker?.observeHeader(row)
      builder.batch.rejections += unknownRows.filter(\.holdsData).map(\.rejection)
      unknownRows.removeAll()
      let found = String(decoding: row.source.prefix(Rejection.maxSourceBytes), as: UTF8.self)
      if builder.batch.rejections.isEmpty { header = found } else if found != header { nextHeader = found }
    case .truncated:
      end = .unterminated(line: row.line, detail: "the last line has no line end and may be cut")
    case .unknown(let reason):
      unknownRows.append((row.rejection(reason), row.holdsData))
      if unknownRows.count > Self.longestPreamble { rejectUnknownRows(at: place) }
    }
  }

  private mutating func rejectUnknownRows(at place: Int) {
    builder.batch.rejections.insert(contentsOf: unknownRows.map(\.rejection), at: place)
    unknownRows.removeAll()
  }

  private mutating func finish(_ truncation: (line: Int64, detail: String)?) throws {
    isDone = true
    if let failure = parser.failureAtEnd ?? picker?.missing ?? people?.missing {
      throw Failure(failure.category, "\(input.source.name): \(failure.message)")
    }
    // The rows above the headers of people who were not picked are not rejected.
    if people != nil, !options.rows.isEmpty { unknownRows.removeAll { !$0.holdsData } }
    rejectUnknownRows(at: builder.batch.rejections.count)
    parser.finish(into: &builder)
    if let truncation { end = .truncated(line: truncation.line, detail: truncation.detail) }
    if let detail = input.truncation { end = .truncated(line: 0, detail: detail) }
  }

  /// Surveys all rows before the first one is read.
  private mutating func survey() throws {
    try input.makeRereadable()
    // Hashing takes a tenth of an import, and the second reading starts the digest again. So the survey does
    // not hash.
    input.source.isHashing = false
    let rows = try Self.makeRows(layout, input: input, of: parser)
    var picker = picker
    // The survey may only be needed to find the persons in the rows. Then the parser does not survey the
    // rows, since it has decided everything from the beginning of the input.
    let isParserSurveyed = parser.needsSurvey || parser.benefitsFromSurvey
    var isComplete = false
    while !isComplete {
      switch try rows.next() {
      case .row(let row):
        people?.survey(row)
        if isParserSurveyed, picker?.reasonToLeaveOut(row) == nil { parser.survey(row) }
        if parser.hasSeenEnough, people == nil { isComplete = true }
      case .rejected: continue
      case .paused, .end: isComplete = true
      }
    }
    let hint = ImportHint(options: options)
    do {
      try people?.decide(hint)
      if isParserSurveyed { try parser.decide() }
      if input.isLive { parser.expectFurtherRows() }
    } catch let failure as Failure {
      throw Failure(failure.category, "\(input.source.name): \(failure.message)")
    }
    try input.rewind()
  }

  private static func objects(
    _ columns: [String], _ input: Input, of parser: any ExportFormat
  ) -> any RowSource {
    let reader = JSONReader(input.text, columns: columns)
    // The format of one program knows which other lists this program writes, so only the generic format
    // reports unknown lists.
    reader.reportsOtherLists = parser is GenericFormat
    return reader
  }

  private static func makeRows(
    _ layout: Layout, input: Input, of parser: any ExportFormat
  ) throws -> any RowSource {
    switch layout {
    case .table(let delimiter):
      TableReader(input.text, delimiter: delimiter, linesAreRows: input.linesAreRows)
    // The delimiter is a zero byte, which occurs in no text, so each line is one cell.
    case .lines: TableReader(input.text, delimiter: 0, hasQuotes: false)
    case .objects(let columns): objects(columns, input, of: parser)
    case .elements(let shape): ElementReader(input.text, shape)
    }
  }
}

extension Row {
  /// Whether the row holds a number and another cell that begins with a digit, such as a time. Such a row is
  /// data, not a title.
  fileprivate var holdsData: Bool {
    let cells = fields.map { $0.trimmed.text }.filter { $0.first?.isNumber == true }
    return cells.count > 1
      && cells.contains { Double(String($0.map { $0 == "," ? "." : $0 })) != nil }
  }
}
