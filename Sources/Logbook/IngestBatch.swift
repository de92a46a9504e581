// SPDX-License-Identifier: Apache-2.0

/// An item that a source cannot give or the store does not accept, with the reason.
public struct Rejection: Hashable, Sendable {
  /// The line of the input, from 1; 0 when no line applies.
  public let line: Int64
  /// What is wrong. It does not contain the item's values, which are health data.
  public let reason: String
  /// The maximum size of a row that is kept for `--rejects`.
  package static let maxSourceBytes = 64 * 1024

  /// The item as it was in the input, for `--rejects`. It is empty if the item is larger than `maxSourceBytes`, since
  /// half a row would damage the rows after it. It is never stored or printed.
  public let source: String

  /// A rejection with its reason and, for `--rejects`, the item as it was in the input.
  public init(line: Int64, reason: String, source: String = "") {
    self.line = line
    self.reason = reason
    self.source = source
  }
}

/// A part of the items of an ingestor. It is reused: the consumer empties it, and the devices stay for the whole ingest.
public struct IngestBatch: Sendable {
  /// The approximate number of items in a batch. Sorting and writing are fastest with many items. Two batches, one
  /// being read and one being stored, take about 4 MiB.
  package static let size = 20_000
  /// A batch ends after this time. Each is one transaction, so that a live pipe's readings are stored within a second.
  package static let maxMilliseconds = 750
  /// The maximum number of readings at one place that are kept together beyond this size: more than two hours of any
  /// sensor.
  package static let maxTogether = 5000

  /// The devices so far. Readings refer to them by `DeviceIndex`.
  public var devices: [Device] = []
  /// Readings, in the order of the source.
  public var readings: [Reading] = []
  /// Records, in the order of the source.
  public var records: [ImportedRecord] = []
  /// Rejected items, in the order of the source.
  public var rejections: [Rejection] = []
  /// Items without a kind in glucoport or without information, counted by name.
  public var skipped: [String: Int] = [:]

  /// A batch without devices and items.
  public init() {}

  /// Whether it has no items. Devices do not count.
  public var isEmpty: Bool { readings.isEmpty && records.isEmpty && rejections.isEmpty && skipped.isEmpty }

  /// Removes the items and keeps the devices and the memory.
  public mutating func removeItems() {
    readings.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    rejections.removeAll(keepingCapacity: true)
    skipped.removeAll(keepingCapacity: true)
  }
}

/// A decision of an ingestor about its input, with its basis.
public struct Decision: Hashable, Sendable {
  /// The reason for the decision: read in the input, inferred from it, given by a person, fixed by the format, or set
  /// in the logbook.
  public enum Basis: String, Sendable { case read, inferred, given, fixed, logbook }
  /// `format`, `encoding`, `delimiter`, `unit`, `kind`, `date-order`, `decimal-mark`, `carbohydrates`, `zone`.
  public let subject: String
  /// The result of the decision, for people.
  public let value: String
  /// The reason for the decision.
  public let basis: Basis

  /// The value of a decision on `kind` for an input with several devices, each of which is a sensor or a meter.
  package static let kindOfEachDevice = "cbg of sensors, smbg of meters"

  /// A decision on a subject, with its basis.
  public init(_ subject: String, _ value: String, _ basis: Basis) {
    self.subject = subject
    self.value = value
    self.basis = basis
  }
}

/// How the input of an ingest ended.
public enum InputEnd: Hashable, Sendable {
  case whole
  /// Inside an item. The complete items before it have been yielded.
  case truncated(line: Int64, detail: String)
  /// With a last line without a line end, which may be truncated. A person can declare it complete.
  case unterminated(line: Int64, detail: String)

  /// What is wrong with the end, with its position in the input; nil for a complete one.
  package var fault: String? {
    switch self {
    case .whole: nil
    case .truncated(let line, let detail), .unterminated(let line, let detail):
      line > 0 ? ":\(line): \(detail)" : ": \(detail)"
    }
  }
}

/// A record from an import, before the store knows whether it is new.
public struct ImportedRecord: Sendable {
  /// The kind of record.
  public var kind: RecordKind
  /// The shown time of the entry.
  public var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The content.
  public var fields: RecordFields
  /// The export's own id of this record; empty when it has none.
  public var sourceID: String
  /// The device or account of the row, which is part of the identity if there is no source id.
  public var owner: String
  /// The program or device that wrote it, if the export names one. It is part of the provenance; see `Provenance.source`.
  public var source: String
  /// The `sourceID` of the record to which this one belongs; empty for an entry.
  public var entrySourceID: String
  /// The identity that a glucoport export states.
  public var guid: String?
  /// The identity of the entry to which it belongs, if the export states it.
  public var entryGuid: String?
  /// The origin that an export with identities states; nil if the export does not know it.
  public var provenance: Provenance?
  /// Whether it is a tombstone.
  public var deleted: Bool
  /// Its line of the input, from 1.
  public var line: Int64

  /// A record of an export without identities.
  public init(
    kind: RecordKind, at deviceTime: DeviceTime, placement: Placement, fields: RecordFields,
    sourceID: String = "", owner: String = "", source: String = "", line: Int64
  ) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.sourceID = sourceID
    self.owner = owner
    self.source = source
    self.entrySourceID = ""
    self.guid = nil
    self.entryGuid = nil
    self.provenance = nil
    self.deleted = false
    self.line = line
  }
}

/// Readings with their devices, to or from a service. Every occurrence is stated.
package struct ReadingBatch: Sendable {
  /// The devices. Readings refer to them by `DeviceIndex`.
  package var devices: [Device]
  /// The readings.
  package var readings: [Reading]

  /// A batch of readings and their devices.
  package init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// A service's answer to a batch of readings. All readings are stored there, except those listed as refused.
package struct ReadingAnswer: Hashable, Sendable {
  /// The number of readings that the service did not have.
  package var stored: Int
  /// The number of readings that it had, with any value.
  package var known: Int
  /// Indices of the readings that it has with another value.
  package var differing: [Int]
  /// Readings that it refuses permanently, with its reasons.
  package var refused: [RefusedItem]
  /// Known readings that the service only holds in documents of other programs.
  package var sameAs: [SameReading]
  /// Indices of the readings for whose time a document of another program has another value. Both are kept.
  package var disputed: [Int]
  /// The service's position after this request.
  package var position: String?

  /// An answer with these counts.
  package init(
    stored: Int, known: Int, differing: [Int] = [], refused: [RefusedItem] = [], sameAs: [SameReading] = [],
    disputed: [Int] = [], position: String? = nil
  ) {
    self.stored = stored
    self.known = known
    self.differing = differing
    self.refused = refused
    self.sameAs = sameAs
    self.disputed = disputed
    self.position = position
  }
}

/// An item of a batch that a service refuses permanently.
package struct RefusedItem: Hashable, Sendable {
  /// The index in the batch.
  package var item: Int
  /// The reason in the service's words.
  package var reason: String

  /// A refusal of the item at this index.
  package init(item: Int, reason: String) {
    self.item = item
    self.reason = reason
  }
}
