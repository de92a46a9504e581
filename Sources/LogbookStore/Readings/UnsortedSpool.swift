// SPDX-License-Identifier: Apache-2.0

import HeapModule
import Logbook
import TemporaryFiles

/// Collects readings from a file that lists them unsorted or newest first. They are stored only at the end of
/// the file, in the order of time.
///
/// If unsorted readings were stored as they come, every batch would change nearly every page of the table.
/// The time of an import would grow with the square of its readings. If the newest come first, each batch
/// precedes the last one. SQLite then searches the table twice for each insert, which takes 75 % more time
/// than appending. So the readings are written to a temporary file as sorted runs, which are merged at the
/// end.
struct UnsortedSpool {
  /// The maximum number of sorted runs in the file. Together they have two million readings in 128 MB. More
  /// are not allowed, since the folder of the temporary file may be in memory.
  static let maxRuns = 100
  /// The number of readings that are in memory for each run during the merge.
  static let bufferSize = 256
  /// The minimum number of readings for which sorting is worthwhile.
  static let minCount = 10_000
  /// The number of pairs of neighbouring readings that are examined.
  static let sampleSize = 256
  /// A step between two readings is long if it exceeds the file's period divided by this number, which is
  /// 1/16 of the period. In a shuffled file, half of the steps are longer than a quarter of the period, which
  /// is far above this limit.
  static let minPart: Int64 = 16

  private let file: UnlinkedFile
  private var runs: [Int] = []

  /// - Throws: `Failure` if no temporary file can be created.
  init() throws { file = try UnlinkedFile() }

  /// Whether the maximum number of runs is reached.
  var isFull: Bool { runs.count >= Self.maxRuns }

  /// Whether the readings are unsorted: most steps from one reading to the next are longer than `1 / minPart`
  /// of the period of most readings.
  static func areUnsorted(_ readings: [Reading]) -> Bool {
    guard readings.count >= minCount else { return false }
    let sample = stride(from: 1, to: readings.count, by: readings.count / sampleSize)
    let times = sample.map { readings[$0].deviceTime.seconds }.sorted()
    let steps = sample.map { abs(readings[$0].deviceTime.seconds - readings[$0 - 1].deviceTime.seconds) }
      .sorted()
    return steps[steps.count / 2] > (times[times.count * 9 / 10] - times[times.count / 10]) / minPart
  }

  /// Whether the newest readings come first: most steps from one reading to the next go back in time.
  static func areNewestFirst(_ readings: [Reading]) -> Bool {
    guard readings.count >= minCount else { return false }
    let sample = stride(from: 1, to: readings.count, by: readings.count / sampleSize)
    let steps = sample.map { readings[$0].deviceTime.seconds - readings[$0 - 1].deviceTime.seconds }
    return steps.count { $0 < 0 } > steps.count / 2
  }

  /// Adds a batch as one sorted run.
  ///
  /// - Parameter devices: the ids in the store, by the batch's device indexes.
  /// - Throws: `Failure` if the file's folder is full. The batch is then not added, and no later batch can
  ///   be. Earlier batches stay.
  mutating func add(_ readings: [Reading], of devices: [Int64]) throws {
    let run = readings.sorted { SortKey($0, devices, run: 0) < SortKey($1, devices, run: 0) }
    try run.withUnsafeBytes { try file.append($0) }
    runs.append(readings.count)
  }

  /// Passes all readings to `store` in batches, in the order of the table's primary key. Readings at the same
  /// position stay in the order in which they were added.
  func merge(of devices: [Int64], _ store: ([Reading]) throws -> Void) throws {
    var cursors: [RunPosition] = []
    var start = 0
    for count in runs {
      cursors.append(RunPosition(next: start, end: start + count))
      start += count
    }
    var heap = Heap<SortKey>()
    for index in cursors.indices {
      if let reading = try cursors[index].reading(from: file) {
        heap.insert(SortKey(reading, devices, run: index))
      }
    }
    var batch: [Reading] = []
    batch.reserveCapacity(IngestBatch.size)
    var next = heap.popMin()
    while let place = next {
      let isFull =
        batch.count >= IngestBatch.size
        && batch.last.map { place.isSame(as: SortKey($0, devices, run: 0)) } == false
      if isFull || batch.count >= IngestBatch.size + IngestBatch.maxTogether {
        try store(batch)
        batch.removeAll(keepingCapacity: true)
      }
      if let reading = try cursors[place.run].reading(from: file) { batch.append(reading) }
      cursors[place.run].next += 1
      if let reading = try cursors[place.run].reading(from: file) {
        let following = SortKey(reading, devices, run: place.run)
        // If the sorted runs follow each other in time, as in a file with the newest first, each reading
        // needs only this comparison.
        let isNext = heap.min.map { following < $0 } ?? true
        next = isNext ? following : heap.replaceMin(with: following)
      } else {
        next = heap.popMin()
      }
    }
    if !batch.isEmpty { try store(batch) }
  }
}

extension UnsortedSpool {
  /// The sort key of a reading: its partition and position in the table, and then the number of its sorted
  /// run. Devices are not compared, since the order of devices does not matter for the merge.
  private struct SortKey: Comparable {
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

    /// Whether both readings have the same position, whichever run they are in.
    func isSame(as other: SortKey) -> Bool { partition == other.partition && position == other.position }

    static func < (left: Self, right: Self) -> Bool {
      if left.partition != right.partition { return left.partition < right.partition }
      if left.position != right.position { return left.position < right.position }
      return left.run < right.run
    }
  }

  /// The next index in a run, with a buffer of readings from this index on. Indexes count readings from the
  /// start of the file.
  private struct RunPosition {
    var next: Int
    let end: Int
    private var buffer: [Reading] = []
    private var start = 0

    init(next: Int, end: Int) {
      self.next = next
      self.end = end
    }

    /// The reading at the next index; nil at the end of the run.
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
