// SPDX-License-Identifier: Apache-2.0

/// Where a format's named cells are in the rows of an input: in JSON in the order in which they were asked for, in a
/// table where the last header has them.
struct NamedColumns {
  private let names: [String]
  /// The column of each name; -1 where the table has none.
  private var columns: [Int]
  /// How many cells the header has; 0 for JSON and before a header.
  private(set) var count = 0
  /// Cells that every header has one of; rows without one need no closer look.
  private let marks: [StaticString]

  /// For rows of JSON objects with these members.
  init(members names: [String]) {
    self.names = names
    columns = Array(names.indices)
    marks = []
  }

  /// For rows of a table. `order`: the names of its columns where it has no header.
  init(cells names: [String], marks: [StaticString], order: [String] = []) {
    self.names = names.map(foldedHeader)
    self.marks = marks
    columns = []
    take(order.map(foldedHeader))
  }

  /// The column of a name's cells.
  @inline(__always) subscript(name: Int) -> Int { columns[name] }

  /// Goes on with the columns of a row if it is a header, which may come again where files were joined.
  ///
  /// - Parameter isHeader: decides on folded cells.
  mutating func takeHeader(_ row: Row, isHeader: ([String]) -> Bool) -> Bool {
    guard count == 0 || row.fields.contains(where: isMark) else { return false }
    let cells = row.fields.map(\.folded)
    guard isHeader(cells) else { return false }
    take(cells)
    return true
  }

  private func isMark(_ cell: Field) -> Bool {
    for mark in marks where cell.equalsFolded(mark) { return true }
    return false
  }

  private mutating func take(_ cells: [String]) {
    columns = names.map { cells.firstIndex(of: $0) ?? -1 }
    count = cells.count
  }
}
