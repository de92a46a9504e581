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
