// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One item in which a store and its remote differ.
package struct FoundDifference: Hashable, Sendable {
  /// How they differ.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// The remote was said to have it, and does not.
    case missingThere = "missing-there"
    /// The remote has it, and the store does not.
    case missingHere = "missing-here"
    /// The remote has other content than both agreed on.
    case different
    /// Another program changed the content here, and left the version as it was.
    case altered
  }

  /// What differs. Nothing of its content is reported.
  package enum Item: Hashable, Sendable {
    /// A reading, by what it measures, its device and its shown time.
    case reading(ReadingKind, Device, DeviceTime)
    /// A record, by what it is about, its id and its shown time.
    case record(RecordKind, guid: String, DeviceTime)
  }

  /// How they differ.
  package let kind: Kind
  /// What differs.
  package let item: Item
}

/// What a comparison found, and what was done about it.
package struct VerifySummary: Hashable, Sendable {
  /// The most differences that are reported one by one.
  package static let maxListed = 200

  /// The first differences.
  package internal(set) var listed: [FoundDifference] = []
  /// Readings that differ, by how they do.
  package internal(set) var readings: [FoundDifference.Kind: Int] = [:]
  /// Records that differ, by how they do.
  package internal(set) var records: [FoundDifference.Kind: Int] = [:]
  /// Readings and records that others changed since the last pull, which are no difference.
  package internal(set) var notPulled = 0
  /// Readings that are to be sent again.
  package internal(set) var requeuedReadings = 0
  /// Records that are to be sent again.
  package internal(set) var requeuedRecords = 0
  /// Readings that were fetched.
  package internal(set) var fetchedReadings = 0
  /// Records that were fetched.
  package internal(set) var fetchedRecords = 0

  /// Differences that `fix` could do nothing about: what is edited or in conflict here, or changed meanwhile.
  package internal(set) var unfixed = 0

  /// Nothing yet.
  package init() {}

  /// How many items differ.
  package var differences: Int { readings.values.reduce(0, +) + records.values.reduce(0, +) }

  mutating func note(_ difference: FoundDifference) {
    switch difference.item {
    case .reading: readings[difference.kind, default: 0] += 1
    case .record: records[difference.kind, default: 0] += 1
    }
    if listed.count < Self.maxListed { listed.append(difference) }
  }
}
