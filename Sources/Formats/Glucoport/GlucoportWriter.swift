// SPDX-License-Identifier: Apache-2.0

/// Writes items with glucoport's own columns, which `GlucoportFormat` reads without loss.
package struct GlucoportWriter: Sendable {
  /// The forms of the format.
  package enum Form: Sendable {
    /// - Parameter isSpreadsheetSafe: whether cells that a spreadsheet would compute begin with an apostrophe.
    case csv(isSpreadsheetSafe: Bool)
    /// One JSON object a line, with the same names.
    case ndjson
  }

  private let isCSV: Bool
  private let inBothUnits: Bool
  private let columns: [GlucoportColumn]
  private var csv: GlucoportCSVLine
  private var json = GlucoportJSONLine()

  /// - Parameter inBothUnits: whether to write the columns of the value in a fixed unit, whatever the source's unit.
  package init(_ form: Form, inBothUnits: Bool = false) {
    self.inBothUnits = inBothUnits
    columns = GlucoportColumn.allCases.filter { inBothUnits || !$0.isOnRequest }
    switch form {
    case .csv(let isSpreadsheetSafe):
      isCSV = true
      csv = GlucoportCSVLine(columns, isSpreadsheetSafe: isSpreadsheetSafe)
    case .ndjson:
      isCSV = false
      csv = GlucoportCSVLine(columns, isSpreadsheetSafe: false)
    }
  }

  /// The text before the first item.
  package var header: String { isCSV ? columns.map(\.name).joined(separator: ",") + "\r\n" : "" }

  /// Appends the line of an item.
  package mutating func append(_ item: GlucoportItem, to out: inout [UInt8]) {
    if isCSV {
      csv.begin()
      item.state(inBothUnits: inBothUnits, to: &csv)
      csv.end()
      out.append(contentsOf: csv.bytes)
    } else {
      json.begin()
      item.state(inBothUnits: inBothUnits, to: &json)
      json.end()
      out.append(contentsOf: json.bytes)
    }
  }
}
