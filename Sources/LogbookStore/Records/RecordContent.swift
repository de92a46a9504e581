// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The parts of a record that an import compares: its fields, its time with the stated offset, and whether it
/// is deleted.
struct RecordContent {
  let fields: String
  let deviceTime: Int64
  /// Nil if the offset follows from the zones of the logbook.
  let statedOffset: Int?
  let isDeleted: Bool

  init(fields: String, deviceTime: Int64, utcOffset: Int, offsetSource: Int, isDeleted: Bool) {
    self.fields = fields
    self.deviceTime = deviceTime
    statedOffset = offsetSource == Int(OffsetSource.stated.rawValue) ? utcOffset : nil
    self.isDeleted = isDeleted
  }

  init(_ record: ImportedRecord, _ placement: Placement) {
    self.init(
      fields: record.deleted ? "{}" : record.fields.json, deviceTime: record.deviceTime.seconds,
      utcOffset: Int(placement.utcOffset), offsetSource: Int(placement.source.rawValue),
      isDeleted: record.deleted)
  }

  init(_ state: RecordState) {
    self.init(
      fields: state.fields.json, deviceTime: state.deviceTime.seconds,
      utcOffset: Int(state.placement.utcOffset), offsetSource: Int(state.placement.source.rawValue),
      isDeleted: state.isDeleted)
  }

  /// Whether a stored record agrees with this row. A row without an offset agrees with any stated one.
  func isSaid(by stored: RecordContent) -> Bool {
    fields == stored.fields && deviceTime == stored.deviceTime && isDeleted == stored.isDeleted
      && (statedOffset == nil || statedOffset == stored.statedOffset)
  }

  /// The digest of the record that a withdrawal compares.
  var withdrawalDigest: String {
    RecordState.withdrawalDigest(
      deviceTime: DeviceTime(seconds: deviceTime), statedOffset: statedOffset.map { Int32(clamping: $0) },
      fields: fields)
  }

  /// The form in the column `imported`: the time with a stated offset in seconds, then the fields.
  var text: String {
    let offset = statedOffset.map { $0 < 0 ? String($0) : "+\($0)" } ?? ""
    return "\(deviceTime)\(offset) \(fields)"
  }
  /// The SQL for the same text from a stored row.
  static let sql = """
    (record.device_time || CASE record.offset_source WHEN 0 THEN printf('%+d', record.utc_offset) ELSE '' END
      || ' ' || record.fields)
    """
}

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

extension RecordFields {
  /// The fields in their stored form.
  ///
  /// - Throws: `Failure` of category `badInput` for content that another program wrote.
  init(stored text: String, of guid: String) throws(Failure) {
    do throws(JSONError) {
      self = try RecordFields(uncheckedJSON: text)
    } catch {
      throw Failure(
        .badInput,
        "\(guid): the fields of this record are not an object of numbers, texts, flags and lists of words: \(error.reason)"
      )
    }
  }
}
