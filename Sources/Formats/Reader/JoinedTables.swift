// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects another table, with another delimiter, above the header that was found.
///
/// With the delimiter of the lower table, the whole upper table looks like a preamble and would be skipped.
enum JoinedTables {
  /// - Throws: `Failure` of category `badInput` for an input that begins with another table.
  static func refuse(_ found: Detection.Found, _ input: Input, _ options: ExportOptions) throws {
    guard case .table(let delimiter) = found.layout, input.head.declaredDelimiter == nil,
      hasTable(above: found.parser, delimiter, input.head, options)
    else { return }
    throw Failure(
      .badInput,
      "\(input.source.name): the input holds two tables with different delimiters, and the first would not be read; "
        + "write each of them to a separate file")
  }

  private static func hasTable<Format: ExportFormat>(
    above parser: Format, _ delimiter: UInt8, _ head: InputHead, _ options: ExportOptions
  ) -> Bool {
    var (probe, out) = (parser, BatchBuilder(format: Format.id, options: options))
    let count =
      head.rows(delimiter).firstIndex { cells in
        if case .header = cells.withRow({ probe.read($0, into: &out) }) { true } else { false }
      } ?? 0
    guard count > 1 else { return false }
    return InputHead.delimiters.contains { other in
      other != delimiter && isTable(head.rows(other).prefix(count))
    }
  }

  /// Whether one of the rows is a header with a name for times. A row of the same width below it must have a
  /// time in that column, and a value.
  private static func isTable(_ rows: ArraySlice<[String]>) -> Bool {
    rows.indices.contains { place in
      let names = rows[place]
      guard names.count > 1, names.allSatisfy({ [.text, .valueWord, .empty].contains(CellContent($0)) })
      else { return false }
      let times = names.indices.filter { HeaderWords(names[$0]).isTime }
      guard !times.isEmpty else { return false }
      return rows[(place + 1)...].contains { $0.count == names.count && isData($0, times) }
    }
  }

  private static func isData(_ row: [String], _ times: [Int]) -> Bool {
    let contents = row.map { CellContent($0) }
    return times.contains { [.time, .midnight, .date, .epoch].contains(contents[$0]) }
      && contents.contains { [.number, .valueWord].contains($0) }
  }
}
