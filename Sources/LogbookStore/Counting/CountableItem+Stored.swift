// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension CountableItem {
  /// The properties of an item that counting compares; nil for an item that always counts or never counts.
  package init?(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self.init(reading)
    case .record(let record): self.init(record)
    }
  }

  /// The properties of a reading that counting compares; nil for a reading that always counts or never
  /// counts.
  package init?(_ reading: StoredReading) {
    guard reading.kind == .smbg || reading.kind == .ketone, !reading.isWithdrawn else { return nil }
    self.init(
      reading.kind, reading.measurement, marks: reading.marks, id: reading.identity.text,
      deviceTime: reading.deviceTime, placement: reading.placement, source: CountingSource(reading.device))
  }

  /// The properties of a record that counting compares; nil for a record that always counts or never counts.
  ///
  /// - Parameter fields: the decoded fields; nil to decode those of the record.
  package init?(_ record: StoredRecord, _ fields: RecordFields? = nil) {
    guard [.insulin, .food].contains(record.kind), !record.isWithdrawn, !record.isDeleted else { return nil }
    self.init(
      record.kind, fields ?? record.decodedFields(), id: record.guid, deviceTime: record.deviceTime,
      placement: record.placement, source: record.countingSource,
      amountEditedAt: record.amountEditedAt)
  }
}

extension StoredRecord {
  /// The source of the record, as counting compares it; `unknown` without provenance.
  package var countingSource: CountingSource {
    provenance.map { CountingSource(format: $0.format, part: $0.source) } ?? .unknown
  }

  /// The decoded fields; empty if another program wrote fields that glucoport cannot read.
  package func decodedFields() -> RecordFields {
    do {
      return try RecordFields(json: fields)
    } catch {
      return RecordFields()
    }
  }
}
