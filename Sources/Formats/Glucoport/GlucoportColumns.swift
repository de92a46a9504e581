// SPDX-License-Identifier: Apache-2.0

/// The columns of glucoport's own exports, for their writer and reader.
///
/// The reader ignores derived columns: `time`, the values in a fixed unit, and `withdrawn`, which annotations in the
/// same export state.
package enum GlucoportColumns {
  /// The names in order, including optional columns: the header of the CSV, and the keys of the NDJSON.
  package static let names: [String] = GlucoportColumn.allCases.map(\.name)

  /// The mark that prevents spreadsheets from computing a text cell of the CSV as a formula. The writer adds it to a
  /// vendor, model or serial that begins with `=`, `+`, `-`, `@` or a tab. These characters may follow other marks. The
  /// reader removes one.
  static let formulaGuard: Character = "'"

  /// The columns with text of a device or file, from which the reader removes the mark. Offsets and negative numbers
  /// may also begin with such characters, and stay unchanged.
  private static let guarded: Set<GlucoportColumn> = [.vendor, .model, .serial]

  /// A cell's text with the mark before it, if column and text require it.
  static func guarding(_ text: String, in column: GlucoportColumn) -> String {
    guarded.contains(column) && isFormula(text.drop { $0 == formulaGuard }) ? "\(formulaGuard)\(text)" : text
  }

  /// A cell's text without the mark.
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

  /// Whether an export has it only on request: the value in a fixed unit.
  package var isOnRequest: Bool { self == .valueMgdl || self == .valueMmoll }
}
