// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The names of a header, folded only once: every rejected row is compared with them.
struct GenericNames {
  /// The folded names, in their order.
  let folded: [String]
  /// The first byte of the name of the times; nil if that name is unknown or does not begin with an ASCII
  /// character.
  private let timeInitial: UInt8?

  init(_ finding: GenericFinding) {
    let shift = finding.header.shift
    folded = finding.delimiter == nil ? [] : finding.header.names.dropFirst(shift).map(foldedHeader)
    let time = (finding.columns[.time] >= 0 ? finding.columns[.time] : finding.columns[.date]) - shift
    timeInitial =
      folded.indices.contains(time) ? folded[time].utf8.first.flatMap { $0 < 0x80 ? $0 : nil } : nil
  }

  /// Whether a row may have the name of the column of times. A row without this name is not a header. Folding
  /// all cells of the row, as the full check does, costs ten times as much.
  func mayBe(in row: Row) -> Bool {
    guard let timeInitial else { return true }
    return row.fields.contains { Self.mayBegin($0, with: timeInitial) }
  }

  /// Whether a cell may begin with this byte after it is folded. `foldedHeader` removes white space and
  /// quotes. If a line of the cell begins with a quote, it also removes the text before that line.
  private static func mayBegin(_ field: Field, with initial: UInt8) -> Bool {
    let end = min(field.count, Field.maxNameBytes)
    for place in 0..<end {
      switch field[place] {
      case 0x09...0x0D, 0x20, 0x22: continue
      case 0x80...: return true
      case let byte where byte == initial || (byte | 0x20 == initial && (0x41...0x5A).contains(byte)):
        return true
      default: return (place..<end).contains { field[$0] == UInt8(ascii: "\n") }
      }
    }
    return false
  }
}

/// Reads rows without a reading: headers, titles, the last line, and rows without data.
extension GenericFormat {
  mutating func readOutside(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if sections.areOfSeveralPersons {
      out.reject(
        row, "below the name of another person; import the section of each person from a separate file")
      return .data
    }
    if readHeader(row) {
      sections.observeHeader()
      return .header
    }
    if place == .aboveHeader {
      sections.observe(row)
      return .unknown("before the header")
    }
    out.reject(row, "after a header with other columns; import this part as a separate input")
    return .data
  }

  /// Whether only a title above the header states that the values are glucose. The same header under another
  /// title is then of another measurement.
  private var hasTitledValues: Bool {
    let value = finding.columns[.value]
    return value >= 0 && finding.header.titleNamesGlucose && !finding.header.words[value].mentionsGlucose
      && options.columns.isEmpty
  }

  /// Whether the row is the header that recognition found, or one with the same names in another order. If
  /// so, the columns for the rows below are set.
  mutating func readHeader(_ row: Row) -> Bool {
    guard finding.delimiter != nil, row.count <= TableReader.maxColumns, names.mayBe(in: row),
      place == .aboveHeader || !hasTitledValues
    else { return false }
    let cells = row.fields.map(\.folded)
    let names = names.folded
    if cells != names {
      // Above the first header, a row in another order is not a header.
      guard place != .aboveHeader, finding.header.shift == 0 else { return false }
      let wanted = finding.columns
      let places = wanted.roles.map { wanted[$0] } + wanted.watched
      guard places.allSatisfy({ cells.contains(names[$0]) }) else { return false }
      columns = wanted.moved { cells.firstIndex(of: names[$0]) ?? -1 }
    } else {
      columns = finding.columns
    }
    headerCount = cells.count + finding.header.shift
    place = .belowHeader
    return true
  }

  /// The verdict for a row of another person, or for a row that was not selected; nil for a row to read.
  @inline(__always) mutating func leaveOut(
    _ row: Row, at time: GenericTimeReader.ReadTime, into out: inout BatchBuilder
  ) -> RowVerdict? {
    let isItem = if case .rejected = time { false } else { true }
    switch rows.choice(row, columns.watched, isItem: isItem) {
    case .read: return nil
    case .leaveOut(let column):
      if case .rejected = time, let verdict = readAnyHeader(row) { return verdict }
      out.skip("row with another \(shownName(column))")
    case .refuse:
      if case .rejected(let reason) = time { return refuse(row, reason, into: &out) }
      out.reject(row, "a row of another person; import the input again, so that it is checked completely")
    }
    return .data
  }

  /// Counts a row without a time if it is empty, uses it if it is a header, and otherwise rejects it.
  mutating func refuse(_ row: Row, _ reason: String, into out: inout BatchBuilder) -> RowVerdict {
    if row.isEmpty(from: 0) {
      out.skip("empty row")
      return .data
    }
    if let verdict = readAnyHeader(row) { return verdict }
    if finding.delimiter != nil, !isSurveyed { sections.observe(row) }
    out.reject(row, reason)
    return .data
  }

  /// The verdict for a row that is a header. After a header with other columns nothing is read. Nil for any
  /// other row.
  private mutating func readAnyHeader(_ row: Row) -> RowVerdict? {
    guard finding.delimiter != nil else { return nil }
    if readHeader(row) {
      sections.observeHeader()
      mergedDates?.forget()
      // The survey finds several persons only in the rows that it reads: in a live pipe none, in a long table
      // only the first ones. So the rows of persons that are found later are not read.
      if sections.areOfSeveralPersons { place = .belowOtherHeader }
      return .header
    }
    guard looksLikeHeader(row) else { return nil }
    place = .belowOtherHeader
    return .unknown("a header with other columns")
  }

  func looksLikeHeader(_ row: Row) -> Bool {
    guard row.count > 1, row.count <= 128 else { return false }
    // For nearly every row that is not a header, this check returns. Splitting all of its cells into words
    // would cost a hundred times as much.
    guard row.fields.contains(where: HeaderWords.mayNameTime) else { return false }
    let words = row.fields.map { HeaderWords($0.text) }
    return words.contains(where: \.isTime)
      && (words.contains { $0.isGlucose || $0.mentionsValue } || namesColumns(row))
  }

  /// Whether a row consists of names, and one of them is for times. `time,heart_rate` begins a table of
  /// something else, whose numbers must not be read as glucose.
  private func namesColumns(_ row: Row) -> Bool {
    let cells = row.fields.map { $0.trimmed }.filter { !$0.isEmpty }
    guard cells.count > 1, cells.allSatisfy({ CellContent($0.text) == .text && $0[0] &- 0x30 > 9 }) else {
      return false
    }
    let time = columns[.time] >= 0 ? columns[.time] : columns[.date]
    // The name of a column has at most three words. A remark that begins with a word for a time has more.
    let name = HeaderWords(row[time].text)
    if name.isTime, name.name.split(separator: " ").count <= 3 { return true }
    let own =
      (finding.columns[.time] >= 0 ? finding.columns[.time] : finding.columns[.date]) - finding.header.shift
    return names.folded.indices.contains(own) && cells.contains { $0.folded == names.folded[own] }
  }
}
