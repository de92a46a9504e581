// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension CountableItem {
  /// What counting needs of an item; nil for one that always counts or never does.
  package init?(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self.init(reading)
    case .record(let record): self.init(record)
    }
  }

  /// What counting needs of a reading; nil for one that always counts or never does.
  package init?(_ reading: StoredReading) {
    guard reading.kind == .smbg || reading.kind == .ketone, !reading.isWithdrawn else { return nil }
    self.init(
      reading.kind, reading.measurement, marks: reading.marks, id: reading.identity.text,
      deviceTime: reading.deviceTime, placement: reading.placement, source: CountingSource(reading.device))
  }

  /// What counting needs of a record; nil for one that always counts or never does.
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
  /// Where it came from, as counting names it.
  package var countingSource: CountingSource {
    provenance.map { CountingSource(format: $0.format, part: $0.source) } ?? .unknown
  }

  /// The fields; none where another program wrote what glucoport cannot read.
  package func decodedFields() -> RecordFields {
    do {
      return try RecordFields(json: fields)
    } catch {
      return RecordFields()
    }
  }
}
