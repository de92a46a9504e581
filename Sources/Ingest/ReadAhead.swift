// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Exports
import Logbook

/// Reads an export one batch ahead, on a thread of its own, while the batch before is stored: each of the two takes about
/// as long as the other.
final class ReadAhead: @unchecked Sendable {
  // Safe: from `begin` to the end of `next` the properties belong to the queue, and to the caller otherwise. Who leaves
  // without `next` touches them no more.

  /// What the reader tells behind a batch.
  struct Place {
    let isLast: Bool
    let header: String?
    let progress: (done: Int64, total: Int64?)
  }

  private(set) var reader: ExportReader
  private let queue = DispatchQueue(label: "reader")
  private var batch = IngestBatch()
  private var place: Result<Place, any Error>?

  init(_ reader: ExportReader) { self.reader = reader }

  /// Begins to read the next batch.
  func begin() { queue.async { [self] in place = Result { try read() } } }

  /// Waits for the batch whose reading was begun; nil where none was.
  ///
  /// - Parameter spent: the batch before, whose memory is used once more; the one that was read when this returns.
  func next(for spent: inout IngestBatch) throws -> Place? {
    try queue.sync {
      guard let read = try place?.get() else { return nil }
      place = nil
      swap(&batch, &spent)
      batch.removeItems()
      // Later batches count on from the devices of this one.
      batch.devices = spent.devices
      return read
    }
  }

  private func read() throws -> Place {
    let isOpen = try reader.read(into: &batch)
    return Place(isLast: !isOpen, header: reader.header, progress: reader.progress)
  }
}
