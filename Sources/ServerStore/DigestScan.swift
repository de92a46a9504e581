// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Reads readings from a logbook's file for comparisons with a client's store.
extension ReadingBuckets {
  /// Adds the readings of the file that are not yet included.
  mutating func extend(_ database: Database) throws {
    var keys = ReadingKeys()
    let table = SeriesNumbers(database: database)
    let row = try RawStatement(
      keptBy: database,
      "SELECT series, position, value_bucket, occurrence, seq FROM reading WHERE seq > ?1 ORDER BY seq")
    row.bind(last, at: 1)
    while try row.step() {
      let place = try StoredPlace(checking: row, from: 0, seq: row.integer(4))
      let key = try keys.key(
        of: place.series, position: place.position, valueBucket: place.valueBucket,
        occurrence: place.occurrence
      ) { try table.series(place.series) }
      insert(key, seq: row.integer(4))
    }
  }

  /// The readings in these buckets of `IdentityDigests`; nil if they are more than one response can contain.
  /// Only the rows of these readings are read.
  func readings(in wanted: Set<Int>, _ database: Database) throws -> ReadingBatch? {
    guard let numbers = numbers(in: wanted) else { return nil }
    var collected = CollectedReadings(database)
    let row = try RawStatement(
      keptBy: database, "SELECT \(CollectedReadings.columns) FROM reading WHERE seq = ?1")
    for number in numbers {
      row.reset()
      row.bind(number, at: 1)
      if try row.step() { try collected.add(row) }
    }
    return collected.batch
  }
}

/// Reads all records for a comparison, row by row. For readings, of which there are many more,
/// `ReadingBuckets` keeps what was read.
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

  /// A page of the records in these buckets of `IdentityDigests`, beginning after this id. It has at least
  /// one record if there is any.
  func records(in buckets: Set<Int>, after guid: String?) throws -> RecordPage {
    var page = PageRecords()
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT guid, revision, state FROM record WHERE guid > ? ORDER BY guid"),
      arguments: [guid ?? ""])
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      let (guid, state): (String, String) = (try record.guid(0), try record[2])
      guard buckets.contains(IdentityDigests.bucket(ofRecord: guid)) else { continue }
      guard page.fits(stateBytes: state.utf8.count) else {
        return RecordPage(records: page.records, hasMore: true)
      }
      page.append(RemoteRecord(guid: guid, revision: try record[1], state: try record.state(2)))
    }
    return RecordPage(records: page.records, hasMore: false)
  }
}
