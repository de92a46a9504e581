// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What of a record an import compares: its fields, its time and whether it is deleted.
struct RecordContent: Equatable {
  let fields: String
  let deviceTime: Int64
  let isDeleted: Bool

  init(fields: String, deviceTime: Int64, isDeleted: Bool) {
    self.fields = fields
    self.deviceTime = deviceTime
    self.isDeleted = isDeleted
  }

  init(_ record: ImportedRecord) {
    fields = record.deleted ? "{}" : record.fields.json
    deviceTime = record.deviceTime.seconds
    isDeleted = record.deleted
  }

  /// The form in which `imported` keeps it: the time, then the fields.
  var text: String { "\(deviceTime) \(fields)" }
  /// The same text of a stored row.
  static let sql = "(record.device_time || ' ' || record.fields)"
}
