// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI

/// The nodes that wrote to a logbook or read it, with the last run of each.
struct Nodes {
  let database: Database
  let logbook: String

  /// The node of a run that needs no writing, because an earlier request of it was let in; nil for a run that is
  /// not known yet.
  ///
  /// - Throws: `StorageError`: `otherLogbook`, `nodeReused`, `positionUnknown`.
  func known(_ run: RunStamp) throws -> Int64? {
    if let expected = run.logbook, expected != logbook { throw StorageError.otherLogbook(id: logbook) }
    let statement = try database.cachedStatement(
      sql: "SELECT id, run_number, run_id FROM node WHERE name = ?")
    let row = try Row.fetchOne(statement, arguments: [run.node])
    if let row {
      let number: Int64 = row[1]
      guard number < run.number || (number == run.number && row[2] == run.id) else {
        throw StorageError.nodeReused
      }
    }
    if let mark = run.mark { _ = try Positions(database: database).seq(mark) }
    guard let row, row[1] == run.number else { return nil }
    return row[0]
  }

  /// The node of a run, which is written down unless it is known.
  ///
  /// - Throws: as `known`.
  func admit(_ run: RunStamp) throws -> Int64 {
    if let node = try known(run) { return node }
    let sql = """
      INSERT INTO node (name, run_number, run_id) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET run_number = excluded.run_number, run_id = excluded.run_id RETURNING id
      """
    let id = try Int64.fetchOne(database, sql: sql, arguments: [run.node, run.number, run.id])
    guard let id else { throw StorageError.failed("a node without its number") }
    return id
  }
}
