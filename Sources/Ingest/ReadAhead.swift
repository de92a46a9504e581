// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Reads an input one batch ahead on a separate thread, while the previous batch is stored. Both take about
/// the same time.
struct ReadAhead {
  /// The state of the ingestor after a batch.
  struct Place {
    let isLast: Bool
    let header: String?
    let progress: (done: Int64, total: Int64?)
    let persons: [StatedPerson]
  }

  private struct Work {
    var ingestor: any Ingestor
    var batch = IngestBatch()
    var place: Result<Place, any Error>?

    mutating func read() {
      place = Result {
        let isOpen = try ingestor.read(into: &batch)
        PlausibilityGate.filter(&batch)
        return Place(
          isLast: !isOpen, header: ingestor.header, progress: ingestor.progress,
          persons: ingestor.statedPersons)
      }
    }
  }

  private let thread: SideThread<Work>

  init(_ ingestor: any Ingestor) { thread = SideThread(Work(ingestor: ingestor), name: "reader") }

  /// The ingestor, after the current read has ended.
  var ingestor: any Ingestor { thread.afterwards { $0.ingestor } }

  /// Starts to read the next batch.
  func begin() { thread.begin { $0.read() } }

  /// Reads the next batch while the caller waits.
  ///
  /// - Throws: `Failure` if the source cannot be read further.
  func read() throws -> IngestBatch {
    try thread.afterwards { work in
      work.read()
      _ = try work.place?.get()
      return work.batch
    }
  }

  /// Waits for the batch that is being read; nil if none is.
  ///
  /// - Parameter spent: the previous batch, whose memory is reused. It contains the new batch when this
  ///   returns.
  func next(for spent: inout IngestBatch) throws -> Place? {
    try thread.afterwards { work in
      guard let read = try work.place?.get() else { return nil }
      work.place = nil
      swap(&work.batch, &spent)
      work.batch.removeItems()
      // Later batches continue the devices of this one.
      work.batch.devices = spent.devices
      return read
    }
  }
}
