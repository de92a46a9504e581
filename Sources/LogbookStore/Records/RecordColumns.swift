// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The columns of `record` with the content of a record, the same for edits, resolutions and sync.
enum RecordColumns {
  /// One list, so that every write of a state includes all of them.
  static let content = [
    "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted", "edited_at",
  ]

  /// The columns for the source of the record, which are set once.
  static let provenance = ["provenance_format", "provenance_source"]

  /// Sets these columns to the arguments of their names, where they are unknown so far.
  static let provenanceLearned = provenance.map { "\($0) = coalesce(\($0), :\($0))" }.joined(separator: ", ")

  /// The values for these columns.
  static func arguments(_ provenance: Provenance?) -> StatementArguments {
    ["provenance_format": provenance?.format, "provenance_source": provenance?.source]
  }

  /// The source from a row, whose first of these columns is `first`.
  static func provenance(_ row: StoredRow, from first: Int) throws -> Provenance? {
    guard let format: String = try row[first] else { return nil }
    return Provenance(format: format, source: try row[first + 1])
  }

  /// Sets each content column to the argument of its name.
  static let assignments = content.map { "\($0) = :\($0)" }.joined(separator: ", ")

  /// Inserts a row with all these columns and further ones, each from the argument of its name.
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

  /// The values of a state for the content columns.
  ///
  /// - Parameter placer: derives the offset if the state leaves it to the zones.
  static func arguments(_ state: RecordState, _ placer: RecordPlacer) throws -> StatementArguments {
    let placement = try placer.place(state)
    return [
      "entry_guid": state.entryGuid, "device_time": state.deviceTime.seconds,
      "utc_offset": Int(placement.utcOffset), "offset_source": Int(placement.source.rawValue),
      "fields": state.fields.json, "deleted": state.isDeleted, "edited_at": state.editedAt,
    ]
  }
}
