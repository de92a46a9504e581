// SPDX-License-Identifier: Apache-2.0

/// The columns of glucoport's own exports, which its writer and its reader share.
///
/// The reader takes nothing from those that follow from others: `time`, the values in one unit, and `withdrawn`, which is
/// what the annotations in the same export say.
package enum GlucoportColumns {
  /// The names in their order: the header of the CSV, the keys of the NDJSON, with those that are there on request.
  package static let names: [String] = GlucoportColumn.allCases.map(\.name)

  /// The mark that keeps spreadsheets from running a text cell of the CSV as a formula. The writer puts it in
  /// front of a vendor, model or serial that begins with any number of these marks and one of `=`, `+`, `-`,
  /// `@` or a tab; the reader takes one away there.
  static let formulaGuard: Character = "'"

  /// The columns that hold what a device or file said, from which the reader takes the mark away. Offsets and
  /// negative numbers begin with such signs, too, and stay as they are.
  private static let guarded: Set<GlucoportColumn> = [.vendor, .model, .serial]

  /// A cell's text with the mark in front, where the column and the text ask for it.
  static func guarding(_ text: String, in column: GlucoportColumn) -> String {
    guarded.contains(column) && isFormula(text.drop { $0 == formulaGuard }) ? "\(formulaGuard)\(text)" : text
  }

  /// A cell's text as it was before it was guarded.
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

  /// The column's name in the header of the CSV, and the key in NDJSON.
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

  /// Whether an export has it only when a person asks for it: the value in one unit, whatever the source gave.
  package var isOnRequest: Bool { self == .valueMgdl || self == .valueMmoll }
}
