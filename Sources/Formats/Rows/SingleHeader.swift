// SPDX-License-Identifier: Apache-2.0

/// The header of an input that is one table. It may come again in joined files. Rows below another header are not read.
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
  /// - Parameter key: the column of the times. In each row of data it begins with a digit or is empty.
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
