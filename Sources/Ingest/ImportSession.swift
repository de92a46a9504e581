// SPDX-License-Identifier: Apache-2.0

public import Formats
public import Logbook
public import LogbookStore

/// How an import treats its input.
public struct ImportPolicy: Sendable {
  /// Everything is stored or, when one item is rejected or the input is cut off, nothing.
  public var isStrict = false
  /// The most rejected items before the import gives up; nil for no limit.
  public var maxRejections: Int?

  /// A policy that takes what is whole and sets no limit.
  public init() {}

  /// Whether so many rejections end an import.
  func refuses(_ count: Int) -> Bool { count > (isStrict ? 0 : maxRejections ?? .max) }

  /// What ends it.
  ///
  /// - Parameter storesNothing: whether nothing is stored where the policy is not strict, either.
  func failure(
    of name: String, _ rejections: [Rejection], count: Int, storesNothing: Bool = false
  ) -> RejectedInput {
    let limit = isStrict ? "--strict takes none" : "--max-rejects takes \(maxRejections ?? 0)"
    let end = isStrict || storesNothing ? "nothing was stored" : "what was read until then is stored"
    let items = count == 1 ? "1 item was rejected" : "\(count) items were rejected"
    return RejectedInput(
      Failure(.badInput, "\(name): \(items) and \(limit); \(end)"), source: name, rejections, count: count)
  }
}

/// Rejected items ended an import, as its policy demands.
public struct RejectedInput: Error {
  /// What ended, and what is stored.
  public let failure: Failure
  /// The path, `-`, or `meter`.
  public let source: String
  /// The first of the rejections.
  public let rejections: [Rejection]
  /// How many there were until then.
  public let count: Int

  init(_ failure: Failure, source: String, _ rejections: [Rejection], count: Int) {
    self.failure = failure
    self.source = source
    self.rejections = Array(rejections.prefix(ImportSession.maxReported))
    self.count = count
  }
}

/// What an import did.
public struct ImportReport: Sendable {
  /// The path, or `-`.
  public let source: String
  /// The id of the format.
  public let format: String
  /// What was decided about the input.
  public let decisions: [Decision]
  /// Things a person should know that reject nothing.
  public let warnings: [String]
  /// What became of the items.
  public let counts: IngestCounts
  /// How the input ended.
  public let end: InputEnd
  /// The first rejections, for people; all are counted.
  public let rejections: [Rejection]
  /// Readings of another device with the same kind, time and value.
  public let likelyDuplicates: [LikelyDuplicate]
  /// The meter that was read; nil for an export.
  public var meter: MeterIdentity?
  /// Its clock beside the logbook's local time.
  public var clock: ClockJudgement?
}

/// The end of an import by a signal.
public struct ImportInterruption: Error {
  /// The path, or `-`.
  public let source: String
  /// What became of the items that are stored; nothing of a strict import is.
  public let stored: IngestCounts
}

/// Carries an export into a store, batch by batch.
public struct ImportSession {
  /// How many rejections a report names.
  static let maxReported = 20

  private let store: Store
  private let policy: ImportPolicy
  private let clock: () -> Int64
  /// Told the counts so far and how much of the input is read, after each batch.
  private let onProgress: (IngestCounts, (done: Int64, total: Int64?)) -> Void
  /// Told each rejected item as it comes, with the header under which it stands.
  private let onRejection: (Rejection, String?) throws -> Void
  /// Asked after each batch: whether the program is to end.
  private let isInterrupted: () -> Bool

  /// - Parameter clock: gives the host's time in UTC seconds.
  public init(
    store: Store, policy: ImportPolicy, clock: @escaping () -> Int64,
    onProgress: @escaping (IngestCounts, (done: Int64, total: Int64?)) -> Void = { _, _ in },
    onRejection: @escaping (Rejection, String?) throws -> Void = { _, _ in },
    isInterrupted: @escaping () -> Bool = { false }
  ) {
    self.store = store
    self.policy = policy
    self.clock = clock
    self.onProgress = onProgress
    self.onRejection = onRejection
    self.isInterrupted = isInterrupted
  }

  /// Stores all that the reader yields.
  ///
  /// - Throws: `RejectedInput` where the policy takes no more rejections, `ImportInterruption` after a signal, else
  ///   `Failure`; what was committed before stays, except for a strict import.
  public func run(_ reader: consuming ExportReader) throws -> ImportReport {
    let source = IngestSource(
      name: reader.name, format: reader.format, startedAt: clock(), modifiedAt: reader.modifiedAt,
      decisions: reader.decisions, mayWait: reader.modifiedAt != nil)
    var counts = IngestCounts()
    var rejections: [Rejection] = []
    var duplicates: [LikelyDuplicate] = []
    let ahead = ReadAhead(reader)
    try store.ingest(source, isAtomic: policy.isStrict) { writer in
      try interruptible(writer, source.name) {
        var header: String?
        func tell(_ rejected: [Rejection], at progress: (done: Int64, total: Int64?)) throws {
          for rejection in rejected {
            try onRejection(rejection, header)
            if rejections.count < Self.maxReported { rejections.append(rejection) }
          }
          onProgress(writer.counts, progress)
          if isInterrupted() { throw Failure(.temporary, "\(source.name): interrupted") }
        }
        var batch = IngestBatch()
        ahead.begin()
        while let place = try ahead.next(for: &batch) {
          if !place.isLast { ahead.begin() }
          let refused = try writer.write(batch)
          header = place.header
          try tell(batch.rejections + refused, at: place.progress)
          if writer.hasEnoughScattered { try writer.storeScattered { try tell($0, at: place.progress) } }
          try judge(writer, of: source.name, rejections)
        }
        let reader = ahead.reader
        try writer.storeScattered { try tell($0, at: reader.progress) }
        try judge(writer, of: source.name, rejections)
        if policy.isStrict, case .truncated(let line, let detail) = reader.end {
          let place = line > 0 ? ":\(line)" : ""
          throw Failure(.badInput, "\(reader.name)\(place): \(detail); nothing was stored")
        }
        try writer.finish(
          end: reader.end, digest: reader.digest, generatedAt: reader.generatedAt, finishedAt: clock(),
          decisions: reader.decisions)
        counts = writer.counts
        duplicates = try writer.likelyDuplicates()
      }
    }
    let reader = ahead.reader
    return ImportReport(
      source: reader.name, format: reader.format, decisions: reader.decisions, warnings: reader.warnings,
      counts: counts, end: reader.end, rejections: rejections, likelyDuplicates: duplicates)
  }

  /// Whatever ends the work after a signal, the signal is the reason.
  private func interruptible(_ writer: IngestWriter, _ name: String, _ work: () throws -> Void) throws {
    do {
      try work()
    } catch {
      guard isInterrupted() else { throw error }
      writer.dropScattered()
      throw ImportInterruption(source: name, stored: policy.isStrict ? IngestCounts() : writer.counts)
    }
  }

  private func judge(_ writer: IngestWriter, of name: String, _ rejections: [Rejection]) throws {
    let count = writer.counts.rejected
    guard policy.refuses(count) else { return }
    if !policy.isStrict { try writer.storeScattered { _ in } }
    throw policy.failure(of: name, rejections, count: count)
  }
}
