// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Logbook

/// A reading as the store holds it.
public struct StoredReading: Sendable {
  /// The device's number in this store.
  public let deviceID: Int64
  /// What took the reading.
  public let device: Device
  /// What it measures.
  public let kind: ReadingKind
  /// What places it among those of its device and kind.
  public let positionKind: PositionKind
  /// The shown time in civil seconds, or the tick.
  public let position: Int64
  /// The value's part in the identity.
  public let valueBucket: Int64
  /// Which one of several that share every other part.
  public let occurrence: Int64
  /// The time as the device showed it.
  public let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public let placement: Placement
  /// What was measured.
  public let measurement: Measurement
  /// What else is said of it.
  public let marks: ReadingMarks
  /// The number of the ingest that brought it.
  public let ingest: Int64
  /// Whether the remote has it.
  public let isUploaded: Bool
  /// Whether an annotation keeps it out of statistics.
  public let isWithdrawn: Bool
  /// The remote's words where it refused the reading for good; else nil.
  public let refusal: String?
  let partition: Int64

  /// The instant in UTC seconds.
  public var utc: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }

  /// How commands name this reading: device, kind, place, value bucket and occurrence.
  public var address: String {
    "r\(deviceID).\(kind.name).\(positionKind.name)\(position).\(valueBucket).\(occurrence)"
  }

  static let columns = """
    s.device, s.kind, s.position_kind, r.position, r.value_bucket, r.occurrence, r.device_time, r.utc_offset, r.offset_source,
    r.value, r.unit, r.range_flag, r.threshold, r.marks, r.ingest, r.uploaded, d.vendor, d.model, d.serial, d.format,
    CASE r.uploaded WHEN 0 THEN (
      SELECT f.reason FROM refusal AS f WHERE f.series = r.series AND f.position = r.position
        AND f.value_bucket = r.value_bucket AND f.occurrence = r.occurrence) END,
    r.partition, \(WithdrawnReading.sql)
    """

  init(_ row: Row) {
    deviceID = row[0]
    kind = ReadingKind(rawValue: row[1]) ?? .smbg
    positionKind = PositionKind(rawValue: row[2]) ?? .time
    position = row[3]
    valueBucket = row[4]
    occurrence = row[5]
    deviceTime = DeviceTime(seconds: row[6])
    placement = Placement(utcOffset: row[7], source: OffsetSource(rawValue: row[8]) ?? .zone)
    measurement = StoredMeasurement.measurement(
      value: row[9], unit: row[10], rangeFlag: row[11], threshold: row[12])
    marks = ReadingMarks(rawValue: row[13])
    ingest = row[14]
    isUploaded = row[15]
    device = Device(vendor: row[16], model: row[17], serial: row[18], format: row[19])
    refusal = row[20]
    partition = row[21]
    isWithdrawn = row[22]
  }
}

/// A record as the store holds it.
public struct StoredRecord: Sendable {
  /// The identity.
  public let guid: String
  /// What the record is about.
  public let kind: RecordKind
  /// The entry to which it belongs; nil for an entry.
  public let entryGuid: String?
  /// The shown time of the entry.
  public let deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public let placement: Placement
  /// The fields as canonical JSON.
  public let fields: String
  /// The field of this name; empty without one.
  public let subtype: String
  /// Whether it is a tombstone.
  public let isDeleted: Bool
  /// Raised by one with every edit.
  public let version: Int
  /// The version that the remote has; 0 for none.
  public let versionSynced: Int
  /// The ingest that last wrote it; nil when none did.
  public let ingest: Int64?
  /// The remote's words where it refused this very version for good; else nil.
  public let refusal: String?
  let queueCode: QueueCode

  /// The instant in UTC seconds.
  public var utc: Int64 { deviceTime.seconds - Int64(placement.utcOffset) }

  static let columns = """
    guid, kind, entry_guid, device_time, utc_offset, offset_source, fields,
    \(StoredField.text("subtype")), deleted, version, version_synced, ingest,
    CASE WHEN \(RecordCondition.isRefused) THEN quarantine END, \(QueueCode.sql)
    """

  init(_ row: Row) {
    guid = row[0]
    kind = RecordKind(rawValue: row[1]) ?? .note
    entryGuid = row[2]
    deviceTime = DeviceTime(seconds: row[3])
    placement = Placement(utcOffset: row[4], source: OffsetSource(rawValue: row[5]) ?? .zone)
    fields = row[6]
    subtype = row[7]
    isDeleted = row[8]
    version = row[9]
    versionSynced = row[10]
    ingest = row[11]
    refusal = row[12]
    queueCode = QueueCode(row[13])
  }
}

/// One line of a listing.
public enum StoredItem: Sendable {
  case reading(StoredReading)
  case record(StoredRecord)

  /// The instant in UTC seconds.
  public var utc: Int64 {
    switch self {
    case .reading(let reading): reading.utc
    case .record(let record): record.utc
    }
  }
}
