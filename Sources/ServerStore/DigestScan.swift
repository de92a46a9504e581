// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

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
