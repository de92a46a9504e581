// SPDX-License-Identifier: Apache-2.0

import Formats
import LogbookStore

/// Stored items in the form of an export.
extension GlucoportItem {
  init(_ item: StoredItem) {
    switch item {
    case .reading(let reading): self = .reading(GlucoportReading(reading))
    case .record(let record): self = .record(GlucoportRecord(record))
    }
  }
}

extension GlucoportReading {
  fileprivate init(_ reading: StoredReading) {
    self.init(
      device: reading.device, kind: reading.kind, deviceTime: reading.deviceTime,
      placement: reading.placement,
      measurement: reading.measurement, marks: reading.marks, isWithdrawn: reading.isWithdrawn,
      positionKind: reading.positionKind, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: reading.occurrence)
  }
}

extension GlucoportRecord {
  fileprivate init(_ record: StoredRecord) {
    self.init(
      guid: record.guid, kind: record.kind, entryGuid: record.entryGuid, deviceTime: record.deviceTime,
      placement: record.placement, fields: record.fields, provenance: record.provenance,
      isDeleted: record.isDeleted)
  }
}
