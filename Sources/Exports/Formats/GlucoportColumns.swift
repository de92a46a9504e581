// SPDX-License-Identifier: Apache-2.0

/// The columns of glucoport's own exports, which its writer and its reader share.
public enum GlucoportColumns {
  /// The names in their order: the header of the CSV, the keys of the NDJSON.
  public static let names: [String] = GlucoportColumn.allCases.map(\.name)

  /// The mark that keeps spreadsheets from running a text cell of the CSV as a formula. The writer puts it in
  /// front of a vendor, model or serial that begins with any number of these marks and one of `=`, `+`, `-`,
  /// `@` or a tab; the reader takes one away there.
  public static let formulaGuard: Character = "'"
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
