// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook

/// Reads an export one batch ahead, on a thread of its own, while the batch before is stored: each of the two takes about
/// as long as the other.
struct ReadAhead {
  /// What the reader tells behind a batch.
  struct Place {
    let isLast: Bool
    let header: String?
    let progress: (done: Int64, total: Int64?)
  }

  private struct Work {
    var reader: ExportReader
    var batch = IngestBatch()
    var place: Result<Place, any Error>?

    mutating func read() {
      place = Result {
        let isOpen = try reader.read(into: &batch)
        return Place(isLast: !isOpen, header: reader.header, progress: reader.progress)
      }
    }
  }

  private let thread: SideThread<Work>

  init(_ reader: ExportReader) { thread = SideThread(Work(reader: reader), name: "reader") }

  /// The reader, as what was begun leaves it.
  var reader: ExportReader { thread.afterwards { $0.reader } }

  /// Begins to read the next batch.
  func begin() { thread.begin { $0.read() } }

  /// Waits for the batch whose reading was begun; nil where none was.
  ///
  /// - Parameter spent: the batch before, whose memory is used once more; the one that was read when this returns.
  func next(for spent: inout IngestBatch) throws -> Place? {
    try thread.afterwards { work in
      guard let read = try work.place?.get() else { return nil }
      work.place = nil
      swap(&work.batch, &spent)
      work.batch.removeItems()
      // Later batches count on from the devices of this one.
      work.batch.devices = spent.devices
      return read
    }
  }
}
