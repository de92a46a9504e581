// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The indexes of the columns of a table that a format knows by name.
struct KnownColumns<Column: CaseIterable & RawRepresentable<Int>> {
  private var places: [Int]
  /// The number of cells in the header.
  let count: Int
  /// The unknown names as they are in the input.
  let unknown: [String]

  /// - Parameters:
  ///   - cells: a row that may be a header.
  ///   - unread: folded names that are known but not read.
  ///   - column: returns the column with a folded name. The first of several columns with one name is used.
  init(_ cells: [String], unread: Set<String> = [], _ column: (String) -> Column?) {
    places = [Int](repeating: -1, count: Column.allCases.count)
    var unknown: [String] = []
    var count = cells.count
    // A delimiter at the end of the line does not begin another cell, so empty cells at the end are not
    // counted.
    while count > 0, cells[count - 1].allSatisfy(\.isWhitespace) { count -= 1 }
    for (place, cell) in cells.prefix(count).enumerated() {
      let name = foldedHeader(cell)
      if let column = column(name), places[column.rawValue] < 0 {
        places[column.rawValue] = place
      } else if !name.isEmpty, !unread.contains(name) {
        unknown.append(cell)
      }
    }
    (self.count, self.unknown) = (count, unknown)
  }

  /// The index of the column, or -1 if the table does not have it.
  @inline(__always) subscript(column: Column) -> Int { places[column.rawValue] }

  /// Whether the table has all of these columns.
  func has(_ columns: Column...) -> Bool { columns.allSatisfy { places[$0.rawValue] >= 0 } }

  /// The warnings about unknown names.
  var warnings: [String] { unknown.map { HeaderNames.warning($0, readAs: nil) } }
}

/// The indexes of the cells that a format reads by name in the rows of an input. In JSON the cells have the
/// order in which they were requested, in a table the order of the last header.
struct NamedColumns {
  private let names: [String]
  /// The index of the column for each name; -1 if the table does not have it.
  private var columns: [Int]
  /// The number of cells in the header; 0 for JSON and before a header.
  private(set) var count = 0
  /// Each header has at least one of these cells, so a row without any of them is skipped quickly.
  private let marks: [StaticString]
  /// The names of cells that some headers have in other words, by the folded cell.
  private let otherWords: [String: String]

  /// Columns for rows of JSON objects with these members.
  init(members names: [String]) {
    self.names = names
    columns = Array(names.indices)
    marks = []
    otherWords = [:]
  }

  /// Columns for rows of a table.
  ///
  /// - Parameters:
  ///   - order: the names of the table's columns if it has no header.
  ///   - otherWords: the names of cells that some headers have in other words, by the folded cell.
  init(
    cells names: [String], marks: [StaticString], order: [String] = [], otherWords: [String: String] = [:]
  ) {
    self.names = names.map(foldedHeader)
    self.marks = marks
    self.otherWords = otherWords.mapValues(foldedHeader)
    columns = []
    setColumns(order.map(foldedHeader))
  }

  /// The index of the column for the name with this index in the format's list; -1 if the table does not have
  /// it.
  @inline(__always) subscript(name: Int) -> Int { columns[name] }

  /// These columns, with the name at one index read from the column of another name.
  func reading(_ name: Int, from other: Int) -> NamedColumns {
    var changed = self
    changed.columns[name] = columns[other]
    return changed
  }

  /// Finds the columns in a row if it is a header. Joined files have several headers.
  ///
  /// - Parameter isHeader: decides by the folded cells whether the row is a header.
  mutating func readHeader(_ row: Row, isHeader: ([String]) -> Bool) -> Bool {
    guard count == 0 || row.fields.contains(where: isMark) else { return false }
    let cells = row.fields.map(\.folded)
    guard isHeader(cells) else { return false }
    setColumns(cells)
    return true
  }

  private func isMark(_ cell: Field) -> Bool {
    for mark in marks where cell.equalsFolded(mark) { return true }
    return false
  }

  private mutating func setColumns(_ cells: [String]) {
    let cells = otherWords.isEmpty ? cells : cells.map { otherWords[$0] ?? $0 }
    columns = names.map { cells.firstIndex(of: $0) ?? -1 }
    count = cells.count
  }
}

/// The header of an input with a single table. Joined files repeat the header. Rows below a different header
/// are not read.
struct SingleHeader {
  private let cells: [String]
  private let title: String
  private var isAbove = false

  /// - Parameter title: the format's name, for messages about other rows.
  init(_ cells: [String], of title: String) {
    self.cells = Self.folded(cells)
    self.title = title
  }

  /// The verdict about a row that is not data of the table; nil for a row of data.
  ///
  /// - Parameter key: the column of the times. In each row of data, the cell in this column begins with a
  ///   digit or is empty.
  mutating func verdict(_ row: Row, key: Int) -> RowVerdict? {
    let cell = row[key].trimmed
    guard cell.isEmpty || cell[0] &- 0x30 <= 9 else { return headerVerdict(row) }
    return isAbove ? nil : .unknown("before the header, or not a row of \(title)")
  }

  private mutating func headerVerdict(_ row: Row) -> RowVerdict {
    let wasAbove = isAbove
    isAbove = isHeader(row)
    if isAbove { return .header }
    return .unknown(
      wasAbove
        ? "the header of another table; import this part as a separate input"
        : "before the header, or not a row of \(title)")
  }

  private func isHeader(_ row: Row) -> Bool { Self.folded(row.fields.map(\.text)) == cells }

  private static func folded(_ cells: [String]) -> [String] {
    var cells = cells.map(foldedHeader)
    while cells.last?.isEmpty == true { cells.removeLast() }
    return cells
  }
}

/// Compares the names of a header with the known names of its format. Formats that read columns by position
/// accept a misspelt name. The warnings report such names, and columns that are not read.
struct HeaderNames {
  /// The known names in the order of the columns, folded and without units; variants have a bar between them.
  private let known: [String]

  /// Finds the language of a header: the one that has the most names in it. Nil if no language has two thirds
  /// of its names in the header.
  ///
  /// - Parameters:
  ///   - cells: the folded cells of a header, from its first column on.
  ///   - languages: for each language, the names in the notation of `known`.
  init?(_ cells: [String], among languages: [[String]]) {
    let scored = languages.map { names in (names: names, hits: zip(names, cells).count { Self.fits($1, $0) })
    }
    guard let best = scored.max(by: { $0.hits < $1.hits }), best.hits * 3 >= best.names.count * 2 else {
      return nil
    }
    known = best.names
  }

  /// Warnings about names that are unknown in their position.
  ///
  /// - Parameter cells: the unchanged cells from the first column on.
  func warnings(_ cells: [String]) -> [String] {
    zip(known, cells).compactMap { name, cell in
      if Self.fits(foldedHeader(cell), name) { return nil }
      return Self.warning(cell, readAs: String(name.prefix { $0 != "|" }))
    }
  }

  /// Whether a column has the name that belongs to another position, so that its values would be misread.
  ///
  /// - Parameter cells: the folded cells from the first column on.
  func isMoved(_ cells: [String]) -> Bool {
    zip(known, cells).contains { name, cell in
      !Self.fits(cell, name) && known.contains { Self.fits(cell, $0) }
    }
  }

  /// Whether a header has most names of a language, but at least one of them in a different position. The
  /// first name belongs in the column `first`.
  static func isReordered(_ cells: [String], from first: Int, among languages: [[String]]) -> Bool {
    languages.contains { names in
      let places = names.map { name in cells.indices.filter { fits(cells[$0], name) } }
      guard places.count(where: { !$0.isEmpty }) * 3 >= names.count * 2 else { return false }
      return places.enumerated().contains { !$1.isEmpty && !$1.contains(first + $0) }
    }
  }

  /// The reason for which rows below a repeated header with moved columns are rejected.
  static let movedHeader = "a header whose columns were moved"

  /// The failure for an input of this format in which a person moved columns.
  static func moved(_ title: String) -> Failure {
    Failure(
      .badInput,
      "the columns of this \(title) were moved, and it always has them in the same order; export it again, or name each column "
        + "with --format generic --map")
  }

  /// The warning about a column with an unknown name.
  ///
  /// - Parameter usual: the name of the column as which it is read; nil if it is not read.
  static func warning(_ cell: String, readAs usual: String?) -> String {
    let use = usual.map { "read as '\($0)', because of its position" } ?? "not read"
    return "unknown column '\(shortened(cell))': \(use)"
  }

  private static func shortened(_ cell: String) -> String {
    String(cell.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(60))
  }

  /// Whether a folded cell has this name, with or without a unit.
  private static func fits(_ cell: String, _ name: String) -> Bool {
    var plain = cell.replacing("\u{2019}", with: "'")
    for unit in ["(mg/dl)", "(mmol/l)", "mg/dl", "mmol/l"] { plain = plain.replacing(unit, with: "") }
    let bare = plain.last == " " ? String(plain.dropLast()) : plain
    return name.split(separator: "|").contains { bare == $0 || bare.hasPrefix("\($0) (") }
  }
}
