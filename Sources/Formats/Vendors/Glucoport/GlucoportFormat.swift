// SPDX-License-Identifier: Apache-2.0

import Logbook

/// glucoport's own CSV and NDJSON. Every part of every identity is stated, so that importing an export
/// changes nothing.
struct GlucoportFormat: ExportFormat {
  static let id = "glucoport"
  static let title = "glucoport CSV and NDJSON"
  static let summary = "everything that glucoport exports, exactly as it was"
  static var emptyList: Void? { () }
  static var passesOffsetsOn: Bool { true }

  private static let signature: [GlucoportColumn] = [.item, .deviceTime, .positionKind, .position]
  /// The columns by which an object with a record is recognised. Unlike a reading, a record has no position.
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
    [Decision("unit", "stated by each row", .read), .yearFirst]
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if isTable, columnCount == 0 { return readHeader(row) ? .header : .unknown("before the header") }
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
      // The writer always states `deleted`. Without this check, a truncated row of a deleted record would
      // restore the record.
      out.reject(row, "'deleted' is neither true nor false")
    } else if item.equals("record") {
      switch identity.record(from: row, guid: identity.field(.guid, of: row)) {
      case .success(let record): out.add(record)
      case .failure(let reason): out.reject(row, reason.text)
      }
    } else if isTable, readHeader(row) {
      return .header
    } else if !row.isEmpty(from: 0) {
      out.reject(row, "neither a reading nor a record")
    }
    return .data
  }

  private mutating func readHeader(_ row: Row) -> Bool {
    let cells = row.fields.map(\.folded)
    guard Self.isHeader(cells) else { return false }
    identity = GlucoportIdentity(columns: cells, isTable: true)
    columnCount = cells.count
    return true
  }
}

/// The columns of glucoport's own exports, for their writer and reader.
///
/// The reader ignores derived columns: `time`, the values in a fixed unit, and `withdrawn`, which follows
/// from the withdrawals in the same export.
package enum GlucoportColumns {
  /// The names in order, including optional columns: the header of the CSV, and the keys of the NDJSON.
  package static let names: [String] = GlucoportColumn.allCases.map(\.name)

  /// The mark that prevents spreadsheets from computing a text cell of the CSV as a formula. The writer adds
  /// it to a vendor, model or serial that begins with `=`, `+`, `-`, `@` or a tab, and the reader removes it.
  /// A text with marks before such a character gets one more, so that the reader restores it.
  static let formulaGuard: Character = "'"

  /// The columns with text of a device or file, from which the reader removes the mark. Offsets and negative
  /// numbers may also begin with such characters, and stay unchanged.
  private static let guarded: Set<GlucoportColumn> = [.vendor, .model, .serial]

  /// A cell's text with `formulaGuard` before it, if column and text require this mark.
  static func guarding(_ text: String, in column: GlucoportColumn) -> String {
    guarded.contains(column) && isFormula(text.drop { $0 == formulaGuard }) ? "\(formulaGuard)\(text)" : text
  }

  /// A cell's text without `formulaGuard`.
  static func unguarding(_ text: String) -> String {
    let rest = text.drop { $0 == formulaGuard }
    return rest.count < text.count && isFormula(rest) ? String(text.dropFirst()) : text
  }

  private static func isFormula(_ text: Substring) -> Bool {
    text.first.map { "=+-@\t".contains($0) } ?? false
  }
}

/// One column of glucoport's own exports.
package enum GlucoportColumn: Int, CaseIterable, Sendable {
  case item, kind, time, deviceTime, utcOffset, offsetSource, value, unit, valueMgdl, valueMmoll, range,
    threshold, marks, withdrawn, vendor, model
  case serial, format, positionKind, position, valueBucket, occurrence, guid, entryGuid, fields, provenance,
    deleted

  /// The column's name in the header of the CSV, which is also the name of its member in NDJSON.
  package var name: String {
    switch self {
    case .deviceTime: "device_time"
    case .utcOffset: "utc_offset"
    case .offsetSource: "offset_source"
    case .valueMgdl: "value_mgdl"
    case .valueMmoll: "value_mmoll"
    case .entryGuid: "entry_guid"
    case .positionKind: "position_kind"
    case .valueBucket: "value_bucket"
    default: String(describing: self)
    }
  }

  /// Whether an export has the column only on request. These columns have the value in a fixed unit.
  package var isOnRequest: Bool { self == .valueMgdl || self == .valueMmoll }
}

extension GlucoportFormat {
  static let page = FormatPage(
    origin: [
      "glucoport export, or glucoport export --format ndjson"
    ],
    variants: [
      "CSV and NDJSON, with one line for each reading and record"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "every reading and record with all parts of its identity, so that importing an export stores "
        + "nothing twice",
      "the offsets that the other logbook derived",
    ],
    notRead: [
      "the content of attachments, which no export has",
      "deleted records, unless the export has them: --deleted",
    ])
}
