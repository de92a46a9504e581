// SPDX-License-Identifier: Apache-2.0

/// A page of the changes that other nodes or programs made in the logbook of a service.
package struct ChangePage: Sendable {
  /// The readings that other nodes or programs added. Each is listed once.
  package var readings: ReadingBatch
  /// The indices in `readings` of those readings that come from documents of other programs. The store may
  /// already have the same readings from its own sources, so it compares them.
  package var foreign: Set<Int>
  /// The records that other nodes or programs changed, in their current state. Each is listed once.
  package var records: [RemoteRecord]
  /// The items of the service that this program does not accept, counted by reason.
  package var notTaken: [String: Int] = [:]
  /// The cursor with which the next page is requested. It can change even if the page is empty.
  package var cursor: String
  /// Whether there is another page.
  package var hasMore: Bool

  /// A page of changes, and the cursor of the next page.
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
  /// Readings with a shown time from `from` up to, but not including, `until`, in civil seconds.
  case readings(from: Int64, until: Int64)
  /// Every record.
  case records
  /// One record by its guid.
  case record(String)
}

/// A page of a service's records, ordered by guid.
package struct RecordPage: Hashable, Sendable {
  package var records: [RemoteRecord]
  /// Whether more records follow the last one.
  package var hasMore: Bool

  /// A page of records.
  package init(records: [RemoteRecord], hasMore: Bool) {
    self.records = records
    self.hasMore = hasMore
  }
}
