// SPDX-License-Identifier: Apache-2.0

import Logbook

/// glucoport's own CSV and NDJSON. Every part of every identity is stated, so that importing an export changes nothing.
struct GlucoportFormat: ExportFormat {
  static let id = "glucoport"
  static let title = "glucoport CSV and NDJSON"
  static let summary = "everything that glucoport exports, exactly as it was"
  static var emptyList: Void? { () }
  static var passesOffsetsOn: Bool { true }

  private static let signature: [GlucoportColumn] = [.item, .deviceTime, .positionKind, .position]
  /// The columns of an object with a record, which has no position like readings.
  private static let recordSignature: [GlucoportColumn] = [.item, .deviceTime, .guid, .deleted]

  private let isTable: Bool
  private var identity: GlucoportIdentity
  private var columnCount = 0

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    if head.isJSON {
      let isOurs = head.objects.contains { object in
        [signature, recordSignature].contains { $0.allSatisfy { object[$0.name] != nil } }
      }
      return isOurs ? Recognition(.objects(columns: GlucoportColumns.names)) : nil
    }
    return head.firstRow(where: isHeader).map { Recognition(.table(delimiter: $0.delimiter)) }
  }

  private static func isHeader(_ cells: [String]) -> Bool { signature.allSatisfy { cells.contains($0.name) } }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    if case .objects(let columns) = found.layout {
      isTable = false
      identity = GlucoportIdentity(columns: columns)
    } else {
      isTable = true
      identity = GlucoportIdentity(columns: [], isTable: true)
    }
  }

  var decisions: [Decision] {
    [Decision("unit", "stated by each row", .read), Decision("date-order", "year first", .fixed)]
  }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict {
    if isTable, columnCount == 0 { return takeHeader(row) ? .header : .unknown("before the header") }
    let item = identity.field(.item, of: row)
    if isTable, row.count < columnCount, item.equals("reading") || item.equals("record") {
      // The writer writes every cell, so a shorter row is truncated.
      out.reject(row, "fewer cells than the header")
    } else if item.equals("reading") {
      switch identity.reading(from: row, into: &out) {
      case .reading(let reading): out.add(reading)
      case .rejected(let reason): out.reject(row, reason)
      }
    } else if item.equals("record"), isTable, identity.field(.deleted, of: row).isEmpty {
      // The writer always states it; a deleted record with its last cell missing would be restored.
      out.reject(row, "'deleted' is neither true nor false")
    } else if item.equals("record") {
      switch identity.record(from: row, guid: identity.field(.guid, of: row)) {
      case .success(let record): out.add(record)
      case .failure(let reason): out.reject(row, reason.text)
      }
    } else if isTable, takeHeader(row) {
      return .header
    } else if !row.isEmpty(from: 0) {
      out.reject(row, "neither a reading nor a record")
    }
    return .data
  }

  private mutating func takeHeader(_ row: Row) -> Bool {
    let cells = row.fields.map(\.folded)
    guard Self.isHeader(cells) else { return false }
    identity = GlucoportIdentity(columns: cells, isTable: true)
    columnCount = cells.count
    return true
  }
}
