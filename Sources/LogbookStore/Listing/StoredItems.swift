// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook
import SQLiteRows

package struct StoredReading: Sendable {
  /// The device's number in this store.
  package let deviceID: Int64
  /// The device that took the reading.
  package let device: Device
  /// The kind of measurement.
  package let kind: ReadingKind
  /// Whether the shown time or the device's tick determines the position.
  package let positionKind: PositionKind
  /// The shown time in civil seconds, or the tick.
  package let position: Int64
  /// The value in tenths of mmol/L, a code for LO or HI, or 0; see `Reading.valueBucket`.
  package let valueBucket: Int64
  /// The number that separates readings which are equal in all other parts of the identity: 0, 1, 2 and so
  /// on.
  package let occurrence: Int64
  /// The time that the device showed.
  package let deviceTime: DeviceTime
  /// The offset of the shown time from UTC, and its source.
  package let placement: Placement
  /// The measured value.
  package let measurement: Measurement
  /// Further statements of the source, such as `beforeMeal`.
  package let marks: ReadingMarks
  /// The number of the ingest that stored the reading.
  package let ingest: Int64
  /// Whether the remote has the reading.
  package let isUploaded: Bool
  /// Whether a withdrawal hides the reading.
  package let isWithdrawn: Bool
  /// The remote's reason, if it refused the reading permanently; otherwise nil.
  package let refusal: String?
  let partition: Int64

  /// The instant in UTC seconds.
  package var utc: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }

  /// The address that commands use: device, kind, position, value bucket, and the number that separates
  /// readings of one identity.
  package var address: String {
    "r\(deviceID).\(kind.name).\(positionKind.name)\(position).\(valueBucket).\(occurrence)"
  }

  static let columns = """
    s.device, s.kind, s.position_kind, r.series, r.position, r.value_bucket, r.occurrence, r.device_time,
    \(StoredOffset.sql("r")), r.offset_source, r.value, r.unit, r.range_flag, r.threshold, r.marks, r.ingest, r.uploaded, \(Device.storedColumns),
    CASE r.uploaded WHEN 0 THEN (
      SELECT f.reason FROM refusal AS f WHERE f.series = r.series AND f.position = r.position
        AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence) END,
    r.partition, \(Withdrawn.reading)
    """

  init(_ row: Row) throws {
    let series = StoredRow(row, of: "series", key: 3..<4)
    (deviceID, kind, positionKind) = (try series[0], try series.code(1), try series.code(2))
    device = try Device(series, from: 17)
    let row = StoredRow(row, of: "reading", key: 3..<7)
    (position, valueBucket, occurrence) = (try row[4], try row[5], try row[6])
    deviceTime = try row.deviceTime(7)
    placement = try row.placement(8)
    measurement = try StoredMeasurement(row, from: 10).measurement(in: row.name)
    marks = ReadingMarks(rawValue: try row[14])
    ingest = try row[15]
    isUploaded = try row[16]
    refusal = try row[21]
    partition = try row[22]
    isWithdrawn = try row[23]
  }
}

package struct StoredRecord: Sendable {
  /// The id of the record.
  package let guid: String
  package let kind: RecordKind
  /// The guid of the entry to which the record belongs; nil for an entry.
  package let entryGuid: String?
  /// The shown time of the record.
  package let deviceTime: DeviceTime
  /// The offset of the shown time from UTC, and its source.
  package let placement: Placement
  /// The fields as canonical JSON.
  package let fields: String
  /// The field `subtype`; empty without one.
  package let subtype: String
  /// Whether the record is deleted, so that it is a tombstone.
  package let isDeleted: Bool
  /// The version, which increases by one with every edit.
  package let version: Int
  /// The version that the remote has; 0 for none.
  package let versionSynced: Int
  /// The number of the ingest that last wrote the record; nil if none did.
  package let ingest: Int64?
  /// The remote's reason, if it refused exactly this version permanently; otherwise nil.
  package let refusal: String?
  /// Whether a withdrawal hides the record or its entry.
  package let isWithdrawn: Bool
  /// The provenance of the record; nil if unknown.
  package let provenance: Provenance?
  /// When a person last edited the record, in UTC seconds; nil if it has the amount that an import wrote.
  package let amountEditedAt: Int64?
  let queueCode: QueueCode

  /// The instant in UTC seconds.
  package var utc: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }

  static let columns = """
    guid, kind, entry_guid, device_time, utc_offset, offset_source, fields,
    \(StoredField.text("subtype")), deleted, version, version_synced, ingest,
    CASE WHEN \(RecordCondition.isRefused) THEN quarantine END, \(QueueCode.sql), \(Withdrawn.record),
    provenance_format, provenance_source,
    \(ContentExport.amountEditedAt)
    """

  init(_ row: Row) throws {
    let row = StoredRow(row, of: "record")
    guid = try row[0]
    kind = try row.code(1)
    entryGuid = try row[2]
    deviceTime = try row.deviceTime(3)
    placement = try row.placement(4)
    fields = try row[6]
    subtype = try row[7]
    isDeleted = try row.number(8, in: 0...1) == 1
    version = try row.count(9)
    versionSynced = try row.count(10)
    ingest = try row[11]
    refusal = try row[12]
    queueCode = QueueCode(try row[13])
    isWithdrawn = try row[14]
    provenance = try RecordColumns.provenance(row, from: 15)
    amountEditedAt = try row[17]
  }

  /// The base zone as a record, for a store in which no record states it yet.
  init(unjoinedBase state: RecordState) {
    (guid, kind, entryGuid) = (LogbookZones.baseGuid, state.kind, nil)
    (deviceTime, placement) = (state.deviceTime, state.placement)
    (fields, subtype, isDeleted) = (state.fields.json, "", false)
    (version, versionSynced, ingest, refusal) = (1, 0, nil, nil)
    queueCode = QueueCode(0)
    isWithdrawn = false
    provenance = state.provenance
    amountEditedAt = nil
  }
}

/// One line of a listing.
package enum StoredItem: Sendable {
  case reading(StoredReading)
  case record(StoredRecord)

  /// The instant in UTC seconds.
  package var utc: Int64 {
    switch self {
    case .reading(let reading): reading.utc
    case .record(let record): record.utc
    }
  }

  /// The time that the clock of the device or of the person showed.
  package var deviceTime: DeviceTime {
    switch self {
    case .reading(let reading): reading.deviceTime
    case .record(let record): record.deviceTime
    }
  }
}

/// SQL expressions for fields of a row of `record`. A field counts as missing if another program wrote a
/// value of a wrong type.
enum StoredField {
  /// The SHA-256 of an attachment; empty if the field is missing or not a SHA-256.
  static let digest = """
    CASE WHEN json_type(record.fields, '$.sha256') = 'text' AND length(json_extract(record.fields, '$.sha256')) = 64
      AND json_extract(record.fields, '$.sha256') NOT GLOB '*[^0-9a-f]*'
      THEN json_extract(record.fields, '$.sha256') ELSE '' END
    """

  /// A text; empty if the field is missing or not a text.
  static func text(_ name: String) -> String {
    """
    CASE json_type(record.fields, '$.\(name)') WHEN 'text' THEN json_extract(record.fields, '$.\(name)') ELSE '' END
    """
  }

  /// A number of bytes; 0 if the field is missing or not a whole number. SQLite reads a whole number that is
  /// too large as a real number.
  static func bytes(_ name: String) -> String {
    """
    CASE typeof(json_extract(record.fields, '$.\(name)'))
      WHEN 'integer' THEN max(0, json_extract(record.fields, '$.\(name)')) ELSE 0 END
    """
  }
}
