// SPDX-License-Identifier: Apache-2.0

import HeapModule
import Logbook
import TemporaryFiles

/// Readings that a file gives in no order of time, or the newest first, kept beside the store until they can be stored in theirs.
///
/// Stored as they come, every batch in no order would change nearly every page of the table, and an import's time would grow
/// with the square of its readings. Batches that go one before the other are stored between the readings of others: each insert
/// looks for its place twice, which takes three quarters more of SQLite's time than appending. Kept are sorted runs in a file,
/// which are merged at the end.
struct ScatteredReadings {
  /// The most runs: two million readings in 128 MB, since the file's folder may be memory.
  static let maxRuns = 100
  /// How many readings of each run are in memory while the runs are merged.
  static let bufferSize = 256
  /// Fewer are not worth it.
  static let fewest = 10_000
  /// So many steps between neighbours are looked at.
  static let sampleSize = 256
  /// Half of the steps in a shuffled file go over more than a quarter of the time that it spans.
  static let minPart: Int64 = 16

  private let file: UnlinkedFile
  private var runs: [Int] = []

  /// - Throws: `Failure` where no temporary file can be created.
  init() throws { file = try UnlinkedFile() }

  /// Whether another run would be too many.
  var isFull: Bool { runs.count >= Self.maxRuns }

  /// Whether most steps from one reading to the next are a good part of the time that most readings span.
  static func areScattered(_ readings: [Reading]) -> Bool {
    guard readings.count >= fewest else { return false }
    let sample = stride(from: 1, to: readings.count, by: readings.count / sampleSize)
    let times = sample.map { readings[$0].deviceTime.seconds }.sorted()
    let steps = sample.map { abs(readings[$0].deviceTime.seconds - readings[$0 - 1].deviceTime.seconds) }
      .sorted()
    return steps[steps.count / 2] > (times[times.count * 9 / 10] - times[times.count / 10]) / minPart
  }

  /// Whether most steps from one reading to the next go back in time.
  static func areNewestFirst(_ readings: [Reading]) -> Bool {
    guard readings.count >= fewest else { return false }
    let sample = stride(from: 1, to: readings.count, by: readings.count / sampleSize)
    let steps = sample.map { readings[$0].deviceTime.seconds - readings[$0 - 1].deviceTime.seconds }
    return steps.count { $0 < 0 } > steps.count / 2
  }

  /// Keeps a batch.
  ///
  /// - Parameter devices: the stored ids of the device indexes.
  /// - Throws: `Failure` where the folder of the file is full: the batch is not kept then, those before are, and no
  ///   other can be.
  mutating func add(_ readings: [Reading], of devices: [Int64]) throws {
    let run = readings.sorted { Place($0, devices, run: 0) < Place($1, devices, run: 0) }
    try run.withUnsafeBytes { try file.append($0) }
    runs.append(readings.count)
  }

  /// Gives all that was kept in the order of the table's key, batch by batch, those of one place in the order in which
  /// they came.
  func merge(of devices: [Int64], _ store: ([Reading]) throws -> Void) throws {
    var cursors: [Cursor] = []
    var start = 0
    for count in runs {
      cursors.append(Cursor(next: start, end: start + count))
      start += count
    }
    var heap = Heap<Place>()
    for index in cursors.indices {
      if let reading = try cursors[index].reading(from: file) {
        heap.insert(Place(reading, devices, run: index))
      }
    }
    var batch: [Reading] = []
    batch.reserveCapacity(IngestBatch.size)
    var next = heap.popMin()
    while let place = next {
      let isFull =
        batch.count >= IngestBatch.size
        && batch.last.map { place.isSame(as: Place($0, devices, run: 0)) } == false
      if isFull || batch.count >= IngestBatch.size + IngestBatch.maxTogether {
        try store(batch)
        batch.removeAll(keepingCapacity: true)
      }
      if let reading = try cursors[place.run].reading(from: file) { batch.append(reading) }
      cursors[place.run].next += 1
      if let reading = try cursors[place.run].reading(from: file) {
        let following = Place(reading, devices, run: place.run)
        // Runs one behind the other, as of a file with the newest first, cost one comparison for each reading.
        let isNext = heap.min.map { following < $0 } ?? true
        next = isNext ? following : heap.replaceMin(with: following)
      } else {
        next = heap.popMin()
      }
    }
    if !batch.isEmpty { try store(batch) }
  }
}

extension ScatteredReadings {
  /// Where a reading is, in an order that is the table's but for that of the devices; behind it its run.
  private struct Place: Comparable {
    let partition: Int64
    let position: Int64
    let run: Int

    init(_ reading: Reading, _ devices: [Int64], run: Int) {
      let kind = Int64(reading.kind.rawValue)
      partition =
        switch reading.positionKind {
        case .time: kind
        case .tick where reading.isPlacedByInstant: -kind
        case .tick: 8 * devices[Int(reading.device.number)] + kind
        }
      position = reading.position
      self.run = run
    }

    /// Whether both are one place, of whichever runs.
    func isSame(as other: Place) -> Bool { partition == other.partition && position == other.position }

    static func < (left: Self, right: Self) -> Bool {
      if left.partition != right.partition { return left.partition < right.partition }
      if left.position != right.position { return left.position < right.position }
      return left.run < right.run
    }
  }

  /// A place in a run, with some readings from there on. Places count readings from the start of the file.
  private struct Cursor {
    var next: Int
    let end: Int
    private var buffer: [Reading] = []
    private var start = 0

    init(next: Int, end: Int) {
      self.next = next
      self.end = end
    }

    /// The reading at the place; nil at the end of the run.
    mutating func reading(from file: UnlinkedFile) throws -> Reading? {
      guard next < end else { return nil }
      if next >= start + buffer.count {
        start = next
        let count = min(bufferSize, end - next)
        buffer = try [Reading](unsafeUninitializedCapacity: count) { room, filled in
          try file.read(UnsafeMutableRawBufferPointer(room), at: start * MemoryLayout<Reading>.stride)
          filled = count
        }
      }
      return buffer[next - start]
    }
  }
}
