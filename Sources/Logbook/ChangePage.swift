// SPDX-License-Identifier: Apache-2.0

/// A page of what others changed on a service.
public struct ChangePage: Sendable {
  /// Readings, each once.
  public var readings: ReadingBatch
  /// Places of the readings that documents of other programs hold: the store may have one of them from its own source.
  public var foreign: Set<Int>
  /// Records in their current state, each once.
  public var records: [RemoteRecord]
  /// Items of the service that are not accepted, counted by the reason.
  public var notTaken: [String: Int] = [:]
  /// Where the next page begins. Moves on an empty page, too.
  public var cursor: String
  /// Whether there is another page.
  public var hasMore: Bool

  /// A page and where the next one begins.
  public init(
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
public enum ChangePart: Hashable, Sendable {
  /// Readings by their shown times in civil seconds: from the first on, up to the second, which itself is left out.
  case readings(from: Int64, until: Int64)
  /// Every record.
  case records
  /// One record by its guid.
  case record(String)
}

/// Records of a service in the order of their ids.
public struct RecordPage: Hashable, Sendable {
  /// The records.
  public var records: [RemoteRecord]
  /// Whether others follow after the last one.
  public var hasMore: Bool

  /// A page of records.
  public init(records: [RemoteRecord], hasMore: Bool) {
    self.records = records
    self.hasMore = hasMore
  }
}
