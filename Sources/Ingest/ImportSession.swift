// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Stores the items of an ingestor batch by batch.
package struct ImportSession {
  private let policy: ImportPolicy
  private let clock: () -> Int64
  /// Receives the counts so far, and the number of bytes that were read, after each batch.
  private let onProgress: (IngestCounts, (done: Int64, total: Int64?)) -> Void
  /// Receives each rejected item immediately, with the header line of the input.
  private let onRejection: (Rejection, String?) throws -> Void
  /// Polled after each batch; true after SIGINT or SIGTERM.
  private let isInterrupted: () -> Bool
  /// Receives the devices of the input before their readings are stored. If it throws, the whole input is
  /// refused. So with this closure, all batches are stored in one transaction. Nil if every device is
  /// accepted.
  private let onDevices: (([Device]) throws -> Void)?
  /// Receives the first batch and the id of its format before anything is stored. If it throws, the input is
  /// refused.
  private let onFirstBatch: ((IngestBatch, String) throws -> Void)?

  /// - Parameter clock: returns the host's time in UTC seconds.
  package init(
    policy: ImportPolicy = ImportPolicy(), clock: @escaping () -> Int64,
    onProgress: @escaping (IngestCounts, (done: Int64, total: Int64?)) -> Void = { _, _ in },
    onRejection: @escaping (Rejection, String?) throws -> Void = { _, _ in },
    isInterrupted: @escaping () -> Bool = { false }, onDevices: (([Device]) throws -> Void)? = nil,
    onFirstBatch: ((IngestBatch, String) throws -> Void)? = nil
  ) {
    self.onDevices = onDevices
    self.onFirstBatch = onFirstBatch
    self.policy = policy
    self.clock = clock
    self.onProgress = onProgress
    self.onRejection = onRejection
    self.isInterrupted = isInterrupted
  }

  /// Stores all items of the ingestor.
  ///
  /// - Parameter store: called only after a meter was completely read, so that an unreadable one creates no
  ///   store.
  /// - Throws: `RejectedInput` if the policy accepts no more rejections, `ImportInterruption` after a signal,
  ///   the error of `onDevices` and `onFirstBatch`, else `Failure`. Committed items stay, except for a strict
  ///   import and a meter.
  package func run(_ ingestor: any Ingestor, into store: () throws -> Store) throws -> ImportReport {
    let source = IngestSource(
      name: ingestor.name, format: ingestor.format, startedAt: clock(), modifiedAt: ingestor.modifiedAt,
      decisions: ingestor.decisions, mayWait: ingestor.modifiedAt != nil,
      restoresWithdrawn: policy.restoresWithdrawn, zone: ingestor.inputZone,
      acceptsPerson: policy.acceptsPerson,
      persons: ingestor.statedPersons, isExport: !ingestor.isIndivisible, repeatsRows: ingestor.repeatsRows,
      earlierSheets: policy.earlierSheets)
    let isAtomic = policy.isStrict || ingestor.isIndivisible || onDevices != nil
    let ahead = ReadAhead(ingestor)
    if ingestor.isIndivisible {
      let rejections = try ahead.read().rejections
      // Too many rejections end the import before anything is written, so they are reported here instead of
      // with a batch.
      if policy.refuses(rejections.count) { for rejection in rejections { try onRejection(rejection, nil) } }
      try judge(rejections, count: rejections.count, of: source.name, storesNothing: true)
    } else {
      ahead.begin()
    }
    // Checked before `store()`, which may create a store. Most inputs have all of their devices in the first
    // batch.
    if let onDevices { try onDevices(ahead.devices) }
    if let onFirstBatch { try onFirstBatch(ahead.batch, source.format) }
    var rejections: [Rejection] = []
    var outcome: EndedIngest?
    try store().ingest(source, isAtomic: isAtomic) { writer in
      try interruptible(writer, source.name, isAtomic: isAtomic) {
        try write(ahead, writer, source.name, isAtomic: isAtomic, &rejections)
        outcome = try finish(ahead.ingestor, writer)
      }
    }
    let read = ahead.ingestor
    let counts = outcome?.counts ?? IngestCounts()
    return ImportReport(
      ingest: outcome?.ingest ?? 0, source: read.name, format: read.format, decisions: read.decisions,
      warnings: read.warnings + (outcome?.warnings ?? []),
      doubts: (counts.newReadings + counts.newRecords > 0 ? read.doubts : []) + (outcome?.doubts ?? []),
      statesPerson: read.statedPersons.contains { !$0.isOfAccount }, counts: counts, end: read.end,
      rejections: rejections,
      likelyDuplicates: outcome?.duplicates ?? [], meter: read.meter)
  }
}

extension ImportSession {
  /// What is known after the end of an ingest.
  private struct EndedIngest {
    let ingest: Int64
    let counts: IngestCounts
    let duplicates: [LikelyDuplicate]
    let warnings: [String]
    /// The warnings about totals, which an unattended import must report, too.
    let doubts: [String]
  }

  /// Writes every batch, then the readings that the writer spooled because they were not in order of time.
  private func write(
    _ ahead: ReadAhead, _ writer: IngestWriter, _ name: String, isAtomic: Bool,
    _ rejections: inout [Rejection]
  ) throws {
    var batch = IngestBatch()
    var header: String?
    while let place = try ahead.next(for: &batch) {
      if !place.isLast { ahead.begin() }
      writer.persons = place.persons
      try onDevices?(batch.devices)
      let refused = try writer.write(batch)
      header = place.header
      try report(batch.rejections + refused, header, place.progress, writer, name, &rejections)
      if writer.isSpoolFull {
        try writer.storeSpooled { try report($0, header, place.progress, writer, name, &rejections) }
      }
      try judge(writer, of: name, rejections, isAtomic: isAtomic)
    }
    let progress = ahead.ingestor.progress
    try writer.storeSpooled { try report($0, header, progress, writer, name, &rejections) }
    try judge(writer, of: name, rejections, isAtomic: isAtomic)
  }

  /// Reports the results of a batch, and stops after a signal.
  private func report(
    _ rejected: [Rejection], _ header: String?, _ progress: (done: Int64, total: Int64?),
    _ writer: IngestWriter,
    _ name: String, _ rejections: inout [Rejection]
  ) throws {
    for rejection in rejected {
      try onRejection(rejection, header)
      if rejections.count < ImportReport.maxRejections { rejections.append(rejection) }
    }
    onProgress(writer.counts, progress)
    if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
  }

  /// Ends the ingest after the last batch, and collects the warnings.
  private func finish(
    _ ingestor: any Ingestor, _ writer: IngestWriter
  ) throws -> EndedIngest {
    if policy.isStrict, let fault = ingestor.end.fault {
      throw Failure(.badInput, "\(ingestor.name)\(fault); nothing was stored")
    }
    if let meter = ingestor.meter {
      try writer.storeMeter(
        meter.identity.device, firmware: meter.identity.firmware,
        clock: meter.clock.map { ($0.comparison, $0.difference) }, position: meter.position)
    }
    try writer.finish(
      end: ingestor.end, digest: ingestor.inputDigest, generatedAt: ingestor.generatedAt, finishedAt: clock(),
      decisions: ingestor.decisions)
    let isWholeFile = ingestor.end == .whole && ingestor.inputDigest != nil && ingestor.meter == nil
    let missing = isWholeFile ? try writer.missingItems() : nil
    let doubts =
      ingestor.inputDigest == nil
      ? []
      : [try writer.contradictingFiles(), writer.doubtfulUses, try writer.diaryInOtherZone()].compactMap(
        \.self)
    let warnings =
      writer.doubledDays + [missing, writer.otherTable].compactMap(\.self) + doubts + writer.counts.warnings
    return EndedIngest(
      ingest: writer.ingestID, counts: writer.counts, duplicates: try writer.likelyDuplicates(),
      warnings: warnings, doubts: doubts)
  }

  /// Performs work. After a signal, any error becomes `ImportInterruption`, since the signal caused it.
  private func interruptible(
    _ writer: IngestWriter, _ name: String, isAtomic: Bool, _ work: () throws -> Void
  ) throws {
    do {
      try work()
    } catch {
      guard isInterrupted() else { throw error }
      writer.discardSpool()
      throw ImportInterruption(source: name, stored: isAtomic ? IngestCounts() : writer.counts)
    }
  }

  private func judge(
    _ writer: IngestWriter, of name: String, _ rejections: [Rejection], isAtomic: Bool
  ) throws {
    guard policy.refuses(writer.counts.rejected) else { return }
    if !isAtomic { try writer.storeSpooled { _ in } }
    try judge(rejections, count: writer.counts.rejected, of: name, storesNothing: isAtomic)
  }

  private func judge(
    _ rejections: [Rejection], count: Int, of name: String, storesNothing: Bool
  ) throws {
    guard policy.refuses(count) else { return }
    throw policy.failure(of: name, rejections, count: count, storesNothing: storesNothing)
  }
}

/// Reads an input one batch ahead on a separate thread, while the previous batch is stored. Reading and
/// storing take about the same time, so neither waits long for the other.
struct ReadAhead {
  /// The state of the ingestor after a batch.
  struct ReadBatch {
    let isLast: Bool
    let header: String?
    let progress: (done: Int64, total: Int64?)
    let persons: [StatedPerson]
  }

  private struct ReadState {
    var ingestor: any Ingestor
    var batch = IngestBatch()
    var result: Result<ReadBatch, any Error>?

    mutating func read() {
      result = Result {
        let isOpen = try ingestor.read(into: &batch)
        PlausibilityGate.filter(&batch)
        return ReadBatch(
          isLast: !isOpen, header: ingestor.header, progress: ingestor.progress,
          persons: ingestor.statedPersons)
      }
    }
  }

  private let thread: BackgroundWorker<ReadState>

  init(_ ingestor: any Ingestor) { thread = BackgroundWorker(ReadState(ingestor: ingestor), name: "reader") }

  /// The ingestor, after the current read has ended.
  var ingestor: any Ingestor { thread.wait { $0.ingestor } }

  /// The devices of all batches so far. Waits for the batch that is being read.
  var devices: [Device] { thread.wait { $0.batch.devices } }

  /// The batch that was read and is not stored yet. Waits until the batch is read.
  var batch: IngestBatch { thread.wait { $0.batch } }

  /// Starts to read the next batch.
  func begin() { thread.begin { $0.read() } }

  /// Reads the next batch while the caller waits.
  ///
  /// - Throws: `Failure` if the source cannot be read further.
  func read() throws -> IngestBatch {
    try thread.wait { work in
      work.read()
      _ = try work.result?.get()
      return work.batch
    }
  }

  /// Waits for the batch that is being read; nil if no batch is being read.
  ///
  /// - Parameter spent: the previous batch, whose memory is reused. It contains the new batch when this
  ///   returns.
  func next(for spent: inout IngestBatch) throws -> ReadBatch? {
    try thread.wait { work in
      guard let read = try work.result?.get() else { return nil }
      work.result = nil
      swap(&work.batch, &spent)
      work.batch.removeItems()
      // The next batch keeps these devices, since its readings refer to them by number.
      work.batch.devices = spent.devices
      return read
    }
  }
}

/// Rejects implausible amounts from any source before they reach the store.
///
/// Formats reject most of them with the row. Drivers do not check them, and a format may omit the check of a
/// column. All imports pass this check. Readings with stated identities and records with a guid come from a
/// logbook. They are hardly limited, since a person may have typed them with `--force`.
package enum PlausibilityGate {
  /// Moves implausible items of a batch to its rejections, with the reason and without the values.
  package static func filter(_ batch: inout IngestBatch) {
    if !batch.readings.allSatisfy(PlausibleAmounts.allows) {
      for reading in batch.readings {
        guard let fault = PlausibleAmounts.fault(of: reading) else { continue }
        batch.rejections.append(Rejection(line: reading.line, reason: fault))
      }
      batch.readings.removeAll { !PlausibleAmounts.allows($0) }
    }
    let faults = batch.records.map(fault)
    guard faults.contains(where: { $0 != nil }) else { return }
    for (record, fault) in zip(batch.records, faults) {
      if let fault { batch.rejections.append(Rejection(line: record.line, reason: fault)) }
    }
    batch.records = zip(batch.records, faults).filter { $0.1 == nil }.map(\.0)
  }

  private static func fault(_ record: ImportedRecord) -> String? {
    record.guid == nil ? PlausibleAmounts.fault(of: record.fields, record.kind) : nil
  }
}
