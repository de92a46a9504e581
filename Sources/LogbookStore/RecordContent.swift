// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What of a record an import compares: its fields, its time and whether it is deleted.
struct RecordContent: Equatable {
  let fields: String
  let occurredAt: Int64
  let isDeleted: Bool

  init(fields: String, occurredAt: Int64, isDeleted: Bool) {
    self.fields = fields
    self.occurredAt = occurredAt
    self.isDeleted = isDeleted
  }

  init(_ record: ImportedRecord) {
    fields = record.deleted ? "{}" : record.fields.json
    occurredAt = record.deviceTime.seconds
    isDeleted = record.deleted
  }

  /// The form in which `imported` keeps it: the time, then the fields.
  var text: String { "\(occurredAt) \(fields)" }
  /// The same text of a stored row.
  static let sql = "(record.occurred_at || ' ' || record.fields)"
}
