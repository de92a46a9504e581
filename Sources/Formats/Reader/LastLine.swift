// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether the last line of a table is whole if it has no line end.
///
/// One complete table in four ends without a line end, so a missing line end does not prove damage. The
/// question is whether a cell may have lost its end, and whether that end would change an item.
///
/// The format reads the line again with other last cells. The results show which cell is a time, a value, a
/// unit or an id. Therefore no format needs its own code for this decision.
struct LastLine {
  enum LineVerdict {
    case whole
    /// The line is complete except for the end of an identifier, which is known from the rows before.
    case completed(CellCopies)
    /// The line is complete except for a text at its end. The text is left out.
    case withoutText(CellCopies, detail: String)
    /// The line must not be stored: a cell may be truncated or missing.
    case unsure(detail: String)
  }

  /// An earlier row with the items that the format read from it.
  private struct EarlierRow {
    let cells: CellCopies
    let items: RowItems
  }

  /// A program that is interrupted while it copies a file leaves a file whose size is a multiple of this
  /// number of bytes.
  private static let blockSize = 4096
  /// The maximum number of different earlier values that are tried in the last column.
  private static let maxVariants = 8
  /// The maximum number of earlier rows of one kind that are compared to find the cells that such rows always
  /// fill.
  private static let maxOfKind = 16
  /// The maximum difference in seconds between the times of sensor values that are compared as neighbours.
  private static let neighbourSeconds: Int64 = 20 * 60
  /// A dose, a glucose value and a duration, as examples of what a missing cell may have held.
  private static let amounts = ["1", "100", "00:10:00"]
  /// A number with at least this number of digits is an instant or an id, not an amount.
  private static let instantDigits = 9

  private let cells: CellCopies
  private let parser: any ExportFormat
  private let builder: BatchBuilder
  private var earlier: [EarlierRow] = []
  private var headerCount = 0
  /// The number of cells that a row may fill.
  private var maxCells: Int
  private let isBlockSized: Bool

  /// - Parameters:
  ///   - row: the last line.
  ///   - earlier: the rows before it that are in memory.
  ///   - byteCount: the size of the input in bytes.
  ///   - maxCells: the number of cells that a row may fill. Rows with more cells are rejected.
  init(
    _ row: Row, after earlier: any RowSource, byteCount: Int, maxCells: Int, _ parser: any ExportFormat,
    _ builder: BatchBuilder
  ) throws {
    self.maxCells = maxCells
    cells = CellCopies(row)
    isBlockSized = byteCount > 0 && byteCount % Self.blockSize == 0
    var empty = builder
    empty.batch = IngestBatch()
    empty.batch.devices = builder.batch.devices
    (self.parser, self.builder) = (parser, empty)
    try readEarlier(earlier)
  }

  private mutating func readEarlier(_ rows: any RowSource) throws {
    var (parser, out) = (parser, builder)
    while case .row(let row) = try nextRow(rows) {
      let verdict = parser.read(row.closed, into: &out)
      let items = RowItems(verdict, out.batch, line: row.line)
      out.batch.removeItems()
      if items.isHeader {
        earlier.removeAll()
        headerCount = row.count
        maxCells = parser.maxCells(below: row) ?? .max
      } else if !items.isRefused, !row.exceeds(maxCells) {
        earlier.append(EarlierRow(cells: CellCopies(row), items: items))
      }
    }
  }

  /// The next outcome that is not a rejected row.
  private func nextRow(_ rows: any RowSource) throws -> RowOutcome {
    while true {
      let outcome = try rows.next()
      if case .rejected = outcome { continue }
      return outcome
    }
  }

  /// The verdict whether the line is whole.
  func verdict() -> LineVerdict {
    let items = items(of: cells)
    if items.isHeader { return .whole }
    if items.isRefused { return unsure("is not like the rows before") }
    if lacksCells(items) { return unsure("has fewer cells than the rows before") }
    guard let last = cells.cells.last, last.shape == .bare, !last.bytes.isEmpty else { return .whole }
    let column = cells.cells.count - 1
    let values = earlier.map { $0.cells[column] }.filter { !$0.isEmpty }
    let emptied = self.items(of: cells.replacingLast(by: []))
    let variants =
      [emptied] + distinct(values, except: last.bytes).map { self.items(of: cells.replacingLast(by: $0)) }
    if variants.allSatisfy({ $0 == items }) { return .whole }
    if variants.allSatisfy({ $0.withoutIdentity == items.withoutIdentity }) {
      return identity(last.bytes, values, isQuotedAbove: isQuotedAbove(column))
    }
    if variants.allSatisfy({ $0.withoutText == items.withoutText }) {
      return values.contains(last.bytes)
        ? .whole
        : .withoutText(
          cells.replacingLast(by: []), detail: detail("ends in a text that may be cut and was left out"))
    }
    return contentIsWhole(last.bytes, values, items, without: emptied)
      ? .whole : unsure("ends in a cell that may be cut")
  }

  private func unsure(_ fault: String) -> LineVerdict { .unsure(detail: detail(fault)) }

  private func detail(_ fault: String) -> String {
    "the last line has no line end and \(fault)"
      + (isBlockSized
        ? "; the input has whole blocks of \(Self.blockSize) bytes, as after a broken copy" : "")
  }

  private func items(of cells: CellCopies) -> RowItems {
    var (parser, out) = (parser, builder)
    let verdict = cells.withRow { parser.read($0, into: &out) }
    // Some formats hold items until they know the rows that follow. `finish` adds such items.
    parser.finish(into: &out)
    return RowItems(verdict, out.batch, line: cells.line)
  }

  private func distinct(_ values: [[UInt8]], except last: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    for value in values.reversed() where value != last && !found.contains(value) {
      found.append(value)
      if found.count == Self.maxVariants { break }
    }
    return found
  }
}

// MARK: - Missing cells

extension LastLine {
  /// Whether the line lacks cells that rows of its kind always have and that change its items.
  private func lacksCells(_ items: RowItems) -> Bool {
    let filledRows = earlier.filter { !$0.items.isEmpty }
    let sameKind = filledRows.filter { $0.items.kinds == items.kinds }
    let ofKind = (sameKind.isEmpty ? filledRows : sameKind).suffix(Self.maxOfKind)
    let count = cells.cells.count
    // A line that ends in a delimiter may have lost the cell after it.
    let endsInDelimiter = cells.cells.last.map { $0.shape == .bare && $0.bytes.isEmpty } ?? false
    guard let template = ofKind.max(by: { $0.cells.cells.count < $1.cells.cells.count }) else {
      // Without a row of the same kind, it is unknown what the missing cell holds.
      return count < max(headerCount, earlier.map(\.cells.cells.count).max() ?? 0)
        || (endsInDelimiter && changes(items, in: self.items(of: cells.replacingLast(by: Array("X".utf8)))))
    }
    let width = max(count, template.cells.cells.count)
    let missing = (endsInDelimiter ? count - 1 : count)..<width
    if missing.isEmpty { return false }
    let always = self.items(
      of: filled(missing, ofKind) { column in ofKind.allSatisfy { !$0.cells[column].isEmpty } })
    let sometimes = self.items(of: filled(missing, ofKind) { _ in true })
    if items.isEmpty {
      return sometimes.isRefused ? count < width : !sometimes.withoutText.isEmpty
    }
    // For the first record of a kind, no row shows which cells it has. The missing cells may hold amounts, so
    // examples of amounts are tried.
    if sameKind.isEmpty, Self.amounts.contains(where: { changes(items, with: $0, in: missing) }) {
      return true
    }
    if !always.isRefused, always.withoutText != items.withoutText || changes(items, in: always) {
      return true
    }
    if changes(items, in: sometimes) { return true }
    // The missing cells may hold a mark that no earlier row has, such as that of a control test.
    return count < width && changes(items, with: "X", in: missing)
  }

  /// Whether this text in one of the missing cells changes the items of the line.
  private func changes(_ items: RowItems, with text: String, in missing: Range<Int>) -> Bool {
    missing.contains { column in
      var marked = filled(missing, []) { _ in false }
      marked.cells[column] = CellCopies.Cell(bytes: Array(text.utf8))
      return changes(items, in: self.items(of: marked))
    }
  }

  /// The line with its missing cells filled from earlier rows.
  private func filled(
    _ missing: Range<Int>, _ rows: ArraySlice<EarlierRow>, where isFilled: (Int) -> Bool
  ) -> CellCopies {
    var filled = cells
    for column in missing {
      let above = rows.last { !$0.cells[column].isEmpty }
      let cell =
        isFilled(column) ? above.map { $0.cells.cells[column] } ?? CellCopies.Cell() : CellCopies.Cell()
      if column < filled.cells.count { filled.cells[column] = cell } else { filled.cells.append(cell) }
    }
    return filled
  }

  /// Whether the items change if missing cells are filled. Additional items are not a change.
  private func changes(_ items: RowItems, in filled: RowItems) -> Bool {
    !filled.isRefused
      && (items.readings.contains { !filled.readings.contains($0) }
        || items.records.contains { !filled.records.contains($0) })
  }
}

// MARK: - The last cell

extension LastLine {
  /// Completes a name that is the start of exactly one known name. A truncated name would be another device,
  /// and the complete file would then add the reading a second time.
  private func identity(_ last: [UInt8], _ values: [[UInt8]], isQuotedAbove: Bool) -> LineVerdict {
    let longerValues = values.filter { $0.count > last.count && $0.starts(with: last) }
    let longer = Set(longerValues)
    // One earlier row proves nothing: the next device may have a name with the same start.
    if let only = longer.first, longer.count == 1, longerValues.count > 1, !values.contains(last),
      !isQuotedAbove
    {
      return .completed(cells.replacingLast(by: only))
    }
    let isKnown = values.contains(last)
    return longer.isEmpty && (isKnown || (!isQuotedAbove && values.contains { $0.count == last.count }))
      ? .whole : unsure("ends in an identifier that may be cut")
  }

  /// Whether the earlier rows quote the cells of a column. Then a cell without quotes does not match them.
  private func isQuotedAbove(_ column: Int) -> Bool {
    let cells = earlier.compactMap { column < $0.cells.cells.count ? $0.cells.cells[column] : nil }
      .filter { !$0.bytes.isEmpty }
    return !cells.isEmpty && cells.allSatisfy { $0.shape == .quoted }
  }

  /// Whether a cell that determines a time, a value, a unit or a kind is complete.
  private func contentIsWhole(
    _ last: [UInt8], _ values: [[UInt8]], _ items: RowItems, without emptied: RowItems
  ) -> Bool {
    let isInstant = (values + [last]).contains { $0.count { isDigit($0) } >= Self.instantDigits }
    if !isInstant, let number = WrittenNumber(last) {
      return numberIsWhole(number, last, values.compactMap(WrittenNumber.init), items, without: emptied)
    }
    if values.contains(where: { $0.count > last.count && $0.starts(with: last) }) { return false }
    if last.contains(where: isDigit) { return values.contains { hasSameForm($0, last) } }
    return values.contains(last) || GlucoseUnit(name: String(decoding: last, as: UTF8.self)) != nil
      || items.readings.contains { $0.measurement.quantity == nil && !emptied.readings.contains($0) }
  }

  private func numberIsWhole(
    _ number: WrittenNumber, _ last: [UInt8], _ earlier: [WrittenNumber], _ items: RowItems,
    without emptied: RowItems
  ) -> Bool {
    if number.endsInMark { return false }
    let most = earlier.map(\.decimals).max() ?? 0
    if most > 0 { return number.decimals == most }
    let own = items.readings.filter { !emptied.readings.contains($0) }
    if own.isEmpty {
      // An amount is complete if the format rejects it with a further digit.
      return !earlier.isEmpty && self.items(of: cells.replacingLast(by: last + [UInt8(ascii: "1")])).isRefused
    }
    guard own.allSatisfy({ $0.measurement.unit == .milligramsPerDecilitre }), number.decimals == 0 else {
      return false
    }
    switch number.value {
    // A number of three digits is complete: with a further digit it would be higher than any device shows.
    case 100...999: return true
    case 20..<100: return !isBlockSized && own.allSatisfy { hasCloseNeighbours($0, number.value) }
    default: return false
    }
  }

  /// Whether the values shortly before this one are close to it. A value that lost its last digit is only
  /// about a tenth of the values before it.
  private func hasCloseNeighbours(_ reading: RowItems.ReadingItem, _ value: Double) -> Bool {
    let neighbours = self.earlier.flatMap(\.items.readings).filter { $0.kind == reading.kind }.suffix(3)
      .filter { abs($0.time.seconds - reading.time.seconds) <= Self.neighbourSeconds }
      .compactMap { $0.measurement.quantity?.number }
    return !neighbours.isEmpty && neighbours.allSatisfy { abs(value - $0) <= $0 / 2 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  /// Whether two texts have the same pattern: digits match digits, letters match letters, and everything else
  /// is equal.
  private func hasSameForm(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).allSatisfy { left, right in
      left == right || (isDigit(left) && isDigit(right)) || (isLetter(left) && isLetter(right))
    }
  }

  private func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 || byte >= 0x80 }
}

/// A number as it is written, with a point or a comma as its decimal mark.
private struct WrittenNumber {
  let value: Double
  let decimals: Int
  /// Whether the decimal mark is the last character.
  let endsInMark: Bool

  init?(_ bytes: [UInt8]) {
    let digits =
      bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes[...]
    let marks = digits.indices.filter { digits[$0] == 0x2E || digits[$0] == 0x2C }
    guard marks.count <= 1, digits.count > marks.count, digits.count <= 32,
      digits.allSatisfy({ $0 &- 0x30 <= 9 || $0 == 0x2E || $0 == 0x2C }),
      let value = Double(String(decoding: bytes.map { $0 == 0x2C ? 0x2E : $0 }, as: UTF8.self))
    else { return nil }
    self.value = value
    decimals = marks.first.map { digits.endIndex - $0 - 1 } ?? 0
    endsInMark = marks.first == digits.endIndex - 1
  }
}
