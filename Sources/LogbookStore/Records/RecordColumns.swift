// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The columns of `record` that hold what a record says, the same for edits, resolutions and sync.
enum RecordColumns {
  /// In one list, so that no write of a state leaves one out.
  static let content = [
    "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted", "edited_at",
  ]

  /// Those that say where the record came from, which are set once.
  static let provenance = ["provenance_format", "provenance_source"]

  /// Sets these to the arguments of their names, where they are not known yet.
  static let provenanceLearned = provenance.map { "\($0) = coalesce(\($0), :\($0))" }.joined(separator: ", ")

  /// The values for them.
  static func arguments(_ provenance: Provenance?) -> StatementArguments {
    ["provenance_format": provenance?.format, "provenance_source": provenance?.source]
  }

  /// The same in a row of columns, of which this is the first.
  static func provenance(_ row: StoredRow, from first: Int) throws -> Provenance? {
    guard let format: String = try row[first] else { return nil }
    return Provenance(format: format, source: try row[first + 1])
  }

  /// Sets each of them to the argument of its name.
  static let assignments = content.map { "\($0) = :\($0)" }.joined(separator: ", ")

  /// Inserts a row with them and these further columns, each from the argument of its name.
  static func insertion(with others: [String] = []) -> String {
    let columns = ["guid", "kind"] + content + provenance + others
    return """
      INSERT INTO record (\(columns.joined(separator: ", ")))
      VALUES (\(columns.map { ":\($0)" }.joined(separator: ", ")))
      """
  }

  /// The values of a state for an insertion.
  static func insertionArguments(_ state: RecordState, _ placer: RecordPlacer) throws -> StatementArguments {
    try arguments(state, placer) + arguments(state.provenance)
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
