// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// In which bucket of a comparison each reading of a logbook is, and the digests over all of them.
///
/// The bucket is a part of a SHA-256, of which two million take seconds, and a comparison asks for hundreds of groups of
/// buckets. A reading neither changes nor goes, so that only those are hashed that came since.
struct ReadingBuckets: Sendable {
  /// Digests over the identities of all readings.
  private(set) var digests = IdentityDigests()
  /// The number up to which readings are known.
  private(set) var last: Int64 = 0
  /// How many readings are known.
  private(set) var count = 0
  /// The numbers of the readings in each bucket, rising: eight bytes a reading. Not one place for each number: the numbers
  /// have gaps, which a client, or a damaged file, makes as wide as it wants.
  private var numbers = [[Int64]](repeating: [], count: IdentityDigests.bucketCount)

  /// Takes the readings that the file got since.
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

  /// The readings in these buckets; nil for more than one answer holds. Its work grows with these alone.
  func readings(in wanted: Set<Int>, _ database: Database) throws -> ReadingBatch? {
    let wanted = wanted.filter(numbers.indices.contains)
    guard wanted.reduce(0, { $0 + numbers[$1].count }) <= Wire.maxReadings else { return nil }
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

/// The buckets of the comparisons that asked last: a run that compares asks again and again, and others compare meanwhile.
actor ComparedLogbook {
  /// How many comparisons are kept, the last one whatever its size.
  private static let maxComparisons = 8
  /// The readings of all that are kept beside the last one: 32 MiB.
  private let maxReadings: Int
  private var kept: [(comparison: String, buckets: ReadingBuckets)] = []

  init(maxReadings: Int = 4 << 20) { self.maxReadings = maxReadings }

  /// What is known of a comparison.
  ///
  /// - Parameter comparison: the run with the file that it asks about, as that was opened.
  func buckets(of comparison: String) -> ReadingBuckets {
    kept.first { $0.comparison == comparison }?.buckets ?? ReadingBuckets()
  }

  /// Keeps what a comparison read, and forgets those that asked longest ago.
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
