// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension CountableItem {
  /// The facts that counting needs about an item; nil for an item that always counts or never does.
  package init?(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self.init(reading)
    case .record(let record): self.init(record)
    }
  }

  /// The facts that counting needs about a reading; nil for one that always counts or never does.
  package init?(_ reading: StoredReading) {
    guard reading.kind == .smbg || reading.kind == .ketone, !reading.isWithdrawn else { return nil }
    self.init(
      reading.kind, reading.measurement, marks: reading.marks, id: reading.identity.text,
      deviceTime: reading.deviceTime, placement: reading.placement, source: CountingSource(reading.device))
  }

  /// The facts that counting needs about a record; nil for one that always counts or never does.
  ///
  /// - Parameter fields: its fields; nil to read them.
  package init?(_ record: StoredRecord, _ fields: RecordFields? = nil) {
    guard [.insulin, .food].contains(record.kind), !record.isWithdrawn, !record.isDeleted else { return nil }
    self.init(
      record.kind, fields ?? record.decodedFields(), id: record.guid, deviceTime: record.deviceTime,
      placement: record.placement, source: record.countingSource)
  }
}

extension StoredRecord {
  /// The source of the record, by its name in counting.
  package var countingSource: CountingSource {
    provenance.map { CountingSource(format: $0.format, part: $0.source) } ?? .unknown
  }

  /// The fields; none if another program wrote fields that glucoport cannot read.
  package func decodedFields() -> RecordFields {
    do {
      return try RecordFields(json: fields)
    } catch {
      return RecordFields()
    }
  }
}
