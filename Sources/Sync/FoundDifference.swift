// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// One item in which a store and its remote differ.
public struct FoundDifference: Hashable, Sendable {
  /// How they differ.
  public enum Kind: String, CaseIterable, Hashable, Sendable {
    /// The remote was said to have it, and does not.
    case missingThere = "missing-there"
    /// The remote has it, and the store does not.
    case missingHere = "missing-here"
    /// The remote has other content than both agreed on.
    case different
  }

  /// What differs. Nothing of its content is reported.
  public enum Item: Hashable, Sendable {
    /// A reading, by what it measures, its device and its shown time.
    case reading(ReadingKind, Device, DeviceTime)
    /// A record, by what it is about, its id and its shown time.
    case record(RecordKind, guid: String, DeviceTime)
  }

  /// How they differ.
  public let kind: Kind
  /// What differs.
  public let item: Item
}

/// What a comparison found, and what was done about it.
public struct VerifySummary: Hashable, Sendable {
  /// The most differences that are reported one by one.
  public static let maxListed = 200

  /// The first differences.
  public internal(set) var listed: [FoundDifference] = []
  /// Readings that differ, by how they do.
  public internal(set) var readings: [FoundDifference.Kind: Int] = [:]
  /// Records that differ, by how they do.
  public internal(set) var records: [FoundDifference.Kind: Int] = [:]
  /// Readings and records that others changed since the last pull, which are no difference.
  public internal(set) var notPulled = 0
  /// Readings that are to be sent again.
  public internal(set) var requeuedReadings = 0
  /// Records that are to be sent again.
  public internal(set) var requeuedRecords = 0
  /// Readings that were fetched.
  public internal(set) var fetchedReadings = 0
  /// Records that were fetched.
  public internal(set) var fetchedRecords = 0

  /// Nothing yet.
  public init() {}

  /// How many items differ.
  public var differences: Int { readings.values.reduce(0, +) + records.values.reduce(0, +) }

  mutating func note(_ difference: FoundDifference) {
    switch difference.item {
    case .reading: readings[difference.kind, default: 0] += 1
    case .record: records[difference.kind, default: 0] += 1
    }
    if listed.count < Self.maxListed { listed.append(difference) }
  }
}
