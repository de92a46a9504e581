// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Leaves out the rows of an input that a person did not pick with `--where`, before the format reads them.
///
/// The generic format and the formats with several people pick rows themselves.
struct RowPicker {
  private let filters: [RowFilter]
  private let values: [[UInt8]]
  private let isTable: Bool
  private let type: any ExportFormat.Type
  /// The indexes of the filters' columns in a row; nil before the first header with these columns.
  private var places: [Int]?
  private var hasPicked = false
  private var hasLeftOut = false
  /// What the row above states about the person.
  private var above = PersonRow.other

  /// The columns of JSON objects that are needed in addition to those of the format.
  private let added: [String]

  /// - Returns: nil if there are no filters, or if the format applies them itself.
  /// - Throws: `Failure` of category `usage` for an input without columns; `badInput` for an input that lacks
  ///   a column.
  init?(_ filters: [RowFilter], for type: any ExportFormat.Type, _ layout: Layout, _ head: InputHead) throws {
    guard !filters.isEmpty, !type.picksRows else { return nil }
    self.filters = filters
    self.type = type
    values = filters.map { filter in filter.value.withField { Array($0.trimmed.bytes) } }
    switch layout {
    case .table(let delimiter):
      (isTable, added) = (true, [])
      let names = filters.map { foldedHeader($0.column) }
      let isHeader = { (row: [String]) in
        let cells = Set(row.map(foldedHeader))
        return names.allSatisfy(cells.contains)
      }
      guard head.rows(delimiter).contains(where: isHeader) else {
        throw Failure(
          .badInput,
          "no header has the column \(shownName(filters[0].column)) of --where; this is: \(type.title)")
      }
    case .objects(let columns):
      isTable = false
      added = filters.map(\.column).filter { !columns.contains($0) }
      let all = columns + added
      places = filters.map { filter in all.firstIndex(of: filter.column) ?? -1 }
    case .lines, .elements:
      throw Failure(
        .usage, "--where picks rows of a table with a header, or JSON objects; this input is: \(type.title)")
    }
  }

  /// The layout with the columns by which rows are picked.
  func layout(_ layout: Layout) -> Layout {
    if case .objects(let columns) = layout { return .objects(columns: columns + added) }
    return layout
  }

  /// The column of `--where` whose value does not match, so that the row is left out. Nil if the format must
  /// see the row. These are rows that match, headers and the rows above them, and rows that state the person.
  /// In a table, these are also rows in which no cell begins with a digit, such as a title.
  mutating func reasonToLeaveOut(_ row: Row) -> String? {
    if isTable, let found = columns(in: row) {
      places = found
      return nil
    }
    above = type.personRow(row, below: above)
    guard let places, case .other = above else { return nil }
    if isTable, !row.fields.contains(where: { $0.count > 0 && $0[0] &- 0x30 <= 9 }) { return nil }
    for (index, place) in places.enumerated() where !row[place].trimmed.hasSameBytes(as: values[index]) {
      hasLeftOut = true
      return filters[index].column
    }
    hasPicked = true
    return nil
  }

  /// Checks a header that the format has read. If the header lacks a column of the filters, no row below it
  /// is picked.
  mutating func observeHeader(_ row: Row) {
    if isTable, columns(in: row) == nil { places = filters.map { _ in -1 } }
  }

  /// The failure of an import that left out all rows because none matches the filters.
  var missing: Failure? {
    guard hasLeftOut, !hasPicked else { return nil }
    return Failure(
      .badInput,
      "no row has the value of --where in \(shownName(filters[0].column)); nothing was imported. Compare it with the values "
        + "of that column")
  }

  /// The indexes of the filters' columns in a header; nil for a row that does not name all of them.
  private func columns(in row: Row) -> [Int]? {
    guard row.count <= TableReader.maxColumns else { return nil }
    var found: [Int] = []
    for filter in filters {
      let name = foldedHeader(filter.column)
      guard let place = row.fields.firstIndex(where: { $0.folded == name }) else { return nil }
      found.append(place)
    }
    return found
  }
}
