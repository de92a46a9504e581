// SPDX-License-Identifier: Apache-2.0

/// Items under glucoport's own columns, which `GlucoportFormat` reads back without loss.
package struct GlucoportWriter: Sendable {
  /// The forms of the format.
  package enum Form: Sendable {
    /// - Parameter isSpreadsheetSafe: whether cells that a spreadsheet would compute get an apostrophe in front.
    case csv(isSpreadsheetSafe: Bool)
    /// One JSON object a line, with the same names.
    case ndjson
  }

  private let form: Form
  private let inBothUnits: Bool
  private let columns: [GlucoportColumn]

  /// - Parameter inBothUnits: whether the columns are written that hold the value in one unit, whatever the source gave.
  package init(_ form: Form, inBothUnits: Bool = false) {
    self.form = form
    self.inBothUnits = inBothUnits
    columns = GlucoportColumn.allCases.filter { inBothUnits || !$0.isOnRequest }
  }

  /// What comes before the first item.
  package var header: String {
    switch form {
    case .csv: columns.map(\.name).joined(separator: ",") + "\r\n"
    case .ndjson: ""
    }
  }

  /// Appends the line of an item.
  package func append(_ item: GlucoportItem, to out: inout [UInt8]) {
    let cells = GlucoportCells(item, inBothUnits: inBothUnits)
    switch form {
    case .csv(let isSpreadsheetSafe):
      for (index, column) in columns.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        let text = cells.text(column)
        append(isSpreadsheetSafe ? GlucoportColumns.guarding(text, in: column) : text, to: &out)
      }
      out.append(0x0D)
    case .ndjson:
      out.append(UInt8(ascii: "{"))
      cells.appendMembers(to: &out)
      out.append(UInt8(ascii: "}"))
    }
    out.append(0x0A)
  }

  private func append(_ text: String, to out: inout [UInt8]) {
    // The bytes of most cells say at once that there is nothing to quote.
    let isPlain = text.utf8.allSatisfy { $0 > 0x1F && $0 < 0x7F && $0 != 0x22 && $0 != 0x2C }
    if isPlain || !text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) {
      return out.append(contentsOf: text.utf8)
    }
    out.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { out.append(byte) }
      out.append(byte)
    }
    out.append(UInt8(ascii: "\""))
  }
}
