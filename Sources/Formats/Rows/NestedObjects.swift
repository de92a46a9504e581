// SPDX-License-Identifier: Apache-2.0

import Archives

/// Reads the objects of a list in a larger object as rows.
enum NestedObjects {
  /// Calls `body` with a row for each object of the list in a cell.
  ///
  /// - Parameters:
  ///   - columns: the members to find.
  ///   - line: the line of the larger object, which is added to those of the rows.
  static func forEach(
    in field: Field, columns: [String], line: Int64, _ body: (Row) -> Void
  ) throws {
    guard field.shape == .composite else { return }
    let text = TextBuffer(
      ReplaySource(head: Array(field.bytes), rest: nil), name: "", capacity: max(4096, field.count + 65536))
    let reader = JSONReader(text, columns: columns)
    while true {
      switch try reader.next() {
      case .row(let row):
        body(
          Row(fields: row.fields, line: line + row.line - 1, isUnterminated: false, source: row.source))
      case .rejected: continue
      case .paused, .end: return
      }
    }
  }
}
