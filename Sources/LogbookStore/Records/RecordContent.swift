// SPDX-License-Identifier: Apache-2.0

import Logbook

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
