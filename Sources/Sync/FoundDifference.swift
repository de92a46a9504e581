// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One item in which a store and its remote differ.
package struct FoundDifference: Hashable, Sendable {
  /// The kind of difference.
  package enum DifferenceKind: String, CaseIterable, Hashable, Sendable {
    /// The remote does not have the item, although it was sent earlier.
    case missingOnRemote = "missing-there"
    /// The store does not have the item.
    case missingLocally = "missing-here"
    /// The store and the remote both have the item, but the remote's content is not the content on which both
    /// last agreed.
    case different
    /// Another program changed the content in the store without raising the version.
    case altered
  }

  /// The item that differs. Its content is left out, since it is health data.
  package enum DifferingItem: Hashable, Sendable {
    /// A reading, by its kind, device and shown time.
    case reading(ReadingKind, Device, DeviceTime)
    /// A record, by its kind, guid and shown time.
    case record(RecordKind, guid: String, DeviceTime)
  }

  /// The kind of difference.
  package let kind: DifferenceKind
  /// The item that differs.
  package let item: DifferingItem
}

/// The difference in `verify --json`: a reading by its device and position, or a record by its guid.
extension FoundDifference: Encodable {
  private enum CodingKeys: String, CodingKey { case difference, item, kind, vendor, model, guid, deviceTime }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind.rawValue, forKey: .difference)
    switch item {
    case .reading(let kind, let device, let time):
      try container.encode("reading", forKey: .item)
      try container.encode(kind.name, forKey: .kind)
      try container.encode(device.vendor, forKey: .vendor)
      try container.encode(device.model, forKey: .model)
      try container.encode(time.text, forKey: .deviceTime)
    case .record(let kind, let guid, let time):
      try container.encode("record", forKey: .item)
      try container.encode(kind.rawValue, forKey: .kind)
      try container.encode(guid, forKey: .guid)
      try container.encode(time.text, forKey: .deviceTime)
    }
  }
}

/// The result of a comparison with the remote, and of correcting the differences.
package struct VerifySummary: Hashable, Sendable {
  /// The maximum number of differences in `listed`.
  package static let maxListed = 200

  /// The differences that were found first.
  package internal(set) var listed: [FoundDifference] = []
  /// The number of differing readings by kind of difference.
  package internal(set) var readings: [FoundDifference.DifferenceKind: Int] = [:]
  /// The number of differing records by kind of difference.
  package internal(set) var records: [FoundDifference.DifferenceKind: Int] = [:]
  /// The number of items that other nodes have changed since the last pull. They do not count as differences.
  package internal(set) var notPulled = 0
  /// The number of readings that were queued again.
  package internal(set) var requeuedReadings = 0
  /// The number of records that were queued again.
  package internal(set) var requeuedRecords = 0
  /// The number of readings that were downloaded because the store lacked them.
  package internal(set) var fetchedReadings = 0
  /// The number of records that were downloaded because the store lacked them or had other content.
  package internal(set) var fetchedRecords = 0

  /// The number of differences that `fix` did not correct, since the item was edited, is in conflict, or
  /// changed after the comparison.
  package internal(set) var unfixed = 0

  package init() {}

  /// The number of differing items.
  package var differences: Int { readings.values.reduce(0, +) + records.values.reduce(0, +) }

  mutating func count(_ difference: FoundDifference) {
    switch difference.item {
    case .reading: readings[difference.kind, default: 0] += 1
    case .record: records[difference.kind, default: 0] += 1
    }
    if listed.count < Self.maxListed { listed.append(difference) }
  }
}
