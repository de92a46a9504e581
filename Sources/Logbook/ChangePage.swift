// SPDX-License-Identifier: Apache-2.0

/// A page of what others changed on a service.
package struct ChangePage: Sendable {
  /// Readings, each once.
  package var readings: ReadingBatch
  /// Places of the readings that documents of other programs hold: the store may have one of them from its own source.
  package var foreign: Set<Int>
  /// Records in their current state, each once.
  package var records: [RemoteRecord]
  /// Items of the service that are not accepted, counted by the reason.
  package var notTaken: [String: Int] = [:]
  /// Where the next page begins. Moves on an empty page, too.
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

/// A part of a logbook that can be fetched before, or instead of, everything else that changed.
package enum ChangePart: Hashable, Sendable {
  /// Readings by their shown times in civil seconds: from the first on, up to the second, which itself is left out.
  case readings(from: Int64, until: Int64)
  /// Every record.
  case records
  /// One record by its guid.
  case record(String)
}

/// Records of a service in the order of their ids.
package struct RecordPage: Hashable, Sendable {
  /// The records.
  package var records: [RemoteRecord]
  /// Whether others follow after the last one.
  package var hasMore: Bool

  /// A page of records.
  package init(records: [RemoteRecord], hasMore: Bool) {
    self.records = records
    self.hasMore = hasMore
  }
}
