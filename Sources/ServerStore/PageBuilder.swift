// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Collects the readings and records of one page.
struct PageBuilder {
  /// Ends a page before its body exceeds the size that clients accept.
  private static let maxRecordBytes = WireProtocol.maxBodyBytes / 2

  private var readings: CollectedReadings
  private var records: [RemoteRecord] = []
  private var recordBytes = 0

  init(_ database: Database) { readings = CollectedReadings(database) }

  var count: Int { readings.count + records.count }

  /// The page with the items so far.
  func page(cursor: String, hasMore: Bool) -> ChangePage {
    ChangePage(
      readings: readings.batch, records: records, cursor: cursor, hasMore: hasMore)
  }

  /// Adds a row with `ChangeRows.readingColumns`.
  mutating func add(_ row: RawStatement) throws { try readings.add(row) }

  /// Adds a record; false if it does not fit the page.
  mutating func add(_ row: ChangeRows.RecordRow) throws -> Bool {
    recordBytes += row.stateBytes
    let isFull = recordBytes > Self.maxRecordBytes && !records.isEmpty
    guard !isFull, records.count < WireProtocol.maxRecords else { return false }
    records.append(
      RemoteRecord(guid: row.guid, revision: row.revision, state: row.state))
    return true
  }
}
