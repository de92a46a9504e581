// SPDX-License-Identifier: Apache-2.0

/// A page of changes that others made on a service.
package struct ChangePage: Sendable {
  /// The readings. Each is in it once.
  package var readings: ReadingBatch
  /// Indices of the readings from documents of other programs. The store may have one of them from its own source.
  package var foreign: Set<Int>
  /// The records in their current state. Each is in it once.
  package var records: [RemoteRecord]
  /// Items of the service that are not accepted, counted by reason.
  package var notTaken: [String: Int] = [:]
  /// Where the next page begins. It also changes on an empty page.
  package var cursor: String
  /// Whether there is another page.
  package var hasMore: Bool

  /// A page and where the next one begins.
  package init(
    readings: ReadingBatch, foreign: Set<Int> = [], records: [RemoteRecord], cursor: String, hasMore: Bool
  ) {
    self.readings = readings
    self.foreign = foreign
    self.records = records
    self.cursor = cursor
    self.hasMore = hasMore
  }
}

/// A part of a logbook that can be fetched before all other changes, or without them.
package enum ChangePart: Hashable, Sendable {
  /// Readings by their shown times in civil seconds, from the first time up to, but without, the second.
  case readings(from: Int64, until: Int64)
  /// Every record.
  case records
  /// One record by its guid.
  case record(String)
}

/// Records of a service, ordered by id.
package struct RecordPage: Hashable, Sendable {
  /// The records.
  package var records: [RemoteRecord]
  /// Whether more records follow the last one.
  package var hasMore: Bool

  /// A page of records.
  package init(records: [RemoteRecord], hasMore: Bool) {
    self.records = records
    self.hasMore = hasMore
  }
}
