// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Gathers the readings and records of one page.
struct PageBuilder {
  /// Records stop a page before its body is larger than a client takes.
  private static let maxRecordBytes = Wire.maxBodyBytes / 2

  private var readings: CollectedReadings
  private var records: [RemoteRecord] = []
  private var recordBytes = 0

  init(_ database: Database) { readings = CollectedReadings(database) }

  /// How many items there are.
  var count: Int { readings.count + records.count }

  /// The page that ends here.
  func page(cursor: String, hasMore: Bool) -> ChangePage {
    ChangePage(
      readings: readings.batch, records: records, cursor: cursor, hasMore: hasMore)
  }

  /// Takes a row with `ChangeRows.readingColumns`.
  mutating func add(_ row: RawStatement) throws { try readings.add(row) }

  /// Takes a record; false when the page has no room for it.
  mutating func add(_ row: ChangeRows.RecordRow) throws -> Bool {
    recordBytes += row.stateBytes
    let isFull = recordBytes > Self.maxRecordBytes && !records.isEmpty
    guard !isFull, records.count < Wire.maxRecords else { return false }
    records.append(
      RemoteRecord(guid: row.guid, revision: row.revision, state: row.state))
    return true
  }
}
