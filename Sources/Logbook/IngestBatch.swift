// SPDX-License-Identifier: Apache-2.0

/// One item that a source will not give or the store will not take, with the reason.
public struct Rejection: Hashable, Sendable {
  /// The line of the input, from 1; 0 when no line applies.
  public let line: Int64
  /// What is wrong, without the item's values: they are health data.
  public let reason: String
  /// The most of a row that is kept for `--rejects`.
  package static let maxSourceBytes = 64 * 1024

  /// The item as it was in the input, for `--rejects`; empty where it is larger than `maxSourceBytes`, since half a
  /// row would spoil those behind it. Never stored or printed.
  public let source: String

  /// A rejection with its reason and, for `--rejects`, the item as it was in the input.
  public init(line: Int64, reason: String, source: String = "") {
    self.line = line
    self.reason = reason
    self.source = source
  }
}

/// A piece of what an ingestor yields. Reused: the consumer empties it, the devices stay for the whole ingest.
public struct IngestBatch: Sendable {
  /// About how many items a batch takes. Sorting and writing work best on many; two batches, one being read and one being
  /// stored, take some 4 MiB.
  package static let size = 20_000
  /// The most readings of one place that are kept together beyond that: more than two hours of any sensor.
  package static let maxTogether = 5000

  /// Every device named so far; readings point here by `DeviceIndex`.
  public var devices: [Device] = []
  /// Readings, in the order of the source.
  public var readings: [Reading] = []
  /// Records, in the order of the source.
  public var records: [ImportedRecord] = []
  /// What was not taken, in the order of the source.
  public var rejections: [Rejection] = []
  /// Items that the source holds and glucoport has no kind for, or that say nothing: counted by name.
  public var skipped: [String: Int] = [:]

  /// A batch without devices and items.
  public init() {}

  /// Whether no item is in it; devices do not count.
  public var isEmpty: Bool { readings.isEmpty && records.isEmpty && rejections.isEmpty && skipped.isEmpty }

  /// Empties the batch and keeps the devices and the memory.
  public mutating func removeItems() {
    readings.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    rejections.removeAll(keepingCapacity: true)
    skipped.removeAll(keepingCapacity: true)
  }
}

/// What an ingestor decided about its input, and on what basis.
public struct Decision: Hashable, Sendable {
  /// Why it was decided so: read in the input, inferred from it, given by a person, fixed by the format, or
  /// the logbook's setting.
  public enum Basis: String, Sendable { case read, inferred, given, fixed, logbook }
  /// `format`, `encoding`, `delimiter`, `unit`, `kind`, `date-order`, `decimal-mark`, `carbohydrates`, `zone`.
  public let subject: String
  /// What was decided, for people.
  public let value: String
  /// Why it was decided so.
  public let basis: Basis

  /// A decision on a subject, with its basis.
  public init(_ subject: String, _ value: String, _ basis: Basis) {
    self.subject = subject
    self.value = value
    self.basis = basis
  }
}

/// How an ingest's input ended.
public enum InputEnd: Hashable, Sendable {
  case whole
  /// Cut off in the middle of an item; what was whole has been yielded.
  case truncated(line: Int64, detail: String)
  /// With a last line that has no line end and may be cut, which a person can say.
  case unterminated(line: Int64, detail: String)

  /// What is wrong with it, after its place in the input; nil for a whole one.
  package var fault: String? {
    switch self {
    case .whole: nil
    case .truncated(let line, let detail), .unterminated(let line, let detail):
      line > 0 ? ":\(line): \(detail)" : ": \(detail)"
    }
  }
}
