// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One item in which a store and its remote differ.
package struct FoundDifference: Hashable, Sendable {
  /// The kind of difference.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// The remote lacks it, although it was sent before.
    case missingOnRemote = "missing-there"
    /// The store lacks it.
    case missingLocally = "missing-here"
    /// The remote's content differs from the content that both agreed on.
    case different
    /// Another program changed the content here without raising the version.
    case altered
  }

  /// The item. Its content is not reported.
  package enum Item: Hashable, Sendable {
    /// A reading by kind, device and shown time.
    case reading(ReadingKind, Device, DeviceTime)
    /// A record by kind, id and shown time.
    case record(RecordKind, guid: String, DeviceTime)
  }

  /// The kind of difference.
  package let kind: Kind
  /// The item that differs.
  package let item: Item
}

/// The result of a comparison, and of fixing it.
package struct VerifySummary: Hashable, Sendable {
  /// The maximum number of listed differences.
  package static let maxListed = 200

  /// The first differences.
  package internal(set) var listed: [FoundDifference] = []
  /// The number of differing readings by kind of difference.
  package internal(set) var readings: [FoundDifference.Kind: Int] = [:]
  /// The number of differing records by kind of difference.
  package internal(set) var records: [FoundDifference.Kind: Int] = [:]
  /// The number of items that others changed since the last pull. They are not differences.
  package internal(set) var notPulled = 0
  /// The number of readings that will be sent again.
  package internal(set) var requeuedReadings = 0
  /// The number of records that will be sent again.
  package internal(set) var requeuedRecords = 0
  /// The number of fetched readings.
  package internal(set) var fetchedReadings = 0
  /// The number of fetched records.
  package internal(set) var fetchedRecords = 0

  /// The number of differences that `fix` could not resolve: items edited or conflicted here, or changed meanwhile.
  package internal(set) var unfixed = 0

  package init() {}

  /// The number of differing items.
  package var differences: Int { readings.values.reduce(0, +) + records.values.reduce(0, +) }

  mutating func note(_ difference: FoundDifference) {
    switch difference.item {
    case .reading: readings[difference.kind, default: 0] += 1
    case .record: records[difference.kind, default: 0] += 1
    }
    if listed.count < Self.maxListed { listed.append(difference) }
  }
}
