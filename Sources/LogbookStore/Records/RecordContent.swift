// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The content of a record that an import compares: its fields, its time as the source states it, and whether
/// it is deleted.
struct RecordContent {
  let fields: String
  /// The shown time in civil seconds. If the source states only an instant, it is the instant in UTC seconds.
  let deviceTime: Int64
  /// The stated offset in seconds, 0 for an instant; nil if the offset is derived from the zones of the
  /// logbook.
  let statedOffset: Int?
  let isDeleted: Bool
  /// The text in the column `imported`: the time with the stated offset in seconds, a blank, then the fields.
  let text: String

  init(fields: String, deviceTime: Int64, utcOffset: Int, offsetSource: Int, isDeleted: Bool) {
    self.fields = fields
    switch offsetSource {
    case Int(OffsetSource.stated.rawValue): (self.deviceTime, statedOffset) = (deviceTime, utcOffset)
    case Int(OffsetSource.instant.rawValue):
      (self.deviceTime, statedOffset) = (deviceTime - Int64(utcOffset), 0)
    default: (self.deviceTime, statedOffset) = (deviceTime, nil)
    }
    self.isDeleted = isDeleted
    let offset = statedOffset.map { $0 < 0 ? String($0) : "+\($0)" } ?? ""
    text = "\(self.deviceTime)\(offset) \(fields)"
  }

  init(_ record: ImportedRecord, at time: DeviceTime, _ placement: Placement) {
    self.init(
      fields: record.deleted ? "{}" : record.fields.json, deviceTime: time.seconds,
      utcOffset: Int(placement.utcOffset), offsetSource: Int(placement.source.rawValue),
      isDeleted: record.deleted)
  }

  init(_ state: RecordState) {
    self.init(
      fields: state.fields.json, deviceTime: state.deviceTime.seconds,
      utcOffset: Int(state.placement.utcOffset), offsetSource: Int(state.placement.source.rawValue),
      isDeleted: state.isDeleted)
  }

  /// Parses the text that `text` returns; nil for another text.
  init?(text: String) {
    guard let end = text.firstIndex(of: " ") else { return nil }
    let digits = text[..<end]
    let sign = digits.dropFirst().firstIndex { $0 == "+" || $0 == "-" }
    guard let time = Int64(digits[..<(sign ?? end)]) else { return nil }
    if let sign {
      guard let offset = Int(digits[sign...]) else { return nil }
      statedOffset = offset
    } else {
      statedOffset = nil
    }
    (deviceTime, fields, isDeleted) = (time, String(text[text.index(after: end)...]), false)
    self.text = text
  }

  /// Whether a stored record has the content of this row of an export. A row without an offset agrees with
  /// any stated offset.
  func isStated(by stored: RecordContent) -> Bool {
    fields == stored.fields && deviceTime == stored.deviceTime && isDeleted == stored.isDeleted
      && (statedOffset == nil || statedOffset == stored.statedOffset)
  }

  /// The digest by which a withdrawal recognises this content of a record.
  var withdrawalDigest: String {
    RecordState.withdrawalDigest(
      deviceTime: DeviceTime(seconds: deviceTime), statedOffset: statedOffset.map { Int32(clamping: $0) },
      fields: fields)
  }

  /// The SQL expression for the text that `text` returns, for a stored row.
  static let sql = sql(of: "record")

  /// The SQL expression for the text that `text` returns, for a row with the content of a record.
  ///
  /// - Parameter row: the alias of the row's table in the SQL statement.
  static func sql(of row: String) -> String {
    """
    (\(RecordSchema.statedTime(row))
      || CASE \(row).offset_source WHEN 0 THEN printf('%+d', \(row).utc_offset) WHEN 5 THEN '+0' ELSE '' END
      || ' ' || \(row).fields)
    """
  }
}

/// The columns of `record` that hold content, for edits, resolutions and sync.
enum RecordColumns {
  /// The columns of a record's state. All SQL statements that write a state use this list, so that none omits
  /// a column.
  static let content = [
    "entry_guid", "device_time", "utc_offset", "offset_source", "fields", "deleted", "edited_at",
  ]

  /// The columns for the provenance of a record, which is stored once and then never changes.
  static let provenance = ["provenance_format", "provenance_source"]

  /// SQL assignments that set the columns `provenance` to the arguments of the same names, if the columns are
  /// still NULL.
  static let provenanceLearned = provenance.map { "\($0) = coalesce(\($0), :\($0))" }.joined(separator: ", ")

  /// The arguments for the columns `provenance`.
  static func arguments(_ provenance: Provenance?) -> StatementArguments {
    ["provenance_format": provenance?.format, "provenance_source": provenance?.source]
  }

  /// The provenance in a row. `first` is the index of the first of its two columns.
  static func provenance(_ row: StoredRow, from first: Int) throws -> Provenance? {
    guard let format: String = try row[first] else { return nil }
    return Provenance(format: format, source: try row[first + 1])
  }

  /// SQL assignments that set each content column to the argument of the same name.
  static let assignments = content.map { "\($0) = :\($0)" }.joined(separator: ", ")

  /// An SQL statement that inserts a row with all these columns and `others`, each from the argument of the
  /// same name.
  static func insertion(with others: [String] = []) -> String {
    let columns = ["guid", "kind"] + content + provenance + others
    return """
      INSERT INTO record (\(columns.joined(separator: ", ")))
      VALUES (\(columns.map { ":\($0)" }.joined(separator: ", ")))
      """
  }

  /// The arguments that the SQL statement of `insertion` needs for a state.
  static func insertionArguments(_ state: RecordState, _ placer: RecordPlacer) throws -> StatementArguments {
    try arguments(state, placer) + arguments(state.provenance)
  }

  /// The arguments for the content columns.
  ///
  /// - Parameter placer: derives the offset if the state has no stated one.
  static func arguments(_ state: RecordState, _ placer: RecordPlacer) throws -> StatementArguments {
    let (time, placement) = try placer.recalculated(state.deviceTime, state.placement)
    return arguments(state, at: time, placement)
  }

  /// The arguments for the content columns, with the shown time and the offset to store.
  static func arguments(
    _ state: RecordState, at time: DeviceTime, _ placement: Placement
  ) -> StatementArguments {
    [
      "entry_guid": state.entryGuid, "device_time": time.seconds,
      "utc_offset": Int(placement.utcOffset), "offset_source": Int(placement.source.rawValue),
      "fields": state.fields.json, "deleted": state.isDeleted, "edited_at": state.editedAt,
    ]
  }
}

extension RecordFields {
  /// Parses the fields from the stored JSON.
  ///
  /// - Throws: `Failure` of category `badInput` for content that glucoport did not write.
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
