// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook

/// The columns of `record` that hold what a record says, the same for edits, resolutions and sync.
enum RecordColumns {
  /// In one list, so that no write of a state leaves one out.
  static let content = [
    "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted", "edited_at",
  ]

  /// Sets each of them to the argument of its name.
  static let assignments = content.map { "\($0) = :\($0)" }.joined(separator: ", ")

  /// Inserts a row with them and these further columns, each from the argument of its name.
  static func insertion(with others: [String] = []) -> String {
    let columns = ["guid", "kind"] + content + others
    return """
      INSERT INTO record (\(columns.joined(separator: ", ")))
      VALUES (\(columns.map { ":\($0)" }.joined(separator: ", ")))
      """
  }

  /// The values of a state for them.
  ///
  /// - Parameter placer: places a time whose offset the state leaves to the zones.
  static func arguments(_ state: RecordState, _ placer: RecordPlacer) throws -> StatementArguments {
    let placement = try placer.place(state)
    return [
      "entry_guid": state.entryGuid, "device_time": state.deviceTime.seconds,
      "utc_offset": Int(placement.utcOffset), "offset_source": Int(placement.source.rawValue),
      "fields": state.fields.json, "deleted": state.isDeleted, "edited_at": state.editedAt,
    ]
  }
}
