// SPDX-License-Identifier: Apache-2.0

/// An item that a source cannot provide or that the store does not accept, with the reason.
public struct Rejection: Hashable, Sendable {
  /// The line of the input, from 1; 0 if the item has no line.
  public let line: Int64
  /// What is wrong. It does not contain the item's values, which are health data.
  public let reason: String
  /// The maximum size in bytes of `source`.
  package static let maxSourceBytes = 64 * 1024

  /// The item as it was in the input, for `--rejects`. It is empty if the item is larger than
  /// `maxSourceBytes`, since a truncated row would damage the rows after it. It is never stored or printed.
  public let source: String

  /// A rejection with its reason and, for `--rejects`, the item as it was in the input.
  public init(line: Int64, reason: String, source: String = "") {
    self.line = line
    self.reason = reason
    self.source = source
  }
}

/// Some of the items that an ingestor yields. The same value is used for all batches of an ingest: the
/// consumer removes the items, and `devices` keeps its elements for the whole ingest.
public struct IngestBatch: Sendable {
  /// The approximate number of items in a batch. Sorting and writing are fastest with many items. Two
  /// batches, one being read and one being stored, take about 4 MiB of memory.
  package static let size = 20_000
  /// The number of items for which a reader reserves memory. It is larger than `size`, since the last row of
  /// a batch may add several items.
  package static let capacity = size + 500
  /// The maximum duration of a batch in milliseconds. Each batch is one transaction, so readings from a live
  /// pipe are stored within a second.
  package static let maxMilliseconds = 750
  /// The maximum number of readings that stay in one batch because they share a shown time, or because a
  /// change of clocks repeats their times. The batch may then exceed `size`. No sensor stores that many
  /// readings in a repeated hour.
  package static let maxTogether = 5000

  /// The devices so far. Readings refer to them by `DeviceIndex`.
  public var devices: [Device] = []
  /// Readings, in the order of the source.
  public var readings: [Reading] = []
  /// Records, in the order of the source.
  public var records: [ImportedRecord] = []
  /// Rejected items, in the order of the source.
  public var rejections: [Rejection] = []
  /// The items that glucoport does not store, since it has no kind for them or they contain no data. Each
  /// count is under a name for this sort of item, such as `settings`.
  public var skipped: [String: Int] = [:]

  /// A batch without devices and items.
  public init() {}

  /// Whether the batch has no items. It may have devices.
  public var isEmpty: Bool { readings.isEmpty && records.isEmpty && rejections.isEmpty && skipped.isEmpty }

  /// Removes the items, but keeps the devices and the allocated memory.
  public mutating func removeItems() {
    readings.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    rejections.removeAll(keepingCapacity: true)
    skipped.removeAll(keepingCapacity: true)
  }
}

/// A decision of an ingestor on how to read its input, and the basis of the decision.
public struct Decision: Hashable, Sendable {
  /// The basis of a decision: read in the input, inferred from it, given by a person, fixed by the format, or
  /// set in the logbook.
  public enum Basis: String, Sendable { case read, inferred, given, fixed, logbook }
  /// The subject: `format`, `encoding`, `delimiter`, `unit`, `kind`, `date-order`, `decimal-mark`,
  /// `carbohydrates`, `zone`, or a choice of a person.
  public let subject: String
  /// What was decided, as a text for people.
  public let value: String
  /// The basis of the decision.
  public let basis: Basis

  /// The subjects of choices that only a person makes. These are the columns and the rows that are read, and
  /// the device if the input names none.
  package static let (columns, device, rows) = ("map", "device", "where")
  /// The subject of a statement by a person: when the export was made.
  package static let exported = "exported"
  /// The subjects `columns`, `device` and `rows`. Summaries leave them out, since the person has just typed
  /// them.
  package static let choices: Set<String> = [columns, device, rows]

  /// The text of a decision about `kind`, for an input with several devices that are sensors or meters.
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
  /// The input ended inside an item. The complete items before it were yielded.
  case truncated(line: Int64, detail: String)
  /// The last line has no line end, so it may be truncated. A person can declare it complete.
  case unterminated(line: Int64, detail: String)

  /// A description of what is wrong at the end of the input, after its line number if that is known; nil for
  /// a complete input.
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
  /// What the record is, such as a dose of insulin. `RecordKindDescription` lists the fields of each kind.
  public var kind: RecordKind
  /// The shown time of the entry.
  public var deviceTime: DeviceTime
  /// The UTC offset of the shown time, and how it was found.
  public var placement: Placement
  /// The content.
  public var fields: RecordFields
  /// The export's own id of this record; empty when it has none.
  public var sourceID: String
  /// The device or account of the row. It is part of the record's identity if the export has no id for the
  /// record.
  public var owner: String
  /// The program or device that wrote the record, if the export names one; see `Provenance.source`.
  public var source: String
  /// The `sourceID` of the record to which this one belongs; empty for an entry.
  public var entrySourceID: String
  /// The guid that an export of glucoport states for the record.
  public var guid: String?
  /// The guid of the entry to which the record belongs, if the export states it.
  public var entryGuid: String?
  /// The provenance that an export of glucoport states; nil if the export does not know it.
  public var provenance: Provenance?
  /// Whether the row states that the record was deleted (a tombstone).
  public var deleted: Bool
  /// Whether the source states that it deleted the item. The store hides the item, so that an older export
  /// cannot bring it back. If `fields` is empty, the source no longer states the content. Then only a stored
  /// record with the same `sourceID` is hidden.
  public var isDeletedAtSource: Bool
  /// Whether the shown time identifies the record even if its placement is stated. True for a format if some
  /// of its exports state offsets and others do not, so that both have the same records.
  package var isIdentifiedByShownTime: Bool
  /// The number of the record's line in the input, from 1.
  public var line: Int64

  /// A record from an export that states no guids.
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
    self.isDeletedAtSource = false
    self.isIdentifiedByShownTime = false
    self.line = line
  }
}

/// Readings with their devices, sent to a service or received from it. Each reading states its `occurrence`,
/// a number that separates readings of one identity.
package struct ReadingBatch: Sendable {
  /// The devices. Readings refer to them by `DeviceIndex`.
  package var devices: [Device]
  package var readings: [Reading]

  /// A batch of readings and their devices.
  package init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// A service's answer to a batch of readings. The service has stored all readings of the batch, except those
/// in `refused`.
package struct ReadingAnswer: Hashable, Sendable {
  /// The number of readings that the service stored and did not have before.
  package var stored: Int
  /// The number of readings that the service had before, with the same or another value.
  package var known: Int
  /// Indices of the readings that the service has with another value.
  package var differing: [Int]
  /// The readings that the service refuses permanently, with the reasons.
  package var refused: [RefusedItem]
  /// Known readings that the service has only in documents of other programs; see `SameReading`.
  package var sameAs: [SameReading]
  /// Indices of the readings for which a document of another program has another value at the same time. Both
  /// values are kept.
  package var disputed: [Int]
  /// The position that the service's list of changes has reached after this request; nil if the service has
  /// no positions.
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

/// An item of a batch that a service refuses permanently, with the reason.
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
