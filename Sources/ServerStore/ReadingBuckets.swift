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
  /// The bucket of the reading with each number of the sequence: two bytes a reading.
  private var buckets: [UInt16] = []

  /// What has no bucket: a number that a record has, or that nobody has any more.
  private static let none = UInt16.max

  /// The number up to which readings are known.
  var last: Int { buckets.count }

  /// Takes the readings that the file got since.
  mutating func extend(_ database: Database) throws {
    var series: [Int64: (device: Device, kind: ReadingKind, positionKind: PositionKind)] = [:]
    let table = SeriesTable(database: database)
    let row = try RawStatement(
      keptBy: database,
      "SELECT series, position, value_bucket, occurrence, seq FROM reading WHERE seq > ?1 ORDER BY seq")
    row.bind(Int64(last), at: 1)
    while try row.step() {
      let place = StoredPlace(row, from: 0)
      let found = try series[place.series] ?? table.series(place.series)
      series[place.series] = found
      let key = ReadingIdentity(
        device: found.device, kind: found.kind, positionKind: found.positionKind, position: place.position,
        valueBucket: place.valueBucket, occurrence: place.occurrence
      ).key
      digests.insert(key)
      let seq = Int(row.integer(4))
      if buckets.count < seq - 1 {
        buckets.append(contentsOf: repeatElement(Self.none, count: seq - 1 - buckets.count))
      }
      buckets.append(UInt16(IdentityDigests.bucket(of: key)))
    }
  }

  /// The readings in these buckets; nil for more than one answer holds.
  func readings(in wanted: Set<Int>, _ database: Database) throws -> ReadingBatch? {
    var isWanted = [Bool](repeating: false, count: IdentityDigests.bucketCount)
    for bucket in wanted where isWanted.indices.contains(bucket) { isWanted[bucket] = true }
    let places = buckets.indices.lazy.filter { buckets[$0] != Self.none && isWanted[Int(buckets[$0])] }
    let found = Array(places.prefix(Wire.maxReadings + 1))
    guard found.count <= Wire.maxReadings else { return nil }
    var collected = CollectedReadings(database)
    let row = try RawStatement(
      keptBy: database, "SELECT \(CollectedReadings.columns) FROM reading WHERE seq = ?1")
    for index in found {
      row.reset()
      row.bind(Int64(index + 1), at: 1)
      if try row.step() { try collected.add(row) }
    }
    return collected.batch
  }
}

/// The buckets of the comparison that asked last: a run that compares asks again and again.
actor ComparedLogbook {
  private var comparison = ""
  private var buckets = ReadingBuckets()

  /// What is known of a comparison.
  ///
  /// - Parameter comparison: the run with the file that it asks about, as that was opened.
  func buckets(of comparison: String) -> ReadingBuckets {
    comparison == self.comparison ? buckets : ReadingBuckets()
  }

  /// Keeps what a comparison read.
  func keep(_ buckets: ReadingBuckets, of comparison: String) {
    guard comparison != self.comparison || buckets.last > self.buckets.last else { return }
    (self.comparison, self.buckets) = (comparison, buckets)
  }
}
