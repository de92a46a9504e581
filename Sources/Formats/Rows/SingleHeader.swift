// SPDX-License-Identifier: Apache-2.0

/// The header of an input that is one table. It may come again where files were joined; the rows below another header are not
/// read.
struct SingleHeader {
  private let cells: [String]
  private let title: String
  private var isAbove = false

  /// - Parameter title: the format's name, for what is said of other rows.
  init(_ cells: [String], of title: String) {
    self.cells = Self.folded(cells)
    self.title = title
  }

  /// What a row is that is none of the table; nil for a row of data.
  ///
  /// - Parameter key: the column of the times, which begin with a digit in every row of data or are empty.
  mutating func verdict(_ row: Row, key: Int) -> RowVerdict? {
    let cell = row[key].trimmed
    guard cell.isEmpty || cell[0] &- 0x30 <= 9 else { return judge(row) }
    return isAbove ? nil : .unknown("before the header, or not a row of \(title)")
  }

  private mutating func judge(_ row: Row) -> RowVerdict {
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
