// SPDX-License-Identifier: Apache-2.0

/// Where a table has the columns that a format knows by name.
struct KnownColumns<Column: CaseIterable & RawRepresentable<Int>> {
  private var places: [Int]
  /// How many cells the header has.
  let count: Int
  /// The names that are not known, as they are in the input.
  let unknown: [String]

  /// - Parameters:
  ///   - cells: a row that may be a header.
  ///   - unread: folded names that are known and not read.
  ///   - column: the column that a folded name is of; the first one of several counts.
  init(_ cells: [String], unread: Set<String> = [], _ column: (String) -> Column?) {
    places = [Int](repeating: -1, count: Column.allCases.count)
    var unknown: [String] = []
    var count = cells.count
    // A delimiter at the end of the line ends the last cell, and begins none.
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

  /// The column's place, or -1 where the table has none.
  @inline(__always) subscript(column: Column) -> Int { places[column.rawValue] }

  /// Whether the table has all of these columns.
  func has(_ columns: Column...) -> Bool { columns.allSatisfy { places[$0.rawValue] >= 0 } }

  /// What a person should know of the names that are not known.
  var warnings: [String] { unknown.map { HeaderNames.warning($0, readAs: nil) } }
}
