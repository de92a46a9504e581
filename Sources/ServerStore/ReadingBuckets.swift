// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// The bucket of each reading of a logbook for comparisons, and the digests over all readings.
///
/// A bucket is a part of a SHA-256, which takes seconds for two million readings, and a comparison asks for hundreds of
/// groups of buckets. Readings are immutable and permanent, so only new ones are hashed.
struct ReadingBuckets: Sendable {
  private(set) var digests = IdentityDigests()
  /// The number up to which readings are included.
  private(set) var last: Int64 = 0
  /// The number of readings included.
  private(set) var count = 0
  /// The sequence numbers of the readings in each bucket, ascending: eight bytes each. An array indexed by number would
  /// be unsafe: the numbers have gaps, which a client or a damaged file can make arbitrarily large.
  private var numbers = [[Int64]](repeating: [], count: IdentityDigests.bucketCount)

  /// Adds the readings that are new in the file.
  mutating func extend(_ database: Database) throws {
    var series: [Int64: (device: Device, kind: ReadingKind, positionKind: PositionKind)] = [:]
    let table = SeriesTable(database: database)
    let row = try RawStatement(
      keptBy: database,
      "SELECT series, position, value_bucket, occurrence, seq FROM reading WHERE seq > ?1 ORDER BY seq")
    row.bind(last, at: 1)
    while try row.step() {
      let place = try StoredPlace(checking: row, from: 0, seq: row.integer(4))
      let found = try series[place.series] ?? table.series(place.series)
      series[place.series] = found
      let key = ReadingIdentity(
        device: found.device, kind: found.kind, positionKind: found.positionKind, position: place.position,
        valueBucket: place.valueBucket, occurrence: place.occurrence
      ).key
      digests.insert(key)
      last = row.integer(4)
      count += 1
      numbers[IdentityDigests.bucket(of: key)].append(last)
    }
  }

  /// The readings in these buckets; nil if there are more than an answer holds. The work grows only with these readings.
  func readings(in wanted: Set<Int>, _ database: Database) throws -> ReadingBatch? {
    let wanted = wanted.filter(numbers.indices.contains)
    guard wanted.reduce(0, { $0 + numbers[$1].count }) <= WireProtocol.maxReadings else { return nil }
    var collected = CollectedReadings(database)
    let row = try RawStatement(
      keptBy: database, "SELECT \(CollectedReadings.columns) FROM reading WHERE seq = ?1")
    for number in wanted.flatMap({ numbers[$0] }).sorted() {
      row.reset()
      row.bind(number, at: 1)
      if try row.step() { try collected.add(row) }
    }
    return collected.batch
  }
}

/// The buckets of the latest comparisons. A comparison takes many requests, and several can run at the same time.
actor ComparedLogbook {
  /// The maximum number of comparisons kept; the latest one is kept whatever its size.
  private static let maxComparisons = 8
  /// The maximum number of readings in all comparisons except the latest: 32 MiB.
  private let maxReadings: Int
  private var kept: [(comparison: String, buckets: ReadingBuckets)] = []

  init(maxReadings: Int = 4 << 20) { self.maxReadings = maxReadings }

  /// The known buckets of a comparison.
  ///
  /// - Parameter comparison: identifies the run and the opened file.
  func buckets(of comparison: String) -> ReadingBuckets {
    kept.first { $0.comparison == comparison }?.buckets ?? ReadingBuckets()
  }

  /// Stores the buckets of a comparison, and discards those used longest ago.
  func keep(_ buckets: ReadingBuckets, of comparison: String) {
    var last = (comparison: comparison, buckets: buckets)
    if let place = kept.firstIndex(where: { $0.comparison == comparison }) {
      let known = kept.remove(at: place)
      if known.buckets.last > buckets.last { last = known }
    }
    kept.append(last)
    var others = kept.dropLast().reduce(0) { $0 + $1.buckets.count }
    while kept.count > 1, kept.count > Self.maxComparisons || others > maxReadings {
      others -= kept.removeFirst().buckets.count
    }
  }
}
