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

  /// Discards the buckets of a comparison.
  func forget(_ comparison: String) { kept.removeAll { $0.comparison == comparison } }

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

/// Reads the contents of all records, one row at a time. For the more numerous readings, see `ReadingBuckets`.
struct DigestScan {
  let database: Database

  func recordDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    let rows = try Row.fetchCursor(database.cachedStatement(sql: "SELECT guid, state FROM record"))
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      digests.insert(try record.guid(0), try record.state(1))
    }
    return digests
  }

  /// The records in these buckets after an id: at most a page, and at least one.
  func records(in buckets: Set<Int>, after guid: String?) throws -> RecordPage {
    var page = RecordPage(records: [], hasMore: false)
    var bytes = 0
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT guid, revision, state FROM record WHERE guid > ? ORDER BY guid"),
      arguments: [guid ?? ""])
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      let (guid, state): (String, String) = (try record.guid(0), try record[2])
      guard buckets.contains(IdentityDigests.bucket(ofRecord: guid)) else { continue }
      bytes += state.utf8.count
      if page.records.count == WireProtocol.maxRecords
        || (bytes > WireProtocol.maxBodyBytes / 2 && !page.records.isEmpty)
      {
        page.hasMore = true
        return page
      }
      page.records.append(
        RemoteRecord(guid: guid, revision: try record[1], state: try record.state(2)))
    }
    return page
  }
}
