// SPDX-License-Identifier: Apache-2.0

/// The columns of glucoport's own exports, which its writer and its reader share.
public enum GlucoportColumns {
  /// The names in their order: the header of the CSV, the keys of the NDJSON.
  public static let names: [String] = GlucoportColumn.allCases.map(\.name)

  /// The mark that keeps spreadsheets from running a text cell of the CSV as a formula. The writer puts it in
  /// front of a vendor, model or serial that begins with any number of these marks and one of `=`, `+`, `-`,
  /// `@` or a tab; the reader takes one away there.
  public static let formulaGuard: Character = "'"

  /// The columns that hold what a device or file said, from which the reader takes the mark away. Offsets and
  /// negative numbers begin with such signs, too, and stay as they are.
  private static let guarded: Set<String> = Set([GlucoportColumn.vendor, .model, .serial].map(\.name))

  /// A cell's text with the mark in front, where the column and the text ask for it.
  public static func guarding(_ text: String, in column: String) -> String {
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
enum GlucoportColumn: Int, CaseIterable {
  case item, kind, time, deviceTime, utcOffset, offsetSource, value, unit, range, threshold, marks, vendor,
    model
  case serial, format, axis, position, level, occurrence, guid, entryGuid, fields, deleted

  var name: String {
    switch self {
    case .deviceTime: "device_time"
    case .utcOffset: "utc_offset"
    case .offsetSource: "offset_source"
    case .entryGuid: "entry_guid"
    default: String(describing: self)
    }
  }
}
