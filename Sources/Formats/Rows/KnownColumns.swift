// SPDX-License-Identifier: Apache-2.0

/// The positions of the columns in a table that a format knows by name.
struct KnownColumns<Column: CaseIterable & RawRepresentable<Int>> {
  private var places: [Int]
  /// The number of cells in the header.
  let count: Int
  /// The unknown names as they are in the input.
  let unknown: [String]

  /// - Parameters:
  ///   - cells: a row that may be a header.
  ///   - unread: folded names that are known but not read.
  ///   - column: the column with this folded name. The first of several columns with one name is used.
  init(_ cells: [String], unread: Set<String> = [], _ column: (String) -> Column?) {
    places = [Int](repeating: -1, count: Column.allCases.count)
    var unknown: [String] = []
    var count = cells.count
    // A delimiter at the end of the line ends the last cell and does not begin another.
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

  /// The position of the column, or -1 if the table does not have it.
  @inline(__always) subscript(column: Column) -> Int { places[column.rawValue] }

  /// Whether the table has all of these columns.
  func has(_ columns: Column...) -> Bool { columns.allSatisfy { places[$0.rawValue] >= 0 } }

  /// The warnings about unknown names.
  var warnings: [String] { unknown.map { HeaderNames.warning($0, readAs: nil) } }
}
