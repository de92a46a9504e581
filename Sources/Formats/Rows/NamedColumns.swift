// SPDX-License-Identifier: Apache-2.0

/// The positions of a format's named cells in the rows of an input. In JSON they have the order of the request, in a
/// table that of the last header.
struct NamedColumns {
  private let names: [String]
  /// The column of each name; -1 if the table does not have it.
  private var columns: [Int]
  /// The number of cells in the header; 0 for JSON and before a header.
  private(set) var count = 0
  /// Each header has one of these cells. Rows without one are skipped quickly.
  private let marks: [StaticString]

  /// For rows of JSON objects with these members.
  init(members names: [String]) {
    self.names = names
    columns = Array(names.indices)
    marks = []
  }

  /// For rows of a table. `order` has the names of its columns if it has no header.
  init(cells names: [String], marks: [StaticString], order: [String] = []) {
    self.names = names.map(foldedHeader)
    self.marks = marks
    columns = []
    take(order.map(foldedHeader))
  }

  /// The column with this name.
  @inline(__always) subscript(name: Int) -> Int { columns[name] }

  /// Takes the columns from a row if it is a header. A header may come again in joined files.
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
