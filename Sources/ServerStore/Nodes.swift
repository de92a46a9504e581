// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import SQLiteRows

/// The nodes that have read or written a logbook, each with its latest run: the number and id of the client's
/// upload.
struct Nodes {
  let database: Database
  let logbook: String
  /// The maximum number of nodes of the logbook.
  let max: Int64

  /// The number of the node for which this run is recorded as the latest one; nil if the run is not recorded.
  /// It writes nothing.
  ///
  /// - Parameter hidesOwn: whether the response omits the node's own changes; see `RecordedNode`.
  /// - Throws: `ServiceError`: `otherLogbook`, `nodeReused`, `positionUnknown`.
  func known(_ run: RunStamp, hidesOwn: Bool = true) throws -> Int64? {
    if let expected = run.logbook, expected != logbook { throw ServiceError.otherLogbook(id: logbook) }
    let position = try run.lastSeenPosition.map { try Positions(database: database).seq($0) } ?? 0
    let statement = try database.cachedStatement(
      sql: "SELECT id, run_number, run_id, last_seq FROM node WHERE name = ?")
    guard let row = try Row.fetchOne(statement, arguments: [run.node]) else { return nil }
    let stored = StoredRow(row, of: "node")
    let node = RecordedNode(
      id: try stored[0], runNumber: try stored[1], runID: try stored[2], lastSeq: try stored[3])
    return try node.isRecorded(run, position: position, hidesOwn: hidesOwn) ? node.id : nil
  }

  /// The number of the run's node. If the run is not recorded, it is recorded as the node's latest one.
  ///
  /// - Throws: as `known`, and `ServiceError.busy` if the logbook has the maximum number of nodes.
  func findOrRecord(_ run: RunStamp, hidesOwn: Bool = true) throws -> Int64 {
    if let node = try known(run, hidesOwn: hidesOwn) { return node }
    let count = try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT count(*) FROM node WHERE name <> ?"), arguments: [run.node])
    guard (count ?? 0) < max else {
      throw LogbookQuota.tooManyNodes(max)
    }
    let arguments: StatementArguments = [run.node, run.number, run.id]
    let update = "UPDATE node SET run_number = ?2, run_id = ?3 WHERE name = ?1 RETURNING id"
    let insert = "INSERT INTO node (name, run_number, run_id) VALUES (?1, ?2, ?3) RETURNING id"
    let id =
      try Int64.fetchOne(database.cachedStatement(sql: update), arguments: arguments)
      ?? Int64.fetchOne(database.cachedStatement(sql: insert), arguments: arguments)
    guard let id else { throw DatabaseFile.storageFailure("a node without its number") }
    return id
  }

  /// Records the sequence number of the last change that a node made.
  func storeLastChange(of node: Int64, seq: Int64) throws {
    let statement = try database.cachedStatement(
      sql: "UPDATE node SET last_seq = ?1 WHERE id = ?2 AND last_seq < ?1")
    try statement.execute(arguments: [seq, node])
  }
}
