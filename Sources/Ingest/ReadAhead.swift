// SPDX-License-Identifier: Apache-2.0

package import Logbook

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
