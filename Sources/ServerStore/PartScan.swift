// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// Reads a page of one `ChangePart` of a logbook. For readings and for all records, changes that the
/// requesting node made are left out. Items are in the order of their changes, so that a page continues
/// exactly where the previous one ended.
struct PartScan {
  private let database: Database
  private let node: Int64
  private let limit: Int

  /// - Parameter limit: the maximum number of items on the page; at least one item is allowed.
  init(_ database: Database, node: Int64, limit: Int) {
    self.database = database
    self.node = node
    self.limit = PageLimits.items(limit)
  }

  /// Reads the page after a sequence number, inside the caller's transaction.
  func page(of part: ChangePart, after place: Int64) throws -> ChangePage {
    switch part {
    case .readings(let from, let until): try readings(from: from, until: until, after: place)
    case .records: try records(after: place)
    case .record(let guid): try record(guid)
    }
  }

  private func readings(from: Int64, until: Int64, after place: Int64) throws -> ChangePage {
    let row = try RawStatement(
      keptBy: database,
      """
      SELECT \(ChangeRows.readingColumns) FROM reading
      WHERE seq > ?1 AND device_time >= ?2 AND device_time < ?3 AND node <> ?4 ORDER BY seq LIMIT ?5
      """)
    for (index, value) in [place, from, until, node, Int64(limit)].enumerated() {
      row.bind(value, at: Int32(index + 1))
    }
    var builder = PageBuilder(database)
    var last = place
    while try row.step() {
      try builder.add(row)
      last = row.integer(0)
    }
    let positions = Positions(database: database)
    guard builder.count < limit else {
      return builder.page(cursor: try positions.text(last), hasMore: true)
    }
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }

  private func records(after place: Int64) throws -> ChangePage {
    let statement = try database.cachedStatement(
      sql: "SELECT \(ChangeRows.ChangedRecord.columns) FROM record WHERE seq > ? AND node <> ? ORDER BY seq")
    let rows = try Row.fetchCursor(statement, arguments: [place, node])
    let positions = Positions(database: database)
    var builder = PageBuilder(database)
    var last = place
    while let row = try rows.next() {
      let stored = StoredRow(row, of: "record", key: 1..<2)
      guard builder.count < limit, try builder.add(ChangeRows.ChangedRecord(stored)) else {
        return builder.page(cursor: try positions.text(last), hasMore: true)
      }
      last = try stored[0]
    }
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }

  private func record(_ guid: String) throws -> ChangePage {
    var builder = PageBuilder(database)
    let statement = try database.cachedStatement(
      sql: "SELECT \(ChangeRows.ChangedRecord.columns) FROM record WHERE guid = ?")
    if let row = try Row.fetchOne(statement, arguments: [guid]) {
      _ = try builder.add(ChangeRows.ChangedRecord(StoredRow(row, of: "record", key: 1..<2)))
    }
    let positions = Positions(database: database)
    return builder.page(cursor: try positions.text(positions.last()), hasMore: false)
  }
}
