// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Goes over the identities of all readings, or the contents of all records, one row at a time.
struct DigestScan {
  let database: Database

  /// Digests over the identities of all readings.
  func readingDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    try forEachReading { digests.insert($0.key) }
    return digests
  }

  /// Digests over the contents of all records.
  func recordDigests() throws -> IdentityDigests {
    var digests = IdentityDigests()
    let rows = try Row.fetchCursor(database.cachedStatement(sql: "SELECT guid, state FROM record"))
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      digests.insert(try record[0], try RecordState(json: record[1]))
    }
    return digests
  }

  /// The readings in these buckets.
  ///
  /// - Throws: `ServiceError.tooLarge` for more than one answer holds.
  func readings(in buckets: Set<Int>) throws -> ReadingBatch {
    var places: [StoredPlace] = []
    try forEachReading { reading in
      guard buckets.contains(IdentityDigests.bucket(of: reading.key)) else { return }
      guard places.count < Wire.maxReadings else { throw ServiceError.tooLarge }
      places.append(reading.place)
    }
    var collected = CollectedReadings(database)
    let row = try RawStatement(
      keptBy: database,
      """
      SELECT \(CollectedReadings.columns) FROM reading
      WHERE series = ?1 AND position = ?2 AND value_bucket = ?3 AND occurrence = ?4
      """)
    for place in places {
      row.reset()
      for (index, part) in [place.series, place.position, place.valueBucket, place.occurrence].enumerated() {
        row.bind(part, at: Int32(index + 1))
      }
      if try row.step() { try collected.add(row) }
    }
    return collected.batch
  }

  /// The records in these buckets behind an id, as many as a page takes, and at least one.
  func records(in buckets: Set<Int>, after guid: String?) throws -> RecordPage {
    var page = RecordPage(records: [], hasMore: false)
    var bytes = 0
    let rows = try Row.fetchCursor(
      database.cachedStatement(sql: "SELECT guid, revision, state FROM record WHERE guid > ? ORDER BY guid"),
      arguments: [guid ?? ""])
    while let row = try rows.next() {
      let record = StoredRow(row, of: "record")
      let (guid, state): (String, String) = (try record[0], try record[2])
      guard buckets.contains(IdentityDigests.bucket(ofRecord: guid)) else { continue }
      bytes += state.utf8.count
      if page.records.count == Wire.maxRecords || (bytes > Wire.maxBodyBytes / 2 && !page.records.isEmpty) {
        page.hasMore = true
        return page
      }
      page.records.append(
        RemoteRecord(guid: guid, revision: try record[1], state: try RecordState(json: state)))
    }
    return page
  }
}

extension DigestScan {
  private func forEachReading(_ body: ((place: StoredPlace, key: [UInt8])) throws -> Void) throws {
    let table = SeriesTable(database: database)
    var last: (number: Int64, series: (device: Device, kind: ReadingKind, positionKind: PositionKind))?
    let row = try RawStatement(
      keptBy: database,
      // In the order of the index, which alone is read.
      "SELECT series, position, value_bucket, occurrence FROM reading ORDER BY series, position, value_bucket, occurrence"
    )
    while try row.step() {
      let place = StoredPlace(row, from: 0)
      let series = try last?.number == place.series ? last?.series : table.series(place.series)
      guard let series else { continue }
      last = (place.series, series)
      let identity = ReadingIdentity(
        device: series.device, kind: series.kind, positionKind: series.positionKind, position: place.position,
        valueBucket: place.valueBucket, occurrence: place.occurrence)
      try body((place, identity.key))
    }
  }
}
